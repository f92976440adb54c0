// SPDX-License-Identifier: Apache-2.0
// Simulated windows against the laws that their header states, on fixed seeds. A difference of 4
// standard deviations fails; of the some 100 numbers that are compared, a right simulation has one
// so far off in 160 seeds.
#include "agg_test.h"

#include <math.h>

#include "recipe.h"
#include "simulation.h"

#define DEVICES 20000u
#define VALUES 4u

static const uint64_t openings[VALUES] = {0, 0, 1, 9}; // rare values open, "d" most of all
static const char counts_text[] = "a\t6\nb\t2\nc\t1\nd\t1\n";

typedef struct outcome {
    uint64_t counts[VALUES], shares[VALUES];
    agg_drawn drawn;
    uint64_t sum; // of all bytes that were sent, each with its place
} outcome;

static void read_window_recipe(agg_recipe *recipe, const char *send, unsigned per_day)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"recipe\":\"w\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\",\"mechanism\":"
        "\"grr\",\"parameters\":{\"epsilon\":4,\"values\":[\"a\",\"b\",\"c\",\"d\"]},\"limit\":{"
        "\"per_day\":%u}%s,\"expires\":\"2030-01-01\"}",
        per_day, send);
    read_recipe(recipe, text);
}

#define UNIFORM_DAY ",\"send\":{\"pick\":\"uniform\",\"window\":\"day\"}"
#define UNIFORM_VISIT ",\"send\":{\"pick\":\"uniform\",\"window\":\"visit\",\"delay_s\":0}"
#define FIRST ",\"send\":{\"delay_s\":0}"

static agg_err add_bytes(void *context, agg_error *error, const uint8_t *batch, size_t len,
                         uint32_t count)
{
    uint64_t *sum = context;
    (void)error;
    (void)count;
    for (size_t i = 0; i < len; i++) *sum = *sum * 31 + batch[i];
    return SHOAL_OK;
}

static void run(outcome *out, const char *send, unsigned per_day, const agg_windows *windows,
                unsigned n_threads)
{
    agg_recipe recipe;
    agg_dictionary counts = {0};
    agg_error error = {SHOAL_OK, 0, ""};
    memset(out, 0, sizeof *out);
    read_window_recipe(&recipe, send, per_day);
    assert_ok(agg_dictionary_parse(&counts, &error, &recipe, "counts", counts_text,
                                   sizeof counts_text - 1, true, NULL, NULL));
    agg_simulation s = {.recipe = &recipe,
                        .counts = &counts,
                        .n_devices = DEVICES,
                        .n_events = 1,
                        .windows = windows,
                        .n_threads = n_threads};
    out->drawn.counts = out->counts;
    if (recipe.recipe->pick == SHOAL_PICK_UNIFORM) out->drawn.windows.shares = out->shares;
    agg_simulation_seed(s.seed, "windows");
    if (agg_simulation_run(&out->drawn, &error, &s, add_bytes, &out->sum) != SHOAL_OK)
        fail_msg("%s", error.text);
    agg_dictionary_release(&counts);
    agg_recipe_release(&recipe);
}

static double share_of(const agg_windows *windows, size_t value)
{
    agg_recipe recipe;
    agg_dictionary counts = {0};
    agg_error error;
    read_window_recipe(&recipe, FIRST, 1);
    assert_ok(agg_dictionary_parse(&counts, &error, &recipe, "counts", counts_text,
                                   sizeof counts_text - 1, true, NULL, NULL));
    double share = agg_windows_share(windows, &counts, value);
    agg_dictionary_release(&counts);
    agg_recipe_release(&recipe);
    return share;
}

// Checks a sum of n independent numbers in [0, 1] whose mean is p.
static void check_sum(double sum, double n, double p)
{
    double sigma = sqrt(n * p * (1 - p)); // the most that numbers of this mean can have
    if (fabs(sum - n * p) > 4 * sigma + 1e-9)
        fail_msg("%g of %g, expected %g with a deviation of %g", sum, n, n * p, sigma);
}

static const agg_windows several = {.active_micro = 300000,
                                    .n_sizes = 3,
                                    .sizes = {1, 2, 5},
                                    .size_weights = {5, 3, 2},
                                    .days = 1,
                                    .openings = openings};

