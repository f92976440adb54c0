// SPDX-License-Identifier: Apache-2.0
// The promise of a cap, on random histories: pages that open with and without a budget, in several
// tabs, sets and caps that change, clocks that are set back, erasures, runs, analyses, and ledgers
// that version 1 wrote.
//
// An oracle adds up what was really answered in every window of days, and knows nothing of
// reservations: no answer may pass the smallest cap that a page stated in the window. Two devices
// live through the same days and visits with different events; a cap must refuse both alike.
// The first histories have a fixed seed, the others a fresh one, which is printed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bytes.h"
#include "check.h"
#include "checksum.h"
#include "effort.h"
#include "ledger.h"
#include "recipe.h"
#include "test_recipes.h"

#define N_RECIPES 9u
#define N_RUNS 2u
#define N_NAMES 2u // analyses of a policy
#define N_PAGES 3u
#define STEPS 80u
#define FEW 300u  // histories of the fixed seed that every build and run tries
#define ALL 3000u // and those of SHOAL_LONG
#define ANSWERS_MAX 4096u
#define SEEN_MAX 256u
#define FIRST_DAY 20000u

static shoal_recipe recipes[N_RECIPES], runs[N_RUNS];
static uint64_t analysis_eps[N_NAMES];
static const char *const names[N_NAMES] = {"keyboard", "music"};

static uint64_t state; // splitmix64

static uint32_t below(uint32_t n)
{
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((x ^ x >> 31) >> 32) % n;
}

// The search for a recipe's epsilon takes longer than everything else here, so it is done once for
// each recipe. The program is linked with --wrap=shoal_recipe_epsilon.
static uint32_t known_eps[N_RECIPES + N_RUNS];

shoal_err __real_shoal_recipe_epsilon(uint32_t *eps_micro, const shoal_recipe *recipe);
shoal_err __wrap_shoal_recipe_epsilon(uint32_t *eps_micro, const shoal_recipe *recipe);

shoal_err __wrap_shoal_recipe_epsilon(uint32_t *eps_micro, const shoal_recipe *recipe)
{
    bool is_run = recipe->epochs > 0;
    uint32_t *known =
        &known_eps[is_run ? N_RECIPES + (size_t)(recipe - runs) : (size_t)(recipe - recipes)];
    if (*known == 0) CHECK(__real_shoal_recipe_epsilon(known, recipe) == SHOAL_OK);
    *eps_micro = *known;
    return SHOAL_OK;
}

// ---- what pages may ask ----

// Recipes of three accounts; several share each.
static void make_recipes(void)
{
    char name[16];
    memset(known_eps, 0, sizeof known_eps);
    for (uint32_t i = 0; i < N_RECIPES; i++) {
        shoal_builder_init(&building);
        snprintf(name, sizeof name, "a%u", i % 3);
        CHECK(set_text("recipe", "r") == SHOAL_OK && set_text("analysis", name) == SHOAL_OK);
        CHECK(set_text("stream", "s") == SHOAL_OK && set_text("value", "item") == SHOAL_OK);
        CHECK(set_text("mechanism", "onehot-asymmetric") == SHOAL_OK);
        CHECK(set_int("parameters.size", 8 + i) == SHOAL_OK);
        CHECK(set_micro("parameters.epsilon", 100000 * (1 + (int64_t)below(40))) == SHOAL_OK);
        CHECK(set_int("limit.per_day", 1 + below(4)) == SHOAL_OK);
        CHECK(set_text("expires", "2030-01-01") == SHOAL_OK);
        CHECK(set_text("send.fresh", below(3) == 0 ? "wait" : "allow") == SHOAL_OK);
        CHECK(finish_recipe(&recipes[i]) == SHOAL_OK);
    }
    // Of a run the ledger reads its epochs, its hash, its account and its epsilon.
    for (uint32_t i = 0; i < N_RUNS; i++) {
        runs[i] = recipes[i];
        runs[i].epochs = 8;
        runs[i].cost_micro += 1000000; // all of the run, which is more than a report
        runs[i].per_day = 1;
        runs[i].fresh = SHOAL_FRESH_ALLOW;
        memset(runs[i].run_hash, 40 + (int)i, sizeof runs[i].run_hash);
        runs[i].analysis.len = 4;
        snprintf(runs[i].analysis.bytes, sizeof runs[i].analysis.bytes, "run%u", i);
    }
    for (uint32_t i = 0; i < N_NAMES; i++) analysis_eps[i] = 500000 * (1 + (uint64_t)below(8));
}

