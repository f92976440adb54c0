// SPDX-License-Identifier: Apache-2.0
// The law of a mean estimated from one-bit reports, on fixed seeds: bias, variance against the
// papers' formula, coverage; then what a few equal answers give. Devices draw their numbers afresh
// in every trial, as the stated variance has it.
#include "agg_test.h"

#include <math.h>

#include "account.h"
#include "bytes.h"
#include "domain_dictionary.h"
#include "estimate.h"
#include "estimator.h"
#include "one_bit_mean.h"

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
    snprintf(text, sizeof text,
             "{\"recipe\":\"mean\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"number\","
             "\"mechanism\":\"one-bit-mean\","
             "\"parameters\":{\"epsilon\":%g,\"low\":%g,\"high\":%g},\"limit\":{\"per_day\":1},"
             "\"cohort\":{\"minimum\":1},\"expires\":\"2030-01-01\"}",
             epsilon, LOW, HIGH);
    read_recipe(recipe, text);
}

static double uniform(shoal_rng *rng)
{
    return (double)(shoal_rng_u64(rng) >> 11) * 0x1p-53;
}

static void fold_devices(agg_accumulator *acc, const agg_recipe *recipe, const population *p,
                         unsigned trial)
{
    uint8_t seed[32] = {4, (uint8_t)trial, (uint8_t)(trial >> 8), (uint8_t)p->what[0]};
    static uint8_t records[DEVICES];
    agg_error error;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < DEVICES; i++) {
        double number = LOW + p->draw(uniform(&rng)) * (HIGH - LOW);
        uint64_t item = shoal_recipe_number_item(recipe->recipe, (int64_t)llround(number * 1e6));
        assert_ok(shoal_record_randomize(records + i, recipe->recipe, &item, 1, NULL, &rng));
    }
    assert_ok(agg_accumulator_init(acc, &error, recipe->recipe));
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
    double e = exp(p->epsilon), v = (p->fraction * (e - 1) + 1) / (e + 1),
           mean = LOW + p->fraction * (HIGH - LOW);
    double sd = (HIGH - LOW) * (e + 1) / (e - 1) * sqrt(v * (1 - v) / DEVICES);
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
    // The stated error moves by less than 5 % in a trial, either way.
    if (fabs(off) > 4 * 0.041)
        fail_msg("%s, epsilon %g: mean error is %g sigma", p->what, p->epsilon, off);
    if (fabs(square - 1) > 4 * 0.058)
        fail_msg("%s, epsilon %g: mean square is %g", p->what, p->epsilon, square);
    if (fabs(stated - 1) > 0.01)
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
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    assert_ok(agg_accumulator_add(&acc, &error, records, 4, 1));
    agg_estimate_row row = estimate_mean(&recipe, &acc);
    double expected = (HIGH - LOW) / (1 - 2 * q) * sqrt(q * (1 - q) / 4);
    assert_true(fabs(row.stderr_ - expected) < 1e-9 * expected);
    assert_true(fabs(row.count - (LOW + (HIGH - LOW) * (1 - q) / (1 - 2 * q))) <
                1e-9); // beyond the range, as it comes
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// One of k means: records of each row, its estimate within 4 of its errors, what a row without
// records says, and what planner and auditor say.
static void rows_are_means(void **state)
{
    enum { K = 64, PER_ROW = 500 };
    shoal_part part = {.mechanism = shoal_one_bit_mean_id,
                       .domain = SHOAL_DOMAIN_NUMBER,
                       .eps_micro = 1000000,
                       .k = K};
    const agg_account *account = agg_account_of(shoal_one_bit_mean_id);
    const agg_sketch_kind *kind = agg_sketch_kind_of(shoal_one_bit_mean_id);
    static uint8_t records[K * PER_ROW][5];
    uint64_t items[K];
    agg_count counts[K];
    agg_sketch sketch;
    agg_error error;
    const char *field;
    uint8_t seed[32] = {71};
    shoal_rng rng;
    double square = 0;
    (void)state;
    shoal_rng_init(&rng, seed);
    assert_ok(shoal_part_prepare(&part, &field));
    assert_ok(agg_sketch_init(&sketch, &error, &(agg_shape){part.mechanism, part.k, part.m}));
    for (uint32_t i = 0; i < K * PER_ROW; i++) {
        uint32_t row = i % (K - 1); // the last has none
        store32_le(records[i], row);
        shoal_one_bit_mean_draw(records[i] + 4, &part, (SHOAL_NUMBER_ONE / K) * row, &rng);
    }
    assert_ok(kind->add(&sketch, &error, records[0], 5, K * PER_ROW, 1));
    for (uint64_t j = 0; j < K; j++) items[j] = j;
    assert_ok(agg_estimator_counts(counts, &error, &part, &sketch, K * PER_ROW, items, K, 1));
    for (uint32_t j = 0; j + 1 < K; j++) {
        double off = (counts[j].count - (double)j / K) / counts[j].stderr_,
               n = K * PER_ROW * (double)K / (K - 1);
        double variance = account->variance(&part, n, n * j / K, 0);
        if (fabs(off) > 4) fail_msg("row %u is off by %g of its errors", j, off);
        // v (1 - v) moves by (1 - 2 v)/sqrt(v (1 - v) n) < 0.05 of itself with each of its errors
        assert_true(fabs(counts[j].stderr_ * counts[j].stderr_ / variance - 1) < 0.2);
        square += off * off / (K - 1);
    }
    assert_true(fabs(square - 1) < 4 * sqrt(2.0 / (K - 1)));
    assert_true(counts[K - 1].count == 0.5 && counts[K - 1].stderr_ == 1);
    items[3] = K;
    assert_int_equal(agg_estimator_counts(counts, &error, &part, &sketch, 9, items, K, 1),
                     SHOAL_ERR_RANGE);
    agg_sketch_release(&sketch);
    assert_int_equal(agg_sketch_init(&sketch, &error, &(agg_shape){part.mechanism, 2, 1}),
                     SHOAL_ERR_RANGE);
    assert_int_equal(agg_sketch_init(&sketch, &error, &(agg_shape){part.mechanism, 1, 2}),
                     SHOAL_ERR_RANGE);
    assert_int_equal(account->n_outputs(&part), 2 * K);
    double total = 0;
    for (uint64_t i = 0; i < 2 * K; i++) {
        uint8_t record[5];
        assert_int_equal(account->output(record, &part, i), 1);
        assert_ok(shoal_mechanism_by_id(part.mechanism)->check(&part, record));
        total += account->probability(&part, record, SHOAL_NUMBER_ONE / 3);
        assert_int_equal(account->tells_apart(&part, record, SHOAL_NUMBER_ONE, 0), record[4]);
    }
    assert_true(fabs(total - 1) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_follow_their_law),
        cmocka_unit_test(equal_answers_have_an_error),
        cmocka_unit_test(rows_are_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
