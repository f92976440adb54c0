// SPDX-License-Identifier: Apache-2.0
// The law of a mean estimated from piecewise reports, on fixed seeds: bias, variance, coverage; the
// law of one report in sums over all answers; what a few equal answers give. Devices draw their
// numbers afresh in every trial, as the stated variance has it.
#include "agg_test.h"

#include <math.h>

#include "account.h"
#include "bytes.h"
#include "domain_dictionary.h"
#include "estimate.h"
#include "estimator.h"
#include "piecewise.h"
#include "piecewise_law.h"

#define LOW (-20.0)
#define HIGH 60.0
#define DEVICES 1500u
#define TRIALS 600u

typedef struct population {
    const char *what;
    double epsilon;
    double fraction, spread; // mean and variance of its numbers, as fractions of the range
    double (*draw)(double uniform);
} population;

static double squared(double u)
{
    return u * u;
}

static double one_of_eight_at_the_top(double u)
{
    return u < 0.125 ? 1 : 0;
}

static double between_positions(double u)
{
    (void)u;
    return 0.3125 + 0.5 / 256;
}

static const population populations[] = {
    {"squares", 0.5, 1.0 / 3, 4.0 / 45, squared},
    {"squares", 4, 1.0 / 3, 4.0 / 45, squared},
    {"ends", 8, 0.125, 7.0 / 64, one_of_eight_at_the_top},
    {"ends", 1, 0.125, 7.0 / 64, one_of_eight_at_the_top},
    {"one number", 2, 0.3125 + 0.5 / 256, 0, between_positions},
    {"one number", 8, 0.3125 + 0.5 / 256, 0, between_positions},
};

static void mean_recipe(agg_recipe *recipe, double epsilon)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"mean\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"number\","
             "\"mechanism\":\"piecewise\","
             "\"parameters\":{\"epsilon\":%g,\"low\":%g,\"high\":%g},\"limit\":{\"per_day\":1},"
             "\"cohort\":{\"minimum\":1},\"expires\":\"2030-01-01\"}",
             epsilon, LOW, HIGH);
    read_recipe(recipe, text);
}

static agg_place_law law_of(double epsilon)
{
    shoal_part part = {.mechanism = shoal_piecewise_id,
                       .domain = SHOAL_DOMAIN_NUMBER,
                       .eps_micro = (uint32_t)lround(epsilon * 1e6)};
    agg_place_law law;
    const char *field;
    assert_ok(shoal_part_prepare(&part, &field));
    agg_piecewise_law_of(&law, &part);
    return law;
}

static double uniform(shoal_rng *rng)
{
    return (double)(shoal_rng_u64(rng) >> 11) * 0x1p-53;
}

static void fold_devices(agg_accumulator *acc, const agg_recipe *recipe, const population *p,
                         unsigned trial)
{
    uint8_t seed[32] = {17, (uint8_t)trial, (uint8_t)(trial >> 8), (uint8_t)p->what[0]};
    static uint8_t records[DEVICES][4];
    agg_error error;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < DEVICES; i++) {
        double number = LOW + p->draw(uniform(&rng)) * (HIGH - LOW);
        uint64_t item = shoal_recipe_number_item(recipe->recipe, (int64_t)llround(number * 1e6));
        assert_ok(shoal_record_randomize(records[i], recipe->recipe, &item, 1, NULL, &rng));
    }
    assert_ok(agg_accumulator_init(acc, &error, recipe->recipe));
    assert_ok(agg_accumulator_add(acc, &error, records[0], DEVICES, 1));
}

// The one row of a mean.
static agg_estimate_row estimate_mean(const agg_recipe *recipe, const agg_accumulator *acc)
{
    agg_dictionary dictionary;
    agg_estimate estimate;
    agg_error error;
    agg_estimate_options options = {.n_threads = 1};
    assert_ok(agg_dictionary_of_recipe(&dictionary, &error, recipe));
    assert_ok(agg_estimate_run(&estimate, &error, recipe, acc, &dictionary, &options));
    assert_int_equal(estimate.n_rows, 1);
    assert_string_equal(estimate.statistic, "mean");
    agg_estimate_row row = estimate.rows[0];
    agg_estimate_release(&estimate);
    agg_dictionary_release(&dictionary);
    return row;
}