// The analyses of a policy, without the policy.
static void add_analysis(shoal_recipe_set *set, uint32_t i)
{
    shoal_set_member *member = &set->members[set->n_members++];
    *member = (shoal_set_member){
        .kind = SHOAL_ACCOUNT_ANALYSIS, .eps_micro = analysis_eps[i], .last_day = UINT32_MAX};
    shoal_account_key(member->key, SHOAL_ACCOUNT_ANALYSIS, names[i], strlen(names[i]));
    memcpy(member->hash, member->key, sizeof member->key);
    set->n_analyses++;
}

typedef struct page {
    shoal_recipe_set set;
    bool has[N_RECIPES], has_run[N_RUNS], has_analysis[N_NAMES];
} page;

static page pages[N_PAGES];

static uint32_t free_eighths; // how often a page has no budget

static void make_page(page *p, bool may_be_free)
{
    memset(p, 0, sizeof *p);
    shoal_set_init(&p->set);
    for (uint32_t i = 0; i < N_RECIPES; i++)
        if ((p->has[i] = below(2))) CHECK(shoal_set_add_recipe(&p->set, &recipes[i]) == SHOAL_OK);
    for (uint32_t i = 0; i < N_RUNS; i++) p->has_run[i] = below(3) == 0;
    for (uint32_t i = 0; i < N_NAMES; i++) p->has_analysis[i] = below(3) == 0;
    if (may_be_free && below(4) == 0)
        return; // a page without a budget names neither runs nor policy in its set
    uint64_t eps_micro = below(3) == 0 ? 200000000 : 1000000 * (1 + (uint64_t)below(60));
    CHECK(shoal_set_budget(&p->set, eps_micro, 1 + below(9)) == SHOAL_OK);
    for (uint32_t i = 0; i < N_RUNS; i++)
        if (p->has_run[i]) CHECK(shoal_set_add_recipe(&p->set, &runs[i]) == SHOAL_OK);
    for (uint32_t i = 0; i < N_NAMES; i++)
        if (p->has_analysis[i]) add_analysis(&p->set, i);
}

// ---- the oracle ----

typedef struct answer {
    uint32_t day;
    uint64_t eps_micro;
} answer;

typedef struct device {
    uint8_t ledger[SHOAL_LEDGER_SIZE_MAX];
    size_t len;
    answer answers[ANSWERS_MAX]; // of a run: one, on the day of its newest epoch
    uint32_t n_answers;
    uint32_t run_answer[N_RUNS]; // index of a run's answer + 1, or 0
    bool has_left[N_RUNS];       // erased after it was debited
    uint64_t of_analysis[N_NAMES];
} device;

typedef struct seen_cap {
    uint64_t eps_micro;
    uint32_t days, last; // the last day on which a page stated it
} seen_cap;

static device devices[2];
static seen_cap seen[SEEN_MAX];
static uint32_t n_seen, newest; // the latest day on which a page opened
static uint32_t n_capped, n_free, n_refused, n_compared;

static bool is_capped_on(uint32_t day)
{
    for (uint32_t i = 0; i < n_seen; i++)
        if (seen[i].last + seen[i].days > day) return true;
    return false;
}

static bool is_capped(void)
{
    return is_capped_on(newest);
}

// Adds an answer and checks the window of every cap that holds.
static uint32_t add_answer(device *d, uint32_t at, uint64_t eps_micro)
{
    if (at == d->n_answers) {
        if (++d->n_answers > ANSWERS_MAX) abort();
        d->answers[at].eps_micro = eps_micro;
    }
    d->answers[at].day = newest;
    *(is_capped() ? &n_capped : &n_free) += 1;
    for (uint32_t i = 0; i < n_seen; i++) {
        uint64_t sum = 0;
        if (seen[i].last + seen[i].days <= newest) continue;
        for (uint32_t j = 0; j < d->n_answers; j++)
            if (d->answers[j].day + seen[i].days > newest) sum += d->answers[j].eps_micro;
        CHECK(sum <= seen[i].eps_micro);
    }
    return at;
}

// ---- one step of a device ----

