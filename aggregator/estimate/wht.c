// SPDX-License-Identifier: Apache-2.0
// Walsh-Hadamard transform, two levels of butterflies a pass; see wht.h.
#include "wht.h"

// Sums wrap instead of being undefined: numbers that come from a forged file must not break more than the result.
static inline int32_t plus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline int32_t minus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}

static void pass_two(int32_t *x, uint32_t m)
{
    for (uint32_t i = 0; i < m; i += 2) {
        int32_t a = x[i], b = x[i + 1];
        x[i] = plus(a, b);
        x[i + 1] = minus(a, b);
    }
}

// Butterflies of distance h and 2h together: half the passes over memory.
static void pass_four(int32_t *x, uint32_t m, uint32_t h)
{
    for (uint32_t i = 0; i < m; i += 4 * h) {
        int32_t *p = x + i, *q = p + h, *r = q + h, *s = r + h;
        for (uint32_t j = 0; j < h; j++) {
            int32_t a = plus(p[j], q[j]), b = minus(p[j], q[j]), c = plus(r[j], s[j]), d = minus(r[j], s[j]);
            p[j] = plus(a, c);
            q[j] = plus(b, d);
            r[j] = minus(a, c);
            s[j] = minus(b, d);
        }
    }
}

void agg_wht(int32_t *x, uint32_t m)
{
    uint32_t levels = 0, h = 1;
    while (m >> levels > 1) levels++;
    if (levels % 2 == 1) {
        pass_two(x, m);
        h = 2;
    }
    for (; h < m; h *= 4) pass_four(x, m, h);
}
