// SPDX-License-Identifier: Apache-2.0
// Alarms: p-values of honest crowds hold whatever the devices hold, forged crowds raise the alarms
// that they should, and each p-value is what its law says.
#include "agg_test.h"

#include <math.h>

#include "alarm_crowd.h"
#include "alarm_tests.h"
#include "binomial.h"
#include "copies.h"
#include "recipe.h"

// The levels at which p-values are counted. A p-value may be smaller than u with probability u.
static const double levels[] = {0.3, 0.1, 0.01, 1e-3, AGG_ALARM_RATE};
#define LEVELS (sizeof levels / sizeof levels[0])

// Fails where more p-values are below a level than the level allows, by more than 4.5 standard
// errors of their number: one such failure in 10^5 checks would be an accident, and the seed is
// fixed.
static void assert_super_uniform(const uint64_t *below, uint64_t n, const char *of, const char *law)
{
    for (size_t l = 0; l < LEVELS; l++) {
        double mean = levels[l] * (double)n;
        if ((double)below[l] <= mean + 4.5 * sqrt(mean) + 3) continue;
        fail_msg("%s, %s: %llu of %llu p-values are at most %g", of, law,
                 (unsigned long long)below[l], (unsigned long long)n, levels[l]);
    }
}

// Draws collections of n reports for every mechanism and every law of values. SHOAL_ONLY names one
// mechanism, and SHOAL_SEED draws others.
static void assert_p_values(uint32_t n, uint32_t trials)
{
    const char *only = getenv("SHOAL_ONLY");
    for (size_t s = 0; s < crowd_n_small; s++) {
        agg_recipe recipe;
        agg_accumulator acc;
        agg_error error;
        shoal_rng rng;
        uint8_t seed[32] = {0};
        const uint64_t drawn = effort_seed(9);
        memcpy(seed, &drawn, sizeof drawn); // of campaigns, which run on one kind of machine
        if (only != NULL && strcmp(only, crowd_small[s].name) != 0) continue;
        crowd_recipe(&recipe, &crowd_small[s]);
        uint8_t *records = malloc(n * shoal_record_size(recipe.recipe));
        assert_non_null(records);
        assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
        shoal_rng_init_stream(&rng, seed, s);
        for (int law = 0; law < CROWD_LAWS; law++) {
            uint64_t below[LEVELS] = {0};
            for (uint32_t i = 0; i < trials; i++) {
                agg_alarms alarms;
                double p = 1;
                crowd_clear(&acc);
                crowd_honest(records, n, &recipe, (crowd_law)law, &rng);
                assert_ok(agg_accumulator_add(&acc, &error, records, n, 1));
                crowd_alarms(&alarms, &recipe, &acc);
                for (int c = 0; c < AGG_ALARM_CODES; c++)
                    if (alarms.list[c].outcome != AGG_ALARM_NOT_MEASURED)
                        p = fmin(p, alarms.list[c].p);
                for (size_t l = 0; l < LEVELS; l++) below[l] += p <= levels[l];
            }
            assert_super_uniform(below, trials, crowd_small[s].name, crowd_law_names[law]);
            if (effort_is_long())
                print_message("%s, %s: %llu, %llu, %llu, %llu, %llu of %u p-values are at most "
                              "0.3, 0.1, 0.01, 0.001, 0.0001\n",
                              crowd_small[s].name, crowd_law_names[law],
                              (unsigned long long)below[0], (unsigned long long)below[1],
                              (unsigned long long)below[2], (unsigned long long)below[3],
                              (unsigned long long)below[4], trials);
        }
        agg_accumulator_release(&acc);
        agg_recipe_release(&recipe);
        free(records);
    }
}

// Campaigns draw 200,000 collections of each mechanism and law in many such steps, and judge their
// sum; docs/alarms.md has its figures.
static void p_values_hold_for_any_values(void **state)
{
    (void)state;
    assert_p_values(60, effort_of_campaign(4000, effort(3000, 300, 20)));
}