static void answer_recipe(device *d, const shoal_recipe *recipe, uint32_t reports, uint32_t clock)
{
    uint32_t eps = 0;
    CHECK(shoal_recipe_epsilon(&eps, recipe) == SHOAL_OK);
    shoal_err err =
        shoal_ledger_debit_reports(d->ledger, &d->len, sizeof d->ledger, recipe, reports, clock);
    CHECK(err == SHOAL_OK || err == SHOAL_ERR_CAP || err == SHOAL_ERR_BUDGET ||
          err == SHOAL_ERR_FRESH);
    if (err == SHOAL_OK) add_answer(d, d->n_answers, (uint64_t)reports * eps);
}

static void answer_run(device *d, uint32_t i, uint32_t clock)
{
    uint32_t eps = runs[i].cost_micro, *at = &d->run_answer[i];
    if (d->has_left[i]) return;
    shoal_err err = *at == 0
                        ? shoal_ledger_debit(d->ledger, &d->len, sizeof d->ledger, &runs[i], clock)
                        : shoal_ledger_go_on(d->ledger, &d->len, sizeof d->ledger, &runs[i], clock);
    if (err == SHOAL_OK) *at = add_answer(d, *at == 0 ? d->n_answers : *at - 1, eps) + 1;
}

static void answer_query(device *d, uint32_t i, uint32_t clock)
{
    uint64_t eps = analysis_eps[i] / 4;
    if (d->of_analysis[i] + eps > analysis_eps[i]) return; // the accountant's part
    if (shoal_ledger_charge(d->ledger, &d->len, sizeof d->ledger, SHOAL_ACCOUNT_ANALYSIS, names[i],
                            strlen(names[i]), 1, eps, clock) != SHOAL_OK)
        return;
    d->of_analysis[i] += eps;
    add_answer(d, d->n_answers, eps);
}

static void erase(device *d, uint32_t clock)
{
    CHECK(shoal_ledger_erase(d->ledger, &d->len, sizeof d->ledger, clock) == SHOAL_OK);
    for (uint32_t i = 0; i < N_RUNS; i++) d->has_left[i] |= d->run_answer[i] > 0;
}

// ---- histories ----

// Compares what a cap refuses.
static void compare(uint32_t clock)
{
    for (uint32_t i = 0; i < N_RECIPES; i++) {
        shoal_err errs[2];
        for (uint32_t d = 0; d < 2; d++)
            errs[d] = shoal_ledger_allows(devices[d].ledger, devices[d].len, &recipes[i], clock);
        CHECK((errs[0] == SHOAL_ERR_CAP) == (errs[1] == SHOAL_ERR_CAP));
        CHECK(errs[0] == errs[1] || errs[0] == SHOAL_ERR_BUDGET || errs[1] == SHOAL_ERR_BUDGET);
        n_compared++;
        n_refused += errs[0] == SHOAL_ERR_CAP;
    }
    shoal_ledger_cap caps[2] = {{0}};
    for (uint32_t d = 0; d < 2; d++) {
        shoal_err err = shoal_ledger_cap_at(&caps[d], devices[d].ledger, devices[d].len, 0, clock);
        CHECK(err == SHOAL_OK || !is_capped()); // seventeen caps may hold longer than each would
    }
    CHECK(caps[0].used_micro == caps[1].used_micro);
}

static void open_page(const page *p, uint32_t clock)
{
    for (uint32_t d = 0; d < 2; d++)
        CHECK(shoal_ledger_reserve(devices[d].ledger, &devices[d].len, sizeof devices[d].ledger,
                                   &p->set, clock) == SHOAL_OK);
    if (clock > newest) newest = clock;
    if (p->set.days > 0) {
        if (n_seen == SEEN_MAX) abort();
        seen[n_seen++] = (seen_cap){p->set.eps_micro, p->set.days, newest};
    }
    compare(clock);
}

// Whether runs and queries come to one device only. Without a cap they are not reserved, and count
// as they come, so there they come to both alike, as a server asks everybody.
static bool is_asked_apart;

