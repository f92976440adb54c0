// SPDX-License-Identifier: Apache-2.0
// The ledger: limits at, below and above; days, freshness, expiry; damage; pruning; nothing written
// on refusal; version 1; caps, reservations, accounts, erasing.
#include "ledger.h"

#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "check.h"
#include "checksum.h"
#include "test_recipes.h"

static uint8_t ledger[SHOAL_LEDGER_SIZE_MAX], before[SHOAL_LEDGER_SIZE_MAX];

static void limited_recipe(shoal_recipe *recipe, const char *analysis, uint32_t per_day,
                           const char *fresh)
{
    shoal_builder_init(&building);
    CHECK(set_text("recipe", "r") == SHOAL_OK && set_text("analysis", analysis) == SHOAL_OK);
    CHECK(set_text("stream", "s") == SHOAL_OK && set_text("value", "item") == SHOAL_OK);
    CHECK(set_text("mechanism", "onehot-asymmetric") == SHOAL_OK &&
          set_int("parameters.size", 8) == SHOAL_OK);
    CHECK(set_micro("parameters.epsilon", 1500000) == SHOAL_OK &&
          set_int("limit.per_day", per_day) == SHOAL_OK);
    CHECK(set_text("expires", "2030-01-01") == SHOAL_OK &&
          set_text("send.fresh", fresh) == SHOAL_OK);
    CHECK(finish_recipe(recipe) == SHOAL_OK);
}

#define TODAY 20700u
#define EMPTY (SHOAL_LEDGER_HEADER + 8u)

// A refused debit leaves the bytes as they were.
static void refuses(const shoal_recipe *recipe, size_t len, uint32_t day, shoal_err expected)
{
    size_t after = len;
    memcpy(before, ledger, len);
    CHECK(shoal_ledger_allows(ledger, len, recipe, day) == expected);
    CHECK(shoal_ledger_debit(ledger, &after, sizeof ledger, recipe, day) == expected);
    CHECK(after == len && memcmp(before, ledger, len) == 0);
}

static void limits(void)
{
    shoal_recipe a, b;
    shoal_ledger_sum sum;
    size_t len = 0;
    limited_recipe(&a, "one", 3, "allow");
    limited_recipe(&b, "two", 1, "allow");
    CHECK(shoal_ledger_init(ledger, sizeof ledger, &len, TODAY) == SHOAL_OK && len == EMPTY);
    for (uint32_t i = 1; i <= 3; i++) {
        CHECK(shoal_ledger_allows(ledger, len, &a, TODAY) == SHOAL_OK);
        CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &a, TODAY) == SHOAL_OK);
        CHECK(shoal_ledger_spent(&sum, ledger, len, &a, TODAY, TODAY) == SHOAL_OK);
        CHECK(sum.count == i && sum.eps_micro == i * 1500000u);
    }
    refuses(&a, len, TODAY, SHOAL_ERR_BUDGET);
    CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &b, TODAY) ==
          SHOAL_OK); // another analysis has its own
    refuses(&b, len, TODAY, SHOAL_ERR_BUDGET);
    CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &a, TODAY + 1) ==
          SHOAL_OK);                           // another day as well
    refuses(&a, len, TODAY, SHOAL_ERR_BUDGET); // and the clock set back pays nothing twice
    CHECK(shoal_ledger_spent(&sum, ledger, len, &a, 0, UINT32_MAX) == SHOAL_OK && sum.count == 4);
    CHECK(shoal_ledger_spent(&sum, ledger, len, &a, TODAY + 1, TODAY + 9) == SHOAL_OK &&
          sum.count == 1);
    limited_recipe(&b, "one", 4,
                   "allow"); // another recipe of the same analysis and field shares the count
    CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &b, TODAY) == SHOAL_OK);
    refuses(&b, len, TODAY, SHOAL_ERR_BUDGET);
}

