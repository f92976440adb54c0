// SPDX-License-Identifier: Apache-2.0
// Composition over a schedule: the formulas, how delta is shared out, and which of them may be
// claimed.
#include "agg_test.h"

#include <math.h>

#include "composition.h"

static agg_error error;

static int is_near(double x, double expected, double tolerance)
{
    return fabs(x - expected) <= tolerance * fabs(expected);
}

static agg_composition composition_of(const agg_query *queries, size_t n, double delta,
                                      double contributions)
{
    agg_composition total;
    assert_ok(agg_compose(&total, &error, queries, n, delta, contributions));
    assert_true(total.contributions == contributions);
    return total;
}

// of one report in each query
static agg_totals total_of(const agg_query *queries, size_t n, double delta)
{
    agg_composition total = composition_of(queries, n, delta, 1);
    assert_memory_equal(&total.item, &total.user, sizeof total.item);
    return total.item;
}

static double stronger(double e0, double n, double delta)
{
    const agg_crowd crowd = {e0, n, delta, 1, NULL};
    agg_central central;
    assert_ok(agg_crowd_epsilon(&central, &error, &crowd, AGG_BOUND_STRONGER, true));
    return central.upper;
}

// 100 queries of 0.1 at slack 1e-6: drift 100 * 0.1 * tanh(0.05), and sqrt(2 ln(10^6)) for the sum
// of squares 1.
static void advanced_is_the_formula(void **state)
{
    const double small[] = {0.1}, many[] = {100}, mixed[] = {0.1, 0.2}, counts[] = {60, 10},
                 one[] = {1};
    (void)state;
    assert_true(is_near(agg_advanced_composition(small, many, 1, 1e-6),
                        10 * tanh(0.05) + sqrt(2 * log(1e6)), 1e-12));
    assert_true(is_near(agg_advanced_composition(mixed, counts, 2, 1e-6),
                        6 * tanh(0.05) + 2 * tanh(0.1) + sqrt(2 * log(1e6)), 1e-12));
    assert_true(is_near(agg_advanced_composition(small, one, 1, 1e-6), 0.1,
                        1e-12));                      // one query: the sum is less
    const double tiny[] = {0.001}, several[] = {100}; // the form with ln(e + ...), where the sum of
                                                      // squares is below the slack's square
    assert_true(agg_advanced_composition(tiny, several, 1, 0.1) < 0.1);
}

static void delta_is_shared_out(void **state)
{
    const agg_query queries[] = {{2, 1e5, 30, 0, NULL}, {3, 2e5, 10, 0, NULL}};
    agg_totals total = total_of(queries, 2, 1e-7);
    double basic = 30 * stronger(2, 1e5, 1e-7 / 40) + 10 * stronger(3, 2e5, 1e-7 / 40);
    const double each[] = {stronger(2, 1e5, 1e-7 / 80), stronger(3, 2e5, 1e-7 / 80)},
                 counts[] = {30, 10};
    (void)state;
    assert_true(composition_of(queries, 2, 1e-7, 1).queries == 40 && total.local == 90);
    assert_true(is_near(total.basic, basic, 1e-3) &&
                total.basic >= basic * (1 - 1e-9)); // coarse, from above
    assert_true(is_near(total.advanced, agg_advanced_composition(each, counts, 2, 5e-8), 1e-3));
    assert_true(isnan(total.renyi)); // not of the symmetric encoding
}

static void renyi_adds_up_before_delta(void **state)
{
    const agg_query one = {4, 1e5, 1, 2, NULL}, many = {4, 1e5, 100, 2, NULL},
                    split[] = {{4, 1e5, 40, 2, NULL}, {4, 1e5, 60, 2, NULL}};
    agg_renyi_curve curve;
    (void)state;
    agg_renyi_orders(&curve, 2, 1e5);
    agg_renyi_one_hot(&curve, 2, 1e5);
    assert_true(is_near(total_of(&one, 1, 1e-6).renyi, agg_renyi_epsilon(&curve, 1e-6), 1e-12));
    for (int i = 0; i < AGG_RENYI_ORDERS; i++) curve.rho[i] *= 100;
    agg_totals total = total_of(&many, 1, 1e-6);
    assert_true(is_near(total.renyi, agg_renyi_epsilon(&curve, 1e-6), 1e-12));
    assert_true(is_near(total_of(split, 2, 1e-6).renyi, total.renyi, 1e-12));
    // A hundred queries cost little more than ten times one, and less than by the other rules.
    assert_true(total.renyi < 15 * total_of(&one, 1, 1e-6).renyi);
    assert_true(total.renyi < total.advanced && total.advanced < total.basic);
}

