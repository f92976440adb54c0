// SPDX-License-Identifier: Apache-2.0
// shoal_count_coverage: how often intervals of counts hold the true count, by enumeration of every
// support. Nothing is simulated.
//
//     shoal_count_coverage [EPSILON]
//
// Of n devices f hold a value. A report supports its own value with probability p and another one
// with probability q, and p = 1/2 or that of randomized response at epsilon 8.65 or EPSILON, where
// 1,000 values are listed. One line for each n, n q, p and f: n, n q, p, f, and the coverage of
// 95 % by the normal interval and by the one of shoal estimate, separated by tabs.
// count_coverage.mjs makes the picture and the table of docs/selection.md of them.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "small_counts.h"

#define LEVEL 0.05

static const double all_n[] = {100, 1000, 10000, 100000},
                    all_hits[] = {0.1, 0.2, 0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 80, 120},
                    all_f[] = {0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 500};
#define LENGTH(list) (sizeof(list) / sizeof *(list))

// Adds up the chances of the supports whose interval holds f.
static void cover(double *normal, double *ours, const agg_intervals *intervals, double f)
{
    const agg_support_law *law = intervals->law;
    double spread = sqrt(agg_support_variance(law, f)), mean = f * law->p + (law->n - f) * law->q;
    double first = fmax(floor(mean - 12 * spread - 40), 0),
           last = fmin(ceil(mean + 12 * spread + 60), law->n);
    *normal = *ours = 0;
    for (double c = first; c <= last; c++) {
        double chance = c <= mean ? agg_support_tail(law, f, c, false) -
                                        (c > 0 ? agg_support_tail(law, f, c - 1, false) : 0)
                                  : agg_support_tail(law, f, c, true) -
                                        (c < law->n ? agg_support_tail(law, f, c + 1, true) : 0);
        double gap = law->p - law->q, count = (c - law->n * law->q) / gap, low = 0, high = 0;
        double stderr_ = sqrt(agg_support_variance(law, count)) / gap;
        if (chance < 1e-12) continue;
        agg_intervals_of(&low, &high, intervals, count, 0, stderr_);
        if (low <= f && f <= high) *ours += chance;
        if (fabs(count - f) <= intervals->quantile * stderr_) *normal += chance;
    }
}

static int print_law(const agg_support_law *law)
{
    agg_error error;
    agg_intervals intervals;
    if (agg_intervals_init(&intervals, &error, law, LEVEL) != SHOAL_OK) return 1;
    for (size_t i = 0; i < LENGTH(all_f) && all_f[i] <= law->n; i++) {
        double normal = 0, ours = 0;
        cover(&normal, &ours, &intervals, all_f[i]);
        printf("%g\t%g\t%.6g\t%g\t%.5f\t%.5f\n", law->n, law->n * law->q, law->p, all_f[i], normal,
               ours);
    }
    agg_intervals_release(&intervals);
    return 0;
}

int main(int argc, char **argv)
{
    double odds = exp(argc > 1 ? strtod(argv[1], NULL) : 8.65);
    const double all_p[] = {0.5, odds / (odds + 1000)};
    for (size_t i = 0; i < LENGTH(all_n); i++)
        for (size_t j = 0; j < LENGTH(all_hits); j++)
            for (size_t k = 0; k < LENGTH(all_p); k++) {
                const agg_support_law law = {all_n[i], all_p[k], all_hits[j] / all_n[i], 1};
                if (law.q < law.p / 4 && print_law(&law) != 0) return 1;
            }
    return 0;
}
