// SPDX-License-Identifier: Apache-2.0
// The error of hash collisions; see mean_sketch.h.
#include "mean_sketch.h"

agg_mean_sketch agg_mean_sketch_of(uint64_t n, uint32_t k, uint32_t m, double c)
{
    double columns = m;
    agg_mean_sketch s = {
        (double)n, k, columns, c, columns / (columns - 1), (1 - 1 / columns) / columns};
    return s;
}

double agg_mean_sketch_pairs(const agg_mean_sketch *s, double p)
{
    double n = s->n, q = (s->k * p - (n * n - n) / s->m) / (1 - 1 / s->m);
    if (q < 0) return 0;
    return q > n * n ? n * n : q;
}
