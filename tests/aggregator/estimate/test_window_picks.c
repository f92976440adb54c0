// SPDX-License-Identifier: Apache-2.0
// The variance of picking against the law of picks, which is enumerated: kinds of windows, the
// slots that report, and what each of them picks. No randomness.
#include "agg_test.h"

#include <math.h>

#include "recipe.h"
#include "window_picks.h"

// A kind of windows: its frequency in the crowd, and the share of the value among its events.
typedef struct kind {
    double frequency, share;
} kind;

static double choose(unsigned n, unsigned k)
{
    double ways = 1;
    for (unsigned i = 0; i < k; i++) ways = ways * (n - i) / (i + 1);
    return ways;
}

// Computes mean and variance of one window's picks of the value, beyond what its reports explain:
// the variance of (picks - p * reports), and the mean number of reports.
static void law_of(double *variance, double *reports, const kind *kinds, size_t n, unsigned r,
                   double c, double p)
{
    *variance = *reports = 0;
    for (size_t k = 0; k < n; k++)
        for (unsigned m = 0; m <= r; m++)
            for (unsigned x = 0; x <= m; x++) {
                double chance = kinds[k].frequency * choose(r, m) * pow(c, m) * pow(1 - c, r - m) *
                                choose(m, x) * pow(kinds[k].share, x) *
                                pow(1 - kinds[k].share, m - x);
                *variance += chance * (x - p * m) * (x - p * m);
                *reports += chance * m;
            }
}

static double mean_share(const kind *kinds, size_t n)
{
    double p = 0;
    for (size_t k = 0; k < n; k++) p += kinds[k].frequency * kinds[k].share;
    return p;
}

static void set_recipe(shoal_recipe *recipe, unsigned r, double c)
{
    memset(recipe, 0, sizeof *recipe);
    recipe->pick = SHOAL_PICK_UNIFORM;
    recipe->window = SHOAL_WINDOW_DAY;
    recipe->per_day = r;
    recipe->sample_micro = (uint32_t)(c * 1e6);
    recipe->n_parts = 1;
    recipe->parts[0].domain = SHOAL_DOMAIN_CLOSED;
}

static const kind one_value[] = {{0.7, 0}, {0.3, 1}};
static const kind several[] = {{0.6, 0}, {0.2, 1}, {0.15, 0.5}, {0.05, 0.1}};
static const kind alike[] = {{1, 0.25}};

// Returns: the stated variance over that of the law, for a million windows.
static double ratio(const kind *kinds, size_t n, unsigned r, double c)
{
    shoal_recipe recipe;
    double p = mean_share(kinds, n), variance, reports;
    set_recipe(&recipe, r, c);
    law_of(&variance, &reports, kinds, n, r, c, p);
    return agg_picks_variance(&recipe, 1e6 * reports, 1e6 * reports * p) / (1e6 * variance);
}

#define COUNT(kinds) (sizeof(kinds) / sizeof(kinds)[0])

static void it_is_exact_with_one_report_whatever_windows_hold(void **state)
{
    (void)state;
    for (double c = 1; c > 0.2; c -= 0.25) {
        assert_true(fabs(ratio(one_value, COUNT(one_value), 1, c) - 1) < 1e-9);
        assert_true(fabs(ratio(several, COUNT(several), 1, c) - 1) < 1e-9);
        assert_true(fabs(ratio(alike, COUNT(alike), 1, c) - 1) < 1e-9);
    }
}

static void it_is_exact_for_windows_of_one_value(void **state)
{
    (void)state;
    for (unsigned r = 1; r <= 4; r++)
        for (double c = 1; c > 0.2; c -= 0.25)
            assert_true(fabs(ratio(one_value, COUNT(one_value), r, c) - 1) < 1e-9);
}

// rho of `several`: E s^2 = 0.238, p = 0.28.
static void it_is_an_upper_bound_elsewhere(void **state)
{
    double rho = (0.238 - 0.28 * 0.28) / (0.28 * 0.72);
    (void)state;
    for (unsigned r = 2; r <= 4; r++) {
        assert_true(fabs(ratio(several, COUNT(several), r, 1) - r / (1 + (r - 1) * rho)) < 1e-9);
        assert_true(fabs(ratio(alike, COUNT(alike), r, 1) - r) < 1e-9);
    }
}