// Where there are many reports, a bound that is wrong by a little is wrong by many standard errors.
static void p_values_hold_for_many_reports(void **state)
{
    (void)state;
    assert_p_values(4000, effort(60, 6, 1));
}

// The bounds of a count's probability that the tests take, read from where each test says what it
// expected of cells that are all empty, and of cells that are all full.
typedef struct bounds {
    double low, high;
} bounds;

static bounds bounds_of(const agg_recipe *recipe, agg_accumulator *acc)
{
    const uint32_t n = 1000;
    agg_sketch *sketch = &acc->parts[0];
    agg_error error;
    double expected[2] = {0, 0};
    for (int full = 0; full < 2; full++) {
        agg_alarms alarms = {.n_tests = 0};
        acc->n = n;
        for (uint64_t l = 0; l < sketch->n_cells; l++) sketch->cells.ones[l] = full ? n : 0;
        for (uint64_t j = 0; j < sketch->n_rows; j++) sketch->rows[j] = n / sketch->shape.k;
        assert_ok(agg_alarms_test(&alarms, &error, recipe->recipe, acc));
        expected[full] = alarms.list[full ? AGG_ALARM_ABOVE : AGG_ALARM_BELOW].expected / n;
    }
    crowd_clear(acc);
    return (bounds){expected[0], expected[1]};
}

// A bound that is too wide finds less, and one that is too narrow accuses honest devices. In a list
// both bounds are reached: by the value that all devices hold, and by the others.
static void bounds_are_reached(void **state)
{
    (void)state;
    const uint32_t n = effort(1000000, 100000, 100000);
    unsigned n_seen = 0;
    for (size_t s = 0; s < crowd_n_small; s++) {
        agg_recipe recipe;
        agg_accumulator acc;
        agg_error error;
        shoal_rng rng;
        static const uint8_t seed[32] = {11};
        crowd_recipe(&recipe, &crowd_small[s]);
        const shoal_part *part = &recipe.recipe->parts[0];
        if (part->domain != SHOAL_DOMAIN_CLOSED || part->mechanism == shoal_hadamard_id) {
            agg_recipe_release(&recipe);
            continue;
        }
        uint8_t *record = malloc(shoal_record_size(recipe.recipe));
        assert_non_null(record);
        assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
        bounds b = bounds_of(&recipe, &acc);
        shoal_rng_init_stream(&rng, seed, s);
        for (uint32_t i = 0; i < n; i++) {
            crowd_honest(record, 1, &recipe, CROWD_ONE, &rng);
            assert_ok(agg_accumulator_add(&acc, &error, record, 1, 1));
        }
        // The bits of other values are independent or negatively associated, so the variance of
        // their mean is at most that of independent ones.
        double others = 0, m = acc.parts[0].shape.m;
        for (uint32_t l = 1; l < acc.parts[0].shape.m; l++) others += acc.parts[0].cells.ones[l];
        double low = others / (m - 1) / n, high = acc.parts[0].cells.ones[0] / (double)n;
        assert_true(fabs(low - b.low) <= 4.5 * sqrt(b.low * (1 - b.low) / (m - 1) / n));
        assert_true(fabs(high - b.high) <= 4.5 * sqrt(b.high * (1 - b.high) / n));
        n_seen++;
        agg_accumulator_release(&acc);
        agg_recipe_release(&recipe);
        free(record);
    }
    assert_int_equal(n_seen, 5);
}

