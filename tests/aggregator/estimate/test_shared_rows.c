// SPDX-License-Identifier: Apache-2.0
// Differences between two collections with the same hash rows, on fixed seeds: intervals cover as
// they say, whatever the rows, reports, epsilon and mechanism, and are not wider than they need to
// be. Devices, records and sketches are real; a trial takes fresh rows and fresh coins.
//
// SHOAL_SHOW=1 prints the measured figures.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>

#include "compare.h"
#include "shared_rows.h"

#define N_VALUES 30u
#define N_MAX 4096u

typedef struct setting {
    const char *mechanism;
    double epsilon;
    uint32_t k, m, n; // n reports on either side
} setting;

// One side of a trial.
typedef struct crowd {
    agg_recipe recipe;
    agg_dictionary dictionary;
    agg_accumulator acc;
    uint32_t truth[N_VALUES], n;
} crowd;

static void open_crowd(crowd *c, const setting *s, unsigned seed)
{
    char text[1024], hex[65], values[256], name[16];
    size_t len = 0;
    agg_error error;
    memset(c, 0, sizeof *c);
    snprintf(hex, sizeof hex, "%064x", seed);
    snprintf(name, sizeof name, "\"%s\":%u", strcmp(s->mechanism, "olh") == 0 ? "g" : "m", s->m);
    snprintf(text, sizeof text,
             "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"%s\",\"parameters\":{\"epsilon\":%g,\"k\":%u,%s},\"hash\":\"poly1\","
             "\"seed\":\"%s\",\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\","
             "\"cohort\":{\"minimum\":1}}",
             s->mechanism, s->epsilon, s->k, name, hex);
    read_recipe(&c->recipe, text);
    for (unsigned d = 0; d < N_VALUES; d++)
        len += (size_t)snprintf(values + len, sizeof values - len, "%u\n", d);
    assert_ok(agg_dictionary_parse(&c->dictionary, &error, &c->recipe, "values", values, len, false,
                                   NULL, NULL));
}

static void close_crowd(crowd *c)
{
    agg_accumulator_release(&c->acc);
    agg_dictionary_release(&c->dictionary);
    agg_recipe_release(&c->recipe);
}

// Draws n devices from Zipf's law. In a crowd that moved, value 2 has twice its devices, and value
// 1 fewer.
static void fill_crowd(crowd *c, uint32_t n, bool has_moved, shoal_rng *rng)
{
    static uint8_t records[N_MAX * 256];
    size_t size = c->recipe.recipe->record_size;
    agg_error error;
    double sum = 0;
    assert_true(size <= 256 && n <= N_MAX);
    for (uint32_t d = 0; d < N_VALUES; d++) sum += 1.0 / (d + 1);
    for (c->n = 0; c->n < n; c->n++) {
        double u = (double)shoal_rng_u64(rng) * 0x1p-64 * sum;
        uint32_t d = 0;
        while (d + 1 < N_VALUES && u >= 1.0 / (d + 1)) u -= 1.0 / (++d);
        if (has_moved && d == 1 && c->n % 3 != 0) d = 2;
        c->truth[d]++;
        assert_ok(shoal_record_randomize(records + c->n * size, c->recipe.recipe,
                                         &c->dictionary.items[d], 1, NULL, rng));
    }
    assert_ok(agg_accumulator_init(&c->acc, &error, c->recipe.recipe));
    assert_ok(agg_accumulator_add(&c->acc, &error, records, c->n, 1));
}

#define N_LEVELS 2u
static const double levels[N_LEVELS] = {0.8, 0.95}, quantiles[N_LEVELS] = {1.281552, 1.959964};

// Sums of the trials of a setting.
typedef struct figures {
    double covered[N_LEVELS], covered_squares[N_LEVELS], square, z_square, width, trials;
} figures;

static uint32_t number_of(agg_text value)
{
    uint32_t number = 0;
    for (size_t i = 0; i < value.len; i++) number = number * 10 + (uint32_t)(value.bytes[i] - '0');
    return number;
}

static void take_trial(figures *f, const crowd *a, const crowd *b)
{
    const agg_compare_side side_a = {&a->recipe, &a->acc, &a->dictionary},
                           side_b = {&b->recipe, &b->acc, &b->dictionary};
    const agg_compare_options options = {AGG_COMPARE_SHARES, levels[0], AGG_NONE, 0, 1};
    agg_compare result;
    agg_error error = {SHOAL_OK, 0, ""};
    double covered[N_LEVELS] = {0};
    if (agg_compare_run(&result, &error, &side_a, &side_b, &options) != SHOAL_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < N_VALUES; i++) {
        const agg_compare_row *row = &result.rows[i];
        uint32_t d = number_of(row->value);
        double truth = (double)b->truth[d] / b->n - (double)a->truth[d] / a->n;
        double off = (row->difference - truth) / row->stderr_;
        for (size_t l = 0; l < N_LEVELS; l++)
            covered[l] += fabs(off) <= quantiles[l] ? 1.0 / N_VALUES : 0;
        assert_true((row->low <= truth && truth <= row->high) == (fabs(off) <= quantiles[0]));
        f->square += off * off / N_VALUES;
        f->z_square += row->z * row->z / N_VALUES;
        f->width += row->stderr_ / N_VALUES;
    }
    for (size_t l = 0; l < N_LEVELS; l++) {
        f->covered[l] += covered[l];
        f->covered_squares[l] += covered[l] * covered[l];
    }
    f->trials++;
    agg_compare_release(&result);
}

