// SPDX-License-Identifier: Apache-2.0
// Estimates of longitudinal local hashing on fixed seeds: bias, variance against the formula and
// against what the account plans, stated error, coverage.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>

#include "account.h"
#include "estimator.h"

#define TRIALS 800u
#define N 600u

typedef struct law {
    double epsilon, permanent;
    unsigned g, size;
} law;

static void read_law(agg_recipe *recipe, const law *l)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"law\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"loloha\",\"parameters\":{\"epsilon\":%g,\"epsilon_permanent\":%g,"
             "\"g\":%u,\"size\":%u},\"seed\":\"%s\",\"limit\":{\"per_day\":1},\"expires\":"
             "\"2030-01-01\"}",
             l->epsilon, l->permanent, l->g, l->size, AGG_TEST_SEED);
    read_recipe(recipe, text);
}

// The first four values: 300, 150 and 75 devices and none; 75 devices hold no listed value.
static const uint64_t held[5] = {0, 1, 2, 3, SHOAL_ITEM_NONE};
static const uint32_t devices[5] = {300, 150, 75, 0, 75};

// One report of each of N new devices.
static void fold(agg_sketch *sketch, const agg_recipe *recipe, uint64_t first)
{
    static const uint8_t secrets[32] = {1, 0x4c}, seeds[32] = {2, 0x4c};
    uint8_t record[4];
    agg_error error;
    for (size_t i = 0; i < 5; i++)
        for (uint32_t d = 0; d < devices[i]; d++, first++) {
            shoal_permanent permanent;
            shoal_rng rng;
            shoal_rng_init_stream(&rng, secrets, first);
            shoal_rng_bytes(&rng, permanent.secret, sizeof permanent.secret);
            shoal_rng_init_stream(&rng, seeds, first);
            assert_ok(
                shoal_record_randomize(record, recipe->recipe, &held[i], 1, &permanent, &rng));
            assert_ok(agg_loloha_sketch.add(sketch, &error, record, 4, 1, 1));
        }
}

typedef struct sums {
    double mean, square, claimed, covered;
} sums;

// Returns: the variance of a count from the paper's probabilities, in doubles: no threshold.
static double expected(const law *l, double f)
{
    double values = l->g, g = l->g;
    while (values <= l->size) values *= g;
    double kept = (1 - g / (exp(l->permanent) + g - 1)) * (1 - g / (exp(l->epsilon) + g - 1));
    double p = kept + (1 - kept) / g, q = (1 - kept) / g + kept * (values / g - 1) / (values - 1);
    return (f * p * (1 - p) + (N - f) * q * (1 - q)) / ((p - q) * (p - q));
}

// Of 800 collections: bias 4 sd of a mean; variance, whose estimate has sd 5 %, 4 of them;
// coverage, sd 0.0077, 4 of them. The stated variance moves with the count and averages out, but
// for counts below 0, which it takes for 0: of a value that nobody holds that is 0.4 sd on average.
static void check_law(const law *l)
{
    agg_recipe recipe;
    agg_error error;
    sums all[4] = {{0}};
    read_law(&recipe, l);
    const shoal_part *part = &recipe.recipe->parts[0];
    for (uint64_t t = 0; t < TRIALS; t++) {
        agg_sketch sketch;
        agg_count counts[4];
        assert_ok(
            agg_sketch_init(&sketch, &error, &(agg_shape){part->mechanism, part->k, part->m}));
        fold(&sketch, &recipe, t * N);
        assert_ok(agg_estimator_counts(counts, &error, part, &sketch, N, held, 4, 1));
        for (int i = 0; i < 4; i++) {
            double off = counts[i].count - devices[i], error_ = counts[i].stderr_;
            all[i].mean += off / TRIALS;
            all[i].square += off * off / TRIALS;
            all[i].claimed += error_ * error_ / TRIALS;
            all[i].covered += (fabs(off) < 1.959964 * error_) / (double)TRIALS;
        }
        agg_sketch_release(&sketch);
    }
    double slope = expected(l, 1) - expected(l, 0);
    for (int i = 0; i < 4; i++) {
        double variance = expected(l, devices[i]);
        assert_true(fabs(agg_loloha_account.variance(part, N, devices[i], 0) / variance - 1) <
                    1e-9);
        assert_true(fabs(all[i].mean) < 4 * sqrt(variance / TRIALS));
        assert_true(fabs(all[i].square / variance - 1) < 4 * sqrt(2.0 / TRIALS));
        double extra = devices[i] == 0 ? 0.4 * slope / sqrt(variance) : 0;
        assert_true(fabs(all[i].claimed / variance - 1 - extra) < 0.01);
        assert_true(fabs(all[i].covered - 0.95) < 4 * 0.0077);
    }
    agg_recipe_release(&recipe);
}

static void counts_follow_their_formula(void **state)
{
    static const law laws[] = {{2, 4, 2, 12}, {1, 2, 2, 4},  {2, 3, 4, 15},
                               {2, 2, 8, 7},  {2, 2, 8, 40}, {3, 3, 16, 200}};
    (void)state;
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) check_law(&laws[i]);
}

// The bound over changing values is that of g permanent answers.
static void changes_cost_a_table(void **state)
{
    agg_recipe recipe;
    uint64_t changing = 0;
    (void)state;
    read_law(&recipe, &(law){2, 1.5, 8, 40});
    assert_int_equal(agg_loloha_account.changing(&changing, &recipe.recipe->parts[0]), SHOAL_OK);
    assert_int_equal(changing, 8 * 1500000);
    agg_recipe_release(&recipe);
}

static void shapes(void **state)
{
    const uint32_t bad[][2] = {{0, 2}, {2, 2}, {31, 2}, {21, 4}, {1, 32}, {3, 3}, {16, 16}};
    const uint32_t good[][2] = {{1, 2}, {3, 2}, {7, 2}, {15, 2}, {5, 4}, {9, 8}, {17, 16}};
    agg_sketch sketch;
    agg_error error;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(
            agg_sketch_init(&sketch, &error, &(agg_shape){shoal_loloha_id, bad[i][0], bad[i][1]}),
            SHOAL_ERR_RANGE);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_ok(agg_sketch_init(&sketch, &error,
                                  &(agg_shape){shoal_loloha_id, good[i][0], good[i][1]}));
        agg_sketch_release(&sketch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_follow_their_formula),
        cmocka_unit_test(changes_cost_a_table),
        cmocka_unit_test(shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