static void freshness_and_expiry(void)
{
    shoal_recipe wait, allow;
    size_t len = 0;
    limited_recipe(&wait, "one", 3, "wait");
    limited_recipe(&allow, "one", 3, "allow");
    CHECK(shoal_ledger_init(ledger, sizeof ledger, &len, TODAY) == SHOAL_OK);
    refuses(&wait, len, TODAY, SHOAL_ERR_FRESH);
    refuses(&wait, len, TODAY - 1, SHOAL_ERR_FRESH);
    CHECK(shoal_ledger_allows(ledger, len, &wait, TODAY + 1) == SHOAL_OK);
    CHECK(shoal_ledger_allows(ledger, len, &allow, TODAY) == SHOAL_OK);
    CHECK(shoal_ledger_allows(ledger, len, &allow, 21915) == SHOAL_OK); // 2030-01-01
    refuses(&allow, len, 21916, SHOAL_ERR_EXPIRED);
}

static void damage(void)
{
    shoal_recipe recipe;
    shoal_ledger_sum sum;
    size_t len = 0;
    limited_recipe(&recipe, "one", 3, "allow");
    CHECK(shoal_ledger_init(ledger, sizeof ledger, &len, TODAY) == SHOAL_OK);
    CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &recipe, TODAY) == SHOAL_OK);
    for (size_t cut = 0; cut < len; cut++)
        CHECK(shoal_ledger_allows(ledger, cut, &recipe, TODAY) == SHOAL_ERR_LEDGER);
    CHECK(shoal_ledger_allows(ledger, len + 1, &recipe, TODAY) == SHOAL_ERR_LEDGER);
    for (size_t bit = 0; bit < 8 * len; bit++) {
        ledger[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(shoal_ledger_allows(ledger, len, &recipe, TODAY) == SHOAL_ERR_LEDGER);
        CHECK(shoal_ledger_spent(&sum, ledger, len, &recipe, 0, TODAY) == SHOAL_ERR_LEDGER);
        ledger[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    CHECK(shoal_ledger_init(ledger, EMPTY - 1, &len, TODAY) == SHOAL_ERR_SPACE);
}

static void full_and_old(void)
{
    shoal_recipe recipe;
    const size_t a_day = SHOAL_LEDGER_ENTRY + SHOAL_LEDGER_COST,
                 base = EMPTY + SHOAL_LEDGER_ACCOUNT;
    size_t len = 0, small = base + a_day;
    limited_recipe(&recipe, "one", 1, "allow");
    CHECK(shoal_ledger_init(ledger, sizeof ledger, &len, 1000) == SHOAL_OK);
    CHECK(shoal_ledger_debit(ledger, &len, small - 1, &recipe, 1000) == SHOAL_ERR_SPACE);
    CHECK(shoal_ledger_debit(ledger, &len, small, &recipe, 1000) == SHOAL_OK && len == small);
    memcpy(before, ledger, len);
    CHECK(shoal_ledger_debit(ledger, &len, small, &recipe, 1001) == SHOAL_ERR_SPACE);
    CHECK(len == small && memcmp(before, ledger, len) == 0);
    for (uint32_t day = 1001; day <= 1400; day++)
        CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &recipe, day) == SHOAL_OK);
    CHECK(len == base + 401 * a_day);
    CHECK(shoal_ledger_debit(ledger, &len, len, &recipe, 1401) == SHOAL_OK); // day 1000 makes room
    CHECK(len == base + 401 * a_day);
    refuses(&recipe, len, 1000, SHOAL_ERR_LEDGER); // and cannot be spent again
    refuses(&recipe, len, 1001, SHOAL_ERR_BUDGET);
    CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &recipe, 9000) == SHOAL_OK);
    CHECK(len == base + a_day);
    shoal_ledger_account account; // which remembers the days that are gone
    CHECK(shoal_ledger_account_at(&account, ledger, len, 0) == SHOAL_OK && account.count == 403);
    CHECK(account.eps_micro == 403 * 1500000u && account.first == 1000 && account.last == 9000);
}

// ---- the ledger of version 1 ----

