// SPDX-License-Identifier: Apache-2.0
// The chi-square tail against values of 40 digits, against its closed forms, and its quantile
// against the tail.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> // needs those above it

#include "chi_square.h"

typedef struct reference {
    double df, x, tail;
} reference;

// x near the law's quantile of 0.95, 0.5, 0.05, 1e-6, 1e-40 and 1e-300, and the tail beyond that
// very double: mpmath 1.4, gammainc(df/2, x/2, inf, regularized=True) at 40 digits; R 4.2's pchisq
// agrees to 3e-14.
static const reference references[] = {
    {1, 0.00393214, 0.950000000000123962},       {1, 0.454936423, 0.500000000056335068},
    {1, 3.84145882, 0.0500000000206984572},      {1, 23.928127, 9.99999988019205008e-7},
    {1, 178.559256, 1.00000005599728952e-40},    {1, 1373.87263, 1.00000061164144606e-300},
    {2, 0.102586589, 0.949999999893173004},      {2, 1.38629436, 0.500000000279972668},
    {2, 5.99146455, 0.0499999999276995525},      {2, 27.6310211, 1.0000000079642733e-6},
    {2, 184.206807, 1.00000021976185264e-40},    {2, 1381.55106, 9.99997898215910573e-301},
    {3, 0.351846318, 0.949999999950239128},      {3, 2.36597388, 0.500000000822549394},
    {3, 7.8147279, 0.0500000000728553359},       {3, 30.6648497, 1.00000000301152255e-6},
    {3, 189.00751, 1.00000017507856014e-40},     {3, 1388.33677, 1.00000192595855423e-300},
    {5, 1.14547623, 0.94999999963789702},        {5, 4.35146019, 0.500000000150126357},
    {5, 11.0704977, 0.0499999998747058407},      {5, 35.8881869, 9.99999990640095925e-7},
    {5, 197.444686, 1.00000006498261974e-40},    {5, 1400.64059, 9.99997831164497936e-301},
    {10, 3.94029914, 0.949999999830149278},      {10, 9.34181777, 0.49999999959068352},
    {10, 18.3070381, 0.0499999992766703734},     {10, 46.8630468, 1.00000001958305553e-6},
    {10, 215.358952, 9.99999897409951588e-41},   {10, 1427.77196, 9.99998075773289e-301},
    {25, 14.6114076, 0.950000000828794016},      {25, 24.3365867, 0.499999999878739536},
    {25, 37.6524841, 0.0500000003725774064},     {25, 73.8945386, 1.0000000080016233e-6},
    {25, 258.766579, 9.99999840514618183e-41},   {25, 1496.31846, 1.00000171292538912e-300},
    {31, 19.2805686, 0.949999999261879833},      {31, 30.3359425, 0.499999997855071601},
    {31, 44.9853433, 0.0499999997989452884},     {31, 83.6425158, 1.00000001562392434e-6},
    {31, 274.038287, 1.00000013207660817e-40},   {31, 1520.89906, 1.00000052770276957e-300},
    {32, 20.0719135, 0.949999999373488983},      {32, 31.3358591, 0.499999999426230099},
    {32, 46.1942595, 0.0500000002050783327},     {32, 85.2315507, 1.00000000563897442e-6},
    {32, 276.508889, 1.00000012542142633e-40},   {32, 1524.88807, 1.00000105052550108e-300},
    {33, 20.866534, 0.9499999998393061},         {33, 32.3357809, 0.499999999003557091},
    {33, 47.3998839, 0.0500000001906474138},     {33, 86.8116745, 1.00000001121270818e-6},
    {33, 278.960537, 1.00000009017373101e-40},   {33, 1528.84929, 9.99999424369424872e-301},
    {100, 77.9294652, 0.949999999698377412},     {100, 99.3341292, 0.50000000101918342},
    {100, 124.342113, 0.0500000025499299035},    {100, 182.126777, 1.00000002830904921e-6},
    {100, 419.50459, 9.99999976893725985e-41},   {100, 1756.78753, 1.00000150324219874e-300},
    {333, 291.718361, 0.949999999806657317},     {333, 332.333571, 0.500000001983940903},
    {333, 376.554957, 0.0499999988506336876},    {333, 470.363668, 9.99999932351250084e-7},
    {333, 802.423251, 1.00000001889120979e-40},  {333, 2355.44975, 9.99999410326745815e-301},
    {1000, 927.594363, 0.950000000050872628},    {1000, 999.333412, 0.500000003599809078},
    {1000, 1074.67945, 0.0499999973696497894},   {1000, 1227.15242, 1.00000011476731559e-6},
    {1000, 1717.91498, 9.99999605471701309e-41}, {1000, 3672.36654, 1.00000165963131766e-300}};

