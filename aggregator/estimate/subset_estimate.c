// SPDX-License-Identifier: Apache-2.0
// Counts from subset selection (gboard-2024 section 3): index_counts.h with p = 1 - T/2^64, the
// chance that the own index is in the set, and q = (d - p)/(s - 1), the chance of any other.
#include "index_counts.h"

static void debias(agg_debias *out, const shoal_part *part, const agg_sketch *sketch, uint64_t n)
{
    (void)sketch;
    double p = (double)(0 - part->threshold) * 0x1p-64; // 2^64 - T is exact before it is rounded
    agg_index_debias(out, (double)n, p, (part->k - p) / (part->m - 1));
}

const agg_estimator agg_subset_estimator = {
    .id = shoal_subset_id,
    .support = agg_index_support,
    .debias = debias,
};