// Writes a ledger as version 1 wrote it: a debit of `analysis`, field item, on each of n days.
static size_t version_1(const char *analysis, uint32_t first, uint32_t n)
{
    shoal_recipe recipe;
    uint8_t key[SHOAL_ACCOUNT_KEY], *p = ledger;
    limited_recipe(&recipe, analysis, 3, "allow");
    shoal_account_key_of(key, &recipe);
    memcpy(p, "shoalled", 8);
    store32_le(p + 8, 1);
    store32_le(p + 12, n);
    store32_le(p + 16, first);
    store32_le(p + 20, first + n - 1);
    p += 24;
    for (uint32_t i = 0; i < n; i++, p += 32) {
        memcpy(p, key, sizeof key);
        store32_le(p + 16, first + i);
        store32_le(p + 20, 2);
        store64_le(p + 24, 3000000);
    }
    size_t body = (size_t)(p - ledger);
    store64_le(p, shoal_checksum_of(ledger, body));
    return body + 8;
}

static void reads_version_1(void)
{
    shoal_recipe recipe;
    shoal_ledger_sum sum;
    shoal_ledger_account account;
    size_t len = version_1("one", TODAY - 9, 10);
    limited_recipe(&recipe, "one", 3, "allow");
    CHECK(shoal_ledger_spent(&sum, ledger, len, &recipe, 0, TODAY) == SHOAL_OK);
    CHECK(sum.count == 20 && sum.eps_micro == 30000000u);
    memcpy(before, ledger, len);
    CHECK(shoal_ledger_allows(ledger, len, &recipe, TODAY) == SHOAL_OK);
    CHECK(memcmp(before, ledger, len) == 0); // reading upgrades nothing
    CHECK(shoal_ledger_upgrade(ledger, &len, len) == SHOAL_ERR_SPACE);
    CHECK(memcmp(before, ledger, len) == 0);
    CHECK(shoal_ledger_upgrade(ledger, &len, sizeof ledger) == SHOAL_OK && ledger[8] == 2);
    CHECK(shoal_ledger_account_at(&account, ledger, len, 0) == SHOAL_OK);
    CHECK(account.kind == SHOAL_ACCOUNT_UNNAMED && account.name_len == 0 && account.count == 20);
    CHECK(account.eps_micro == 30000000u && account.first == TODAY - 9 && account.last == TODAY);
    CHECK(shoal_ledger_account_at(&account, ledger, len, 1) == SHOAL_ERR_RANGE);
    len = version_1("one", TODAY - 9, 10); // and a debit upgrades at once
    CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &recipe, TODAY) == SHOAL_OK);
    refuses(&recipe, len, TODAY, SHOAL_ERR_BUDGET);
    CHECK(shoal_ledger_spent(&sum, ledger, len, &recipe, 0, TODAY) == SHOAL_OK && sum.count == 21);
    CHECK(shoal_ledger_account_at(&account, ledger, len, 0) == SHOAL_OK && account.count == 21);
    CHECK(account.kind == SHOAL_ACCOUNT_RECIPE && account.value == SHOAL_VALUE_ITEM);
    CHECK(account.name_len == 3 && memcmp(account.name, "one", 3) == 0);
    ledger[8] = 3; // a version of the future
    store64_le(ledger + len - 8, shoal_checksum_of(ledger, len - 8));
    refuses(&recipe, len, TODAY + 1, SHOAL_ERR_LEDGER);
}

// ---- caps ----

static shoal_recipe_set set;

static void capped_set(uint64_t eps_micro, uint32_t days, const shoal_recipe *const *recipes,
                       uint32_t n)
{
    shoal_set_init(&set);
    if (days > 0) CHECK(shoal_set_budget(&set, eps_micro, days) == SHOAL_OK);
    for (uint32_t i = 0; i < n; i++) CHECK(shoal_set_add_recipe(&set, recipes[i]) == SHOAL_OK);
}

static shoal_err reserve(size_t *len, uint32_t day)
{
    return shoal_ledger_reserve(ledger, len, sizeof ledger, &set, day);
}