static void relative(double is, double ought, double tolerance)
{
    if (!(fabs(is / ought - 1) <= tolerance))
        fail_msg("%.17g instead of %.17g, relative %g", is, ought, is / ought - 1);
}

static void agrees_with_forty_digits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        const reference *r = &references[i];
        relative(agg_chi_square_tail(r->x, r->df), r->tail, 1e-12);
        if (r->tail < 0.6) relative(agg_chi_square_quantile(r->tail, r->df), r->x, 1e-12);
    }
}

static void agrees_with_closed_forms(void **state)
{
    (void)state;
    for (double x = 0.01; x < 1300; x *= 1.07) {
        relative(agg_chi_square_tail(x, 1), erfc(sqrt(x / 2)), 1e-12);
        relative(agg_chi_square_tail(x, 2), exp(-x / 2), 1e-12);
        relative(agg_chi_square_tail(x, 4), exp(-x / 2) * (1 + x / 2), 1e-12);
    }
}

// Two more degrees of freedom add (x/2)^(df/2) e^(-x/2) / Gamma(df/2 + 1): the series and the
// fraction must meet where x/2 passes a + 1, and the forms of the factor where a passes 16.
static void meets_its_recurrence(void **state)
{
    (void)state;
    for (int df = 1; df <= 300; df++)
        for (double x = 0.5 * df; x < 2.5 * df + 40; x += 0.13 * df) {
            double added = exp(df / 2.0 * log(x / 2) - x / 2 - lgamma(df / 2.0 + 1));
            relative(agg_chi_square_tail(x, df + 2), agg_chi_square_tail(x, df) + added,
                     2e-12); // lgamma's own 1e-13
        }
}

static void quantile_is_the_tails_inverse(void **state)
{
    static const double tails[] = {0.999, 0.9,   0.6,    0.5,    0.05,  1e-3,
                                   1e-9,  1e-30, 1e-100, 1e-200, 1e-300};
    (void)state;
    for (int df = 1; df <= 1000; df += df < 40 ? 1 : 37)
        for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
            double x = agg_chi_square_quantile(tails[i], df);
            // A last digit of x moves the tail by x times its hazard, below 1/2.
            relative(agg_chi_square_tail(x, df), tails[i], 1e-12 + x * 2e-16);
        }
    relative(agg_chi_square_quantile(1e-10, 2e6), 2012749.0047247896,
             1e-12); // mpmath, findroot on gammainc
}

static void keeps_to_its_ranges(void **state)
{
    (void)state;
    assert_true(agg_chi_square_tail(0, 3) == 1);
    assert_true(agg_chi_square_tail(HUGE_VAL, 3) == 0);
    assert_true(agg_chi_square_tail(1e6, 3) == 0); // below the smallest double
    assert_true(isnan(agg_chi_square_tail(-1, 3)) && isnan(agg_chi_square_tail(NAN, 3)));
    assert_true(isnan(agg_chi_square_tail(1, 0.5)) && isnan(agg_chi_square_tail(1, 3e6)));
    assert_true(isnan(agg_chi_square_quantile(0, 3)) && isnan(agg_chi_square_quantile(1, 3)));
    assert_true(isnan(agg_chi_square_quantile(0.5, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_forty_digits), cmocka_unit_test(agrees_with_closed_forms),
        cmocka_unit_test(meets_its_recurrence), cmocka_unit_test(quantile_is_the_tails_inverse),
        cmocka_unit_test(keeps_to_its_ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
