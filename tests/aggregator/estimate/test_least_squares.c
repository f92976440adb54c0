// SPDX-License-Identifier: Apache-2.0
// Weighted least squares against R's lm (golden/glmnet_dense.tsv), and columns that cannot be told
// apart.
#include "agg_test.h"

#include <math.h>

#include "least_squares.h"
#include "regression_golden.h"

static void near(double x, double expected, double share)
{
    if (!(fabs(x - expected) <= share * fmax(1, fabs(expected))))
        fail_msg("%.17g is not %.17g", x, expected);
}

// Returns: phi as the residuals estimate it.
static double dispersion(const agg_least_squares *fit)
{
    double sum = 0;
    for (size_t i = 0; i < fit->design->n_rows; i++)
        sum += fit->weights[i] * fit->residuals[i] * fit->residuals[i];
    return sum / (double)fit->n_free;
}

static void agrees_with_lm(void **state)
{
    golden g = read_golden("aggregator/golden/glmnet_dense.tsv");
    const double *beta = golden_line(&g, "lm", 0, 26), *se = golden_line(&g, "lm_se", 0, 26);
    const double *cov = golden_line(&g, "lm_cov", 0, 26),
                 *sigma2 = golden_line(&g, "lm_sigma2", 0, 1);
    size_t chosen[25];
    agg_error error;
    agg_least_squares fit;
    (void)state;
    for (size_t j = 0; j < 25; j++) chosen[j] = j;
    assert_ok(agg_least_squares_fit(&fit, &error, &g.design, chosen, 25, g.weights, g.y));
    double phi = dispersion(&fit);
    near(phi, *sigma2, 1e-12);
    near(fit.intercept, beta[0], 1e-12);
    for (size_t j = 0; j < 25; j++) {
        near(fit.coefficients[j], beta[1 + j], 1e-12);
        near(sqrt(phi * agg_least_squares_covariance(&fit, j, j)), se[1 + j], 1e-12);
        near(phi * agg_least_squares_covariance(&fit, 0, j), cov[1 + j], 1e-12);
        assert_false(fit.is_tied[j]);
    }
    agg_least_squares_release(&fit);
    release_golden(&g);
}

// A column that enters a model of 24 gets what a fit of 25 gives it; the order of the columns does
// not matter.
static void entering_is_the_larger_model(void **state)
{
    golden g = read_golden("aggregator/golden/glmnet_dense.tsv");
    const double *beta = golden_line(&g, "lm", 0, 26);
    agg_error error;
    (void)state;
    for (size_t out = 0; out < 25; out++) {
        size_t chosen[24], n = 0;
        agg_least_squares fit, all;
        size_t every[25];
        for (size_t j = 25; j-- > 0;)
            if (j != out) chosen[n++] = j;
        memcpy(every, chosen, sizeof chosen);
        every[24] = out;
        assert_ok(agg_least_squares_fit(&fit, &error, &g.design, chosen, 24, g.weights, g.y));
        assert_ok(agg_least_squares_fit(&all, &error, &g.design, every, 25, g.weights, g.y));
        agg_least_squares_entry entry = agg_least_squares_enter(&fit, out);
        near(entry.coefficient, beta[1 + out], 1e-11);
        near(entry.variance, agg_least_squares_covariance(&all, 24, 24), 1e-12);
        assert_false(entry.is_tied);
        agg_least_squares_release(&fit);
        agg_least_squares_release(&all);
    }
    release_golden(&g);
}

// Six rows. Columns: 0 and 1 are twins; 2 + 3 is the column of ones; 4 stands alone; 5 is 4 and one
// more row, 6 that row.
static const size_t tied_start[] = {0, 2, 4, 7, 10, 12, 15, 16};
static const uint32_t tied_rows[] = {0, 3, 0, 3, 0, 1, 2, 3, 4, 5, 1, 4, 1, 4, 5, 5};
static const agg_bit_design tied_design = {6, 7, tied_start, tied_rows};

static void names_what_it_cannot_tell_apart(void **state)
{
    const double weights[] = {1, 2, 1, 1, 3, 1}, y[] = {5, 1, 2, 6, 3, 8};
    const size_t twins[] = {4, 0, 1}, halves[] = {2, 4, 3}, alone[] = {4, 0}, sum[] = {4, 5, 6};
    agg_error error;
    agg_least_squares fit;
    (void)state;
    assert_ok(agg_least_squares_fit(&fit, &error, &tied_design, twins, 3, weights, y));
    assert_true(!fit.is_tied[0] && fit.is_tied[1] && fit.is_tied[2]);
    assert_int_equal(fit.n_fitted, 3);
    agg_least_squares_release(&fit);
    // Tied to each other by way of the intercept; the third column is not part of that.
    assert_ok(agg_least_squares_fit(&fit, &error, &tied_design, halves, 3, weights, y));
    assert_true(fit.is_tied[0] && !fit.is_tied[1] && fit.is_tied[2]);
    agg_least_squares_release(&fit);
    assert_ok(agg_least_squares_fit(&fit, &error, &tied_design, sum, 3, weights, y));
    assert_true(fit.is_tied[0] && fit.is_tied[1] && fit.is_tied[2]);
    agg_least_squares_release(&fit);
    // A twin that asks to enter is refused and gives away the one inside.
    assert_ok(agg_least_squares_fit(&fit, &error, &tied_design, alone, 2, weights, y));
    assert_true(!fit.is_tied[0] && !fit.is_tied[1]);
    assert_true(agg_least_squares_enter(&fit, 1).is_tied);
    assert_true(!fit.is_tied[0] && fit.is_tied[1]);
    agg_least_squares_release(&fit);
}

static void counts_only_rows_of_weight(void **state)
{
    double weights[] = {1, 1, 0, 1, 1, 0}, y[] = {5, 1, 1e9, 6, 3, -1e9};
    const size_t chosen[] = {0};
    agg_error error;
    agg_least_squares fit;
    (void)state;
    // Rows 0 and 3 against 1 and 4: means 5.5 and 2; squares about them 0.5 and 2.
    assert_ok(agg_least_squares_fit(&fit, &error, &tied_design, chosen, 1, weights, y));
    near(fit.intercept, 2, 1e-14);
    near(fit.coefficients[0], 3.5, 1e-14);
    assert_int_equal(fit.n_free, 2);
    near(dispersion(&fit), 1.25, 1e-14);
    agg_least_squares_release(&fit);
    memset(weights, 0, sizeof weights);
    assert_err(agg_least_squares_fit(&fit, &error, &tied_design, chosen, 1, weights, y),
               SHOAL_ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_lm),
                                       cmocka_unit_test(entering_is_the_larger_model),
                                       cmocka_unit_test(names_what_it_cannot_tell_apart),
                                       cmocka_unit_test(counts_only_rows_of_weight)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
