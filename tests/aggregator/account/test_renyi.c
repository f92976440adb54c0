// SPDX-License-Identifier: Apache-2.0
// Divergences of sums of randomized bits against the definition, and the bound over what the others
// hold.
#include "agg_test.h"

#include <math.h>

#include "renyi.h"

#define MOST 900

// The law of ones and zeros' randomized bits, one bit at a time.
static void law_of(long double f[MOST + 2], double epsilon, int ones, int zeros)
{
    long double truth = expl(epsilon) / (expl(epsilon) + 1);
    for (int s = 0; s < MOST + 2; s++) f[s] = s == 0;
    for (int i = 0; i < ones + zeros; i++) {
        long double p = i < ones ? truth : 1 / (expl(epsilon) + 1);
        for (int s = i + 1; s > 0; s--) f[s] = f[s] * (1 - p) + f[s - 1] * p;
        f[0] *= 1 - p;
    }
}

// of a device with a one from one with a zero, or the other way round
static double by_definition(double epsilon, int ones, int zeros, double order, int swapped)
{
    static long double one[MOST + 2], zero[MOST + 2];
    long double sum = 0;
    law_of(one, epsilon, ones + 1, zeros);
    law_of(zero, epsilon, ones, zeros + 1);
    const long double *p = swapped ? zero : one, *q = swapped ? one : zero;
    for (int s = 0; s <= ones + zeros + 1; s++)
        if (q[s] > 0) sum += q[s] * powl(p[s] / q[s], order);
    return (double)(logl(sum) / (order - 1));
}

static void agrees_with_the_definition(void **state)
{
    static const double epsilons[] = {0.1, 0.5, 2, 5};
    static const int counts[][2] = {{0, 0},   {1, 0},   {0, 1},   {3, 9},    {50, 50},
                                    {0, 300}, {300, 0}, {7, 800}, {450, 440}};
    static const double orders[] = {1.05, 2, 7.5, 40};
    double found[4];
    (void)state;
    for (size_t e = 0; e < 4; e++)
        for (size_t c = 0; c < 9; c++) {
            agg_renyi_bit(found, orders, 4, epsilons[e], counts[c][0], counts[c][1]);
            for (size_t i = 0; i < 4; i++) {
                double exact = by_definition(epsilons[e], counts[c][0], counts[c][1], orders[i], 0);
                // It is rounded up by 1e-9 / (order - 1).
                assert_true(found[i] >= exact * (1 - 1e-11) &&
                            found[i] <= exact * (1 + 1e-10) + 1.01e-9 / (orders[i] - 1));
            }
        }
}

static void bounds_both_directions_whatever_the_others_hold(void **state)
{
    (void)state;
    for (int n = 1; n <= 31; n += 5)
        for (double epsilon = 0.2; epsilon < 4; epsilon *= 2.5) {
            agg_renyi_curve curve;
            agg_renyi_orders(&curve, epsilon, n);
            agg_renyi_one_hot(&curve, epsilon, n);
            for (int i = 2; i < AGG_RENYI_ORDERS; i += 9) {
                double most = 0, zeros_only = 0;
                for (int w = 0; w < n; w++)
                    for (int swapped = 0; swapped < 2; swapped++)
                        most = fmax(most, 2 * by_definition(epsilon, w, n - 1 - w, curve.order[i],
                                                            swapped));
                zeros_only = 2 * by_definition(epsilon, 0, n - 1, curve.order[i], 0);
                assert_true(curve.rho[i] >= most * (1 - 1e-11));
                assert_true(curve.rho[i] <= most * (1 + 1e-9) + 3e-9 / (curve.order[i] - 1));
                // All zeros, in the direction that comes to mind first, is not the worst.
                if (n > 10 && curve.order[i] > 1.5) assert_true(zeros_only < most);
            }
        }
}

// More devices than cells: the bound holds everywhere and costs a fiftieth at most.
static void cells_bound_what_lies_between(void **state)
{
    agg_renyi_curve curve;
    double found[AGG_RENYI_ORDERS], most[AGG_RENYI_ORDERS] = {0};
    (void)state;
    agg_renyi_orders(&curve, 1.5, 5001);
    agg_renyi_one_hot(&curve, 1.5, 5001);
    for (int w = 0; w <= 5000; w += 50) {
        agg_renyi_bit(found, curve.order, AGG_RENYI_ORDERS, 1.5, w, 5000 - w);
        for (int i = 0; i < AGG_RENYI_ORDERS; i++) most[i] = fmax(most[i], 2 * found[i]);
    }
    for (int i = 0; i < AGG_RENYI_ORDERS; i++) {
        assert_true(curve.rho[i] >= most[i]);
        assert_true(curve.rho[i] <= 1.02 * most[i]);
    }
}

