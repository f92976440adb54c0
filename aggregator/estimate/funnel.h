// SPDX-License-Identifier: Apache-2.0
// Funnels: of all devices that reported, how many reached the first step, how many of these the
// second, and so on. Pure: no files, no clock.
//
// A report is a joint one (joint_analysis.h). Each step is a variable with the value "yes", for
// devices that reached it in their window. The variables' order is that of the steps. A device
// counts at step k if it reached steps 1 to k. One that reached a step without the one before, by a
// link into the middle, is astray; it counts up to the last step before the gap. Where reports
// answer for windows (send.pick), a window without an event counts as one that reached nothing.
#ifndef FUNNEL_H
#define FUNNEL_H

#include "joint_analysis.h"
#include "joint_choice.h"

#define AGG_FUNNEL_REACHED "yes" // the value of a variable whose step was reached

typedef struct agg_funnel {
    agg_joint_analysis *analysis; // its result has `reached`, `onward` and `astray`
    uint32_t n_chosen;
    uint32_t chain[SHOAL_VARIABLES_MAX]; // the category of each that says that a step was reached
    agg_joint_chosen chosen[SHOAL_VARIABLES_MAX];
} agg_funnel;

// Takes all variables of a recipe as the steps of a funnel.
//   funnel: points into recipe and accumulator; release it on OK
//   confidence: of the intervals, in (0, 1); 0 means 0.95
//   n_threads: 0 means 1
// Returns: AGG_ERR_USAGE, naming the variable, for one without the value "yes"; else as
// agg_joint_may_run and agg_joint_chosen_make.
agg_err agg_funnel_choose(agg_funnel *funnel, agg_error *error, const agg_recipe *recipe,
                          const agg_accumulator *acc, double confidence,
                          unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_funnel_run takes at most, not counting the accumulator.
uint64_t agg_funnel_memory(const agg_funnel *funnel, const agg_recipe *recipe,
                           const agg_accumulator *acc);

// Analyses the steps that were chosen of the same recipe and accumulator, at the same confidence.
// Returns: as agg_joint_analyse.
// Privacy: post-processing. The minimum cohort is enforced here, the release threshold where the
// result is printed (funnel_print.h), by the functions below.
agg_err agg_funnel_run(agg_funnel *funnel, agg_error *error, const agg_recipe *recipe,
                       const agg_accumulator *acc, double confidence,
                       unsigned n_threads) SHOAL_MUST_CHECK;

void agg_funnel_release(agg_funnel *funnel);

// Returns: whether a share, a step, or the rate onward to a step is determined by the reports and
// reaches the release threshold; a rate with both of its steps. The first step has no rate.
bool agg_funnel_is_released(const agg_joint_result *result, const agg_joint_share *share);
bool agg_funnel_has_step(const agg_joint_result *result, uint32_t step);
bool agg_funnel_has_rate(const agg_joint_result *result, uint32_t step);

#endif
