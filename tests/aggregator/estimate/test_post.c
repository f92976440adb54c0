// SPDX-License-Identifier: Apache-2.0
// Post-processing: each rule against what defines it (a brute-force search for the projection on
// the simplex, the conditions of Karush, Kuhn and Tucker for many counts, the metric of the
// variances) and its bias, by simulation with normal noise, against the formulas of post.h.
//
// Tolerances of simulated means are 4 standard errors of the mean, two-sided: a right rule misses
// one in 16,000 seeds.
#include "agg_test.h"

#include <math.h>
#include <stdbool.h>

#include "normal_law.h"
#include "post.h"

#define N_MAX 4096

static double counts[N_MAX], raw[N_MAX], stderrs[N_MAX];
static bool is_detected[N_MAX];

static double uniform(shoal_rng *rng)
{
    return ((double)(shoal_rng_u64(rng) >> 12) + 0.5) * 0x1p-52;
}

static double normal(shoal_rng *rng)
{
    return agg_normal_quantile(uniform(rng));
}

static double density(double x)
{
    return exp(-x * x / 2) / sqrt(2 * 3.14159265358979323846);
}

static double below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

// Mean of max(0, X) for X normal with mean f and standard deviation s.
static double positive_part(double f, double s)
{
    return s * density(f / s) + f * below(f / s);
}

static void seed_rng(shoal_rng *rng, uint8_t test)
{
    const uint8_t seed[32] = {11, test};
    shoal_rng_init(rng, seed);
}

static void apply(agg_post_rule rule, double total, size_t n)
{
    const agg_post post = {rule, total};
    agg_error error;
    memcpy(counts, raw, sizeof counts);
    assert_ok(agg_post_apply(counts, &error, &post, stderrs, is_detected, n));
}

static double sum_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

// The closest point of { y >= 0, sum y = total }, found by trying every set of counts that may stay
// above 0.
static void project_by_trial(double *best, size_t n, double total)
{
    double least = INFINITY;
    for (unsigned set = 1; set < 1u << n; set++) {
        double y[8] = {0}, sum = 0, distance = 0, size = 0;
        int is_feasible = 1;
        for (size_t i = 0; i < n; i++)
            if (set >> i & 1) {
                sum += raw[i];
                size++;
            }
        for (size_t i = 0; i < n; i++) {
            if (set >> i & 1) y[i] = raw[i] - (sum - total) / size;
            if (y[i] < 0) is_feasible = 0;
            distance += (y[i] - raw[i]) * (y[i] - raw[i]);
        }
        if (!is_feasible || distance >= least) continue;
        least = distance;
        memcpy(best, y, n * sizeof *best);
    }
}

static void norm_sub_is_the_closest_point(void **state)
{
    static const double totals[] = {0, 1, 30, 1000};
    shoal_rng rng;
    (void)state;
    seed_rng(&rng, 1);
    for (unsigned trial = 0; trial < 2000; trial++) {
        size_t n = 1 + trial % 8;
        double best[8] = {0}, total = totals[trial / 8 % 4];
        // Whole numbers, so that ties and zeros come up.
        for (size_t i = 0; i < n; i++)
            raw[i] = floor(20 * normal(&rng)) + (trial % 3 == 0 ? 100 : 0);
        project_by_trial(best, n, total);
        apply(AGG_POST_NORM_SUB, total, n);
        for (size_t i = 0; i < n; i++)
            if (fabs(counts[i] - best[i]) > 1e-9)
                fail_msg("trial %u: %g, not %g", trial, counts[i], best[i]);
    }
}

static void norm_sub_of_many_counts_is_a_projection(void **state)
{
    const double total = 1e6;
    shoal_rng rng;
    (void)state;
    seed_rng(&rng, 2);
    for (size_t i = 0; i < N_MAX; i++) raw[i] = 1e6 / (double)(i + 5) + 2000 * normal(&rng);
    apply(AGG_POST_NORM_SUB, total, N_MAX);
    assert_true(fabs(sum_of(counts, N_MAX) - total) < 1e-9 * total);
    double shift = NAN;
    for (size_t i = 0; i < N_MAX; i++)
        if (counts[i] > 0) shift = raw[i] - counts[i];
    assert_true(shift > 0);
    for (size_t i = 0; i < N_MAX; i++) {
        assert_true(counts[i] >= 0);
        if (counts[i] > 0)
            assert_true(fabs(raw[i] - counts[i] - shift) < 1e-9 * total);
        else
            assert_true(raw[i] <= shift + 1e-9 * total);
    }
    // Twice is once.
    memcpy(raw, counts, sizeof raw);
    apply(AGG_POST_NORM_SUB, total, N_MAX);
    for (size_t i = 0; i < N_MAX; i++) assert_true(fabs(counts[i] - raw[i]) < 1e-9 * total);
}

