// SPDX-License-Identifier: Apache-2.0
// Composition by numbers: against the exact composition of randomized response, against all
// reports of few devices in two queries, against one query's own bound, and against the Gaussian
// law that many queries come near to.
#include "agg_test.h"

#include <math.h>

#include "privacy_loss.h"

static agg_error error;

static agg_pair_law grr(double e0, double s)
{
    agg_pair_law law = {.n = 0};
    double lie = 1 / (exp(e0) + s - 1), truth = exp(e0) * lie, rest = (s - 2) * lie;
    agg_pair_add_both(&law, truth, lie, lie, lie);
    agg_pair_add(&law, rest, rest, rest, rest - lie + truth);
    return law;
}

static double delta_of(const agg_loss_kind *kinds, size_t n, double epsilon, double tail)
{
    double delta = NAN;
    assert_ok(agg_loss_delta(&delta, &error, kinds, n, epsilon, tail));
    return delta;
}

static double epsilon_of(const agg_loss_kind *kinds, size_t n, double delta, double contributions)
{
    double epsilon = NAN;
    assert_ok(agg_loss_epsilon(&epsilon, &error, kinds, n, delta, contributions));
    return epsilon;
}

// P. Kairouz, S. Oh, P. Viswanath, "The composition theorem for differential privacy" (2015): k
// answers by randomized response, of which i are lies, have a loss of (k - 2i) e0.
static double exact_response(double e0, int k, double epsilon)
{
    double sum = 0;
    for (int i = 0; i <= k; i++) {
        double loss = (k - 2 * i) * e0,
               mass = exp(lgamma(k + 1) - lgamma(i + 1) - lgamma(k - i + 1) + (k - i) * e0 -
                          k * log1p(exp(e0)));
        if (loss > epsilon) sum -= mass * expm1(epsilon - loss);
    }
    return sum;
}

// Of one report there is no crowd. The law is exact as long as the grid is not widened.
static void without_a_crowd_it_is_randomized_response(void **state)
{
    static const double e0s[] = {0.01, 0.3, 1, 4};
    static const int counts[] = {1, 2, 3, 7, 20, 64};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 6; k++)
            for (double share = 0; share < 1; share += 0.23) {
                const agg_loss_kind kind = {e0s[i], 1, counts[k], NULL};
                double epsilon = share * counts[k] * e0s[i],
                       exact = exact_response(e0s[i], counts[k], epsilon),
                       ours = delta_of(&kind, 1, epsilon, 1e-12);
                if (!(ours >= exact * (1 - 1e-9) && ours <= exact * (1 + 1e-6) + 1e-12))
                    fail_msg("e0 %g, %d queries, epsilon %g: %.12g, exact %.12g", e0s[i], counts[k],
                             epsilon, ours, exact);
            }
}

// Widening the grid moves losses apart, and never below the truth.
static void a_wider_grid_never_promises_more(void **state)
{
    static const int counts[] = {300, 1000, 4095};
    (void)state;
    for (int k = 0; k < 3; k++)
        for (double share = 0; share < 0.5; share += 0.07) {
            const agg_loss_kind kind = {0.05, 1, counts[k], NULL};
            double epsilon = share * sqrt(counts[k]) * 0.5,
                   exact = exact_response(0.05, counts[k], epsilon),
                   ours = delta_of(&kind, 1, epsilon, 1e-14);
            if (!(ours >= exact * (1 - 1e-9) && ours <= exact * 1.01 + 1e-14))
                fail_msg("%d queries, epsilon %g: %.12g, exact %.12g", counts[k], epsilon, ours,
                         exact);
        }
}

enum { DEVICES = 3, ANSWERS = 3, OUTCOMES = (DEVICES + 1) * (DEVICES + 1) };

// The law of how often each answer comes, by the answers of all devices.
static void law_of_counts(double law[OUTCOMES], double e0, const int inputs[DEVICES])
{
    double lie = 1 / (exp(e0) + ANSWERS - 1);
    memset(law, 0, OUTCOMES * sizeof *law);
    for (int all = 0; all < ANSWERS * ANSWERS * ANSWERS; all++) {
        int counts[ANSWERS] = {0}, rest = all;
        double mass = 1;
        for (int d = 0; d < DEVICES; d++, rest /= ANSWERS) {
            counts[rest % ANSWERS]++;
            mass *= rest % ANSWERS == inputs[d] ? exp(e0) * lie : lie;
        }
        law[counts[0] * (DEVICES + 1) + counts[1]] += mass;
    }
}

// The true delta of two queries, whose other devices have these inputs.
static double true_delta(const double e0[2], const int others[2][DEVICES - 1], double epsilon)
{
    double p[2][OUTCOMES], q[2][OUTCOMES], delta = 0;
    for (int query = 0; query < 2; query++) {
        int inputs[DEVICES] = {0, others[query][0], others[query][1]};
        law_of_counts(p[query], e0[query], inputs);
        inputs[0] = 1;
        law_of_counts(q[query], e0[query], inputs);
    }
    for (int i = 0; i < OUTCOMES; i++)
        for (int j = 0; j < OUTCOMES; j++)
            delta += fmax(0, p[0][i] * p[1][j] - exp(epsilon) * q[0][i] * q[1][j]);
    return delta;
}

