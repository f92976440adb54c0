// SPDX-License-Identifier: Apache-2.0
// Binomial probabilities and tails against 60-digit arithmetic, and against each other.
#include "agg_test.h"

#include <math.h>

#include "binomial.h"

typedef struct figure {
    double n, p, k, log_pmf, upper;
} figure;

// By logarithms of the gamma function and term-by-term sums, in 60 digits.
static const figure figures[] = {
    {10, 0.3, 4, -1.60883335021866956, 0.3503892816},
    {1000, 0.5, 620, -32.7333306283856176, 1.55162295417133312e-14},
    {100000, 0.001, 180, -29.3486193799301639, 3.97512166867539628e-13},
    {1000000, 0.25, 254000, -49.5113348808969661, 1.48052014237034864e-20},
    {100000, 0.9, 90700, -33.2467745682971271, 4.63991920416371703e-14},
    {1000000000, 1.0e-8, 40, -28.2172364249955767, 7.34163308727026941e-13},
    {20, 0.9999, 20, -0.00200010000666716671, 0.998001898860484345},
    {50, 0.5, 26, -2.22602323533855458, 0.443862413670391476},
};

static int is_near(double x, double expected, double tolerance)
{
    return fabs(x - expected) <= tolerance * fabs(expected);
}

static void agrees_with_long_arithmetic(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const figure *f = &figures[i];
        const agg_binomial law = {f->n, f->p, 1 - f->p}, mirror = {f->n, 1 - f->p, f->p};
        // 1 - p is rounded: n of them differ by n 1e-16 in the logarithm.
        assert_true(fabs(agg_binomial_log(f->k, &law) - f->log_pmf) < 1e-12 + 1e-15 * f->n);
        assert_true(is_near(agg_binomial_upper(f->k, &law), f->upper, 2e-12 + 1e-15 * f->n));
        assert_true(
            is_near(agg_binomial_lower(f->n - f->k, &mirror), f->upper, 2e-12 + 1e-15 * f->n));
    }
}

// Every tail of small laws, by the sum of its terms, smallest first.
static void tails_are_sums(void **state)
{
    (void)state;
    for (double n = 1; n <= 130; n += 3)
        for (double p = 0.01; p < 1; p += 0.07) {
            const agg_binomial law = {n, p, 1 - p};
            double sum = 0;
            for (double k = n; k >= 0; k--) {
                sum += exp(agg_binomial_log(k, &law));
                assert_true(is_near(agg_binomial_upper(k, &law), sum, 1e-12));
                if (k > 0)
                    assert_true(fabs(agg_binomial_upper(k, &law) + agg_binomial_lower(k - 1, &law) -
                                     1) < 1e-12);
            }
            assert_true(fabs(sum - 1) < 1e-12);
        }
}

static void fair_ratio_is_the_tail(void **state)
{
    static const double sizes[] = {1, 2, 3, 40, 41, 63, 64, 65, 200, 5001, 123456};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const agg_binomial fair = {sizes[i], 0.5, 0.5};
        double n = sizes[i], step = fmax(1, floor(sqrt(n) / 3));
        for (double k = ceil((n + 1) / 2); k <= fmin(n, n / 2 + 8 * sqrt(n)); k += step) {
            double tail = 0, term = exp(agg_binomial_log(k, &fair)), pmf = term;
            for (double j = k; j <= n && term > 1e-20 * tail; j++) {
                tail += term;
                term *= (n - j) / (j + 1);
            }
            assert_true(is_near(k * pmf * agg_binomial_fair_ratio(k, n), tail, 1e-12));
        }
    }
}

static void edges(void **state)
{
    const agg_binomial never = {5, 0, 1}, always = {5, 1, 0}, none = {0, 0.3, 0.7},
                       some = {5, 0.5, 0.5};
    const agg_binomial vast = {1e12, 0.5, 0.5};
    (void)state;
    assert_true(agg_binomial_log(0, &never) == 0 && agg_binomial_log(5, &always) == 0);
    assert_true(isinf(agg_binomial_log(1, &never)) && isinf(agg_binomial_log(-1, &some)));
    assert_true(agg_binomial_upper(1, &never) == 0 && agg_binomial_upper(5, &always) == 1);
    assert_true(agg_binomial_upper(0, &none) == 1 && agg_binomial_upper(1, &none) == 0);
    assert_true(agg_binomial_lower(-1, &some) == 0 && agg_binomial_lower(5, &some) == 1);
    assert_true(agg_binomial_log(0, &none) == 0);
    // 10 standard deviations: the normal tail, which differs by less than a thousandth here.
    assert_true(is_near(agg_binomial_upper(5e11 + 5e6, &vast), 7.619853e-24, 1e-3));
    assert_true(is_near(agg_binomial_upper(5e11, &vast), 0.5, 1e-6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_long_arithmetic),
        cmocka_unit_test(tails_are_sums),
        cmocka_unit_test(fair_ratio_is_the_tail),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
