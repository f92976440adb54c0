// SPDX-License-Identifier: Apache-2.0
// Simulated runs: binomial numbers against their law, counts files over time, devices that live
// through epochs, what they spend, what the series then says; groups, items, and the methods that
// stand beside. SHOAL_LONG: runs of 100,000 devices and 1,000 epochs.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>

#include "agg_parallel.h"
#include "binomial.h"
#include "binomial_draw.h"
#include "compound.h"
#include "dictionary.h"
#include "epoch_sampler.h"
#include "simulation.h"
#include "track_items.h"
#include "track_rivals.h"
#include "track_series.h"
#include "track_simulation.h"

// ---- draws ----

// Chi-square of counts[0 .. n] against the binomial law, cells below 10 expected joined to their
// neighbours; over its degrees of freedom.
static double chi_square(const uint32_t *counts, uint32_t n, double p, double draws,
                         double *freedom)
{
    const agg_binomial law = {n, p, 1 - p};
    double sum = 0, seen = 0, expected = 0;
    *freedom = -1;
    for (uint32_t k = 0; k <= n; k++) {
        seen += counts[k];
        expected += draws * exp(agg_binomial_log(k, &law));
        if (expected < 10 && k < n) continue;
        if (expected < 1e-9 && seen > 0) return HUGE_VAL;
        if (expected > 0) sum += (seen - expected) * (seen - expected) / expected;
        seen = expected = 0;
        ++*freedom;
    }
    return sum;
}

static void test_binomial(void **state)
{
    static const struct {
        uint32_t n;
        double p;
    } laws[] = {{1, 0.3},     {5, 0.5},      {30, 0.9},     {40, 0.25},
                {41, 0.25},   {1000, 0.003}, {1000, 0.5},   {2000, 0.7},
                {3000, 0.01}, {5000, 0.999}, {100000, 0.2}, {100000, 0.8}};
    const uint8_t seed[32] = {9};
    const uint32_t draws = effort(200000, 200000, 2000);
    agg_error error;
    shoal_rng rng;
    (void)state;
    shoal_rng_init(&rng, seed);
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) {
        uint32_t n = laws[i].n, *counts = calloc(2 * ((size_t)n + 1), sizeof *counts);
        double freedom;
        binomial_table table;
        assert_non_null(counts);
        assert_ok(binomial_table_init(&table, &error, n, laws[i].p));
        for (uint32_t k = 0; k < draws; k++) {
            counts[binomial_table_draw(&table, &rng)]++;
            counts[n + 1 + binomial_draw(&rng, n, laws[i].p)]++;
        }
        for (int way = 0; way < 2; way++) {
            if (draws < 200000) continue; // too few to judge
            double x = chi_square(counts + (size_t)way * (n + 1), n, laws[i].p, draws, &freedom);
            // mean freedom, variance 2 freedom: 5 sigma, and a little for few degrees
            if (x > freedom + 5 * sqrt(2 * freedom) + 10)
                fail_msg("n %u, p %g, way %d: chi-square %g of %g", n, laws[i].p, way, x, freedom);
        }
        binomial_table_release(&table);
        free(counts);
    }
    assert_int_equal(binomial_draw(&rng, 10, 0), 0);
    assert_int_equal(binomial_draw(&rng, 10, 1), 10);
}

static void test_sure_table(void **state)
{
    const uint8_t seed[32] = {1};
    agg_error error;
    shoal_rng rng;
    binomial_table table;
    (void)state;
    shoal_rng_init(&rng, seed);
    assert_ok(binomial_table_init(&table, &error, 7, 1));
    assert_int_equal(binomial_table_draw(&table, &rng), 7);
    binomial_table_release(&table);
    assert_ok(binomial_table_init(&table, &error, 7, 0));
    assert_int_equal(binomial_table_draw(&table, &rng), 0);
    binomial_table_release(&table);
}

// ---- counts files ----

static void parse(epoch_counts *counts, const char *text)
{
    agg_error error = {SHOAL_OK, 0, ""};
    if (epoch_counts_parse(counts, &error, "counts", text, strlen(text)) != SHOAL_OK)
        fail_msg("%s", error.text);
}

