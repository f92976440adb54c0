// SPDX-License-Identifier: Apache-2.0
// Marginals on fixed seeds: sums of the cells' own counts; stated errors against the spread over
// trials, for buckets with devices and without; scores that are no more than normal where nobody
// is; what is refused.
//
// The mean square error of a bucket over 3,000 trials is known to sqrt(2/3000) = 2.6 %; 12 % is 4.6
// of that. The error of one report in its own cell or the cells' errors added up would miss it: the
// smallest such difference here is 19 %.
#include "agg_test.h"

#include <math.h>

#include "estimator.h"
#include "marginal.h"

#ifndef SEED
#define SEED 21
#endif
#define TRIALS 3000u
#define DEVICES 300u
#define SIZE 24u // 4 buckets of "a", 6 of "b"

typedef struct law {
    const char *mechanism;
    double epsilon;
    double over; // by which the variance of none is stated too large: it takes the larger of two
                 // figures of 20 or 31 reports each
} law;

static const law laws[] = {
    {"onehot-asymmetric", 1, 0}, {"onehot-symmetric", 1, 0}, {"grr", 1, 0}, {"subset", 1, 0},
    {"hadamard", 1, 0},          {"hadamard", 4, 0.08},
};

static void read_query(agg_recipe *recipe, const law *l, const char *encoding, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"q\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\","
             "\"encoding\":[%s],"
             "\"mechanism\":\"%s\",\"parameters\":{\"epsilon\":%g%s},\"limit\":{\"per_day\":1},"
             "\"expires\":\"2030-01-01\"}",
             encoding, l->mechanism, l->epsilon, more);
    read_recipe(recipe, text);
}

#define TWO_FIELDS                                                                                 \
    "{\"field\":\"a\",\"boundaries\":[1,2,3]},{\"field\":\"b\",\"values\":[\"v\",\"w\",\"x\","     \
    "\"y\",\"z\"]}"

// Buckets of a: 0, 60, 90 and 150 devices; of b: 75 in each of the first four, none in the last
// two.
static uint64_t item_of(uint32_t device)
{
    uint32_t a = device < 60 ? 1 : device < 150 ? 2 : 3;
    return a * 6 + device % 4;
}

static double true_count(uint32_t field, uint32_t bucket)
{
    static const double of_a[] = {0, 60, 90, 150}, of_b[] = {75, 75, 75, 75, 0, 0};
    return field == 0 ? of_a[bucket] : of_b[bucket];
}

static void run_trial(agg_accumulator *acc, const agg_recipe *recipe, uint8_t *records,
                      unsigned trial)
{
    uint8_t seed[32] = {SEED, (uint8_t)trial, (uint8_t)(trial >> 8)};
    size_t size = shoal_record_size(recipe->recipe);
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < DEVICES; i++) {
        uint64_t item = item_of(i);
        assert_ok(shoal_record_randomize(records + i * size, recipe->recipe, &item, 1, NULL, &rng));
    }
    read_acc(acc, recipe, records, DEVICES, 1);
}

// What the trials of one bucket add up to.
typedef struct tally {
    double error, square, stated, null, high; // high: scores above 1.645
} tally;

static void check_sums(const agg_count *counts, const agg_recipe *recipe,
                       const agg_accumulator *acc, uint32_t field)
{
    agg_error error;
    agg_count cells[SIZE];
    uint64_t items[SIZE];
    double sums[6] = {0};
    for (uint32_t i = 0; i < SIZE; i++) items[i] = i;
    assert_ok(agg_estimator_counts(cells, &error, shoal_recipe_part(recipe->recipe, 0),
                                   &acc->parts[0], acc->n, items, SIZE, 1));
    for (uint32_t i = 0; i < SIZE; i++) sums[field == 0 ? i / 6 : i % 6] += cells[i].count;
    for (uint32_t b = 0; b < (field == 0 ? 4u : 6u); b++)
        assert_true(fabs(counts[b].count - sums[b]) < 1e-6);
}

static void add_trial(tally *tallies, const agg_recipe *recipe, const agg_accumulator *acc,
                      uint32_t field)
{
    agg_error error;
    agg_count counts[6];
    assert_ok(agg_marginal(counts, &error, recipe->recipe, acc, field, 2));
    check_sums(counts, recipe, acc, field);
    for (uint32_t b = 0; b < (field == 0 ? 4u : 6u); b++) {
        double e = counts[b].count - true_count(field, b);
        tallies[b].error += e;
        tallies[b].square += e * e;
        tallies[b].stated += counts[b].stderr_ * counts[b].stderr_;
        tallies[b].null += counts[b].null_error * counts[b].null_error;
        tallies[b].high += counts[b].score > 1.645;
    }
}

