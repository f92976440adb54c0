// SPDX-License-Identifier: Apache-2.0
// The Renyi route for sums of the symmetric one-hot encoding: apple-2022 Appendix C.1.3.
//
// Every bit is randomized response: kept with probability q = e^c/(e^c + 1). Two inputs of one
// device differ in two bits, so the divergence of the sums is at most twice that of one bit's sum
// (Theorem C.3). The values of the n - 1 other devices are unknown. The divergence is therefore
// maximized over w, the number of them that hold a one, and over both directions. Flipping all bits
// turns one direction with w ones into the other with n - 1 - w, so one direction over all w covers
// both.
//
// If there are too many w to try each, they are cut into cells [w1, w2]. A cell is bounded by the
// sum with w1 ones and n - 1 - w2 zeros, because removing reports removes noise, which never makes
// a divergence smaller. Sums over many hits are taken at a stride of a third of a standard
// deviation. For laws this smooth that is exact to double precision: the error is the
// characteristic function at 2 pi/stride, below e^-70. The sums end 10 standard deviations out,
// where terms become negligible.
#ifndef RENYI_H
#define RENYI_H

#include <stddef.h>

#include "agg_error.h"

#define AGG_RENYI_ORDERS 40

// An upper bound of the divergence of a device's whole record, at each order. Curves of queries
// with the same orders add up.
typedef struct agg_renyi_curve {
    double order[AGG_RENYI_ORDERS], rho[AGG_RENYI_ORDERS];
} agg_renyi_curve;

// Computes the Renyi divergence of one bit's sum for a device with a one from the sum for a device
// with a zero.
//   out: n_orders divergences
//   orders: n_orders orders above 1
//   bit_epsilon: c above, > 0
//   ones, zeros: bits of the other devices; whole, together up to 10^12
void agg_renyi_bit(double *out, const double *orders, size_t n_orders, double bit_epsilon,
                   double ones, double zeros);

// Fills curve->order for sums of n reports. All queries of one schedule take the orders of the
// query with the fewest reports.
void agg_renyi_orders(agg_renyi_curve *curve, double bit_epsilon, double n);

// Fills curve->rho at curve->order with twice the maximum over w, 0 .. n - 1.
//   n: honest reports, 1 .. 10^12
// Cost: below half a second.
void agg_renyi_one_hot(agg_renyi_curve *curve, double bit_epsilon, double n);

// Returns: epsilon at delta, the least over the orders.
// Source: C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy"
// (2020), Proposition 12.
double agg_renyi_epsilon(const agg_renyi_curve *curve, double delta);

// Returns: the epsilon of `contributions` reports of one person together, by group privacy as in
// amplification.h; INFINITY if there is none.
double agg_renyi_group_epsilon(const agg_renyi_curve *curve, double delta, double contributions);

// An inverse question: `epsilon` at `delta` is given for `contributions` reports of one person
// together.
typedef struct agg_renyi_question {
    double epsilon, delta, contributions;
} agg_renyi_question;

// Returns: the fewest honest reports for which the route promises the epsilon; NAN if 10^12 are too
// few. The route was evaluated at this number itself. Because the cells are uneven, the true
// minimum may be lower by a few parts in a thousand at most.
// Cost: about a second.
double agg_renyi_find_reports(const agg_renyi_question *question, double bit_epsilon);

// Returns: the largest bit_epsilon, at most `most`, for which the route promises the epsilon,
// rounded down. It is at least epsilon / (2 contributions), which needs no crowd.
double agg_renyi_find_bit_epsilon(const agg_renyi_question *question, double n, double most);

#endif
