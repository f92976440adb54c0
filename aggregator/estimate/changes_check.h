// SPDX-License-Identifier: Apache-2.0
// Which periods can be read as one series. Private to changes.c, except for labels.
#ifndef CHANGES_CHECK_H
#define CHANGES_CHECK_H

#include "changes.h"

// Refuses periods that are no series, as agg_changes_run says.
agg_err agg_changes_check(agg_error *error, const agg_changes_period *periods,
                          size_t n_periods) SHOAL_MUST_CHECK;

// Writes the numbers between which periods are missing, where labels are all days, all ISO weeks or
// all months: a step of twice the smallest or more.
//   index: the gap's, from 0; before: the period before it
// Returns: false if there are not that many.
bool agg_changes_gap(size_t *before, const agg_changes_period *periods, size_t n_periods,
                     size_t index);

#endif
