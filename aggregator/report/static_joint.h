// SPDX-License-Identifier: Apache-2.0
// The part of a static report about a recipe with several variables. Private to static_report.c.
#ifndef STATIC_JOINT_H
#define STATIC_JOINT_H

#include "static_report.h"

// Prints the section: facts, a heat map of each pair of variables, and the guarantees.
//   sum: all accumulators together, with their records
// Returns: AGG_ERR_MEMORY if the report's memory is not enough; else as agg_joint_chosen_make and
// agg_joint_analyse.
agg_err agg_static_joint_write(FILE *out, agg_error *error, const agg_static_report *report,
                               const agg_accumulator *sum) SHOAL_MUST_CHECK;

#endif