// In the limit two normal laws `step` apart in each of two bits: rho = order step^2, so epsilon
// near step^2 + 2 step sqrt(ln(1/delta)).
static void nears_the_normal_law(void **state)
{
    (void)state;
    for (double n = 1e6; n <= 1e12; n *= 100) {
        agg_renyi_curve curve;
        double step = tanh(0.5) / sqrt((n - 1) * exp(1) / ((exp(1) + 1) * (exp(1) + 1)));
        agg_renyi_orders(&curve, 1, n);
        agg_renyi_one_hot(&curve, 1, n);
        for (int i = 5; i < AGG_RENYI_ORDERS - 8; i++) {
            double limit = curve.order[i] * step * step;
            assert_true(curve.rho[i] > 0.999 * limit && curve.rho[i] < 1.05 * limit);
        }
        double epsilon = agg_renyi_epsilon(&curve, 1e-9);
        assert_true(epsilon > 0 && epsilon < 1.05 * 2 * step * sqrt(log(1e9)));
        if (n < 1e7) assert_true(epsilon > 0.7 * 2 * step * sqrt(log(1e9)));
    }
}

static void epsilon_is_the_least_over_orders(void **state)
{
    agg_renyi_curve curve;
    (void)state;
    agg_renyi_orders(&curve, 1, 1e4);
    agg_renyi_one_hot(&curve, 1, 1e4);
    double loose = agg_renyi_epsilon(&curve, 1e-4), tight = agg_renyi_epsilon(&curve, 1e-9),
           least = INFINITY;
    assert_true(loose < tight);
    for (int i = 0; i < AGG_RENYI_ORDERS; i++) {
        double a = curve.order[i]; // (1/delta)^(1/(a - 1)) (1 - 1/a) a^(-1/(a - 1))
        least = fmin(least, curve.rho[i] + (log(1e9) - log(a)) / (a - 1) + log(1 - 1 / a));
    }
    assert_true(fabs(least - tight) < 1e-12);
    // A group keeps its delta: the epsilon of each, at a delta so much smaller that the group's sum
    // comes to 1e-9.
    double each = agg_renyi_group_epsilon(&curve, 1e-9, 5) / 5, sum = 0;
    for (int j = 0; j < 5; j++) sum += exp(j * each);
    assert_true(fabs(agg_renyi_epsilon(&curve, 1e-9 / sum) - each) < 1e-6 * each);
}

static double epsilon_of(double bit_epsilon, double n, double delta, double contributions)
{
    agg_renyi_curve curve;
    agg_renyi_orders(&curve, bit_epsilon, n);
    agg_renyi_one_hot(&curve, bit_epsilon, n);
    return agg_renyi_group_epsilon(&curve, delta, contributions);
}

// What is found keeps what was asked, and little less does not. Cells begin and end at whole
// reports: of n reports, a step of one may move the figure by a few parts in n.
static void inverses_invert(void **state)
{
    static const struct {
        double bit_epsilon, epsilon, delta, contributions;
    } asked[] = {{3, 1, 1e-6, 5}, {2, 0.1, 1e-9, 1}};
    (void)state;
    for (size_t i = 0; i < effort(2, 1, 1); i++) { // the second asks for far more reports
        const agg_renyi_question q = {asked[i].epsilon, asked[i].delta, asked[i].contributions};
        double n = agg_renyi_find_reports(&q, asked[i].bit_epsilon);
        assert_true(n == floor(n) &&
                    epsilon_of(asked[i].bit_epsilon, n, q.delta, q.contributions) <= q.epsilon);
        double fewer = floor(n * (1 - 2e-3)) - 1;
        assert_true(epsilon_of(asked[i].bit_epsilon, fewer, q.delta, q.contributions) > q.epsilon);
        double bit = agg_renyi_find_bit_epsilon(&q, n, 8);
        assert_true(bit >= asked[i].bit_epsilon * (1 - 1e-6) && bit < asked[i].bit_epsilon * 1.02);
        assert_true(epsilon_of(bit, n, q.delta, q.contributions) <= q.epsilon);
        assert_true(epsilon_of(bit * (1 + 1e-4), n, q.delta, q.contributions) > q.epsilon);
    }
}

static void inverses_at_their_ends(void **state)
{
    const agg_renyi_question tight = {1e-7, 1e-12, 1}, loose = {5, 1e-6, 1}, shared = {5, 1e-6, 4};
    (void)state;
    assert_true(isnan(agg_renyi_find_reports(&tight, 4))); // 10^12 are too few
    assert_true(agg_renyi_find_reports(&loose, 2.5) == 1); // a report keeps it by itself
    assert_true(agg_renyi_find_reports(&shared, 2.5) > 1); // four of a person do not
    assert_true(agg_renyi_find_bit_epsilon(&loose, 1e9, 8) == 8);
    double alone = agg_renyi_find_bit_epsilon(&shared, 4, 8); // no crowd to speak of: 4 * 2 * 0.625
    assert_true(alone >= 0.625 && alone < 0.7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_definition),
        cmocka_unit_test(bounds_both_directions_whatever_the_others_hold),
        cmocka_unit_test(cells_bound_what_lies_between),
        cmocka_unit_test(nears_the_normal_law),
        cmocka_unit_test(epsilon_is_the_least_over_orders),
        cmocka_unit_test(inverses_invert),
        cmocka_unit_test(inverses_at_their_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
