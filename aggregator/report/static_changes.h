// SPDX-License-Identifier: Apache-2.0
// The part of a static report that sets its first period against its last one. Private to
// static_report.c.
#ifndef STATIC_CHANGES_H
#define STATIC_CHANGES_H

#include "compare.h"
#include "static_report.h"

// Compares the two; release `changes` with agg_compare_release.
// Returns: as agg_compare_run; `changes` is all zeros after an error.
agg_err agg_static_changes_make(agg_compare *changes, agg_error *error,
                                const agg_static_report *report) SHOAL_MUST_CHECK;

// Prints the section.
// Returns: AGG_ERR_MEMORY.
agg_err agg_static_changes_write(FILE *out, agg_error *error, const agg_static_report *report,
                                 const agg_compare *changes) SHOAL_MUST_CHECK;

// Returns: whether its table is sorted by a column of this name.
bool agg_static_changes_sort_by(const char *column);

#endif
