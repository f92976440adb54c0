// SPDX-License-Identifier: Apache-2.0
// The error that hash collisions add to CMS and HCMS, estimated from the sketch itself. Private to
// estimate/.
//
// An item's estimate sums, over rows, one cell each. Every other value d' falls into that cell in
// row j with probability 1/m, pairwise independently (the hashes are three-wise independent: given
// where d falls, two others are still independent). Its f(d') reports are spread over k rows, so
// that the collisions of d' add
//
//     f' (1/m)(1 - 1/m)                     each report's own collision, and
//     (1/k)(1/m)(1 - 1/m) (f'^2 - f')       pairs of reports of d' in the same row, which collide
//     together
//
// to the variance of the sum. The second needs Q = sum over all values of (f^2 - f): how many
// ordered pairs of devices hold the same value. It can be read off the sketch: two devices are in
// the same row with probability 1/k, and then in the same cell for certain if they hold one value,
// with probability 1/m if not. So the expected number P of ordered pairs of different devices in
// the same cell is
//
//     E P = (1/k) (Q + (n^2 - n - Q) / m),     Q = (k P - (n^2 - n) / m) / (1 - 1/m)
#ifndef MEAN_SKETCH_H
#define MEAN_SKETCH_H

#include <stdint.h>

// What both mechanisms' constants are made of.
typedef struct agg_mean_sketch {
    double n, k, m;
    double c;       // flip correction
    double stretch; // m / (m - 1)
    double spread;  // (1/m)(1 - 1/m), the variance of one collision
} agg_mean_sketch;

agg_mean_sketch agg_mean_sketch_of(uint64_t n, uint32_t k, uint32_t m, double c);

// Returns: Q from an estimate of P, clamped to [0, n^2].
double agg_mean_sketch_pairs(const agg_mean_sketch *s, double p);

#endif