static void no_crowd_no_claim(void **state)
{
    const agg_query few = {8, 2, 3, 0, NULL};
    const agg_query mixed[] = {{4, 1e5, 1, 2, NULL}, {4, 1e5, 1, 0, NULL}};
    (void)state;
    agg_totals total = total_of(&few, 1, 1e-15);
    assert_true(total.local == 24 && isnan(total.basic) && isnan(total.advanced));
    assert_true(isnan(total_of(mixed, 2, 1e-6).renyi));
}

static double stronger_of_many(double e0, double n, double delta, double contributions)
{
    const agg_crowd crowd = {e0, n, delta, contributions, NULL};
    agg_central central;
    assert_ok(agg_crowd_epsilon(&central, &error, &crowd, AGG_BOUND_STRONGER, true));
    return central.upper;
}

// A query protects a person's reports together at its share of delta; then queries add up as
// always.
static void contributions_are_protected_together_in_each_query(void **state)
{
    const agg_query queries[] = {{2, 1e5, 30, 0, NULL}, {3, 2e5, 10, 0, NULL}};
    agg_composition total = composition_of(queries, 2, 1e-7, 4);
    double basic =
        30 * stronger_of_many(2, 1e5, 1e-7 / 40, 4) + 10 * stronger_of_many(3, 2e5, 1e-7 / 40, 4);
    const double each[] = {stronger_of_many(2, 1e5, 1e-7 / 80, 4),
                           stronger_of_many(3, 2e5, 1e-7 / 80, 4)};
    const double counts[] = {30, 10};
    (void)state;
    assert_true(total.item.basic == total_of(queries, 2, 1e-7).basic);
    assert_true(total.user.local == 360);
    assert_true(is_near(total.user.basic, basic, 1e-3) && total.user.basic >= basic * (1 - 1e-9));
    assert_true(
        is_near(total.user.advanced, agg_advanced_composition(each, counts, 2, 5e-8), 1e-3));
    // More than four times one report's: delta grows with the group.
    assert_true(total.user.basic > 4 * total.item.basic && total.user.basic < 6 * total.item.basic);
    const agg_query few = {8, 2, 3, 0, NULL};
    agg_composition nothing = composition_of(&few, 1, 1e-15, 2);
    assert_true(nothing.user.local == 48 && isnan(nothing.user.basic) &&
                isnan(nothing.user.advanced));
}

// c reports in each of many queries are c changes of the composition, each at its own (epsilon,
// delta): with S = 1 + e^eps + ...
// + e^((c - 1) eps), c eps at delta S is what the group has.
static void renyi_composes_before_the_group(void **state)
{
    const agg_query many = {4, 1e5, 100, 2, NULL};
    agg_renyi_curve curve;
    (void)state;
    agg_renyi_orders(&curve, 2, 1e5);
    agg_renyi_one_hot(&curve, 2, 1e5);
    for (int i = 0; i < AGG_RENYI_ORDERS; i++) curve.rho[i] *= 100;
    double epsilon = agg_renyi_epsilon(&curve, 1e-9);
    double delta = 1e-9 * (1 + exp(epsilon) + exp(2 * epsilon));
    agg_composition total = composition_of(&many, 1, delta, 3);
    assert_true(is_near(total.user.renyi, 3 * epsilon, 1e-9));
    assert_true(total.user.renyi < total.user.basic && total.user.renyi > 3 * total.item.renyi);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advanced_is_the_formula),
        cmocka_unit_test(delta_is_shared_out),
        cmocka_unit_test(renyi_adds_up_before_delta),
        cmocka_unit_test(no_crowd_no_claim),
        cmocka_unit_test(contributions_are_protected_together_in_each_query),
        cmocka_unit_test(renyi_composes_before_the_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
