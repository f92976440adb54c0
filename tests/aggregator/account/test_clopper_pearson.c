// SPDX-License-Identifier: Apache-2.0
// Exact binomial bounds against R's, against the binomial sum itself, and their coverage.
#include "agg_test.h"

#include <math.h>

#include "clopper_pearson.h"

typedef struct bound {
    uint64_t hits, n;
    double alpha, lower, upper;
} bound;

// R 4.2: qbeta(alpha, hits, n - hits + 1) and qbeta(alpha, hits + 1, n - hits, lower.tail = FALSE).
static const bound bounds[] = {
    {0, 10, 0.025, 0, 0.30849710781876083},
    {10, 10, 0.025, 0.69150289218123917, 1},
    {1, 10, 0.025, 0.0025285785444617843, 0.44501611702819543},
    {3, 20, 0.025, 0.032070937185463708, 0.37892682654531396},
    {50, 100, 0.025, 0.39832112950330101, 0.60167887049669899},
    {0, 10, 0.001, 0, 0.49881276637272776},
    {10, 10, 0.001, 0.50118723362727224, 1},
    {3, 20, 0.001, 0.0099875809983895961, 0.50872937397331641},
    {0, 1000000, 0.001, 0, 6.9077314204955795e-06},
    {1, 1000000, 0.001, 1.0005003330830335e-09, 9.2333754652917036e-06},
    {17, 50000, 0.001, 0.00014057960091099517, 0.00067973615554645561},
    {167, 500000, 1e-6, 0.00022520860945979377, 0.00047388062684125234},
    {499999, 1000000, 1e-6, 0.49762180188827809, 0.50237619812252465},
    {9999990, 10000000, 1e-6, 0.99999655721577096, 0.99999987231807186},
    {40, 10000000, 1e-6, 1.6753168869581414e-06, 7.8910675383635918e-06},
    {123456789, 1000000000, 0.001, 0.12342464440534802, 0.12348893864020971},
};

static int is_near(double x, double expected, double tolerance)
{
    return fabs(x - expected) <= tolerance * fabs(expected);
}

static void agrees_with_r(void **state)
{
    // R 4.2: pbeta(x, a, b).
    static const double beta[][4] = {
        {1, 1, 0.3, 0.3},
        {2, 3, 0.5, 0.6875},
        {0.5, 0.5, 0.1, 0.20483276469913345},
        {10, 1, 0.99, 0.90438207500880441},
        {1, 1000, 0.001, 0.63230457522903594},
        {300, 700, 0.25, 0.00017989197772738967},
        {50000, 50000, 0.495, 0.00078250988108627775},
        {1e6, 3, 0.999999, 0.91969832701345167},
        {20, 1e7, 1e-6, 0.0034543960925890226},
        {3, 400000, 1e-9, 1.0663547162743216e-11},
    };
    (void)state;
    for (size_t i = 0; i < sizeof beta / sizeof beta[0]; i++)
        // lgamma's last digit is the error: a + b of 1e7 have ln(gamma) of 1.5e8, so 3e-8 of its
        // unit.
        if (!is_near(agg_incomplete_beta(beta[i][0], beta[i][1], beta[i][2]), beta[i][3], 1e-7))
            fail_msg("I(%g, %g, %g)", beta[i][0], beta[i][1], beta[i][2]);
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const bound *b = &bounds[i];
        if (!is_near(agg_clopper_pearson_lower(b->hits, b->n, b->alpha), b->lower, 1e-9) ||
            !is_near(agg_clopper_pearson_upper(b->hits, b->n, b->alpha), b->upper, 1e-9))
            fail_msg("%llu of %llu at %g", (unsigned long long)b->hits, (unsigned long long)b->n,
                     b->alpha);
    }
    assert_true(agg_incomplete_beta(2, 3, 0) == 0 && agg_incomplete_beta(2, 3, 1) == 1);
}

// P(X >= hits) of a binomial, as a plain sum.
static double at_least(unsigned hits, unsigned n, double p)
{
    double sum = 0;
    for (unsigned x = hits; x <= n; x++)
        sum += exp(lgamma(n + 1.0) - lgamma(x + 1.0) - lgamma(n - x + 1.0) + x * log(p) +
                   (n - x) * log1p(-p));
    return sum;
}

static void inverts_the_binomial_sum(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 40; n++)
        for (unsigned hits = 1; hits <= n; hits++) {
            double p = agg_clopper_pearson_lower(hits, n, 1e-3);
            assert_true(is_near(at_least(hits, n, p), 1e-3, 1e-10));
            // The mirrored question has the mirrored answer.
            assert_true(fabs(agg_clopper_pearson_upper(n - hits, n, 1e-3) - (1 - p)) <= 1e-12);
        }
}

// Over every p, the bound is above p with probability alpha at most: the sum over outcomes whose
// bound fails.
static void covers(void **state)
{
    const unsigned n = 60;
    const double alpha = 0.01;
    double worst = 0;
    (void)state;
    for (double p = 0.004; p < 1; p += 0.004) {
        double missed = 0;
        for (unsigned hits = 0; hits <= n; hits++)
            if (agg_clopper_pearson_lower(hits, n, alpha) > p)
                missed += at_least(hits, n, p) - (hits < n ? at_least(hits + 1, n, p) : 0);
        assert_true(missed <= alpha * (1 + 1e-9));
        worst = fmax(worst, missed);
    }
    assert_true(worst > 0.9 * alpha); // and not by being idle
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_r),
                                       cmocka_unit_test(inverts_the_binomial_sum),
                                       cmocka_unit_test(covers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