static void it_covers_these_very_windows(void **state)
{
    shoal_recipe recipe;
    (void)state;
    for (unsigned r = 1; r <= 3; r++) {
        double given = 0, n = 1e4 * r; // 10^4 windows in the proportions of `several`
        set_recipe(&recipe, r, 1);
        for (size_t k = 0; k < COUNT(several); k++)
            given += n * several[k].frequency * several[k].share * (1 - several[k].share);
        assert_true(given <= agg_picks_variance(&recipe, n, n * 0.28) / r);
    }
}

static void counts_are_widened_and_scores_stay(void **state)
{
    shoal_recipe recipe;
    agg_count counts[3] = {{.count = 400, .stderr_ = 30, .null_error = 20, .score = 7},
                           {.count = -50, .stderr_ = 20, .null_error = 20, .score = -2},
                           {.count = 1500, .stderr_ = 40, .null_error = 20, .score = 70}};
    (void)state;
    set_recipe(&recipe, 3, 0.5); // D = 2
    agg_picks_widen(counts, 3, &recipe, 1000);
    assert_true(fabs(counts[0].stderr_ - sqrt(900 + 2 * 240.0)) < 1e-9);
    assert_true(counts[1].stderr_ == 20 && counts[2].stderr_ == 40); // shares of 0 and 1
    assert_true(counts[0].score == 7 && counts[0].null_error == 20 && counts[0].count == 400);
    recipe.pick = SHOAL_PICK_FIRST;
    counts[0].stderr_ = 30;
    agg_picks_widen(counts, 3, &recipe, 1000);
    assert_true(counts[0].stderr_ == 30);
}

// The stated error of a mean has the drawing of people in it already.
static void means_add_the_slots_alone(void **state)
{
    shoal_recipe recipe;
    agg_count mean = {.count = 0.25, .stderr_ = 0.01, .null_error = 0.01};
    (void)state;
    set_recipe(&recipe, 1, 1);
    recipe.parts[0].domain = SHOAL_DOMAIN_NUMBER;
    agg_picks_widen(&mean, 1, &recipe, 1000);
    assert_true(fabs(mean.stderr_ - 0.01) < 1e-15);
    recipe.per_day = 3;
    agg_picks_widen(&mean, 1, &recipe, 1000);
    assert_true(fabs(mean.stderr_ - sqrt(1e-4 + 2 * 0.1875 / 1000)) < 1e-12);
}

static void what_results_say(void **state)
{
    shoal_recipe recipe;
    char note[AGG_PICKS_NOTE_MAX];
    (void)state;
    set_recipe(&recipe, 1, 1);
    assert_string_equal(agg_picks_unit(&recipe), "windows");
    assert_true(agg_picks_note(note, &recipe, 0));
    assert_non_null(strstr(note, "days of a person"));
    assert_false(agg_picks_note(note, &recipe, 1));
    recipe.per_day = 2;
    assert_true(agg_picks_note(note, &recipe, 1));
    assert_non_null(strstr(note, "2 reports"));
    recipe.window = SHOAL_WINDOW_VISIT;
    assert_true(agg_picks_note(note, &recipe, 0));
    assert_non_null(strstr(note, "visits"));
    recipe.pick = SHOAL_PICK_FIRST;
    assert_string_equal(agg_picks_unit(&recipe), "reports");
    assert_false(agg_picks_note(note, &recipe, 0));
    assert_true(agg_picks_design(&recipe) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_exact_with_one_report_whatever_windows_hold),
        cmocka_unit_test(it_is_exact_for_windows_of_one_value),
        cmocka_unit_test(it_is_an_upper_bound_elsewhere),
        cmocka_unit_test(it_covers_these_very_windows),
        cmocka_unit_test(counts_are_widened_and_scores_stay),
        cmocka_unit_test(means_add_the_slots_alone),
        cmocka_unit_test(what_results_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