static void total_is_the_projection_in_the_metric_of_the_variances(void **state)
{
    shoal_rng rng;
    (void)state;
    seed_rng(&rng, 3);
    for (size_t i = 0; i < 100; i++) {
        raw[i] = 1000 * normal(&rng);
        stderrs[i] = 1 + 50 * uniform(&rng);
    }
    apply(AGG_POST_TOTAL, 12345, 100);
    assert_true(fabs(sum_of(counts, 100) - 12345) < 1e-8);
    // The gradient of sum (y - x)^2 / s^2 is the same multiple of 1 everywhere.
    double multiplier = (counts[0] - raw[0]) / (stderrs[0] * stderrs[0]);
    for (size_t i = 0; i < 100; i++)
        assert_true(fabs((counts[i] - raw[i]) / (stderrs[i] * stderrs[i]) - multiplier) <
                    1e-9 * fabs(multiplier));
    memcpy(raw, counts, sizeof raw);
    apply(AGG_POST_TOTAL, 12345, 100);
    for (size_t i = 0; i < 100; i++) assert_true(fabs(counts[i] - raw[i]) < 1e-8);
    // Rows without noise: shared out evenly.
    memset(stderrs, 0, sizeof stderrs);
    raw[0] = 1;
    raw[1] = 4;
    apply(AGG_POST_TOTAL, 9, 2);
    assert_true(counts[0] == 3 && counts[1] == 6);
}

static void clip_and_base_cut_do_what_they_say(void **state)
{
    static const double before[] = {-3, -0.0, 0, 0.25, 1e9}, clipped[] = {0, 0, 0, 0.25, 1e9},
                        cut[] = {0, 0, 0, 0, 1e9};
    static const bool flags[] = {false, false, false, false, true};
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        memcpy(raw, twice ? clipped : before, sizeof before);
        apply(AGG_POST_CLIP, 0, 5);
        for (int i = 0; i < 5; i++) assert_true(counts[i] == clipped[i]);
        memcpy(raw, twice ? cut : before, sizeof before);
        memcpy(is_detected, flags, sizeof flags);
        apply(AGG_POST_BASE_CUT, 0, 5);
        for (int i = 0; i < 5; i++) assert_true(counts[i] == cut[i]);
    }
    memcpy(raw, before, sizeof before);
    apply(AGG_POST_NONE, 7, 5);
    assert_memory_equal(counts, before, sizeof before);
}

typedef struct moments {
    double sum, squares, n;
} moments;

static void take(moments *m, double x)
{
    m->sum += x;
    m->squares += x * x;
    m->n++;
}

static double variance_of(const moments *m)
{
    double mean = m->sum / m->n;
    return (m->squares / m->n - mean * mean) * m->n / (m->n - 1);
}

// Is the mean within 4 of its standard errors, and `slack`, of what it should be?
static void assert_mean(const char *what, double f, const moments *m, double expected, double slack)
{
    double mean = m->sum / m->n, sd = sqrt(variance_of(m) / m->n);
    if (!(fabs(mean - expected) <= 4 * sd + slack))
        fail_msg("%s at %g: the mean is %g +- %g, not %g", what, f, mean, sd, expected);
}

// One value of each true count, s = 100, in units of which the formulas hold for any s.
static void clip_and_base_cut_have_the_stated_bias(void **state)
{
    static const double truth[] = {0, 50, 100, 200, 300, 600};
    enum { N = 6, TRIALS = 20000 };
    const double s = 100, threshold = 300; // detected: above 3 standard errors
    moments clipped[N] = {{0, 0, 0}}, cut[N] = {{0, 0, 0}};
    shoal_rng rng;
    (void)state;
    seed_rng(&rng, 4);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        for (size_t i = 0; i < N; i++) {
            raw[i] = truth[i] + s * normal(&rng);
            is_detected[i] = raw[i] > threshold;
        }
        apply(AGG_POST_CLIP, 0, N);
        for (size_t i = 0; i < N; i++) take(&clipped[i], counts[i]);
        apply(AGG_POST_BASE_CUT, 0, N);
        for (size_t i = 0; i < N; i++) take(&cut[i], counts[i]);
    }
    for (size_t i = 0; i < N; i++) {
        double f = truth[i], t = (threshold - f) / s;
        assert_mean("clip", f, &clipped[i], f + s * density(f / s) - f * below(-f / s), 0);
        assert_mean("base-cut", f, &cut[i], f * below(-t) + s * density(t), 0);
    }
    // What the notes say in words: 0.4 standard errors at zero; half the threshold less 0.4 at the
    // threshold.
    assert_mean("clip", 0, &clipped[0], 0.4 * s, 0.002 * s);
    assert_mean("base-cut", 300, &cut[4], 300 - (150 - 0.4 * s), 0.002 * s);
}