static void test_counts(void **state)
{
    epoch_counts counts;
    const double numbers[] = {0, 1}; // of the values "0" and "1"
    (void)state;
    parse(&counts, "1\t0\t30\told\n1\t1\t10\told\r\n5\t1\t3\told\n5\t0\t1\told\n\n3\t0\t1\tyoung\n1"
                   "\t1\t20\tyoung\n");
    assert_int_equal(counts.groups.n, 2);
    assert_int_equal(counts.values.n, 2);
    assert_int_equal(counts.n_laws, 4);
    assert_int_equal(counts.last_epoch, 5);
    // groups of 40 and 20 in epoch 1: two thirds, one third
    assert_int_equal(epoch_counts_first_device(&counts, 0, 300), 0);
    assert_int_equal(epoch_counts_first_device(&counts, 1, 300), 200);
    assert_int_equal(epoch_counts_first_device(&counts, 2, 300), 300);
    // epochs 1 and 2: 1/4 and 1; from 3 on the young are at 0; from 5 on the old at 3/4
    const double means[] = {(200 * 0.25 + 100) / 300,
                            (200 * 0.25 + 100) / 300,
                            200 * 0.25 / 300,
                            200 * 0.25 / 300,
                            0.5,
                            0.5};
    for (uint32_t t = 1; t <= 6; t++)
        assert_true(fabs(epoch_counts_mean(&counts, numbers, t, 300) - means[t - 1]) < 1e-12);
    epoch_counts_release(&counts);
}

static void test_bad_counts(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"1\t0\n", "line 1: a line must be epoch"},
               {"1\t0\t1\tg\tx\n", "line 1: a line must be epoch"},
               {"0\t0\t1\n", "line 1: the epoch"},
               {"1\t0\t1\nx\t0\t1\n", "line 2: the epoch"},
               {"65538\t0\t1\n", "line 1: the epoch"},
               {"1\t\t1\n", "line 1: the value"},
               {"1\t0\t-1\n", "line 1: the count"},
               {"1\t0\t1.5\n", "line 1: the count"},
               {"1\t0\t9007199254740993\n", "line 1: the count"},
               {"1\t0\t9007199254740992\n1\t1\t1\n", "add up to more than 2^53"},
               {"1\t0\t1\n1\t0\t2\n", "line 2: the value came before in this epoch and group"},
               {"1\t0\t1\n1\t1\t2\tg\n", "line 2: either all lines must have a group"},
               {"1\t0\t0\n", "all counts of this epoch and group are zero"},
               {"2\t0\t1\n", "no line in epoch 1"},
               {"1\t0\t1\ta\n2\t0\t1\tb\n", "no line in epoch 1"},
               {"\n", "holds no line"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        agg_error error = {SHOAL_OK, 0, ""};
        epoch_counts counts;
        assert_err(epoch_counts_parse(&counts, &error, "counts", bad[i].text, strlen(bad[i].text)),
                   AGG_ERR_USAGE);
        if (strstr(error.text, bad[i].says) == NULL) fail_msg("%s: %s", bad[i].text, error.text);
    }
}

// Means of three values, and counts, have the expectation and the spread of a multinomial.
static void test_sampler(void **state)
{
    const uint64_t items[] = {0, 1000000, 4000000};
    const double shares[] = {0.2, 0.5, 0.3}, n = effort(20000, 20000, 200);
    const uint8_t seed[32] = {4};
    double sum = 0, squares = 0, sums[3] = {0, 0, 0};
    agg_error error;
    shoal_rng rng;
    epoch_counts counts;
    epoch_sampler sampler = {0};
    (void)state;
    parse(&counts, "1\ta\t2\n1\tb\t5\n1\tc\t3\n2\ta\t7\n");
    shoal_rng_init(&rng, seed);
    assert_ok(epoch_sampler_set(&sampler, &error, &counts, &counts.laws[0], items, 100));
    for (int i = 0; i < n; i++) {
        uint32_t drawn[3] = {0, 0, 0};
        double mean = (double)epoch_sampler_mean(&sampler, &rng);
        epoch_sampler_counts(drawn, &sampler, &rng);
        assert_int_equal(drawn[0] + drawn[1] + drawn[2], 100);
        sum += mean;
        squares += mean * mean;
        for (int k = 0; k < 3; k++) sums[k] += drawn[k];
    }
    // 1.7e6 each, of variance 0.5 10^12 + 0.3 16 10^12 - 1.7^2 10^12 = 2.41 10^12 a sample
    double sd = sqrt(2.41e12 / 100), mean = sum / n, spread = sqrt(squares / n - mean * mean);
    assert_true(fabs(mean - 1.7e6) < 5 * sd / sqrt(n));
    assert_true(fabs(spread - sd) < 5 * sd / sqrt(2 * n));
    for (int k = 0; k < 3; k++)
        assert_true(fabs(sums[k] / n - 100 * shares[k]) <
                    5 * sqrt(100 * shares[k] * (1 - shares[k]) / n));
    assert_ok(epoch_sampler_set(&sampler, &error, &counts, &counts.laws[1], items, 100));
    assert_int_equal(epoch_sampler_mean(&sampler, &rng), 0); // one value is all there is
    epoch_sampler_release(&sampler);
    epoch_counts_release(&counts);
}

