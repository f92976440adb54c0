// SPDX-License-Identifier: Apache-2.0
// Roots of unity and interpolation weights in lanes; see flp128_lanes.h. A table of n values is n/8
// vectors; value i is lane i % 8 of vector i / 8. Values are in Montgomery form. Private to the
// core.
#ifndef SHOAL_FLP128_TABLES_H
#define SHOAL_FLP128_TABLES_H

#include "field128_lanes.h"

// Returns: value i of a table, in every lane.
static inline lanes flp128_value(const uint64_t *table, size_t i)
{
    const uint64_t *at = table + i / LANES * LANES_WORDS + i % LANES;
    return (lanes){{lanes_all(at[0]), lanes_all(at[LANES]), lanes_all(at[2 * LANES])}};
}

// Fills a table with the powers of a root of unity of order n >= 8.
static inline void flp128_roots(uint64_t *table, size_t n, shoal_field128 root)
{
    shoal_field128 first[LANES], power = shoal_field128_of(1);
    for (unsigned i = 0; i < LANES; i++) {
        first[i] = power;
        power = shoal_field128_mul(power, root);
    }
    lanes step = lanes_mul(lanes_broadcast(power), lanes_r_squared()),
          v = lanes_mul(lanes_load(first, LANES), lanes_r_squared());
    for (size_t at = 0; at < n / LANES; at++) {
        lanes_put(table + at * LANES_WORDS, v);
        v = lanes_mul(v, step);
    }
}

// Writes for each lane the scale times the product of the other lanes, in Montgomery form.
static inline lanes flp128_others(lanes v, shoal_field128 scale)
{
    const lanes one = {{lanes_all(1), lanes_all(0), lanes_all(0)}};
    shoal_field128 all[LANES], others[LANES];
    lanes_store(all, lanes_mul(v, one)); // out of Montgomery form
    for (unsigned i = 0; i < LANES; i++) {
        others[i] = scale;
        scale = shoal_field128_mul(scale, all[i]);
    }
    scale = shoal_field128_of(1);
    for (unsigned i = LANES; i-- > 0;) {
        others[i] = shoal_field128_mul(others[i], scale);
        scale = shoal_field128_mul(scale, all[i]);
    }
    return lanes_mul(lanes_load(others, LANES), lanes_r_squared());
}

// Fills a table with the weights of ntt_weights. Each lane accumulates the products over its own
// roots from both ends; those over the other lanes' roots enter with 1 / n.
static inline void flp128_weights(uint64_t *weights, size_t n, const uint64_t *roots,
                                  shoal_field128 x, shoal_field128 n_inverse)
{
    lanes product = lanes_r(), point = lanes_mul(lanes_broadcast(x), lanes_r_squared());
    for (size_t at = 0; at < n * 3; at += LANES_WORDS) {
        lanes root = lanes_get(roots + at);
        lanes_put(weights + at, lanes_mul(product, root));
        product = lanes_mul(product, lanes_sub(point, root, 1));
    }
    product = flp128_others(product, n_inverse);
    for (size_t at = n * 3; at > 0;) {
        at -= LANES_WORDS;
        lanes_put(weights + at, lanes_mul(lanes_get(weights + at), product));
        product = lanes_mul(product, lanes_sub(point, lanes_get(roots + at), 1));
    }
}

#endif
