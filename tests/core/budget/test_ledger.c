// SPDX-License-Identifier: Apache-2.0
// The ledger: limits at, below and above; days, freshness, expiry; damage; pruning; nothing written
// on refusal.
#include "ledger.h"

#include <string.h>

#include "check.h"
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
    CHECK(shoal_ledger_init(ledger, sizeof ledger, &len, TODAY) == SHOAL_OK && len == 32);
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
    CHECK(shoal_ledger_init(ledger, 31, &len, TODAY) == SHOAL_ERR_SPACE);
}

static void full_and_old(void)
{
    shoal_recipe recipe;
    size_t len = 0, small = 32 + SHOAL_LEDGER_ENTRY;
    limited_recipe(&recipe, "one", 1, "allow");
    CHECK(shoal_ledger_init(ledger, sizeof ledger, &len, 1000) == SHOAL_OK);
    CHECK(shoal_ledger_debit(ledger, &len, small, &recipe, 1000) == SHOAL_OK && len == small);
    memcpy(before, ledger, len);
    CHECK(shoal_ledger_debit(ledger, &len, small, &recipe, 1001) == SHOAL_ERR_SPACE);
    CHECK(len == small && memcmp(before, ledger, len) == 0);
    for (uint32_t day = 1001; day <= 1400; day++)
        CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &recipe, day) == SHOAL_OK);
    CHECK(len == 32 + 401 * SHOAL_LEDGER_ENTRY);
    CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &recipe, 1401) == SHOAL_OK);
    CHECK(len == 32 + 401 * SHOAL_LEDGER_ENTRY);   // day 1000 is gone
    refuses(&recipe, len, 1000, SHOAL_ERR_LEDGER); // and cannot be spent again
    refuses(&recipe, len, 1001, SHOAL_ERR_BUDGET);
    CHECK(shoal_ledger_debit(ledger, &len, sizeof ledger, &recipe, 9000) == SHOAL_OK);
    CHECK(len == 32 + SHOAL_LEDGER_ENTRY);
}

int main(void)
{
    limits();
    freshness_and_expiry();
    damage();
    full_and_old();
    return check_summary();
}