// 40 values of 2,000 reports, 160 of 100 and 1,800 of none, s = 150. With so many counts t hardly
// varies: it is the root of sum E max(0, X - t) = total, and its own noise (sd below s / 20) moves
// a mean by less than s (1/20)^2 / 5.
static void norm_sub_has_the_stated_bias(void **state)
{
    enum { N = 2000, TRIALS = 200 };
    static const double truth[] = {2000, 100, 0}, sizes[] = {40, 160, 1800};
    const double s = 150, total = 40 * 2000 + 160 * 100;
    moments means[3] = {{0, 0, 0}};
    shoal_rng rng;
    (void)state;
    seed_rng(&rng, 5);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        double sums[3] = {0, 0, 0};
        for (size_t i = 0; i < N; i++)
            raw[i] = truth[i < 40 ? 0 : i < 200 ? 1 : 2] + s * normal(&rng);
        apply(AGG_POST_NORM_SUB, total, N);
        for (size_t i = 0; i < N; i++) sums[i < 40 ? 0 : i < 200 ? 1 : 2] += counts[i];
        for (size_t c = 0; c < 3; c++) take(&means[c], sums[c] / sizes[c]);
    }
    double low = 0, high = 2000;
    for (int step = 0; step < 100; step++) {
        double t = (low + high) / 2, sum = 0;
        for (size_t c = 0; c < 3; c++) sum += sizes[c] * positive_part(truth[c] - t, s);
        *(sum > total ? &low : &high) = t;
    }
    double biases = 0;
    for (size_t c = 0; c < 3; c++) {
        assert_mean("norm-sub", truth[c], &means[c], positive_part(truth[c] - low, s), s / 2000);
        biases += sizes[c] * (means[c].sum / TRIALS - truth[c]);
    }
    assert_true(fabs(biases) < 1e-6 * total);
    assert_true(means[0].sum / TRIALS < 2000 - s &&
                means[2].sum / TRIALS > 0.05 * s); // down by t, up at 0
}

static void total_is_unbiased_and_less_noisy(void **state)
{
    enum { N = 5, TRIALS = 20000 };
    static const double truth[N] = {900, 500, 40, 0, 0}, s[N] = {20, 60, 40, 40, 100};
    moments shifted[N] = {{0, 0, 0}};
    double variance = 0;
    shoal_rng rng;
    (void)state;
    seed_rng(&rng, 6);
    for (size_t i = 0; i < N; i++) variance += s[i] * s[i];
    memcpy(stderrs, s, sizeof s);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        for (size_t i = 0; i < N; i++) raw[i] = truth[i] + s[i] * normal(&rng);
        apply(AGG_POST_TOTAL, 1440, N);
        for (size_t i = 0; i < N; i++) take(&shifted[i], counts[i]);
    }
    for (size_t i = 0; i < N; i++) {
        double own = s[i] * s[i], expected = own - own * own / variance;
        assert_mean("total", truth[i], &shifted[i], truth[i], 0);
        // The variance of normal draws has a relative standard error of sqrt(2 / TRIALS) = 1 %.
        assert_true(fabs(variance_of(&shifted[i]) / expected - 1) < 0.04);
    }
}

static void rules_have_names_and_notes(void **state)
{
    static const char *const names[] = {"none", "clip", "norm-sub", "base-cut", "total"};
    char note[AGG_POST_NOTE_MAX];
    (void)state;
    for (int rule = AGG_POST_NONE; rule <= AGG_POST_TOTAL; rule++) {
        const agg_post post = {(agg_post_rule)rule, 9007199254740992.0};
        assert_string_equal(agg_post_name(post.rule), names[rule]);
        agg_post_note(note, &post);
        assert_true(strlen(note) + 1 < AGG_POST_NOTE_MAX); // nothing was cut off
        if (rule != AGG_POST_NONE)
            assert_non_null(strstr(note, "stderr and interval are those of the raw count"));
        if (rule == AGG_POST_TOTAL) assert_non_null(strstr(note, "9007199254740992"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norm_sub_is_the_closest_point),
        cmocka_unit_test(norm_sub_of_many_counts_is_a_projection),
        cmocka_unit_test(total_is_the_projection_in_the_metric_of_the_variances),
        cmocka_unit_test(clip_and_base_cut_do_what_they_say),
        cmocka_unit_test(clip_and_base_cut_have_the_stated_bias),
        cmocka_unit_test(norm_sub_has_the_stated_bias),
        cmocka_unit_test(total_is_unbiased_and_less_noisy),
        cmocka_unit_test(rules_have_names_and_notes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