static uint64_t used_on(size_t len, uint32_t day)
{
    shoal_ledger_cap cap = {0};
    CHECK(shoal_ledger_cap_at(&cap, ledger, len, 0, day) == SHOAL_OK);
    return cap.used_micro;
}

static void caps(void)
{
    shoal_recipe a, b, stranger;
    shoal_ledger_cap cap;
    size_t len = 0;
    limited_recipe(&a, "one", 2, "allow");
    limited_recipe(&b, "two", 1, "allow");
    limited_recipe(&stranger, "three", 1, "allow");
    CHECK(shoal_ledger_init(ledger, sizeof ledger, &len, TODAY) == SHOAL_OK);
    capped_set(9000000, 2, (const shoal_recipe *const[]){&a, &b}, 2); // 3 reports of 1.5 a day
    CHECK(reserve(&len, TODAY) == SHOAL_OK && used_on(len, TODAY) == 4500000u);
    CHECK(reserve(&len, TODAY) == SHOAL_OK && used_on(len, TODAY) == 4500000u); // a second tab
    refuses(&stranger, len, TODAY, SHOAL_ERR_CAP);
    CHECK(shoal_ledger_debit_reports(ledger, &len, sizeof ledger, &a, 3, TODAY) ==
          SHOAL_ERR_BUDGET);
    CHECK(shoal_ledger_debit_reports(ledger, &len, sizeof ledger, &a, 2, TODAY) == SHOAL_OK);
    CHECK(used_on(len, TODAY) == 4500000u); // the reservation covers it
    refuses(&a, len, TODAY, SHOAL_ERR_BUDGET);
    refuses(&a, len, TODAY + 1, SHOAL_ERR_CAP); // nothing is reserved yet
    CHECK(reserve(&len, TODAY + 1) == SHOAL_OK && used_on(len, TODAY + 1) == 9000000u);
    CHECK(shoal_ledger_allows(ledger, len, &b, TODAY) == SHOAL_OK); // b pays from TODAY + 1
    CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &b, TODAY) == SHOAL_OK);
    refuses(&b, len, TODAY + 1, SHOAL_ERR_BUDGET); // so the clock set back restored nothing

    // A page without a budget does not lift the cap, and has no more room.
    capped_set(0, 0, (const shoal_recipe *const[]){&stranger}, 1);
    CHECK(reserve(&len, TODAY + 1) == SHOAL_OK);
    refuses(&stranger, len, TODAY + 1, SHOAL_ERR_CAP);
    // It is in force through the window that holds the day on which it was last seen.
    CHECK(reserve(&len, TODAY + 2) == SHOAL_OK && used_on(len, TODAY + 2) == 6000000u);
    CHECK(shoal_ledger_allows(ledger, len, &stranger, TODAY + 2) == SHOAL_OK);
    CHECK(shoal_ledger_allows(ledger, len, &a, TODAY + 3) == SHOAL_OK); // no cap, no reservation
    CHECK(shoal_ledger_cap_at(&cap, ledger, len, 0, TODAY + 3) == SHOAL_ERR_RANGE);

    // A smaller cap holds from now on; a larger one does not lift it.
    capped_set(1000000, 3, (const shoal_recipe *const[]){&b}, 1);
    CHECK(reserve(&len, TODAY + 3) == SHOAL_OK);
    refuses(&b, len, TODAY + 3, SHOAL_ERR_CAP);
    capped_set(99000000, 3, (const shoal_recipe *const[]){&b}, 1);
    CHECK(reserve(&len, TODAY + 3) == SHOAL_OK);
    refuses(&b, len, TODAY + 3, SHOAL_ERR_CAP);
    CHECK(reserve(&len, TODAY + 5) == SHOAL_OK);
    refuses(&b, len, TODAY + 5, SHOAL_ERR_CAP);
    CHECK(reserve(&len, TODAY + 6) == SHOAL_OK);
    CHECK(shoal_ledger_allows(ledger, len, &b, TODAY + 6) == SHOAL_OK);
}