// ---- runs ----

typedef struct run {
    agg_recipe recipe;
    epoch_counts counts;
    agg_track track;
    track_spent spent;
    uint64_t digest; // of all accumulators
    double *truth;
} run;

static agg_err take(void *context, agg_error *error, const agg_recipe *recipe,
                    const agg_accumulator *acc)
{
    run *r = context;
    for (uint32_t p = 0; p < acc->n_parts; p++)
        for (uint64_t i = 0; i < acc->parts[p].n_cells; i++)
            r->digest = r->digest * 6364136223846793005u + acc->parts[p].cells.ones[i] + 1;
    return agg_track_add(&r->track, error, "simulated", recipe, acc);
}

static void run_it(run *r, const char *recipe, const char *counts, const char *seed,
                   uint64_t n_devices, unsigned n_threads)
{
    agg_error error = {SHOAL_OK, 0, ""};
    memset(r, 0, sizeof *r);
    read_recipe(&r->recipe, recipe);
    parse(&r->counts, counts);
    agg_track_init(&r->track, 0.95);
    track_simulation s = {.recipe = &r->recipe,
                          .counts = &r->counts,
                          .n_devices = n_devices,
                          .n_threads = n_threads,
                          .sink = take,
                          .sink_context = r};
    agg_simulation_seed(s.seed, seed);
    if (track_simulation_run(&r->spent, &error, &s) != SHOAL_OK) fail_msg("%s", error.text);
    assert_ok(agg_track_finish(&r->track, &error));
    r->truth = calloc(r->track.n_rows, sizeof *r->truth);
    assert_non_null(r->truth);
    if (r->recipe.recipe->mechanism == shoal_thresh_id)
        assert_ok(track_truth(r->truth, &error, &r->recipe, &r->counts, n_devices,
                              (uint32_t)r->track.n_rows));
    // 2 c_V + c_E of every device is within epsilon: the simulation fails otherwise; and the most
    // is what it says
    for (uint32_t t = 0; t < r->spent.n; t++) {
        assert_true(r->spent.privacy[t] <= r->track.law.cost + 1e-9 &&
                    r->track.law.cost <= r->track.law.epsilon + 1e-9);
        if (t > 0) assert_true(r->spent.privacy[t] >= r->spent.privacy[t - 1]);
    }
}

static void end(run *r)
{
    agg_track_release(&r->track);
    track_spent_release(&r->spent);
    epoch_counts_release(&r->counts);
    agg_recipe_release(&r->recipe);
    free(r->truth);
}

static void thresh_recipe(char out[1024], double epsilon, unsigned users, unsigned epochs,
                          unsigned samples, unsigned group, unsigned groups)
{
    snprintf(out, 1024,
             "{\"recipe\":\"run\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"number\","
             "\"mechanism\":\"thresh\","
             "\"parameters\":{\"epsilon\":%g,\"users\":%u,\"epochs\":%u,\"samples\":%u,\"smallest_"
             "group\":%u,"
             "\"groups\":%u,\"delta\":\"1e-6\",\"low\":0,\"high\":1},\"limit\":{\"per_day\":1},"
             "\"round\":{\"index\":1},"
             "\"expires\":\"2030-01-01\"}",
             epsilon, users, epochs, samples, group, groups);
}