// The events of a page.
static void live(const page *p, uint32_t clock)
{
    for (uint32_t d = 0; d < 2; d++)
        for (uint32_t i = 0; i < N_RECIPES; i++)
            if (p->has[i] && below(3) == d)
                answer_recipe(&devices[d], &recipes[i],
                              below(3) == 0 ? recipes[i].per_day : 1 + below(2), clock);
    for (uint32_t i = 0; i < N_RUNS; i++) {
        bool all = below(2);
        for (uint32_t d = 0; d < 2 && p->has_run[i]; d++)
            if (is_asked_apart ? below(2) : all) answer_run(&devices[d], i, clock);
    }
    for (uint32_t i = 0; i < N_NAMES; i++) {
        bool all = below(2);
        for (uint32_t d = 0; d < 2 && p->has_analysis[i]; d++)
            if (is_asked_apart ? below(2) : all) answer_query(&devices[d], i, clock);
    }
}

// A ledger that version 1 wrote: one entry of the first recipe's account.
static void start_old(device *d)
{
    uint8_t *p = d->ledger;
    memcpy(p, "shoalled", 8);
    store32_le(p + 8, 1);
    store32_le(p + 12, 1);
    store32_le(p + 16, FIRST_DAY - 2);
    store32_le(p + 20, FIRST_DAY - 1);
    shoal_account_key_of(p + 24, &recipes[0]);
    store32_le(p + 40, FIRST_DAY - 1);
    store32_le(p + 44, 1);
    store64_le(p + 48, 700000);
    store64_le(p + 56, shoal_checksum_of(p, 56));
    d->len = 64;
    d->answers[d->n_answers++] = (answer){FIRST_DAY - 1, 700000};
}

static void history(void)
{
    uint32_t real = FIRST_DAY, back = 0;
    bool is_old = below(2);
    is_asked_apart = below(2);
    free_eighths = 1 + below(8);
    n_seen = 0;
    newest = 0;
    for (uint32_t i = 0; i < N_PAGES; i++) make_page(&pages[i], !is_asked_apart);
    for (uint32_t d = 0; d < 2; d++) {
        memset(&devices[d].n_answers, 0, sizeof devices[d] - offsetof(device, n_answers));
        if (is_old)
            start_old(&devices[d]);
        else
            CHECK(shoal_ledger_init(devices[d].ledger, sizeof devices[d].ledger, &devices[d].len,
                                    real) == SHOAL_OK);
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        const page *p = &pages[below(N_PAGES)];
        real += below(3) == 0 ? below(3) : 0;
        if (below(12) == 0) back = below(2) ? 0 : below(20); // a clock set back, and right again
        if (below(10) == 0) make_page(&pages[below(N_PAGES)], !is_asked_apart);
        if (below(8) == 0 && is_capped_on(real)) live(p, real); // a page open over midnight
        open_page(p, real - back);
        for (uint32_t n = below(3); n-- > 0;) live(p, real - back);
        if (below(30) == 0) {
            for (uint32_t d = 0; d < 2; d++) erase(&devices[d], real - back);
            // A cap in force stays so from the day of erasure, the only day that remains.
            for (uint32_t i = 0; i < n_seen; i++)
                if (seen[i].last + seen[i].days > newest) seen[i].last = newest;
            compare(real - back);
        }
    }
}

static uint64_t digest; // of the ledgers that the histories left

// New recipes now and then, since making them costs more than a history.
static void histories(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i % 50 == 0) make_recipes();
        history();
        for (uint32_t d = 0; d < 2; d++)
            digest = digest * 31 + shoal_checksum_of(devices[d].ledger, devices[d].len);
    }
}

int main(void)
{
    uint64_t fresh = (uint64_t)time(NULL);
    state = 18;
    histories(FEW);
    // The bytes of all builds are the same.
    CHECK(digest == 0xbcfee0aa99e7f1f9u);
    if (effort_is_long()) {
        histories(ALL - FEW);
        CHECK(digest == 0x4dbea73d7f23610cu);
    }
    printf("fresh seed %llu\n", (unsigned long long)fresh);
    state = fresh;
    histories(effort(1000, 200, 100));
    printf("%u answers under a cap, %u without, %u of %u refused by a cap\n", n_capped, n_free,
           n_refused, n_compared);
    const uint32_t scale = effort_is_long() ? 1 : 10;
    CHECK(n_capped > 20000 / scale && n_free > 5000 / scale);
    CHECK(n_refused > 20000 / scale && n_compared - n_refused > 20000 / scale);
    return check_summary();
}