// Seventeen caps in one window: none is forgotten.
static void many_caps(void)
{
    shoal_recipe a;
    size_t len = 0;
    limited_recipe(&a, "one", 1, "allow");
    CHECK(shoal_ledger_init(ledger, sizeof ledger, &len, TODAY) == SHOAL_OK);
    for (uint32_t i = 0; i < 16; i++) {
        capped_set(50000000 + i, 30, (const shoal_recipe *const[]){&a}, 1);
        CHECK(reserve(&len, TODAY) == SHOAL_OK);
    }
    CHECK(shoal_ledger_allows(ledger, len, &a, TODAY) == SHOAL_OK);
    capped_set(1000000, 20, (const shoal_recipe *const[]){&a}, 1);
    CHECK(reserve(&len, TODAY) == SHOAL_OK);
    refuses(&a, len, TODAY, SHOAL_ERR_CAP);
    CHECK(reserve(&len, TODAY + 19) == SHOAL_OK);
    refuses(&a, len, TODAY + 19, SHOAL_ERR_CAP);
}

// Recipes that share an account cost what they can spend together: at most 3 reports, of which one
// may be of epsilon 1.5 and the two after it of less.
static void shared_account(void)
{
    const shoal_rate rates[] = {{3, 1000}, {1, 5000}, {2, 2000}, {2, 1500}};
    CHECK(shoal_rates_cost(rates, 4) == 5000 + 2000 + 1000);
    CHECK(shoal_rates_cost(rates, 1) == 3000 && shoal_rates_cost(rates, 0) == 0);
    shoal_recipe a, b;
    shoal_set_cost cost;
    size_t len = 0;
    limited_recipe(&a, "one", 2, "allow");
    limited_recipe(&b, "one", 3, "allow");
    CHECK(shoal_ledger_init(ledger, sizeof ledger, &len, TODAY) == SHOAL_OK);
    capped_set(45000000, 10, (const shoal_recipe *const[]){&a, &b}, 2);
    CHECK(reserve(&len, TODAY) == SHOAL_OK && used_on(len, TODAY) == 4500000u);
    shoal_set_cost_of(&cost, &set, TODAY);
    CHECK(cost.daily_micro == 4500000u && cost.window_micro == 45000000u);
    for (int i = 0; i < 2; i++)
        CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &a, TODAY) == SHOAL_OK);
    refuses(&a, len, TODAY, SHOAL_ERR_BUDGET);
    CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &b, TODAY) == SHOAL_OK);
    refuses(&b, len, TODAY, SHOAL_ERR_BUDGET);
}

static void named_charges(void)
{
    shoal_ledger_account account;
    size_t len = 0;
    CHECK(shoal_ledger_init(ledger, sizeof ledger, &len, TODAY) == SHOAL_OK);
    CHECK(shoal_ledger_charge(ledger, &len, sizeof ledger, SHOAL_ACCOUNT_EXACT, "t", 1, 1, 7,
                              TODAY) == SHOAL_OK);
    CHECK(shoal_ledger_charge(ledger, &len, sizeof ledger, SHOAL_ACCOUNT_ANALYSIS, "t", 1, 2, 7,
                              TODAY) == SHOAL_OK);
    CHECK(shoal_ledger_charge(ledger, &len, sizeof ledger, SHOAL_ACCOUNT_RECIPE, "t", 1, 2, 7,
                              TODAY) == SHOAL_ERR_ARGUMENT);
    CHECK(shoal_ledger_charge(ledger, &len, sizeof ledger, SHOAL_ACCOUNT_EXACT, "", 0, 1, 7,
                              TODAY) == SHOAL_ERR_ARGUMENT);
    CHECK(shoal_ledger_account_at(&account, ledger, len, 0) == SHOAL_OK);
    CHECK(account.kind == SHOAL_ACCOUNT_EXACT && account.count == 1 && account.eps_micro == 0);
    CHECK(shoal_ledger_account_at(&account, ledger, len, 1) == SHOAL_OK);
    CHECK(account.kind == SHOAL_ACCOUNT_ANALYSIS && account.count == 2 && account.eps_micro == 7);
    capped_set(1000000, 5, NULL, 0);
    CHECK(reserve(&len, TODAY) == SHOAL_OK && used_on(len, TODAY) == 7);
    CHECK(shoal_ledger_charge(ledger, &len, sizeof ledger, SHOAL_ACCOUNT_ANALYSIS, "t", 1, 1, 1,
                              TODAY) == SHOAL_ERR_CAP); // the set does not name it
    CHECK(shoal_ledger_charge(ledger, &len, sizeof ledger, SHOAL_ACCOUNT_EXACT, "t", 1, 1, 1,
                              TODAY) == SHOAL_OK); // exact values have a limit of their own
}

