// SPDX-License-Identifier: Apache-2.0
// LASSO against glmnet's answers (golden/glmnet_*.tsv say which call made them), and against the
// conditions that define a solution.
#include "agg_test.h"

#include <math.h>

#include "lasso.h"
#include "regression_golden.h"

static agg_lasso_options options_of(const double *flags)
{
    agg_lasso_options options = {flags[0] != 0, flags[1] != 0, flags[2] != 0, 1e-22, 1000000};
    return options;
}

// A line of the golden file: standardize, intercept, nonnegative, lambda, intercept, coefficients.
static void check_answer(const golden *g, const double *line)
{
    agg_error error;
    agg_lasso lasso;
    double largest = 1;
    agg_lasso_options options = options_of(line);
    assert_ok(agg_lasso_init(&lasso, &error, &g->design, g->weights, g->y, &options));
    agg_lasso_solve(&lasso, line[3]);
    assert_true(lasso.has_converged);
    for (size_t j = 0; j < g->design.n_columns; j++) largest = fmax(largest, fabs(line[5 + j]));
    for (size_t j = 0; j < g->design.n_columns; j++)
        assert_true(fabs(lasso.coefficients[j] - line[5 + j]) <= 1e-8 * largest);
    assert_true(fabs(lasso.intercept - line[4]) <= 1e-8 * largest);
    agg_lasso_release(&lasso);
}

static void agrees_with_glmnet(void **state)
{
    static const char *const files[] = {"aggregator/golden/glmnet_dense.tsv",
                                        "aggregator/golden/glmnet_bloom.tsv"};
    static const size_t n_answers[] = {32, 6};
    (void)state;
    for (int f = 0; f < 2; f++) {
        golden g = read_golden(files[f]);
        const double *line;
        size_t n = 0;
        for (; (line = golden_line(&g, "lasso", n, 5 + g.design.n_columns)) != NULL; n++)
            check_answer(&g, line);
        assert_int_equal(n, n_answers[f]);
        release_golden(&g);
    }
}

// glmnet starts its own path where the first coefficient enters.
static void starts_where_glmnet_starts(void **state)
{
    golden g = read_golden("aggregator/golden/glmnet_dense.tsv");
    const double *line;
    size_t n = 0;
    (void)state;
    for (; (line = golden_line(&g, "max", n, 4)) != NULL; n++) {
        agg_error error;
        agg_lasso lasso;
        agg_lasso_options options = options_of(line);
        assert_ok(agg_lasso_init(&lasso, &error, &g.design, g.weights, g.y, &options));
        double largest = agg_lasso_largest(&lasso);
        assert_true(fabs(largest / line[3] - 1) < 1e-12);
        agg_lasso_solve(&lasso, largest * 1.0001);
        assert_int_equal(lasso.n_active, 0);
        agg_lasso_solve(&lasso, largest * 0.999);
        assert_int_equal(lasso.n_active, 1);
        agg_lasso_release(&lasso);
    }
    assert_int_equal(n, 8);
    release_golden(&g);
}

// The slope of the squares at b_j, by the definition: sum of w (y - fit) (x - mean) under an
// intercept, which is the same as without the mean because the residuals then sum to 0.
static double slope_at(const golden *g, const agg_lasso *lasso, size_t j)
{
    double *fit = calloc(g->design.n_rows, sizeof *fit), slope = 0, total = 0;
    for (size_t c = 0; c < g->design.n_columns; c++)
        for (size_t e = g->design.start[c]; e < g->design.start[c + 1]; e++)
            fit[g->design.rows[e]] += lasso->coefficients[c];
    for (size_t i = 0; i < g->design.n_rows; i++) total += g->weights[i];
    for (size_t e = g->design.start[j]; e < g->design.start[j + 1]; e++) {
        size_t i = g->design.rows[e];
        slope += g->weights[i] / total * (g->y[i] - lasso->intercept - fit[i]);
    }
    free(fit);
    return slope;
}

// Karush-Kuhn-Tucker: an active column's slope is lambda s_j, any other's at most that. Down a warm
// path and up again.
static void meets_the_conditions(void **state)
{
    golden g = read_golden("aggregator/golden/glmnet_bloom.tsv");
    agg_error error;
    agg_lasso lasso;
    agg_lasso_options options = {1, 1, 1, 1e-20, 1000000};
    (void)state;
    for (size_t i = 0; i < g.design.n_rows; i++) g.weights[i] = 1 + (double)(i % 7);
    assert_ok(agg_lasso_init(&lasso, &error, &g.design, g.weights, g.y, &options));
    for (int step = 0; step < 12; step++) {
        double lambda = 40 * pow(0.4, step < 6 ? step : 11 - step);
        agg_lasso_solve(&lasso, lambda);
        assert_true(lasso.has_converged && lasso.n_active > 0);
        for (size_t j = 0; j < g.design.n_columns; j++) {
            double slope = slope_at(&g, &lasso, j), bound = lambda * lasso.penalty[j];
            assert_true(lasso.coefficients[j] >= 0);
            if (lasso.coefficients[j] > 0)
                assert_true(fabs(slope - bound) < 1e-6);
            else
                assert_true(slope < bound + 1e-6);
        }
    }
    agg_lasso_release(&lasso);
    release_golden(&g);
}

static void refuses_what_is_no_number(void **state)
{
    static const size_t start[] = {0, 2, 3, 6, 6};
    static const uint32_t rows[] = {0, 1, 2, 0, 1, 2};
    const agg_bit_design design = {3, 4, start, rows};
    const agg_lasso_options options = {1, 1, 0, 1e-12, 1000};
    double weights[] = {1, 1, 1}, y[] = {3, 5, 10};
    agg_error error;
    agg_lasso lasso;
    (void)state;
    y[1] = NAN;
    assert_err(agg_lasso_init(&lasso, &error, &design, weights, y, &options), SHOAL_ERR_RANGE);
    y[1] = 5, weights[2] = -1;
    assert_err(agg_lasso_init(&lasso, &error, &design, weights, y, &options), SHOAL_ERR_RANGE);
    weights[0] = weights[1] = weights[2] = 0;
    assert_err(agg_lasso_init(&lasso, &error, &design, weights, y, &options), SHOAL_ERR_RANGE);
    // Columns of nothing but ones or zeros add nothing to the intercept and stay out.
    assert_ok(agg_lasso_init(&lasso, &error, &design, NULL, y, &options));
    agg_lasso_solve(&lasso, 0.01);
    assert_true(lasso.coefficients[2] == 0 && lasso.coefficients[3] == 0 && lasso.n_active > 0);
    agg_lasso_release(&lasso);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_glmnet), cmocka_unit_test(starts_where_glmnet_starts),
        cmocka_unit_test(meets_the_conditions), cmocka_unit_test(refuses_what_is_no_number)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