// The mean starts at 1/2 and changes by 0.3 at three epochs.
static void three_changes(char out[256], unsigned first, unsigned second, unsigned third)
{
    snprintf(out, 256,
             "1\t0\t1\n1\t1\t1\n%u\t0\t2\n%u\t1\t8\n%u\t0\t1\n%u\t1\t1\n%u\t0\t8\n%u\t1\t2\n",
             first, first, second, second, third, third);
}

// Updates are the changes, each in its epoch or the next, no other; errors are those of the
// updates.
static void check_changes(const run *r, const unsigned epochs[3])
{
    double rms, largest;
    assert_int_equal(r->track.n_called, 3);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t epoch = r->track.updates[i].epoch;
        assert_true(epoch == epochs[i] || epoch == epochs[i] + 1);
    }
    agg_track_error(&rms, &largest, &r->track, r->truth);
    assert_true(rms <= 0.035 && largest <= 0.12);
    assert_true(largest <= r->track.law.bound);
    // two votes and an estimate a change, at most
    assert_true(r->spent.privacy[r->spent.n - 1] <=
                3 * (2 * 2 * r->track.law.a + r->track.law.b) + 1e-9);
}

// Five seeds of the long test's shape: 20,000 devices, 100 epochs. An update's standard error is
// 0.0148; its largest of 15 is below 0.06 but for one run in a thousand. A quiet epoch is an update
// with a chance below 1e-9 (sqrt(ln(10 T/delta)/2n) is 4.5 sigma), a loud one is none with less.
static void test_changes(void **state)
{
    char recipe[1024], counts[256], seed[16];
    const unsigned epochs[3] = {26, 51, 76};
    (void)state;
    thresh_recipe(recipe, 4, 20000, 100, 50000, 20000, 1);
    three_changes(counts, epochs[0], epochs[1], epochs[2]);
    const uint32_t n_seeds = effort(5, 5, 1);
    for (uint32_t i = 0; i < n_seeds; i++) {
        run r;
        snprintf(seed, sizeof seed, "%u", i);
        run_it(&r, recipe, counts, seed, 20000, 2);
        assert_int_equal(r.track.n_rows, 100);
        check_changes(&r, epochs);
        end(&r);
    }
}

// 100,000 devices and 1,000 epochs: one seed, two minutes of a processor. It shows that the
// promises hold at this size; test_changes tries more seeds. A campaign runs the hundred whose
// figures docs/track.md gives, SHOAL_RUN by SHOAL_RUN. The sanitizers see the same code in
// test_changes.
static void test_long_runs(void **state)
{
    char recipe[1024], counts[256], seed[32];
    const unsigned epochs[3] = {251, 501, 751};
    (void)state;
    if (!effort_is_long() || EFFORT_SANITIZED) skip();
    const char *asked = getenv("SHOAL_RUN");
    const long i = asked != NULL ? strtol(asked, NULL, 10) : 0;
    thresh_recipe(recipe, 4, 100000, 1000, 100000, 100000, 1);
    three_changes(counts, epochs[0], epochs[1], epochs[2]);
    run r;
    double rms, largest;
    snprintf(seed, sizeof seed, "long %ld", i);
    run_it(&r, recipe, counts, seed, 100000, agg_parallel_cores());
    check_changes(&r, epochs);
    agg_track_error(&rms, &largest, &r.track, r.truth);
    printf("run %ld: rms %.4f, largest %.4f, spent %.4f\n", i, rms, largest, r.spent.privacy[999]);
    end(&r);
}

static void test_threads(void **state)
{
    char recipe[1024], counts[256];
    run one, three, other;
    (void)state;
    thresh_recipe(recipe, 4, 20000, 10, 50000, 20000, 1);
    three_changes(counts, 3, 5, 7);
    run_it(&one, recipe, counts, "a", 20001, 1);
    run_it(&three, recipe, counts, "a", 20001, 3);
    run_it(&other, recipe, counts, "b", 20001, 1);
    assert_true(one.digest == three.digest && one.digest != other.digest);
    assert_true(one.spent.privacy[9] == three.spent.privacy[9] &&
                one.spent.votes_spent[9] == three.spent.votes_spent[9]);
    end(&one);
    end(&three);
    end(&other);
}