static void full_of_accounts(void)
{
    shoal_recipe recipe;
    char name[16];
    size_t len = 0;
    CHECK(shoal_ledger_init(ledger, sizeof ledger, &len, TODAY) == SHOAL_OK);
    for (uint32_t i = 0; i < SHOAL_LEDGER_ACCOUNTS_MAX; i++) {
        snprintf(name, sizeof name, "n%u", i);
        CHECK(shoal_ledger_charge(ledger, &len, sizeof ledger, SHOAL_ACCOUNT_EXACT, name,
                                  strlen(name), 1, 0, TODAY) == SHOAL_OK);
    }
    limited_recipe(&recipe, "one", 3, "allow");
    size_t after = len;
    memcpy(before, ledger, len);
    CHECK(shoal_ledger_debit(ledger, &after, sizeof ledger, &recipe, TODAY) == SHOAL_ERR_SPACE);
    CHECK(after == len && memcmp(before, ledger, len) == 0);
    CHECK(shoal_ledger_charge(ledger, &len, sizeof ledger, SHOAL_ACCOUNT_EXACT, "n7", 2, 1, 0,
                              TODAY + 1) == SHOAL_OK);
}

static void erases(void)
{
    shoal_recipe a;
    shoal_ledger_account account;
    size_t len = version_1("one", TODAY - 9, 10);
    limited_recipe(&a, "one", 3, "allow");
    capped_set(36000000, 30, (const shoal_recipe *const[]){&a}, 1);
    CHECK(reserve(&len, TODAY) == SHOAL_OK && used_on(len, TODAY) == 34500000u);
    CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &a, TODAY) == SHOAL_OK);
    CHECK(shoal_ledger_erase(ledger, &len, sizeof ledger, TODAY + 3) == SHOAL_OK);
    CHECK(shoal_ledger_account_at(&account, ledger, len, 0) == SHOAL_OK);
    CHECK(account.kind == SHOAL_ACCOUNT_ERASED && account.name_len == 0 && account.count == 21);
    CHECK(account.eps_micro == 31500000u && account.first == TODAY + 3);
    CHECK(shoal_ledger_account_at(&account, ledger, len, 1) == SHOAL_ERR_RANGE);
    CHECK(len == EMPTY + SHOAL_LEDGER_ACCOUNT + SHOAL_LEDGER_COST + SHOAL_LEDGER_CAP);
    CHECK(used_on(len, TODAY + 32) == 34500000u); // not refilled
    refuses(&a, len, TODAY, SHOAL_ERR_BUDGET);
    refuses(&a, len, TODAY + 3, SHOAL_ERR_BUDGET);
    CHECK(reserve(&len, TODAY + 4) == SHOAL_OK);
    refuses(&a, len, TODAY + 4, SHOAL_ERR_CAP);
    CHECK(reserve(&len, TODAY + 33) == SHOAL_OK);
    CHECK(shoal_ledger_allows(ledger, len, &a, TODAY + 33) == SHOAL_OK);
}

int main(void)
{
    limits();
    freshness_and_expiry();
    damage();
    full_and_old();
    reads_version_1();
    caps();
    many_caps();
    shared_account();
    named_charges();
    full_of_accounts();
    erases();
    return check_summary();
}
