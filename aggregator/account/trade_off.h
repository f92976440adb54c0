// SPDX-License-Identifier: Apache-2.0
// The trade-off between a sketch's columns and rows: the formulas of apple-2017 section 5 for
// bandwidth and server time, and its Figure 4b, the standard deviation of a count as a surface over
// m and k. It exists for mechanisms whose account has a paper_cost. Pure.
#ifndef TRADE_OFF_H
#define TRADE_OFF_H

#include "agg_error.h"
#include "plan.h"

#define AGG_TRADE_OFF_SIDE 13u // 2^4 .. 2^16
#define AGG_TRADE_OFF_LEAST_BITS 4u

// Returns: M, the bits of a record by the paper's formula; NaN for mechanisms without a formula.
double agg_trade_off_bits(const shoal_part *part);

// Returns: T, the server's steps for n records and p values by the paper's formula, up to a
// constant factor; NaN for mechanisms without a formula.
double agg_trade_off_steps(const shoal_part *part, double n, double p);

typedef struct agg_trade_off {
    const agg_plan_wish *wish;
    const shoal_mechanism *mechanism;
    double n;
    shoal_part parts[AGG_TRADE_OFF_SIDE]
                    [AGG_TRADE_OFF_SIDE];                 // [row of k][column of m], both doubling
    double error[AGG_TRADE_OFF_SIDE][AGG_TRADE_OFF_SIDE]; // for a value that hardly anybody holds;
                                                          // NaN if no sketch is that large
    double least, most;
} agg_trade_off;

// Fills the surface for the wish's devices, epsilon and law; its limits are ignored.
//   mechanism: one whose account has a paper_cost
// Returns: AGG_ERR_USAGE for another mechanism.
agg_err agg_trade_off_run(agg_trade_off *surface, agg_error *error, const agg_plan_wish *wish,
                          uint32_t mechanism) SHOAL_MUST_CHECK;

#endif