// By hand: half of the active windows have one event, 3/10 two, 2/10 five, so that 0.5 + 0.15 +
// 0.04 = 0.69 of a window is its first event.
static void the_share_of_a_value_by_hand(void **state)
{
    agg_windows w = several;
    (void)state;
    assert_true(fabs(share_of(&w, 0) - 0.3 * 0.31 * 0.6) < 1e-12);
    assert_true(fabs(share_of(&w, 3) - 0.3 * (0.69 * 0.9 + 0.31 * 0.1)) < 1e-12);
    w.favourite_micro = 400000;
    assert_true(fabs(share_of(&w, 3) - 0.3 * (0.69 * (0.6 * 0.9 + 0.4 * 0.1) + 0.31 * 0.1)) <
                1e-12);
    w.openings = NULL;
    assert_true(fabs(share_of(&w, 3) - 0.3 * 0.1) < 1e-12);
}

static void uniform_reports_each_event_alike(void **state)
{
    outcome o;
    agg_windows w = several;
    (void)state;
    for (unsigned favourite = 0; favourite <= 1000000; favourite += 500000) {
        w.favourite_micro = favourite;
        run(&o, UNIFORM_DAY, 1, &w, 2);
        assert_int_equal(o.drawn.n_reports, DEVICES);
        assert_int_equal(o.drawn.windows.n_windows, DEVICES);
        check_sum((double)o.drawn.windows.n_active, DEVICES, 0.3);
        assert_int_equal(o.drawn.n_nothing, DEVICES - o.drawn.windows.n_active);
        for (size_t v = 0; v < VALUES; v++) {
            double held = (double)o.shares[v] / 10, p = share_of(&w, v); // the unit is 1/10
            check_sum(held, DEVICES, p);
            check_sum((double)o.counts[v], DEVICES, p);
            // The picks given the windows: no more than a binomial law's variance.
            assert_true(fabs((double)o.counts[v] - held) <= 4 * sqrt(held));
        }
    }
}

// The same windows, of which the first event is reported.
static void first_reports_what_opens(void **state)
{
    outcome uniform, first;
    (void)state;
    run(&uniform, UNIFORM_DAY, 1, &several, 1);
    run(&first, FIRST, 1, &several, 1);
    assert_int_equal(first.drawn.windows.n_active, uniform.drawn.windows.n_active);
    assert_int_equal(first.drawn.n_reports, first.drawn.windows.n_active);
    assert_int_equal(first.drawn.n_nothing, 0);
    for (size_t v = 0; v < VALUES; v++)
        check_sum((double)first.counts[v], (double)first.drawn.n_reports, (double)openings[v] / 10);
    run(&first, FIRST, 3, &several, 1); // 0.5 * 1 + 0.3 * 2 + 0.2 * 3 = 1.7 reports a window
    double active = (double)first.drawn.windows.n_active;
    assert_true(fabs((double)first.drawn.n_reports - 1.7 * active) < 4 * sqrt(0.61 * active));
}

// Slots of one window are drawn from the same events, each anew.
static void slots_are_clustered(void **state)
{
    outcome o;
    agg_windows w = {.active_micro = 500000,
                     .favourite_micro = 0,
                     .n_sizes = 1,
                     .sizes = {1},
                     .size_weights = {1},
                     .days = 1};
    (void)state;
    run(&o, UNIFORM_DAY, 3, &w, 1);
    assert_int_equal(o.drawn.n_reports, 3 * DEVICES);
    for (size_t v = 0; v < VALUES; v++) assert_int_equal(o.counts[v] % 3, 0); // one event a window
    w.sizes[0] = 10;
    run(&o, UNIFORM_DAY, 3, &w, 1);
    // Copies of one pick would make every count a multiple of 3; picks of their own make all four
    // of them one in one seed of 81.
    unsigned multiples = 0;
    for (size_t v = 0; v < VALUES; v++) multiples += o.counts[v] % 3 == 0;
    assert_true(multiples < VALUES);
    check_sum((double)o.drawn.n_nothing / 3, DEVICES, 0.5);
}

