// SPDX-License-Identifier: Apache-2.0
// The law of a random value that has one column, when only the share of each column is known.
// Private to estimate/.
#ifndef JOINT_MIXTURE_H
#define JOINT_MIXTURE_H

#include <stdbool.h>

#include "joint_items.h"

typedef struct agg_joint_mixture {
    double *weights; // n_columns: shares, transformed where the mechanism's marks have a transform
    double none;     // the share of values that have no column
} agg_joint_mixture;

agg_err agg_joint_mixture_init(agg_joint_mixture *mixture, agg_error *error,
                               uint32_t n_columns) SHOAL_MUST_CHECK;
void agg_joint_mixture_release(agg_joint_mixture *mixture);

// Replaces the shares of columns that no item has by what the mechanism's records reveal about them
// (joint_marks.h). If records do not tell these columns apart, each gets zero or an equal part of
// the rest.
//   shares: n_columns
//   is_named: n_columns
// Returns: the share of values without a column.
double agg_joint_leave_unnamed(double *shares, const bool *is_named, const agg_joint_items *items);

// Scales weights and `none` to a sum of one; if all are zero, to weights that are all equal.
void agg_joint_mixture_scale(agg_joint_mixture *mixture, uint32_t n_columns);

// Returns: the log-likelihood of a record, up to a number that depends on the record alone.
double agg_joint_mixture_log(const agg_joint_mixture *mixture, const agg_joint_items *items,
                             const uint8_t *record);

#endif
