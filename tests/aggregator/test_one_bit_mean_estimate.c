// SPDX-License-Identifier: Apache-2.0
// The law of a mean estimated from one-bit reports, on fixed seeds: bias, variance against the papers' formula, coverage; then
// what a few equal answers give. Devices draw their numbers afresh in every trial, as the stated variance has it.
#include "agg_test.h"

#include <math.h>

#include "estimate.h"

#define LOW (-20.0)
#define HIGH 60.0
#define DEVICES 1500u
#define TRIALS 600u

typedef struct population {
    const char *what;
    double epsilon;
    double fraction; // its mean, as a fraction of the range
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

static double half(double u)
{
    (void)u;
    return 0.5;
}

static const population populations[] = {
    {"squares", 0.5, 1.0 / 3, squared},
    {"squares", 4, 1.0 / 3, squared},
    {"ends", 8, 0.125, one_of_eight_at_the_top},
    {"ends", 1, 0.125, one_of_eight_at_the_top},
    {"one number", 2, 0.5, half},
};

static void mean_recipe(agg_recipe *recipe, double epsilon)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"recipe\":\"mean\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"number\",\"mechanism\":\"one-bit-mean\","
        "\"parameters\":{\"epsilon\":%g,\"low\":%g,\"high\":%g},\"limit\":{\"per_day\":1},"
        "\"cohort\":{\"minimum\":1},\"expires\":\"2030-01-01\"}",
        epsilon, LOW, HIGH);
    read_recipe(recipe, text);
}

static double uniform(shoal_rng *rng)
{
    return (double)(shoal_rng_u64(rng) >> 11) * 0x1p-53;
}

static void fold_devices(agg_accumulator *acc, const agg_recipe *recipe, const population *p, unsigned trial)
{
    uint8_t seed[32] = {4, (uint8_t)trial, (uint8_t)(trial >> 8), (uint8_t)p->what[0]};
    static uint8_t records[DEVICES];
    agg_error error;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < DEVICES; i++) {
        double number = LOW + p->draw(uniform(&rng)) * (HIGH - LOW);
        uint64_t item = shoal_recipe_number_item(&recipe->recipe, (int64_t)llround(number * 1e6));
        assert_ok(shoal_record_randomize(records + i, &recipe->recipe, &item, 1, NULL, &rng));
    }
    assert_ok(agg_accumulator_init(acc, &error, &recipe->recipe));
    assert_ok(agg_accumulator_add(acc, &error, records, DEVICES, 1));
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
    assert_int_equal(row.value.len, 4);
    assert_memory_equal(row.value.bytes, "mean", 4);
    agg_estimate_release(&estimate);
    agg_dictionary_release(&dictionary);
    return row;
}

static void check_population(const population *p)
{
    double e = exp(p->epsilon), v = (p->fraction * (e - 1) + 1) / (e + 1), mean = LOW + p->fraction * (HIGH - LOW);
    double sd = (HIGH - LOW) * (e + 1) / (e - 1) * sqrt(v * (1 - v) / DEVICES);
    double off = 0, square = 0, stated = 0, covered = 0;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
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
    // Standard errors over 600 independent trials: of the mean error 1/sqrt(600) = 0.041, of the mean square sqrt(2/600) = 0.058,
    // of the coverage sqrt(0.95 * 0.05 / 600) = 0.009; 4 of each. The stated error moves by less than 5 % in a trial, either way.
    if (fabs(off) > 4 * 0.041) fail_msg("%s, epsilon %g: mean error is %g sigma", p->what, p->epsilon, off);
    if (fabs(square - 1) > 4 * 0.058) fail_msg("%s, epsilon %g: mean square is %g", p->what, p->epsilon, square);
    if (fabs(stated - 1) > 0.01) fail_msg("%s, epsilon %g: stated error is %g", p->what, p->epsilon, stated);
    if (fabs(covered - 0.95) > 4 * 0.009) fail_msg("%s, epsilon %g: coverage is %g", p->what, p->epsilon, covered);
}

static void means_follow_their_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof populations / sizeof populations[0]; i++) check_population(&populations[i]);
}

// Equal answers are no certainty: the error is that of a population at the end of the range.
static void equal_answers_have_an_error(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_error error;
    const uint8_t records[4] = {1, 1, 1, 1};
    double e = exp(2), q = 1 / (e + 1);
    (void)state;
    mean_recipe(&recipe, 2);
    assert_ok(agg_accumulator_init(&acc, &error, &recipe.recipe));
    assert_ok(agg_accumulator_add(&acc, &error, records, 4, 1));
    agg_estimate_row row = estimate_mean(&recipe, &acc);
    double expected = (HIGH - LOW) / (1 - 2 * q) * sqrt(q * (1 - q) / 4);
    assert_true(fabs(row.stderr_ - expected) < 1e-9 * expected);
    assert_true(fabs(row.count - (LOW + (HIGH - LOW) * (1 - q) / (1 - 2 * q))) < 1e-9); // beyond the range, as it comes
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_follow_their_law),
        cmocka_unit_test(equal_answers_have_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