// Enumerates all sets of d of s indices. A set that holds the own index has the probability
// p/C(s-1, d-1), any other (1-p)/C(s-1, d).
static void bounds_of_subset_are_exact(void **state)
{
    static const char *const members[] = {
        "\"value\":\"item\",\"mechanism\":\"subset\",\"parameters\":{\"epsilon\":1,\"size\":5}",
        "\"value\":\"item\",\"mechanism\":\"subset\",\"parameters\":{\"epsilon\":0.4,\"size\":9}",
        "\"value\":\"item\",\"mechanism\":\"subset\",\"parameters\":{\"epsilon\":2,\"size\":12}"};
    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const crowd_setting setting = {"subset", members[i]};
        agg_recipe recipe;
        agg_accumulator acc;
        agg_error error;
        double in = 0, with = 0, without = 0, both = 0, other = 0;
        crowd_recipe(&recipe, &setting);
        const shoal_part *part = &recipe.recipe->parts[0];
        double lie = ldexp((double)part->threshold, -64);
        assert_true(part->k > 1); // else no other index is in a set with the own one
        assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
        bounds b = bounds_of(&recipe, &acc);
        for (uint32_t set = 0; set < 1u << part->m; set++) {
            uint32_t size = 0;
            for (uint32_t l = 0; l < part->m; l++) size += set >> l & 1;
            if (size != part->k) continue;
            with += set & 1; // index 0 is the own one, index 1 another
            without += 1 - (set & 1);
            both += (set & 3) == 3;
            other += (set & 3) == 2;
        }
        in = both / with * (1 - lie) + other / without * lie;
        assert_true(fabs(b.low - in) < 1e-12 && fabs(b.high - (1 - lie)) < 1e-12);
        agg_copies copies;
        assert_ok(agg_copies_init(&copies, &error, recipe.recipe));
        assert_true(fabs(exp(copies.log_likeliest) - fmax((1 - lie) / with, lie / without)) <
                    1e-12);
        agg_copies_release(&copies);
        agg_accumulator_release(&acc);
        agg_recipe_release(&recipe);
    }
}

// The most likely record of a list in bits is all zeros, of a device that holds none of the list.
static void likeliest_record_is_as_likely(void **state)
{
    (void)state;
    const uint32_t n = 200000;
    static const char *const names[] = {"onehot-symmetric", "onehot-asymmetric"};
    for (size_t i = 0; i < 2; i++) {
        const crowd_setting setting = {
            names[i], i == 0 ? "\"value\":\"item\",\"mechanism\":\"onehot-symmetric\","
                               "\"parameters\":{\"epsilon\":2,\"size\":8}"
                             : "\"value\":\"item\",\"mechanism\":\"onehot-asymmetric\","
                               "\"parameters\":{\"epsilon\":2,\"size\":8}"};
        agg_recipe recipe;
        agg_error error;
        agg_copies copies;
        shoal_rng rng;
        static const uint8_t seed[32] = {12};
        uint8_t record[1];
        uint32_t zeros = 0;
        crowd_recipe(&recipe, &setting);
        assert_ok(agg_copies_init(&copies, &error, recipe.recipe));
        shoal_rng_init_stream(&rng, seed, i);
        for (uint32_t j = 0; j < n; j++) {
            crowd_honest(record, 1, &recipe, CROWD_NONE, &rng);
            zeros += record[0] == 0;
        }
        double p = exp(copies.log_likeliest);
        assert_true(fabs((double)zeros / n - p) < 4.5 * sqrt(p * (1 - p) / n));
        agg_copies_release(&copies);
        agg_recipe_release(&recipe);
    }
}