static void check_population(const population *p)
{
    agg_place_law law = law_of(p->epsilon);
    double mean = LOW + p->fraction * (HIGH - LOW), noise = 0, cells = 4096;
    for (double i = 0; i < cells; i++)
        noise += agg_place_variance(&law, p->draw((i + 0.5) / cells)) / cells;
    double sd = (HIGH - LOW) * sqrt((noise + p->spread) / DEVICES);
    double off = 0, square = 0, stated = 0, covered = 0;
    const uint32_t n_trials = effort(TRIALS, TRIALS, 2);
    for (unsigned trial = 0; trial < n_trials; trial++) {
        agg_recipe recipe;
        agg_accumulator acc;
        mean_recipe(&recipe, p->epsilon);
        fold_devices(&acc, &recipe, p, trial);
        agg_estimate_row row = estimate_mean(&recipe, &acc);
        off += (row.count - mean) / sd / TRIALS;
        square += (row.count - mean) * (row.count - mean) / (sd * sd) / TRIALS;
        stated += row.stderr_ / sd / TRIALS;
        covered += row.low <= mean && mean <= row.high ? 1.0 / TRIALS : 0;
        agg_accumulator_release(&acc);
        agg_recipe_release(&recipe);
    }
    if (n_trials < TRIALS) return; // too few to judge
    // Standard errors over 600 independent trials: of the mean error 1/sqrt(600) = 0.041, of the
    // mean square sqrt(2/600) = 0.058, of the coverage sqrt(0.95 * 0.05 / 600) = 0.009; 4 of each.
    // The stated error moves by less than 8 % in a trial, its mean by 0.003; for a crowd of one
    // number the larger of two variances is too large by 0.4 of what it moves by.
    if (fabs(off) > 4 * 0.041)
        fail_msg("%s, epsilon %g: mean error is %g sigma", p->what, p->epsilon, off);
    if (fabs(square - 1) > 4 * 0.058)
        fail_msg("%s, epsilon %g: mean square is %g", p->what, p->epsilon, square);
    if (stated < 0.99 || stated > (p->spread > 0 ? 1.01 : 1.04))
        fail_msg("%s, epsilon %g: stated error is %g", p->what, p->epsilon, stated);
    if (fabs(covered - 0.95) > 4 * 0.009)
        fail_msg("%s, epsilon %g: coverage is %g", p->what, p->epsilon, covered);
}

static void means_follow_their_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof populations / sizeof populations[0]; i++)
        check_population(&populations[i]);
}

// One report: probabilities add up to 1, its worth is right on average, and the variance in closed
// form is that of the sums over all answers.
static void one_report_is_worth_its_number(void **state)
{
    const double epsilons[] = {0.01, 0.6, 0.7, 1, 2, 4, 8, 12, 16};
    const double fractions[] = {0, 0.001, 1.0 / 256, 0.3, 0.5, 0.75 + 0.3 / 256, 1};
    (void)state;
    for (size_t e = 0; e < sizeof epsilons / sizeof epsilons[0]; e++) {
        agg_place_law law = law_of(epsilons[e]);
        for (size_t f = 0; f < sizeof fractions / sizeof fractions[0]; f++) {
            double total = 0, mean = 0, square = 0, u = fractions[f];
            for (uint32_t answer = 0; answer < law.places + 2; answer++) {
                double p = agg_place_probability(&law, answer, u),
                       worth = agg_place_worth(&law, answer);
                total += p;
                mean += p * worth;
                square += p * (worth - u) * (worth - u);
            }
            double variance = agg_place_variance(&law, u), scale = fmax(1, variance);
            assert_true(fabs(total - 1) < 1e-12);
            assert_true(fabs(mean - u) < 1e-10 * scale);
            assert_true(fabs(variance - square) < 1e-9 * scale);
            assert_true(variance > 0 || epsilons[e] > 8);
            if (u > 0 && u < 1) // E[z^2] is convex, which the estimator's least variance needs
                assert_true(variance + u * u <= (1 - u) * agg_place_variance(&law, 0) +
                                                    u * (agg_place_variance(&law, 1) + 1) +
                                                    1e-12 * scale);
        }
    }
}

