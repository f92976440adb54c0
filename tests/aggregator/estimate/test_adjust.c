// SPDX-License-Identifier: Apache-2.0
// Adjusted figures of picked rows: bias and coverage over many lists of known truth, with normal
// noise and with few supports, with rows withheld; and when there are none.
#include "agg_test.h"

#include <math.h>

#include "adjust.h"
#include "binomial_draw.h"
#include "normal_law.h"
#include "rng.h"

#define N_ROWS 1000
#define N_LISTS 40

static double normal(shoal_rng *rng)
{
    return agg_normal_quantile(((double)(shoal_rng_u64(rng) >> 11) + 0.5) * 0x1p-53);
}

// What was found of rows that were picked.
typedef struct picked {
    double n, raw_error, raw_covered, error, covered; // errors in standard errors
    unsigned n_fitted;
} picked;

static void pick(picked *p, const agg_adjustment *a, double count, double stderr_, double f)
{
    double half = 1.959964 * stderr_;
    agg_adjusted own = agg_adjust_row(a, count, count - half, count + half);
    p->n++;
    p->raw_error += (count - f) / stderr_;
    p->raw_covered += fabs(count - f) <= half;
    p->error += (own.mean - f) / stderr_;
    p->covered += own.low <= f && f <= own.high;
}

// Rows of a Zipf law with normal noise; all from 3.9 standard errors on are picked.
static void draw_list(double *counts, double *truth, double *stderrs, double top, shoal_rng *rng)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        truth[i] = top / (double)(i + 1);
        stderrs[i] = 10;
        counts[i] = truth[i] + 10 * normal(rng);
    }
}

static void fit_list(agg_adjustment *a, const double *counts, const double *stderrs,
                     double threshold)
{
    static double shown[N_ROWS];
    agg_error error;
    agg_adjust_rows rows = {.counts = shown,
                            .stderrs = stderrs,
                            .threshold = threshold,
                            .n_reports = 1e6,
                            .confidence = 0.95};
    for (size_t i = 0; i < N_ROWS; i++) {
        rows.n_detected += counts[i] > 39;
        if (threshold > 0 && counts[i] < threshold)
            rows.n_hidden++;
        else
            shown[rows.n++] = counts[i];
    }
    assert_ok(agg_adjust_fit(a, &error, &rows));
}

static void judge(const picked *p, const char *name)
{
    print_message("%s: %.0f rows of %u lists; raw %+.3f %.3f, adjusted %+.3f %.3f\n", name, p->n,
                  p->n_fitted, p->raw_error / p->n, p->raw_covered / p->n, p->error / p->n,
                  p->covered / p->n);
    assert_true(p->n_fitted >= N_LISTS - 1);
    assert_true(fabs(p->error / p->n) < 0.1 && p->raw_error / p->n > 0.2);
    assert_true(p->covered / p->n > 0.92 && p->covered / p->n < 0.98);
}

// With 1,900 rows or more 4 standard errors of a coverage of 95 % are 0.02, and of a mean 0.09.
static void picked_rows_are_right_on_average(void **state)
{
    uint8_t seed[32] = {31};
    shoal_rng rng;
    static double counts[N_ROWS], truth[N_ROWS], stderrs[N_ROWS];
    (void)state;
    for (int hidden = 0; hidden < 2; hidden++) {
        picked detected = {0}, top = {0};
        shoal_rng_init(&rng, seed);
        for (int k = 0; k < N_LISTS; k++) {
            agg_adjustment a;
            draw_list(counts, truth, stderrs, 2000, &rng);
            fit_list(&a, counts, stderrs, hidden ? 25 : 0);
            detected.n_fitted += a.state == AGG_ADJUST_FITTED;
            top.n_fitted = detected.n_fitted;
            for (size_t i = 0; i < N_ROWS && a.state == AGG_ADJUST_FITTED; i++) {
                if (counts[i] > 39) pick(&detected, &a, counts[i], 10, truth[i]);
                if (counts[i] > 28) pick(&top, &a, counts[i], 10, truth[i]);
            }
            agg_adjust_release(&a);
        }
        judge(&detected, hidden ? "detected, small rows withheld" : "detected");
        judge(&top, hidden ? "above 2.8, small rows withheld" : "above 2.8");
    }
}

