// SPDX-License-Identifier: Apache-2.0
// What hash collisions do to differences between collections whose sketches share their hash rows
// (cms, hcms, olh under one seed). Pure. Private to estimate/.
//
// The estimate of an item d contains the reports of every other value v that falls into d's cells.
// Let c_v be the share of the k rows in which v and d collide: E c_v = 1/m, Var c_v = s/k with
// s = (1/m)(1 - 1/m). In all three mechanisms the error of a count, in reports, is
//
//     m/(m-1) sum over v != d of f_v (c_v - 1/m)      with variance  K sum f_v^2,   K = 1/(k (m-1))
//
// besides coins. Two collections with the same rows have the same c_v. So of a difference with the
// factors u_a and u_b (1/n for shares) collisions leave
//
//     K sum over v != d of (u_b f_v,b - u_a f_v,a)^2
//
// which is nothing where no other value changed. Over all v the sum is
//
//     G = u_a^2 Q_a + u_b^2 Q_b - 2 u_a u_b X
//
// with Q the ordered pairs of devices of one collection that hold one value (mean_sketch.h) and X
// the pairs of a device of a and a device of b that do. Each is estimated without bias from cells:
// with Y a row's cell without the bias of the coins and N its row's reports,
//
//     X = k/(1 - 1/m) sum over rows and cells of (Y_a - N_a/m)(Y_b - N_b/m)
//
// because two reports are in one row with probability 1/k, and the cells of a report, less 1/m, sum
// to zero. Q is the same sum of one sketch with itself, less what each report adds with itself.
//
// With fewer than 8 rows, one value that changed much makes errors that are far from normal and too
// often beyond a normal interval. Such rows do not count as shared. The intervals of independent
// collisions are then too wide, as they have to be.
#ifndef SHARED_ROWS_H
#define SHARED_ROWS_H

#include <stdbool.h>

#include "estimator.h"

#define AGG_ROWS_LEAST 8u // rows

// Returns: whether two parts hash items by the same rows, so that collisions are the same
// and their variance can be stated.
bool agg_rows_shared(const shoal_part *a, const shoal_part *b);

// Returns: K, the variance of a count for a pair of reports of another value; 0 for a mechanism
// without hash rows.
double agg_rows_collision(const shoal_part *part);

// Returns: X of two sketches, or Q of one if `y` is NULL; unbiased, so it may be negative.
//   a, b: parts for which agg_rows_shared holds
//   n: reports of x; used for Q
double agg_rows_pairs(const shoal_part *a, const agg_sketch *x, uint64_t n, const shoal_part *b,
                      const agg_sketch *y);

#endif