// The standard deviation of one report as a fraction of the range, at the worst number: Wang et al.
// 2019, corollary 1, with p = e^(epsilon/2): ((p + 3)/(3 p (p - 1)) + (p^2 + 1)^2/(p (p^2 -
// 1)^2))/4 is the continuous mechanism's variance. The grid costs at most a thousandth of the
// deviation up to epsilon 6, and nothing at 8.
static void grid_costs_little(void **state)
{
    const double epsilons[] = {0.62, 1, 2, 3, 4, 6, 8};
    const double table[] = {0, 1.036, 0.510, 0, 0.234, 0.133, 0.079};
    (void)state;
    for (size_t e = 0; e < sizeof epsilons / sizeof epsilons[0]; e++) {
        agg_place_law law = law_of(epsilons[e]);
        double p = exp(epsilons[e] / 2), worst = 0;
        double continuous = sqrt((p + 3) / (3 * p * (p - 1)) +
                                 (p * p + 1) * (p * p + 1) / (p * (p * p - 1) * (p * p - 1))) /
                            2;
        for (double u = 0; u <= 1; u += 1.0 / 4096)
            worst = fmax(worst, sqrt(agg_place_variance(&law, u)));
        if (worst > continuous * 1.001)
            fail_msg("epsilon %g: %g instead of %g", epsilons[e], worst, continuous);
        if (table[e] > 0) assert_true(fabs(worst - table[e]) < 0.001);
        // The planner looks at the middle of the range.
        assert_true(sqrt(agg_place_variance(&law, 0.5)) > 0.999 * worst);
    }
}

// Equal answers are no certainty: the error is that of the coins.
static void equal_answers_have_an_error(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_error error;
    uint8_t records[4][4];
    agg_place_law law = law_of(2);
    (void)state;
    mean_recipe(&recipe, 2);
    for (int i = 0; i < 4; i++) store32_le(records[i], 7);
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    assert_ok(agg_accumulator_add(&acc, &error, records[0], 4, 1));
    agg_estimate_row row = estimate_mean(&recipe, &acc);
    double worth = agg_place_worth(&law, 7), inside = worth < 0 ? 0 : worth;
    double expected = (HIGH - LOW) * sqrt(agg_place_variance(&law, inside) / 4);
    assert_true(fabs(row.stderr_ - expected) < 1e-9 * expected);
    assert_true(fabs(row.count - (LOW + (HIGH - LOW) * worth)) < 1e-9);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

static void shapes(void **state)
{
    const uint32_t bad[][2] = {{0, 258}, {257, 515}, {35, 292}, {35, 294}};
    agg_sketch sketch;
    agg_error error;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(agg_sketch_init(&sketch, &error,
                                         &(agg_shape){shoal_piecewise_id, bad[i][0], bad[i][1]}),
                         SHOAL_ERR_RANGE);
    assert_ok(agg_sketch_init(&sketch, &error, &(agg_shape){shoal_piecewise_id, 35, 293}));
    assert_int_equal(sketch.n_cells, 293);
    agg_sketch_release(&sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_follow_their_law),
        cmocka_unit_test(one_report_is_worth_its_number),
        cmocka_unit_test(grid_costs_little),
        cmocka_unit_test(equal_answers_have_an_error),
        cmocka_unit_test(shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