// Narrow records, of which honest devices send equal ones all the time.
static void copies_have_p_values(void **state)
{
    (void)state;
    const uint32_t n = 300, trials = effort_of_campaign(5000, effort(1000, 100, 20));
    unsigned n_seen = 0;
    for (size_t s = 0; s < crowd_n_small; s++) {
        agg_recipe recipe;
        agg_copies copies;
        agg_error error;
        shoal_rng rng;
        static const uint8_t seed[32] = {13};
        crowd_recipe(&recipe, &crowd_small[s]);
        uint8_t *records = malloc(n * shoal_record_size(recipe.recipe));
        assert_non_null(records);
        assert_ok(agg_copies_init(&copies, &error, recipe.recipe));
        assert_int_equal(copies.slots != NULL, agg_copies_memory(recipe.recipe) > 0);
        shoal_rng_init_stream(&rng, seed, s);
        for (int law = 0; law < CROWD_LAWS && copies.slots != NULL; law++) {
            uint64_t below[LEVELS] = {0};
            for (uint32_t i = 0; i < trials; i++) {
                agg_copies_clear(&copies);
                crowd_honest(records, n, &recipe, (crowd_law)law, &rng);
                agg_copies_add(&copies, records, n);
                for (size_t l = 0; l < LEVELS; l++) below[l] += agg_copies_p(&copies) <= levels[l];
            }
            assert_super_uniform(below, trials, crowd_small[s].name, crowd_law_names[law]);
        }
        n_seen += copies.slots != NULL;
        agg_copies_release(&copies);
        agg_recipe_release(&recipe);
        free(records);
    }
    assert_int_equal(n_seen, 6); // the others have few records, or sums that tell
}

// The chance that some g of n records are equal, where all of 1/P records are equally likely: among
// few by enumeration, among many it is close to the bound.
static void groups_of_copies_are_bounded(void **state)
{
    (void)state;
    agg_copies_slot slot = {0, 0};
    const uint32_t n = 5, k = 6;
    uint32_t words = 1, at_least[6] = {0};
    for (uint32_t i = 0; i < n; i++) words *= k;
    for (uint32_t w = 0; w < words; w++) {
        uint32_t counts[6] = {0}, rest = w, most = 0;
        for (uint32_t i = 0; i < n; i++, rest /= k) counts[rest % k]++;
        for (uint32_t j = 0; j < k; j++) most = counts[j] > most ? counts[j] : most;
        for (uint32_t g = 0; g <= most; g++) at_least[g]++;
    }
    for (uint32_t g = 1; g <= n; g++) {
        const agg_copies few = {
            .slots = &slot, .log_likeliest = -log(k), .n_examined = n, .largest = g};
        assert_true(agg_copies_p(&few) >= (double)at_least[g] / words);
    }
    for (uint32_t g = 2; g <= 6; g++) {
        const agg_copies many = {
            .slots = &slot, .log_likeliest = -20, .n_examined = 4000, .largest = g};
        double bound = exp(lgamma(4001) - lgamma(g + 1.0) - lgamma(4001.0 - g) - 20 * (g - 1.0));
        assert_true(agg_copies_p(&many) >= bound && agg_copies_p(&many) < 1.05 * bound);
    }
}

// Ten copies among 10,000 wide records; and one record in a thousand of many, wherever it lies,
// however the records are cut into runs.
// What tables saw of several blocks, added up, has p-values too: a group within one block is one of
// all records.
static void copies_of_blocks_have_p_values(void **state)
{
    (void)state;
    const uint32_t n = 300, blocks = 3, trials = effort_of_campaign(3000, effort(1000, 100, 20));
    agg_recipe recipe;
    agg_copies copies;
    agg_error error;
    shoal_rng rng;
    uint64_t below[LEVELS] = {0};
    static const uint8_t seed[32] = {15};
    size_t s = 0;
    double likeliest = 1;
    for (; s < crowd_n_small; s++) { // the first that has a table
        crowd_recipe(&recipe, &crowd_small[s]);
        if (agg_copies_memory(recipe.recipe) > 0) break;
        agg_recipe_release(&recipe);
    }
    assert_true(s < crowd_n_small);
    uint8_t *records = malloc(n * shoal_record_size(recipe.recipe));
    assert_non_null(records);
    assert_ok(agg_copies_init(&copies, &error, recipe.recipe));
    shoal_rng_init_stream(&rng, seed, 0);
    for (uint32_t i = 0; i < trials; i++) {
        agg_copies_seen all = {0};
        for (uint32_t b = 0; b < blocks; b++) {
            agg_copies_clear(&copies);
            crowd_honest(records, n, &recipe, (crowd_law)(b % CROWD_LAWS), &rng);
            agg_copies_add(&copies, records, n);
            const agg_copies_seen one = {copies.n_examined, copies.largest, b != 1};
            agg_copies_seen_add(&all, &one, b == 0);
        }
        assert_int_equal(all.n_examined, n * blocks);
        assert_false(all.is_whole);
        double p = agg_copies_seen_p(&likeliest, recipe.recipe, &all);
        for (size_t l = 0; l < LEVELS; l++) below[l] += p <= levels[l];
    }
    assert_true(likeliest > 0 && likeliest < 1);
    assert_super_uniform(below, trials, crowd_small[s].name, "blocks");
    agg_copies_release(&copies);
    agg_recipe_release(&recipe);
    free(records);
}