// The mean jumps in every epoch. A device votes as often as its epsilon has room for, and not once
// more; then the series is frozen or silent.
static void test_caps(void **state)
{
    char recipe[1024], counts[2048] = "", *at = counts;
    run r;
    (void)state;
    thresh_recipe(recipe, 4, 20000, 40, 50000, 20000, 1);
    for (unsigned t = 1; t <= 40; t++)
        at += sprintf(at, "%u\t0\t%u\n%u\t1\t%u\n", t, 1 + 8 * (t % 2), t, 1 + 8 * ((t + 1) % 2));
    run_it(&r, recipe, counts, "caps", 20000, 2);
    const shoal_evolving *f = &r.track.law.figures;
    assert_int_equal(f->n_votes, 5);
    assert_int_equal(f->n_estimates, 3);
    assert_int_equal(r.track.n_called, 5); // of five votes each; the last two are not answered
    assert_int_equal(r.track.n_updates, 3);
    assert_int_equal(agg_track_updates_left(&r.track), 0);
    assert_true(r.track.rows[39].is_frozen);
    assert_true(fabs(r.spent.privacy[39] - r.track.law.cost) < 1e-9);
    assert_true(r.spent.votes_spent[39] == 1 && r.spent.votes_spent[0] == 0);
    end(&r);
}

// One of two groups changes, by 0.3: the votes of half of the devices call the update, whose mean
// moves by 0.15.
static void test_groups(void **state)
{
    char recipe[1024];
    run r;
    (void)state;
    thresh_recipe(recipe, 8, 40000, 20, 100000, 20000, 2);
    run_it(&r, recipe, "1\t0\t1\ta\n1\t1\t1\ta\n1\t0\t1\tb\n1\t1\t1\tb\n9\t0\t2\tb\n9\t1\t8\tb\n",
           "groups", 40000, 2);
    assert_int_equal(r.track.n_called, 1);
    assert_int_equal(r.track.updates[0].epoch, 9);
    const agg_track_row *last = &r.track.rows[19];
    assert_true(fabs(r.truth[19] - 0.65) < 1e-9);
    assert_true(fabs(last->value - 0.65) < 5 * last->stderr_ && last->stderr_ < 0.02);
    end(&r);
}

// Over many runs of one update the interval holds the truth as often as it says: 200 of 95 %, 190
// +- 3.1; 4 sigma.
static void test_coverage(void **state)
{
    char recipe[1024], seed[16];
    int n_held = 0;
    double scores = 0;
    (void)state;
    thresh_recipe(recipe, 16, 4000, 4, 5000, 4000, 1);
    const uint32_t n_runs = effort(200, 200, 2);
    for (uint32_t i = 0; i < n_runs; i++) {
        run r;
        snprintf(seed, sizeof seed, "c%u", i);
        run_it(&r, recipe, "1\t0\t1\n1\t1\t9\n", seed, 4000, 2);
        assert_int_equal(r.track.updates[0].epoch, 1);
        const agg_track_row *row = &r.track.rows[0];
        n_held += row->low <= 0.9 && 0.9 <= row->high;
        scores += (row->value - 0.9) / row->stderr_;
        end(&r);
    }
    if (n_runs < 200) return; // too few to judge
    assert_in_range(n_held, 178, 200);
    assert_true(fabs(scores / sqrt(200)) < 4);
}

// ---- items ----

static void heavy_recipe(char out[1024], double epsilon, unsigned users, unsigned epochs,
                         unsigned samples, unsigned w)
{
    snprintf(
        out, 1024,
        "{\"recipe\":\"items\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
        "\"mechanism\":\"heavythresh\","
        "\"parameters\":{\"epsilon\":%g,\"users\":%u,\"epochs\":%u,\"samples\":%u,\"smallest_"
        "group\":%u,"
        "\"groups\":1,\"delta\":\"1e-6\",\"projection\":%u,\"epsilon_estimate\":2},\"seed\":\"%s\","
        "\"limit\":{\"per_day\":1},\"round\":{\"index\":1},\"expires\":\"2030-01-01\"}",
        epsilon, users, epochs, samples, users, w, AGG_TEST_SEED);
}