#define TRIALS 100u

static figures measure_pair(const setting *s, const setting *of_b, bool has_moved, bool is_shared)
{
    figures f = {0};
    const uint32_t n_trials = effort(8 * TRIALS, TRIALS, 2);
    for (unsigned trial = 0; trial < n_trials; trial++) {
        crowd a, b;
        shoal_rng rng;
        const uint8_t seed[32] = {23, has_moved, (uint8_t)trial, (uint8_t)(trial >> 8)};
        shoal_rng_init(&rng, seed);
        open_crowd(&a, s, 2 * trial + 1);
        open_crowd(&b, of_b, is_shared ? 2 * trial + 1 : 2 * trial + 2);
        fill_crowd(&a, s->n, false, &rng);
        fill_crowd(&b, of_b->n, has_moved, &rng);
        take_trial(&f, &a, &b);
        close_crowd(&a);
        close_crowd(&b);
    }
    if (getenv("SHOAL_SHOW") != NULL)
        fprintf(
            stderr,
            "%-5s eps %g k %5u m %4u n %5u %-5s %-6s coverage %.4f %.4f  square %.3f  z^2 %.3f  "
            "stderr %.5f\n",
            s->mechanism, s->epsilon, s->k, s->m, s->n, has_moved ? "moved" : "same",
            is_shared ? "shared" : "apart", f.covered[0] / f.trials, f.covered[1] / f.trials,
            f.square / f.trials, f.z_square / f.trials, f.width / f.trials);
    return f;
}

static figures measure(const setting *s, bool has_moved, bool is_shared)
{
    return measure_pair(s, s, has_moved, is_shared);
}

// Do 80 % mean 80 % and 95 % mean 95 %? A trial's coverage varies; the tolerance is 4 standard
// errors of the mean over trials. Below that the normal law may miss half a percent. Above it,
// rows below 16 may have more, because the estimate of what moved is noisy and never negative, and
// fewer than 8 rows have the width of independent collisions.
static void assert_covered(const setting *s, figures f)
{
    if (f.trials < TRIALS) return; // too few to judge
    for (size_t l = 0; l < N_LEVELS; l++) {
        double above = s->k < AGG_ROWS_LEAST ? 1 : s->k < 16 ? 0.06 : 0.01;
        double mean = f.covered[l] / f.trials;
        double sd = sqrt(fmax(0, f.covered_squares[l] / f.trials - mean * mean) / f.trials);
        if (mean < levels[l] - 4 * sd - 0.005 || mean > levels[l] + 4 * sd + above)
            fail_msg(
                "%s, epsilon %g, %u rows of %u, %u reports: %g %% intervals cover %.4f +- %.4f",
                s->mechanism, s->epsilon, s->k, s->m, s->n, 100 * levels[l], mean, sd);
    }
}

static void assert_covers(const setting *s, bool has_moved)
{
    assert_covered(s, measure(s, has_moved, true));
}

static void intervals_cover_whatever_the_rows(void **state)
{
    static const uint32_t rows[] = {1, 3, 7, 8, 12, 16, 128, 2048}, reports[] = {400, 4000};
    static const double epsilons[] = {1, 2, 4};
    static const uint32_t answers[] = {4, 8, 64};
    (void)state;
    for (size_t e = 0; e < 3; e++)
        for (size_t r = 0; r < 8; r++)
            for (size_t n = 0; n < 2; n++)
                for (int moved = 0; moved < 2; moved++) {
                    const setting s = {"olh", epsilons[e], rows[r], answers[e], reports[n]};
                    assert_covers(&s, moved != 0);
                }
}

static void sketches_cover_too(void **state)
{
    static const setting settings[] = {{"cms", 4, 8, 64, 4000},   {"cms", 2, 16, 64, 4000},
                                       {"cms", 4, 512, 64, 2000}, {"hcms", 4, 8, 64, 4000},
                                       {"hcms", 2, 16, 64, 4000}, {"hcms", 4, 512, 64, 2000}};
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        for (int moved = 0; moved < 2; moved++) assert_covers(&settings[i], moved != 0);
}

// Sides of another size and of another epsilon have the same rows.
static void sides_may_differ(void **state)
{
    static const setting settings[][2] = {{{"olh", 2, 16, 8, 4000}, {"olh", 2, 16, 8, 1500}},
                                          {{"olh", 2, 32, 8, 1500}, {"olh", 3, 32, 8, 4000}},
                                          {{"cms", 4, 16, 64, 4000}, {"cms", 6, 16, 64, 1500}},
                                          {{"hcms", 4, 16, 64, 1500}, {"hcms", 2, 16, 64, 4000}}};
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        for (int moved = 0; moved < 2; moved++)
            assert_covered(&settings[i][0],
                           measure_pair(&settings[i][0], &settings[i][1], moved != 0, true));
}

// What the sharing is worth: with rows of their own, intervals of the same reports are more than
// twice as wide where rows are few and reports many.
static void shared_rows_make_intervals_narrow(void **state)
{
    static const setting s = {"olh", 2, 16, 8, 4000};
    (void)state;
    figures shared = measure(&s, false, true), apart = measure(&s, false, false);
    if (shared.trials < TRIALS) return; // too few to judge
    assert_true(apart.width / apart.trials > 2 * shared.width / shared.trials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_cover_whatever_the_rows), cmocka_unit_test(sketches_cover_too),
        cmocka_unit_test(sides_may_differ), cmocka_unit_test(shared_rows_make_intervals_narrow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
