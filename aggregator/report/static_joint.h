// SPDX-License-Identifier: Apache-2.0
// The section of a page about a recipe with several variables: a heat map of each pair of them. A
// static report and a server have it.
#ifndef STATIC_JOINT_H
#define STATIC_JOINT_H

#include "joint_analysis.h"
#include "static_report.h"

// The maps of all pairs. They point into the report's recipe and lists of values.
typedef struct agg_static_joint agg_static_joint;

// Analyses each pair of variables, which agg_static_joint_release frees. Of lists whose pairs would
// make too large a table, the largest values are taken, as of dictionaries.
//   sum: all accumulators together, with their records; it need not outlive the call
// Returns: AGG_ERR_MEMORY if the report's memory is not enough; else as agg_joint_chosen_make and
// agg_joint_analyse, and what goes_on says. *made is NULL then.
agg_err agg_static_joint_make(agg_static_joint **made, agg_error *error,
                              const agg_static_report *report,
                              const agg_accumulator *sum) SHOAL_MUST_CHECK;

// Prints the section: facts, the heat maps, their downloads, and the guarantees.
void agg_static_joint_write(FILE *out, const agg_static_report *report,
                            const agg_static_joint *made);

// Returns: the result of two variables, the one that comes first in the recipe first; NULL if there
// is none.
const agg_joint_result *agg_static_joint_pair(const agg_static_joint *made, uint32_t first,
                                              uint32_t second);

// Returns: the bytes of memory that it holds.
size_t agg_static_joint_size(const agg_static_joint *made);

// made may be NULL.
void agg_static_joint_release(agg_static_joint *made);

#endif