static void is_never_below_the_truth(void **state)
{
    static const double pairs[][2] = {{0.5, 0.5}, {1, 2}, {3, 3}, {4, 0.2}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        agg_pair_law first = grr(pairs[i][0], ANSWERS), second = grr(pairs[i][1], ANSWERS);
        const agg_loss_kind kinds[] = {{pairs[i][0], DEVICES, 1, &first},
                                       {pairs[i][1], DEVICES, 1, &second}};
        for (double share = 0; share < 1; share += 0.11) {
            double epsilon = share * (pairs[i][0] + pairs[i][1]), most = 0,
                   ours = delta_of(kinds, 2, epsilon, 1e-12);
            for (int o = 0; o < 81; o++) {
                const int others[2][2] = {{o % 3, o / 3 % 3}, {o / 9 % 3, o / 27}};
                most = fmax(most, true_delta(pairs[i], others, epsilon));
            }
            if (!(ours >= most))
                fail_msg("%g and %g, epsilon %g: %.9g, true %.9g", pairs[i][0], pairs[i][1],
                         epsilon, ours, most);
        }
    }
}

static void one_query_has_its_own_bound(void **state)
{
    static const double e0s[] = {0.5, 2, 4, 8}, reports[] = {1000, 1e5, 1e8};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++)
            for (int is_known = 0; is_known < 2; is_known++) {
                agg_pair_law law = grr(e0s[i], 100);
                const agg_pair_law *pair = is_known ? &law : NULL;
                const agg_loss_kind kind = {e0s[i], reports[j], 1, pair};
                const agg_crowd crowd = {e0s[i], reports[j], 1e-8, 1, pair};
                agg_central one;
                double ours = epsilon_of(&kind, 1, 1e-8, 1);
                assert_ok(agg_crowd_epsilon(
                    &one, &error, &crowd, is_known ? AGG_BOUND_BLANKET : AGG_BOUND_STRONGER, true));
                if (isnan(one.upper)) continue;
                if (!(ours > one.upper * 0.997 && ours < one.upper * 1.01))
                    fail_msg("e0 %g, n %g: %.6g, alone %.6g", e0s[i], reports[j], ours, one.upper);
            }
}

// delta of a Gaussian mechanism: Phi(m/2 - e/m) - e^e Phi(-m/2 - e/m).
static double gaussian_delta(double m, double epsilon)
{
    double a = m / 2 - epsilon / m, b = -m / 2 - epsilon / m;
    return (erfc(-a / sqrt(2)) - exp(epsilon) * erfc(-b / sqrt(2))) / 2;
}

static double gaussian_epsilon(double m, double delta)
{
    double low = 0, high = 100;
    while (high - low > 1e-9) {
        double middle = (low + high) / 2;
        *(gaussian_delta(m, middle) <= delta ? &high : &low) = middle;
    }
    return high;
}

// A crowd's loss is nearly Gaussian, so k queries are nearly one with the root of k times its
// distance.
static void many_queries_are_gaussian(void **state)
{
    static const double counts[] = {10, 365, 10000};
    agg_pair_law law = grr(3, 50);
    double low = 0, high = 10;
    (void)state;
    agg_loss_kind kind = {3, 1e6, 1, &law};
    double one = epsilon_of(&kind, 1, 1e-8, 1);
    while (high - low > 1e-9) {
        double middle = (low + high) / 2;
        *(gaussian_epsilon(middle, 1e-8) >= one ? &high : &low) = middle;
    }
    for (int k = 0; k < 3; k++) {
        kind.count = counts[k];
        double ours = epsilon_of(&kind, 1, 1e-8, 1),
               expected = gaussian_epsilon(high * sqrt(counts[k]), 1e-8);
        print_message("%g queries: %.5g, Gaussian %.5g\n", counts[k], ours, expected);
        assert_true(ours > 0.97 * expected && ours < 1.04 * expected);
    }
}

static void kinds_add_up_in_any_order(void **state)
{
    agg_pair_law law = grr(2, 10), other = grr(4, 1000);
    const agg_loss_kind whole[] = {{2, 1e5, 100, &law}, {4, 1e6, 12, &other}},
                        parts[] = {{4, 1e6, 12, &other}, {2, 1e5, 60, &law}, {2, 1e5, 40, &law}},
                        more[] = {{2, 1e5, 101, &law}, {4, 1e6, 12, &other}};
    (void)state;
    double a = epsilon_of(whole, 2, 1e-7, 1), b = epsilon_of(parts, 3, 1e-7, 1);
    assert_true(fabs(a - b) < 0.005 * a);
    assert_true(epsilon_of(more, 2, 1e-7, 1) > a);
    // Group privacy: more than as many times one report's, and less than all local epsilons.
    double group = epsilon_of(whole, 2, 1e-7, 3);
    assert_true(group > 3 * a && group < 6 * a);
    assert_true(epsilon_of(whole, 2, 1e-9, 1) > a);
}

// What no crowd hides has no figure.
static void no_crowd_no_figure(void **state)
{
    const agg_loss_kind few = {8, 2, 3, NULL};
    agg_pair_law law = grr(8, 3);
    const agg_loss_kind known = {8, 2, 3, &law}, alone = {1, 1, 5, NULL};
    (void)state;
    double epsilon = epsilon_of(&few, 1, 1e-15, 1);
    assert_true(isnan(epsilon) || (epsilon > 23.99 && epsilon <= 24));
    epsilon = epsilon_of(&known, 1, 1e-15, 1);
    assert_true(isnan(epsilon) || (epsilon > 23.9 && epsilon <= 24));
    epsilon = epsilon_of(&alone, 1, 1e-15, 1);
    assert_true(isnan(epsilon) || (epsilon > 4.99 && epsilon <= 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_crowd_it_is_randomized_response),
        cmocka_unit_test(a_wider_grid_never_promises_more),
        cmocka_unit_test(is_never_below_the_truth),
        cmocka_unit_test(one_query_has_its_own_bound),
        cmocka_unit_test(many_queries_are_gaussian),
        cmocka_unit_test(kinds_add_up_in_any_order),
        cmocka_unit_test(no_crowd_no_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