// Supports of a few reports: 2,000 values, 20,000 devices, q such that 4 reports support a value by
// accident.
static void few_supports_have_their_own_law(void **state)
{
    enum { N = 2000, DEVICES = 20000 };
    const agg_support_law law = {DEVICES, 0.8, 4.0 / DEVICES, 1};
    static double counts[N], truth[N], stderrs[N];
    uint8_t seed[32] = {32};
    shoal_rng rng;
    agg_error error;
    picked p = {0};
    (void)state;
    shoal_rng_init(&rng, seed);
    for (int k = 0; k < N_LISTS; k++) {
        agg_adjustment a;
        agg_adjust_rows rows = {.n = N,
                                .counts = counts,
                                .stderrs = stderrs,
                                .n_reports = DEVICES,
                                .law = &law,
                                .confidence = 0.95};
        for (size_t i = 0; i < N; i++) {
            truth[i] = floor(1500.0 / (double)(i + 1) + 0.5);
            double c = binomial_draw(&rng, (uint32_t)truth[i], law.p) +
                       binomial_draw(&rng, DEVICES - (uint32_t)truth[i], law.q);
            counts[i] = (c - 4) / (law.p - law.q);
            stderrs[i] = sqrt(agg_support_variance(&law, counts[i])) / (law.p - law.q);
            rows.n_detected += c > 18;
        }
        assert_ok(agg_adjust_fit(&a, &error, &rows));
        p.n_fitted += a.state == AGG_ADJUST_FITTED;
        for (size_t i = 0; i < N && a.state == AGG_ADJUST_FITTED; i++)
            if (counts[i] > 13) pick(&p, &a, counts[i], stderrs[i], truth[i]);
        agg_adjust_release(&a);
    }
    judge(&p, "few supports");
}

static void far_rows_keep_their_figures(void **state)
{
    uint8_t seed[32] = {33};
    shoal_rng rng;
    agg_adjustment a;
    static double counts[N_ROWS], truth[N_ROWS], stderrs[N_ROWS];
    (void)state;
    shoal_rng_init(&rng, seed);
    draw_list(counts, truth, stderrs, 2000, &rng);
    fit_list(&a, counts, stderrs, 0);
    assert_int_equal(a.state, AGG_ADJUST_FITTED);
    agg_adjusted far = agg_adjust_row(&a, 500, 480, 521), near = agg_adjust_row(&a, 45, 25, 65);
    assert_true(far.mean == 500 && far.low == 480 && far.high == 521);
    assert_true(near.mean < 43 && near.low < 25 && near.high < 65 && near.low > 0);
    // The figures rise with the count.
    for (double x = -40; x < 200; x += 0.7) {
        agg_adjusted one = agg_adjust_row(&a, x, 0, 0), next = agg_adjust_row(&a, x + 0.7, 0, 0);
        if (x + 0.7 >= a.last) break;
        assert_true(one.mean <= next.mean + 1e-6 && one.low <= next.low + 1e-6);
        assert_true(0 <= one.low && one.low <= one.mean + 1e-6 && one.mean < one.high);
    }
    agg_adjust_release(&a);
}

static void there_are_none_where_they_cannot_be_told(void **state)
{
    uint8_t seed[32] = {34};
    shoal_rng rng;
    agg_adjustment a;
    static double counts[N_ROWS], truth[N_ROWS], stderrs[N_ROWS];
    (void)state;
    shoal_rng_init(&rng, seed);
    draw_list(counts, truth, stderrs, 300, &rng); // 7 above 39
    fit_list(&a, counts, stderrs, 0);
    assert_int_equal(a.state, AGG_ADJUST_FEW);
    assert_true(isnan(agg_adjust_row(&a, 50, 30, 70).mean));
    agg_adjust_release(&a);
    draw_list(counts, truth, stderrs, 2000, &rng);
    for (size_t i = 0; i < N_ROWS; i++) stderrs[i] = i % 2 ? 10 : 14;
    fit_list(&a, counts, stderrs, 0);
    assert_int_equal(a.state, AGG_ADJUST_UNLIKE);
    agg_adjust_release(&a);
    // The noise is twice what is stated: rows far below 0 have no explanation.
    draw_list(counts, truth, stderrs, 2000, &rng);
    for (size_t i = 0; i < N_ROWS; i++) stderrs[i] = 5;
    fit_list(&a, counts, stderrs, 0);
    print_message("p is %g with half of the noise\n", a.p);
    assert_int_equal(a.state, AGG_ADJUST_MISFIT);
    agg_adjust_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picked_rows_are_right_on_average),
        cmocka_unit_test(few_supports_have_their_own_law),
        cmocka_unit_test(far_rows_keep_their_figures),
        cmocka_unit_test(there_are_none_where_they_cannot_be_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