// Thirty values; 'v3' goes from 0.1 to 0.6 at the expense of 'v1', 0.6 to 0.1. The rest share 0.3.
static void item_counts(char out[2048])
{
    char *at = out;
    for (unsigned t = 1; t <= 6; t += 5)
        for (unsigned v = 0; v < 30; v++) {
            unsigned count = v == 1 ? (t == 1 ? 600 : 100) : v == 3 ? (t == 1 ? 100 : 600) : 11;
            at += sprintf(at, "%u\tv%u\t%u\n", t, v, count);
        }
}

static void test_items(void **state)
{
    char recipe[1024], counts[2048], values[256] = "", *at = values;
    agg_error error;
    agg_dictionary dictionary;
    agg_track_items items;
    run r;
    (void)state;
    heavy_recipe(recipe, 8, 4000, 8, 20000, 256);
    item_counts(counts);
    run_it(&r, recipe, counts, "items", 4000, 2);
    assert_int_equal(r.track.n_called, 2);
    assert_int_equal(r.track.updates[0].epoch, 1);
    assert_int_equal(r.track.updates[1].epoch, 6);
    for (unsigned v = 0; v < 30; v++) at += sprintf(at, "v%u\n", v);
    at += sprintf(at, "nobody\n");
    assert_ok(agg_dictionary_parse(&dictionary, &error, &r.recipe, "values", values, strlen(values),
                                   false, NULL, NULL));
    assert_ok(agg_track_items_run(&items, &error, &r.track, &dictionary));
    double scores = 0;
    for (size_t u = 0; u < 2; u++)
        for (size_t v = 0; v < 31; v++) {
            const agg_track_share *s = agg_track_items_at(&items, u, v);
            double truth = v == 1    ? (u == 0 ? 600 : 100)
                           : v == 3  ? (u == 0 ? 100 : 600)
                           : v == 30 ? 0
                                     : 11;
            truth /= 1008;
            // c = 1.31 at epsilon 2: c/sqrt(4000) = 0.0207, and 0.6/16 = 0.038 of the projection
            assert_true(s->reports_error < 0.0211 && s->stderr_ < 0.05);
            assert_true(fabs(s->share - truth) < 5 * s->stderr_);
            scores += (s->share - truth) * (s->share - truth) / (s->stderr_ * s->stderr_);
            assert_int_equal(s->has_moved, u == 1 && (v == 1 || v == 3));
            if (v == 1 || v == 3) assert_true(s->is_detected || truth < 0.2);
        }
    assert_in_range((int)scores, 25, 110); // 62 of them, chi-square but for their common signs
    assert_int_equal(items.order[0], 3);
    agg_track_items_release(&items);
    agg_dictionary_release(&dictionary);
    end(&r);
}

static void test_item_threads(void **state)
{
    char recipe[1024], counts[2048];
    run one, two;
    (void)state;
    heavy_recipe(recipe, 8, 2000, 4, 20000, 64);
    item_counts(counts);
    char *sixth = strstr(counts, "\n6\t");
    assert_non_null(sixth);
    sixth[1] = '\0'; // the first epoch's lines alone
    run_it(&one, recipe, counts, "x", 2001, 1);
    run_it(&two, recipe, counts, "x", 2001, 2);
    assert_true(one.digest == two.digest);
    end(&one);
    end(&two);
}

// A thousand values by Zipf's law, 20,000 devices, 64 epochs, 2,048 coordinates, b = 0.5: in epoch
// 20 one gains 0.3 at the expense of all, in epoch 40 it loses them to another. The threshold that
// is passed votes in every fourth epoch. 330 MB.
static void zipf(char **at, unsigned epoch, int risen)
{
    double harmonic = 0;
    for (int i = 1; i <= 1000; i++) harmonic += 1.0 / i;
    for (int i = 0; i < 1000; i++) {
        double share = (risen < 0 ? 1 : 0.7) / (i + 1) / harmonic + (i == risen ? 0.3 : 0);
        *at += sprintf(*at, "%u\tv%d\t%.0f\n", epoch, i, share * 1e9);
    }
}

