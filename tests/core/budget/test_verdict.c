// SPDX-License-Identifier: Apache-2.0
// Verdicts: the words on both sides of every bound, the odds against the exponential of the C
// library and never below it, and what a report, a window and the life of recipes add up to.
#include "verdict.h"

#include <math.h>
#include <string.h>

#include "builder.h"
#include "check.h"
#include "recipe.h"

static shoal_verdict of(uint64_t micro)
{
    shoal_verdict v;
    memset(&v, 0x5a, sizeof v);
    shoal_verdict_of(&v, micro);
    CHECK(v.eps_micro == micro);
    return v;
}

static void words_change_at_the_bounds(void)
{
    static const struct {
        uint64_t most;
        const char *words, *above;
    } bounds[] = {{1000000, "strong", "moderate"},
                  {2000000, "moderate", "limited"},
                  {4000000, "limited", "weak"},
                  {10000000, "weak", "no meaningful protection"}};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        CHECK(strcmp(shoal_verdict_words(of(bounds[i].most).code), bounds[i].words) == 0);
        CHECK(strcmp(shoal_verdict_words(of(bounds[i].most + 1).code), bounds[i].above) == 0);
    }
    CHECK(of(0).code == SHOAL_VERDICT_STRONG);
    CHECK(of(40000000000u).code == SHOAL_VERDICT_NONE); // epsilon 40,000 a day
    CHECK(of(UINT64_MAX).code == SHOAL_VERDICT_NONE);
}

// The figures are at least the exact ones, and less than one unit above them.
static void figures_round_up(void)
{
    for (uint32_t micro = 1; micro <= 16000000; micro += 997) {
        shoal_verdict v = of(micro);
        double odds = exp(micro / 1e6), right = 10000 / (1 + 1 / odds);
        double unit = 1;
        while (odds * 10 > 1000 * unit) unit *= 10;
        CHECK(v.odds_tenths >= odds * 10 * (1 - 1e-12));
        CHECK(v.odds_tenths < odds * 10 + unit * (1 + 1e-6));
        CHECK(v.right_myriad >= right * (1 - 1e-12) && v.right_myriad < right + 1 + 1e-6);
        if (v.odds_tenths > 1000) CHECK(v.odds_tenths % (uint32_t)unit == 0);
    }
    shoal_verdict none = of(0), four = of(4000000), most = of(16000000), above = of(16000001);
    CHECK(none.odds_tenths == 10 && none.right_myriad == 5000);
    CHECK(four.odds_tenths == 546 && four.right_myriad == 9821); // e^4 = 54.598
    CHECK(most.odds_tenths == 88900000 && most.right_myriad == 10000);
    CHECK(above.odds_tenths == 0 && above.right_myriad == 10000);
}

static uint32_t day_of(const shoal_recipe *r, uint32_t days_left)
{
    return r->expires_day - days_left + 1;
}

static void recipes_add_up(void)
{
    shoal_recipe r = {.cost_micro = 500000, .per_day = 3, .expires_day = 20000, .n_parts = 0};
    shoal_promise p;
    // Without a part nothing is permanent, and the sum of no parts must not be taken for the cost.
    r.n_parts = 1;
    r.parts[0] = (shoal_part){.mechanism = 1, .eps_micro = 500000};
    shoal_promise_of(&p, &r, day_of(&r, 10));
    CHECK(p.report.eps_micro == 500000 && p.report.code == SHOAL_VERDICT_STRONG);
    CHECK(p.window.eps_micro == 1500000 && p.window.code == SHOAL_VERDICT_MODERATE);
    CHECK(p.life.eps_micro == 15000000 && p.life.code == SHOAL_VERDICT_NONE);
    shoal_promise_of(&p, &r, day_of(&r, 1));
    CHECK(p.life.eps_micro == 1500000);
    shoal_promise_of(&p, &r, r.expires_day + 1); // expired: no report is left
    CHECK(p.life.eps_micro == 0 && p.window.eps_micro == 1500000);
    r.version = 1; // a query is answered once
    shoal_promise_of(&p, &r, day_of(&r, 10));
    CHECK(p.window.eps_micro == 500000 && p.life.eps_micro == 500000);
    r.version = 0;
    r.contributions = 4; // a device answers one round of a trie
    shoal_promise_of(&p, &r, day_of(&r, 10));
    CHECK(p.window.eps_micro == 2000000 && p.life.eps_micro == 2000000);
    r.contributions = 0;
    r.epochs = 50; // a run is debited once
    shoal_promise_of(&p, &r, day_of(&r, 10));
    CHECK(p.report.eps_micro == 500000 && p.life.eps_micro == 500000);
    r.epochs = 0;
    r.per_day = 1000000;
    r.cost_micro = r.parts[0].eps_micro = 16000000;
    r.expires_day = UINT32_MAX;
    shoal_promise_of(&p, &r, 0); // the sum would not fit 64 bits
    CHECK(p.life.eps_micro == UINT64_MAX && p.life.code == SHOAL_VERDICT_NONE);
}

// The reports of one value never cost more than the permanent answer.
static void permanent_coins_are_a_limit(void)
{
    shoal_recipe_builder b;
    shoal_recipe r;
    shoal_promise p;
    static const char *const texts[][2] = {
        {"recipe", "r"},
        {"analysis", "a"},
        {"stream", "s"},
        {"value", "word"},
        {"hash", "poly1"},
        {"mechanism", "rappor"},
        {"expires", "2099-12-31"},
        {"seed", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"}};
    static const struct {
        const char *path;
        int64_t micro;
    } numbers[] = {{"parameters.bits", 16000000},   {"parameters.hashes", 2000000},
                   {"parameters.cohorts", 8000000}, {"parameters.p", 500000},
                   {"parameters.q", 750000},        {"parameters.f", 500000},
                   {"limit.per_day", 1000000}};
    shoal_builder_init(&b);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK(shoal_builder_set_string(&b, texts[i][0], strlen(texts[i][0]), texts[i][1],
                                       strlen(texts[i][1])) == SHOAL_OK);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        CHECK(shoal_builder_set_number(&b, numbers[i].path, strlen(numbers[i].path),
                                       numbers[i].micro) == SHOAL_OK);
    CHECK(shoal_builder_finish(&r, &b) == SHOAL_OK);
    double limit = 4 * log(3) * 1e6; // 2 hashes, 2 h ln((1 - f/2)/(f/2)) at f = 1/2
    shoal_promise_of(&p, &r, r.expires_day - 9999);
    CHECK(fabs((double)p.life.eps_micro - limit) < 3);
    CHECK(p.window.eps_micro == r.cost_micro && p.window.eps_micro < p.life.eps_micro);
    shoal_promise_of(&p, &r, r.expires_day);
    CHECK(p.life.eps_micro == r.cost_micro); // one report costs less than the limit
}

int main(void)
{
    words_change_at_the_bounds();
    figures_round_up();
    recipes_add_up();
    permanent_coins_are_a_limit();
    return check_summary();
}
