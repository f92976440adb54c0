// SPDX-License-Identifier: Apache-2.0
// The error that hash collisions add to the counts of CMS and HCMS, estimated from the sketch
// itself. Private to estimate/.
//
// The estimate of an item d sums one cell of each row. Every other value d' falls into that cell of
// a row with probability 1/m. Two other values do so independently: the hashes are three-wise
// independent, so that two values are independent given the cell of d. The f' reports of d' are
// spread over k rows, and their collisions add two terms to the variance of the sum:
//
//     f' (1/m)(1 - 1/m)                     for each report's own collision
//     (1/k)(1/m)(1 - 1/m) (f'^2 - f')       for pairs of reports of d' in one row, which collide
//                                           together
//
// The second term needs Q = sum over all values of (f^2 - f), the number of ordered pairs of
// devices that hold the same value. The sketch gives an unbiased estimate of Q. Two devices are in
// one row with probability 1/k. Then they are in one cell for certain if they hold one value, and
// with probability 1/m if not. So the expected number P of ordered pairs of different devices in
// one cell is
//
//     E P = (1/k) (Q + (n^2 - n - Q) / m),     Q = (k P - (n^2 - n) / m) / (1 - 1/m)
#ifndef MEAN_SKETCH_H
#define MEAN_SKETCH_H

#include <stdint.h>

// The quantities from which both mechanisms compute their constants.
typedef struct agg_mean_sketch {
    double n, k, m;
    double c;       // the flip correction, flip_chance.h
    double stretch; // m / (m - 1)
    double spread;  // (1/m)(1 - 1/m), the variance of one collision
} agg_mean_sketch;

agg_mean_sketch agg_mean_sketch_of(uint64_t n, uint32_t k, uint32_t m, double c);

// Returns: the estimate of Q, clamped to [0, n^2].
//   p: the estimate of P
double agg_mean_sketch_pairs(const agg_mean_sketch *s, double p);

#endif