// Each slot tosses the coin of send.sample.
static void samples_are_of_slots(void **state)
{
    outcome o;
    (void)state;
    run(&o, ",\"send\":{\"pick\":\"uniform\",\"window\":\"day\",\"sample\":0.25}", 2, &several, 1);
    check_sum((double)o.drawn.n_reports, 2 * DEVICES, 0.25);
    double n = (double)o.drawn.n_reports;
    // A window with both slots weighs twice: the design effect is 1 + 0.25.
    for (size_t v = 0; v < VALUES; v++) {
        double p = share_of(&several, v), sigma = sqrt(1.25 * n * p * (1 - p));
        assert_true(fabs((double)o.shares[v] / 10 - n * p) < 4 * sigma);
    }
    run(&o, ",\"send\":{\"sample\":0.25,\"delay_s\":0}", 1, &several, 1);
    // The chance that one of k events is taken: 1 - 0.75^k.
    double taken = 0.5 * 0.25 + 0.3 * (1 - 0.5625) + 0.2 * (1 - pow(0.75, 5));
    check_sum((double)o.drawn.n_reports, (double)o.drawn.windows.n_active, taken);
}

static void what_is_lost(void **state)
{
    outcome o;
    agg_windows w = several;
    (void)state;
    w.days = 3;
    w.gone_micro = 200000;
    w.killed_micro = 100000;
    double windows = 1 + 0.8 + 0.64; // of a device
    run(&o, UNIFORM_DAY, 1, &w, 2);
    double n = (double)o.drawn.windows.n_windows;
    assert_true(fabs(n - windows * DEVICES) < 4 * sqrt(0.7 * DEVICES)); // variance 0.688 a device
    check_sum((double)o.drawn.windows.n_lost, n, 0.2);
    assert_int_equal(o.drawn.n_reports, o.drawn.windows.n_windows - o.drawn.windows.n_lost);
    run(&o, UNIFORM_VISIT, 1, &w, 2);
    assert_int_equal((uint64_t)n, o.drawn.windows.n_windows); // the same crowd
    check_sum((double)o.drawn.windows.n_lost, n, 0.1);
    run(&o, FIRST, 1, &w, 2);
    assert_int_equal(o.drawn.windows.n_lost, 0);
    run(&o, ",\"send\":{\"delay_s\":60}", 1, &w, 2);
    check_sum((double)o.drawn.windows.n_lost, n, 0.2);
    for (size_t v = 0; v < VALUES; v++)
        check_sum((double)o.counts[v], (double)o.drawn.n_reports, (double)openings[v] / 10);
}

static void threads_change_nothing(void **state)
{
    outcome one, five;
    agg_windows w = several;
    (void)state;
    w.days = 2;
    run(&one, UNIFORM_DAY, 2, &w, 1);
    run(&five, UNIFORM_DAY, 2, &w, 5);
    assert_true(one.sum == five.sum);
    assert_memory_equal(one.shares, five.shares, sizeof one.shares);
    assert_memory_equal(one.counts, five.counts, sizeof one.counts);
}

static void impossible_windows_are_refused(void **state)
{
    agg_recipe recipe;
    agg_error error;
    agg_windows w = several;
    (void)state;
    read_window_recipe(&recipe, UNIFORM_DAY, 2);
    w.days = 500;
    assert_ok(agg_windows_check(&error, &w, &recipe));
    w.days = 501;
    assert_err(agg_windows_check(&error, &w, &recipe), AGG_ERR_USAGE);
    w.days = 1;
    w.sizes[0] = 997; // a prime
    w.sizes[1] = 991;
    assert_err(agg_windows_check(&error, &w, &recipe), AGG_ERR_USAGE);
    assert_non_null(strstr(error.text, "common multiple"));
    agg_recipe_release(&recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_of_a_value_by_hand),
        cmocka_unit_test(uniform_reports_each_event_alike),
        cmocka_unit_test(first_reports_what_opens),
        cmocka_unit_test(slots_are_clustered),
        cmocka_unit_test(samples_are_of_slots),
        cmocka_unit_test(what_is_lost),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(impossible_windows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