// In an empty bucket the printed variance takes the estimate, kept at zero or above, for what is
// there; the other is for none.
static void check_tally(const tally *t, const law *l, uint32_t field, uint32_t b)
{
    const char *mechanism = l->mechanism;
    int is_empty = true_count(field, b) == 0;
    double square = t->square / TRIALS, stated = (is_empty ? t->null : t->stated) / TRIALS;
    if (fabs(t->error / TRIALS) > 4 * sqrt(square / TRIALS))
        fail_msg("%s %u.%u: biased", mechanism, field, b);
    if (fabs(stated / square - 1 - (is_empty ? l->over : 0)) > 0.12)
        fail_msg("%s %u.%u: stated %g, seen %g", mechanism, field, b, stated, square);
    // 5 % and 4 sqrt(0.05 0.95/3000) = 1.6 % at most; the discreteness of few reports may only
    // lower it
    if (is_empty && t->high / TRIALS > 0.066)
        fail_msg("%s %u.%u: score is high in %g", mechanism, field, b, t->high / TRIALS);
    if (is_empty && t->high / TRIALS < 0.01)
        fail_msg("%s %u.%u: score is never high", mechanism, field, b);
}

static void errors_are_as_stated(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof laws / sizeof laws[0]; m++) {
        agg_recipe recipe;
        tally tallies[2][6] = {{{0}}};
        read_query(&recipe, &laws[m], TWO_FIELDS, "");
        assert_int_equal(shoal_recipe_part(recipe.recipe, 0)->size, SIZE);
        uint8_t *records = malloc((size_t)DEVICES * shoal_record_size(recipe.recipe));
        assert_non_null(records);
        const uint32_t n_trials = effort(TRIALS, TRIALS, 2);
        for (unsigned trial = 0; trial < n_trials; trial++) {
            agg_accumulator acc;
            run_trial(&acc, &recipe, records, trial);
            for (uint32_t field = 0; field < 2; field++)
                add_trial(tallies[field], &recipe, &acc, field);
            agg_accumulator_release(&acc);
        }
        for (uint32_t field = 0; n_trials == TRIALS && field < 2; field++)
            for (uint32_t b = 0; b < (field == 0 ? 4u : 6u); b++)
                check_tally(&tallies[field][b], &laws[m], field, b);
        free(records);
        agg_recipe_release(&recipe);
    }
}

#define SKETCH                                                                                     \
    ",\"k\":64,\"g\":4},\"hash\":\"affine1\",\"seed\":\"" AGG_TEST_SEED "\",\"send\":{\"sample\":" \
    "1"

static void unknown_errors_are_refused(void **state)
{
    const law olh = {"olh", 1, 0}, grr = {"grr", 1, 0};
    agg_recipe recipe, other;
    agg_accumulator acc;
    agg_error error;
    agg_count counts[6];
    (void)state;
    read_query(&recipe, &olh, TWO_FIELDS, SKETCH);
    read_query(&other, &grr, TWO_FIELDS, "");
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    assert_err(agg_marginal(counts, &error, recipe.recipe, &acc, 0, 1), AGG_ERR_USAGE);
    assert_non_null(strstr(error.text, "olh: its hashes"));
    assert_err(agg_marginal_check(&error, other.recipe, 2), AGG_ERR_USAGE);
    assert_ok(agg_marginal_check(&error, other.recipe, 1));
    assert_err(agg_marginal(counts, &error, other.recipe, &acc, 0, 1), SHOAL_ERR_RECIPE_HASH);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
    agg_recipe_release(&other);
}

// Of one field nothing is summed: any mechanism's own counts.
static void one_field_is_its_own_marginal(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_error error;
    agg_count counts[4], cells[4];
    const law olh = {"olh", 1, 0};
    const uint64_t items[] = {0, 1, 2, 3};
    (void)state;
    read_query(&recipe, &olh, "{\"field\":\"a\",\"boundaries\":[1,2,3]}", SKETCH);
    uint8_t *records = malloc((size_t)100 * shoal_record_size(recipe.recipe));
    const uint8_t seed[32] = {SEED};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < 100; i++)
        assert_ok(shoal_record_randomize(records + i * shoal_record_size(recipe.recipe),
                                         recipe.recipe, &items[i % 4], 1, NULL, &rng));
    read_acc(&acc, &recipe, records, 100, 1);
    assert_ok(agg_marginal(counts, &error, recipe.recipe, &acc, 0, 1));
    assert_ok(agg_estimator_counts(cells, &error, shoal_recipe_part(recipe.recipe, 0),
                                   &acc.parts[0], acc.n, items, 4, 1));
    assert_memory_equal(counts, cells, sizeof cells);
    free(records);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_are_as_stated),
                                       cmocka_unit_test(unknown_errors_are_refused),
                                       cmocka_unit_test(one_field_is_its_own_marginal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