// Copies share the rate with the other tests, and what did not pass a table cannot pass the test.
static void copies_are_one_test_of_a_result(void **state)
{
    (void)state;
    static const struct {
        agg_copies_seen seen;
        agg_alarm_outcome outcome;
        uint32_t n_tests;
    } cases[] = {{{10000, 1, true}, AGG_ALARM_PASSED, 1},
                 {{10000, 90, true}, AGG_ALARM_RAISED, 1},
                 {{10000, 90, false}, AGG_ALARM_RAISED, 1},
                 {{10000, 1, false}, AGG_ALARM_NOT_MEASURED, 1},
                 {{0, 0, false}, AGG_ALARM_NOT_MEASURED, 0}};
    for (size_t s = 0; s < crowd_n_large; s++) {
        agg_recipe recipe;
        crowd_recipe(&recipe, &crowd_large[s]);
        bool has_table = agg_copies_memory(recipe.recipe) > 0;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            agg_alarms alarms = {.n_tests = 0};
            agg_alarms_test_copies(&alarms, recipe.recipe, &cases[i].seen);
            agg_alarms_finish(&alarms);
            const agg_alarm *alarm = &alarms.list[AGG_ALARM_IDENTICAL];
            assert_int_equal(alarms.n_tests, has_table ? cases[i].n_tests : 0);
            assert_int_equal(alarm->outcome, has_table ? cases[i].outcome : AGG_ALARM_NOT_MEASURED);
            if (has_table && alarm->outcome == AGG_ALARM_NOT_MEASURED)
                assert_non_null(strstr(alarm->why, "restarted"));
        }
        agg_recipe_release(&recipe);
    }
}

