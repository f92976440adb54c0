// SPDX-License-Identifier: Apache-2.0
// The part of a static report that sets its first period against its last one. Private to
// static_report.c.
#ifndef STATIC_CHANGES_H
#define STATIC_CHANGES_H

#include "static_report.h"

// Prints the section.
// Returns: as agg_compare_run.
agg_err agg_static_changes_write(FILE *out, agg_error *error,
                                 const agg_static_report *report) SHOAL_MUST_CHECK;

// Returns: whether its table is sorted by a column of this name.
bool agg_static_changes_sort_by(const char *column);

#endif