static void test_thousand_items(void **state)
{
    static char recipe[1024], counts[1 << 17], values[1 << 14];
    char *at = counts, *line = values;
    agg_error error;
    agg_dictionary dictionary;
    agg_track_items items;
    run r;
    (void)state;
    if (!effort_is_long()) skip();
    heavy_recipe(recipe, 4, 20000, 64, 100000, 2048);
    char *estimate = strstr(recipe, "\"epsilon_estimate\":2}");
    assert_non_null(estimate);
    memmove(estimate + 22, estimate + 20, strlen(estimate + 20) + 1);
    memcpy(estimate, "\"epsilon_estimate\":0.5", 22);
    zipf(&at, 1, -1);
    zipf(&at, 20, 500);
    zipf(&at, 40, 700);
    for (int i = 0; i < 1000; i++) line += sprintf(line, "v%d\n", i);
    run_it(&r, recipe, counts, "items", 20000, agg_parallel_cores());
    assert_int_equal(r.track.n_called, 3);
    const uint32_t epochs[3] = {1, 20, 40};
    for (int u = 0; u < 3; u++) assert_int_equal(r.track.updates[u].epoch, epochs[u]);
    assert_ok(agg_dictionary_parse(&dictionary, &error, &r.recipe, "values", values, strlen(values),
                                   false, NULL, NULL));
    assert_ok(agg_track_items_run(&items, &error, &r.track, &dictionary));
    for (size_t u = 0; u < 3; u++)
        for (size_t v = 0; v < 1000; v++) {
            int moves = (v == 500 && u > 0) || (v == 700 && u == 2);
            assert_int_equal(agg_track_items_at(&items, u, v)->has_moved, moves);
        }
    agg_track_items_release(&items);
    agg_dictionary_release(&dictionary);
    end(&r);
}

// ---- beside ----

// Naive: sd 0.5/((1 - 2q) sqrt n) with epsilon/T = 0.04 and n = 20,000: 0.177. Memoized: 0.5/(0.762
// 141) = 0.0046 at epsilon 2 a response.
static void test_rivals(void **state)
{
    char recipe[1024], counts[256];
    agg_error error;
    run r;
    track_rivals rivals;
    double naive = 0, memoized = 0;
    (void)state;
    thresh_recipe(recipe, 4, 20000, 100, 50000, 20000, 1);
    three_changes(counts, 26, 51, 76);
    run_it(&r, recipe, counts, "rivals", 20000, 2);
    track_simulation s = {
        .recipe = &r.recipe, .counts = &r.counts, .n_devices = 20000, .n_threads = 2};
    agg_simulation_seed(s.seed, "rivals");
    assert_ok(track_rivals_run(&rivals, &error, &s));
    for (uint32_t t = 0; t < 100; t++) {
        naive += pow(rivals.naive[t] - r.truth[t], 2) / 100;
        memoized += pow(rivals.memoized[t] - r.truth[t], 2) / 100;
    }
    assert_true(fabs(rivals.naive_epsilon - 0.04) < 1e-12);
    assert_true(fabs(sqrt(naive) - 0.177) < 5 * 0.177 / sqrt(200));
    assert_true(sqrt(memoized) < 0.02); // its errors are the same in all epochs of one mean
    assert_true(rivals.memoized_privacy[99] == 4);
    // A device whose threshold lies between 0.2 and 0.8 has shown a change where its responses
    // differ: 0.6 (1 - 2 q (1 - q)) = 0.474, q = 0.119
    assert_true(fabs(rivals.memoized_seen[99] - 0.474) < 0.02);
    assert_true(rivals.memoized_seen[24] < 0.03); // those at 1/2, whose rounding wavers
    track_rivals_release(&rivals);
    end(&r);
}

// argv[1], when given, chooses tests by a pattern.
int main(int argc, char *argv[])
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binomial),  cmocka_unit_test(test_sure_table),
        cmocka_unit_test(test_counts),    cmocka_unit_test(test_bad_counts),
        cmocka_unit_test(test_sampler),   cmocka_unit_test(test_changes),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_caps),
        cmocka_unit_test(test_groups),    cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_items),     cmocka_unit_test(test_item_threads),
        cmocka_unit_test(test_rivals),    cmocka_unit_test(test_thousand_items),
        cmocka_unit_test(test_long_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