static void copies_are_found_as_they_pass(void **state)
{
    const uint32_t n = 300000;
    unsigned n_seen = 0;
    (void)state;
    for (size_t s = 0; s < crowd_n_large; s++) {
        agg_recipe recipe;
        agg_copies copies, pieces, other;
        agg_error error;
        shoal_rng rng;
        char line[AGG_COPIES_LINE_MAX] = "";
        static const uint8_t seed[32] = {14};
        crowd_recipe(&recipe, &crowd_large[s]);
        size_t size = shoal_record_size(recipe.recipe);
        assert_ok(agg_copies_init(&copies, &error, recipe.recipe));
        assert_ok(agg_copies_init(&pieces, &error, recipe.recipe));
        assert_ok(agg_copies_init(&other, &error, recipe.recipe));
        if (copies.slots != NULL) {
            uint8_t *records = malloc(n * size);
            assert_non_null(records);
            shoal_rng_init_stream(&rng, seed, s);
            crowd_honest(records, 10000, &recipe, CROWD_ONE, &rng);
            agg_copies_add(&copies, records, 10000);
            assert_true(copies.n_examined == 10000 && agg_copies_p(&copies) > 0.01);
            assert_false(agg_copies_line(line, &copies));
            agg_copies_add(&other, records, 10000);
            agg_copies_clear(&copies);
            for (uint32_t i = 0; i < 10; i++) memcpy(records + 977 * i * size, records, size);
            agg_copies_add(&copies, records, 10000);
            // A slot is overwritten between two copies with probability 1 - exp(-977/8192).
            assert_true(copies.largest > 2 && copies.largest <= 10);
            assert_true(agg_copies_line(line, &copies) &&
                        strstr(line, "identical-records") != NULL);
            agg_copies_merge(&other, &copies);
            assert_true(other.largest == copies.largest && other.n_examined == 20000 &&
                        other.n == 20000);

            for (size_t i = 0; i < n * size; i++) records[i] = (uint8_t)shoal_rng_u64(&rng);
            for (uint32_t i = 0; i < n / 1000; i++)
                memcpy(records + shoal_rng_below(&rng, n) * size, records, size);
            agg_copies_clear(&copies);
            agg_copies_add(&copies, records, n);
            assert_true(copies.n == n && copies.n_examined > 16384 && copies.n_examined < 20000);
            assert_true(agg_copies_line(line, &copies));
            for (uint32_t at = 0, some = 1; at < n; at += some, some = some * 3 % 5003 + 1) {
                if (some > n - at) some = n - at;
                agg_copies_add(&pieces, records + at * size, some);
            }
            assert_true(pieces.n_examined == copies.n_examined);
            assert_true(pieces.largest == copies.largest);
            n_seen++;
            free(records);
        }
        agg_copies_release(&copies);
        agg_copies_release(&pieces);
        agg_copies_release(&other);
        agg_recipe_release(&recipe);
    }
    assert_int_equal(n_seen, 4);
}

// Folds `forged` reports of an attack among honest ones and computes the alarms.
static void attacked(agg_alarms *alarms, const char *mechanism, crowd_attack attack,
                     uint32_t honest, uint32_t forged)
{
    size_t s = 0;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_error error;
    shoal_rng rng;
    static const uint8_t seed[32] = {5};
    while (strcmp(crowd_large[s].name, mechanism) != 0) s++;
    crowd_recipe(&recipe, &crowd_large[s]);
    size_t size = shoal_record_size(recipe.recipe);
    uint8_t *records = malloc((honest + forged) * size + 1);
    assert_non_null(records);
    shoal_rng_init_stream(&rng, seed, attack);
    crowd_honest(records, honest, &recipe, CROWD_ZIPF, &rng);
    crowd_forged(records + honest * size, forged, &recipe, attack, &rng);
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    assert_ok(agg_accumulator_add(&acc, &error, records, honest + forged, 1));
    crowd_alarms(alarms, &recipe, &acc);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
    free(records);
}

static void assert_raised(const agg_alarms *alarms, agg_alarm_code code)
{
    assert_int_equal(alarms->list[code].outcome, AGG_ALARM_RAISED);
    assert_true(alarms->list[code].p <= AGG_ALARM_RATE && alarms->n_raised > 0);
}

static void forged_crowds_raise_alarms(void **state)
{
    agg_alarms alarms;
    (void)state;
    attacked(&alarms, "cms", CROWD_COPIES, 5000, 500);
    assert_raised(&alarms, AGG_ALARM_ROWS);
    attacked(&alarms, "cms", CROWD_RANDOM, 5000, 100);
    assert_raised(&alarms, AGG_ALARM_WEIGHT);
    attacked(&alarms, "hcms", CROWD_COPIES, 5000, 50);
    assert_raised(&alarms, AGG_ALARM_IDENTICAL);
    attacked(&alarms, "olh", CROWD_COPIES, 5000, 50);
    assert_raised(&alarms, AGG_ALARM_ROWS);
    assert_raised(&alarms, AGG_ALARM_IDENTICAL);
    attacked(&alarms, "grr", CROWD_TARGETED, 10, 5000);
    assert_raised(&alarms, AGG_ALARM_ABOVE);
    assert_raised(&alarms, AGG_ALARM_BELOW);
    attacked(&alarms, "hadamard", CROWD_COPIES, 5000, 500);
    assert_raised(&alarms, AGG_ALARM_IDENTICAL);
    attacked(&alarms, "onehot-symmetric", CROWD_COPIES, 10000, 300);
    assert_raised(&alarms, AGG_ALARM_COLUMNS);
    attacked(&alarms, "onehot-symmetric", CROWD_RANDOM, 5000, 100);
    assert_raised(&alarms, AGG_ALARM_WEIGHT);
}

