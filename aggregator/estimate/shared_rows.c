// SPDX-License-Identifier: Apache-2.0
// Collisions that two sketches share; see shared_rows.h.
#include "shared_rows.h"

#include <string.h>

bool agg_rows_shared(const shoal_part *a, const shoal_part *b)
{
    return a->k >= AGG_ROWS_LEAST && a->mechanism == b->mechanism &&
           agg_estimator_of(a->mechanism)->pairs != NULL && a->domain == b->domain &&
           a->hash == b->hash && a->k == b->k && a->m == b->m && a->first_row == b->first_row &&
           a->size == b->size && memcmp(a->seed, b->seed, sizeof a->seed) == 0;
}

double agg_rows_collision(const shoal_part *part)
{
    if (agg_estimator_of(part->mechanism)->pairs == NULL) return 0;
    return 1 / ((double)part->k * ((double)part->m - 1));
}

double agg_rows_pairs(const shoal_part *a, const agg_sketch *x, uint64_t n, const shoal_part *b,
                      const agg_sketch *y)
{
    double k = a->k, m = a->m;
    return k / (1 - 1 / m) * agg_estimator_of(a->mechanism)->pairs(a, x, n, b, y);
}
