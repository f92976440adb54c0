// SPDX-License-Identifier: Apache-2.0
// The Renyi route for sums of the symmetric one-hot encoding: apple-2022 Appendix C.1.3.
//
// Every bit is randomized response: kept with probability q = e^c/(e^c + 1). Two inputs of one
// device differ in two bits, so the divergence of the sums is at most twice that of one bit's sum
// (Theorem C.3). What the n - 1 others hold is not known: the divergence is taken at its maximum
// over how many of them hold a one, and over both directions. By flipping all bits, one direction
// with w ones is the other with n - 1 - w: one direction over all w is both.
//
// Where w are too many to try each, they are cut into cells [w1, w2], and a cell is bounded by the
// sum with w1 ones and n - 1 - w2 zeros: reports left out are noise left out, which never makes a
// divergence smaller. Sums over many hits are taken at a stride of a third of a standard deviation,
// which for laws this smooth is exact to double precision (the error is the characteristic function
// at 2 pi/stride, below e^-70); they end where terms no longer count, 10 standard deviations out.
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

// Returns: the Renyi divergence of one bit's sum for a device with a one from that for a device
// with a zero, with `ones` and `zeros` among the others; orders[0..n_orders) above 1,
// out[0..n_orders).
//   bit_epsilon: c above, > 0; ones, zeros: whole, together up to 10^12
void agg_renyi_bit(double *out, const double *orders, size_t n_orders, double bit_epsilon,
                   double ones, double zeros);

// Fills curve->order for sums of n reports; queries of one schedule take the orders of the one with
// the fewest reports.
void agg_renyi_orders(agg_renyi_curve *curve, double bit_epsilon, double n);

// Fills curve->rho at curve->order: twice the maximum over w, 0 .. n - 1.
//   n: honest reports, 1 .. 10^12. Cost: below half a second.
void agg_renyi_one_hot(agg_renyi_curve *curve, double bit_epsilon, double n);

// Returns: epsilon at delta, the least over the orders.
// Source: C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy"
// (2020), Proposition 12.
double agg_renyi_epsilon(const agg_renyi_curve *curve, double delta);

// Returns: the epsilon of `contributions` reports of one person together, by group privacy as in
// amplification.h; INFINITY for none.
double agg_renyi_group_epsilon(const agg_renyi_curve *curve, double delta, double contributions);

// What is asked in reverse: `epsilon` at `delta` for `contributions` reports of one person
// together.
typedef struct agg_renyi_question {
    double epsilon, delta, contributions;
} agg_renyi_question;

// Returns: the fewest honest reports for which the route promises it; NAN where 10^12 are too few.
// The figure was itself tried; it is the fewest but for the cells' own unevenness, a few parts in a
// thousand at the most. Cost: about a second.
double agg_renyi_find_reports(const agg_renyi_question *question, double bit_epsilon);

// Returns: the largest bit_epsilon, at most `most`, for which it does, rounded down; without a
// crowd at the least, that is epsilon / (2 contributions).
double agg_renyi_find_bit_epsilon(const agg_renyi_question *question, double n, double most);

#endif