// Whoever holds one word and runs the honest randomizer is a person who holds it.
static void pushing_a_word_is_no_alarm(void **state)
{
    agg_alarms alarms;
    (void)state;
    for (size_t s = 0; s < crowd_n_large; s++) {
        attacked(&alarms, crowd_large[s].name, CROWD_PUSHED, 0, 3000);
        assert_int_equal(alarms.n_raised, 0);
        for (int c = 0; c < AGG_ALARM_CODES; c++)
            if (alarms.list[c].outcome == AGG_ALARM_NOT_MEASURED)
                assert_non_null(alarms.list[c].why);
    }
}

// Enumerates n uniform draws of k cells: every word over k letters.
static void number_of_pairs_has_its_fourth_moment(void **state)
{
    (void)state;
    const unsigned n = 6, k = 3;
    uint32_t words = 1;
    double largest = 0, fourth = 0, p = 1.0 / k, mean = n * (n - 1) / 2 * p;
    for (unsigned i = 0; i < n; i++) words *= k;
    for (uint32_t w = 0; w < words; w++) {
        uint32_t counts[3] = {0}, rest = w;
        double pairs = 0;
        for (unsigned i = 0; i < n; i++, rest /= k) counts[rest % k]++;
        for (unsigned j = 0; j < k; j++) pairs += counts[j] * (counts[j] - 1.0) / 2;
        fourth += pow(pairs - mean, 4) / words;
        largest = fmax(largest, pairs);
    }
    assert_true(fabs(agg_pairs_fourth_moment(n, k) / fourth - 1) < 1e-12);
    assert_true(largest == 15);
}

// Chernoff's bound is above the tail, and within a factor of it.
static void sums_of_draws_are_bounded(void **state)
{
    (void)state;
    const agg_binomial law = {200, 0.3, 0.7};
    const agg_draws draws[2] = {{200, 0.3, 0}, {0, 0, 0}};
    for (unsigned x = 0; x <= 200; x += 5) {
        double upper = agg_draws_tail(draws, x, true), lower = agg_draws_tail(draws, x, false);
        double true_upper = agg_binomial_upper(x, &law), true_lower = agg_binomial_lower(x, &law);
        assert_true(upper >= true_upper * (1 - 1e-9) && lower >= true_lower * (1 - 1e-9));
        if (true_upper < 0.1 && true_upper > 1e-30) assert_true(upper < 60 * true_upper);
        if (true_lower < 0.1 && true_lower > 1e-30) assert_true(lower < 60 * true_lower);
    }
    const agg_draws signs[2] = {{100, 0.2, 0.1}, {0, 0, 0}};
    assert_true(agg_draws_tail(signs, 10, true) == 1);
    assert_true(agg_draws_tail(signs, 101, true) < 1e-60); // more than there are draws
    assert_true(agg_draws_tail(signs, -40, false) < 1e-12);
}

// Ten cells of 64 that are each half full: any one of them could be the word of half of the
// devices, but not all of them. Where the devices hold the ten in turn, each is a tenth fuller than
// noise.
static void cells_are_tested_together(void **state)
{
    (void)state;
    const double own = 0.5, other = 0.1;
    const uint32_t n = 10000;
    for (int forged = 0; forged < 2; forged++) {
        agg_alarms alarms = {.n_tests = 0};
        agg_error error;
        uint32_t cells[64];
        for (unsigned l = 0; l < 64; l++)
            cells[l] = l % 7 != 1 ? n / 10 : forged ? n / 5 : n / 10 + n / 10 * 4 / 10;
        assert_ok(agg_alarm_test_together(&alarms, &error, cells, 64, n, own, other));
        agg_alarms_finish(&alarms);
        assert_int_equal(alarms.list[AGG_ALARM_COLUMNS].outcome,
                         forged ? AGG_ALARM_RAISED : AGG_ALARM_PASSED);
        if (!forged) assert_true(alarms.list[AGG_ALARM_COLUMNS].p == 1);
    }
}

