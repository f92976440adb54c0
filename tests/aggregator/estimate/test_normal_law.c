// SPDX-License-Identifier: Apache-2.0
// Normal quantiles against R's qnorm and against the error function.
#include "agg_test.h"

#include <math.h>

#include "normal_law.h"

static void agrees_with_r(void **state)
{
    // R 4.2: format(qnorm(p), digits = 17); the first three and 1e-20 are also in Wichura's paper.
    static const double table[][2] = {
        {0.25, -0.67448975019608171}, {0.001, -3.0902323061678132},
        {1e-20, -9.2623400897984083}, {0.5, 0},
        {0.975, 1.9599639845400543},  {0.025, -1.9599639845400543},
        {0.9, 1.2815515655446004},    {0.99, 2.3263478740408408},
        {0.95, 1.6448536269514722},   {0.995, 2.5758293035489004},
        {1e-5, -4.2648907939228247},  {1e-10, -6.3613409024040557},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        double x = agg_normal_quantile(table[i][0]);
        assert_true(fabs(x - table[i][1]) <= 4e-15 * fmax(1, fabs(table[i][1])));
    }
}

static void inverts_the_normal_law(void **state)
{
    (void)state;
    for (double p = 1e-290; p < 0.5; p *= 1.7) {
        double x = agg_normal_quantile(p), back = 0.5 * erfc(-x / sqrt(2));
        // An error dx in x is a relative error of about |x| dx in a far tail's p.
        assert_true(fabs(back / p - 1) <= 1e-15 * (8 + 4 * x * x));
        if (p > 1e-3) assert_true(fabs(agg_normal_quantile(1 - p) + x) <= 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_r),
                                       cmocka_unit_test(inverts_the_normal_law)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
