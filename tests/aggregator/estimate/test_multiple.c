// SPDX-License-Identifier: Apache-2.0
// Rules for many tests, against R's p.adjust and by the share of false detections that they
// promise.
#include "agg_test.h"

#include <math.h>

#include "multiple.h"
#include "normal_law.h"
#include "rng.h"

static size_t n_detected(const double *scores, size_t n, agg_multiple multiple, double alpha)
{
    agg_error error;
    double least = 0;
    size_t count = 0;
    assert_ok(agg_multiple_least(&least, &error, scores, n, multiple, alpha));
    for (size_t i = 0; i < n; i++) count += scores[i] >= least;
    return count;
}

// R 4.2: p <- pnorm(z, lower.tail = FALSE); sum(p.adjust(p, "bonferroni") <= alpha);
// sum(p.adjust(p, "BH") * u <= alpha & p <= alpha) with u = (1 + sum(p > 3/4)) / (n/4), 1 in the
// first list and 0.4 in the second; sum(p <= alpha).
static void agrees_with_r(void **state)
{
    static const double z[2][20] = {{4.2, 3.3, 2.9, 2.61, 2.5,  2.24,  2.17, 2.0,  1.7,  1.2,
                                     0.9, 0.4, 0.1, -0.2, -0.5, -0.68, -0.9, -1.3, -2.2, 1.55},
                                    {4.2, 3.3, 2.9, 2.61, 2.5,  2.24, 2.17,  2.0,  1.9,  1.6,
                                     1.5, 0.4, 0.1, -0.2, -0.5, -0.6, -0.66, -0.3, -2.2, 1.55}};
    static const double alphas[] = {0.05, 0.1, 0.01};
    static const size_t answers[2][3][3] = {{{3, 7, 9}, {4, 9, 10}, {2, 2, 5}},
                                            {{3, 9, 9}, {4, 12, 12}, {2, 5, 5}}};
    static const agg_multiple rules[] = {AGG_BONFERRONI, AGG_BH, AGG_NONE};
    (void)state;
    for (int list = 0; list < 2; list++)
        for (int a = 0; a < 3; a++)
            for (int r = 0; r < 3; r++)
                assert_int_equal(n_detected(z[list], 20, rules[r], alphas[a]), answers[list][a][r]);
    assert_int_equal(n_detected(z[0], 0, AGG_BH, 0.05), 0);
    assert_int_equal(n_detected(z[0], 1, AGG_BH, 0.05), 1);
    assert_int_equal(n_detected(z[0] + 13, 6, AGG_BH, 0.05), 0);
}

static double normal(shoal_rng *rng)
{
    return agg_normal_quantile(((double)(shoal_rng_u64(rng) >> 11) + 0.5) * 0x1p-53);
}

// 4000 lists of 100 rows of which some stand 2.5 out: the mean share of false ones among the
// detected. Its sd in one list is at most 0.06 with 50 rows of something, so that 4 sd of the mean
// are 0.004; without the estimate of what is nothing it would be 0.025. Of nothing at all, 0.05 of
// the lists have a false one at most: 4 sd are 0.014. (Cut at 1, the estimate would make that
// 0.061.)
static void keeps_the_share_of_false_ones(void **state)
{
    static const struct {
        size_t n_something;
        double low, high;
    } cases[] = {{0, 0.03, 0.0575}, {50, 0.043, 0.054}};
    (void)state;
    for (uint8_t c = 0; c < 2; c++) {
        double sum = 0;
        uint8_t seed[32] = {c, 4};
        shoal_rng rng;
        shoal_rng_init(&rng, seed);
        for (int list = 0; list < 4000; list++) {
            double scores[100], least = 0, wrong = 0, found = 0;
            agg_error error;
            for (size_t i = 0; i < 100; i++)
                scores[i] = normal(&rng) + (i < cases[c].n_something ? 2.5 : 0);
            assert_ok(agg_multiple_least(&least, &error, scores, 100, AGG_BH, 0.05));
            for (size_t i = 0; i < 100; i++) {
                found += scores[i] >= least;
                wrong += scores[i] >= least && i >= cases[c].n_something;
            }
            sum += found > 0 ? wrong / found : 0;
        }
        print_message("%zu of something: share of false ones %.4f\n", cases[c].n_something,
                      sum / 4000);
        assert_true(sum / 4000 > cases[c].low && sum / 4000 < cases[c].high);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_r),
                                       cmocka_unit_test(keeps_the_share_of_false_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