// Bonferroni's rule: every test counts, and the rate is shared.
static void p_values_are_multiplied_by_the_tests(void **state)
{
    (void)state;
    agg_alarms alarms = {.n_tests = 0};
    const agg_bounded seen = {5, 10, 0.5, 0.5};
    agg_alarm_enter(&alarms, AGG_ALARM_ROWS, 0.5 * AGG_ALARM_RATE, &seen);
    agg_alarm_enter(&alarms, AGG_ALARM_ROWS, 0.3, &seen);
    agg_alarm_enter(&alarms, AGG_ALARM_WEIGHT, 0.2 * AGG_ALARM_RATE, &seen);
    agg_alarms_finish(&alarms);
    assert_int_equal(alarms.list[AGG_ALARM_ROWS].outcome, AGG_ALARM_PASSED);
    assert_true(fabs(alarms.list[AGG_ALARM_ROWS].p - 1.5 * AGG_ALARM_RATE) < 1e-15);
    assert_int_equal(alarms.list[AGG_ALARM_WEIGHT].outcome, AGG_ALARM_RAISED);
    assert_int_equal(alarms.list[AGG_ALARM_ABOVE].outcome, AGG_ALARM_NOT_MEASURED);
    assert_int_equal(alarms.n_raised, 1);
}

// A rule, not a test: more than `factor` times as many.
static void growth_is_a_rule(void **state)
{
    agg_alarms alarms = {.n_tests = 0};
    agg_alarm *growth = &alarms.list[AGG_ALARM_GROWTH];
    (void)state;
    agg_alarms_compare_growth(&alarms, 300, 100, 3);
    assert_int_equal(growth->outcome, AGG_ALARM_PASSED);
    agg_alarms_compare_growth(&alarms, 301, 100, 3);
    assert_int_equal(growth->outcome, AGG_ALARM_RAISED);
    assert_true(alarms.n_raised == 1 && alarms.n_tests == 0);
    agg_alarms_compare_growth(&alarms, 301, 0, 3);
    assert_int_equal(growth->outcome, AGG_ALARM_NOT_MEASURED);
    agg_alarms_compare_growth(&alarms, 301, 100, 0);
    assert_int_equal(growth->outcome, AGG_ALARM_NOT_MEASURED);
    assert_non_null(growth->why);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(number_of_pairs_has_its_fourth_moment),
                                       cmocka_unit_test(sums_of_draws_are_bounded),
                                       cmocka_unit_test(p_values_are_multiplied_by_the_tests),
                                       cmocka_unit_test(cells_are_tested_together),
                                       cmocka_unit_test(growth_is_a_rule),
                                       cmocka_unit_test(forged_crowds_raise_alarms),
                                       cmocka_unit_test(pushing_a_word_is_no_alarm),
                                       cmocka_unit_test(likeliest_record_is_as_likely),
                                       cmocka_unit_test(copies_have_p_values),
                                       cmocka_unit_test(groups_of_copies_are_bounded),
                                       cmocka_unit_test(copies_of_blocks_have_p_values),
                                       cmocka_unit_test(copies_are_one_test_of_a_result),
                                       cmocka_unit_test(copies_are_found_as_they_pass),
                                       cmocka_unit_test(bounds_are_reached),
                                       cmocka_unit_test(bounds_of_subset_are_exact),
                                       cmocka_unit_test(p_values_hold_for_many_reports),
                                       cmocka_unit_test(p_values_hold_for_any_values)};
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
