// SPDX-License-Identifier: Apache-2.0
// Searches the central epsilon at which a bound's curve of delta meets the delta that is asked for.
// Shared by the bounds of amplification.h. Private to account/.
#ifndef AMPLIFICATION_SEARCH_H
#define AMPLIFICATION_SEARCH_H

#include "amplification.h"
#include "binomial.h"

#define AGG_AMPLIFICATION_OUTSIDE 1e-10   // share of delta: the most probability outside a window
#define AGG_AMPLIFICATION_GROUP_MIN 1e-40 // the least delta of one report of a protected group

// A bound's curve: brackets delta of one contribution at a central epsilon from 0 on.
typedef struct agg_delta_curve {
    agg_central (*delta)(const void *law, double epsilon);
    const void *law;
    double guess; // near the epsilon of one contribution: saves evaluations; 0: none
    double width; // relative width of the bracket that is good enough; 0: as narrow as it gets
} agg_delta_curve;

// Returns: the bracket of the epsilon of all contributions; both NAN where the curve improves
// nothing on the local epsilon.
//   crowd: local_epsilon, delta and contributions are read
agg_central agg_curve_epsilon(const agg_delta_curve *curve, const agg_crowd *crowd);

// Returns: whether the curve promises the crowd's delta at an epsilon of one report.
bool agg_curve_keeps(const agg_delta_curve *curve, const agg_crowd *crowd, double epsilon);

// Returns: ln of the factor by which a group of `contributions` reports multiplies the delta of
// one.
double agg_group_log(double epsilon, double contributions);

// Returns: the delta that a window of the number of clones must serve, group privacy included.
double agg_window_delta(const agg_crowd *crowd);

// Returns: the first count of a window. The counts below it have probability `tiny` at most.
double agg_window_start(const agg_binomial *law, double tiny);

// Returns: the last count of a window. The counts above it have probability `tiny` at most.
double agg_window_end(const agg_binomial *law, double tiny);

#endif
