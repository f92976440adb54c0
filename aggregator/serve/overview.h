// SPDX-License-Identifier: Apache-2.0
// The table of a reader's collections: what closed blocks hold of each, when the next one may
// close, and whether an alarm was raised. It estimates nothing, so it stays quick with a thousand
// of them.
#ifndef OVERVIEW_H
#define OVERVIEW_H

#include <stdio.h>

#include "serve_job.h"
#include "serve_trends.h"

#define SERVE_OVERVIEW_SECTIONS 12u // up to so many collections have their rows on the page as well

// Returns: how many collections the job's person may see.
size_t serve_overview_count(const serve_job *job);

// Returns: whether the table has a column of this name.
bool serve_overview_sorts_by(const char *column);

// Prints the table, in the order that the job asks for, and notes the blocks of its trends.
//   now_s: seconds since 1970-01-01 00:00 UTC
// Privacy: what closed blocks hold, which every result states too; no live count. Rows and trends
// of the collections that the job's person may see.
void serve_overview_write(FILE *out, serve_job *job, agg_store *store, const serve_trends *trends,
                          int64_t now_s);

#endif
