// SPDX-License-Identifier: Apache-2.0
// Rules for many tests; see multiple.h.
#include "multiple.h"

#include <math.h>
#include <stdlib.h>

#include "agg_size.h"
#include "normal_law.h"

#define NOTHING_ABOVE 0.75 // rows with p-values above this count as null rows
#define ADAPTIVE_LEAST 20  // with fewer rows the estimate is too coarse

const char *agg_multiple_name(agg_multiple multiple)
{
    switch (multiple) {
    case AGG_BH: return "bh";
    case AGG_NONE: return "none";
    case AGG_BONFERRONI: break;
    }
    return "bonferroni";
}

double agg_multiple_share(agg_multiple multiple, double alpha, size_t rank, size_t n_rows)
{
    switch (multiple) {
    case AGG_BONFERRONI: return alpha / (double)n_rows;
    case AGG_BH: return alpha * (double)(rank + 1) / (double)n_rows;
    case AGG_NONE: break;
    }
    return alpha;
}

static int compare_scores(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// Returns: the estimated share of null rows. It may exceed 1; if it were cut there, the level would
// be above alpha on average.
static double share_of_nothing(const double *scores, size_t n)
{
    double cut = -agg_normal_quantile(NOTHING_ABOVE);
    size_t below = 1;
    if (n < ADAPTIVE_LEAST) return 1;
    for (size_t i = 0; i < n; i++) below += scores[i] < cut;
    return (double)below / ((1 - NOTHING_ABOVE) * (double)n);
}

agg_err agg_multiple_least(double *least, agg_error *error, const double *scores, size_t n_scores,
                           agg_multiple multiple, double alpha)
{
    // No row's level is above alpha or above the last row's level. Rows that fail that level are
    // not detected whatever their rank, so they need not be sorted.
    double nothing = multiple == AGG_BH ? share_of_nothing(scores, n_scores) : 1;
    double most = n_scores > 0
                      ? agg_multiple_share(multiple, alpha / nothing, n_scores - 1, n_scores)
                      : alpha;
    double cut = -agg_normal_quantile(fmin(alpha, most));
    size_t n_candidates = 0;
    for (size_t i = 0; i < n_scores; i++) n_candidates += scores[i] > cut;
    double *sorted = agg_alloc(error, n_candidates, sizeof *sorted);
    if (sorted == NULL) return AGG_ERR_MEMORY;
    *least = HUGE_VAL;
    n_candidates = 0;
    for (size_t i = 0; i < n_scores; i++)
        if (scores[i] > cut) sorted[n_candidates++] = scores[i];
    qsort(sorted, n_candidates, sizeof *sorted, compare_scores);
    for (size_t i = 0; i < n_candidates; i++) {
        double share = fmin(alpha, agg_multiple_share(multiple, alpha / nothing, i, n_scores));
        if (sorted[i] > -agg_normal_quantile(share)) *least = sorted[i];
    }
    free(sorted);
    return SHOAL_OK;
}
