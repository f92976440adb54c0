// SPDX-License-Identifier: Apache-2.0
// The text of shoal account --schedule, which has one kind of query on each line.
//
//   LOCAL_EPSILON REPORTS [QUERIES]   # comment
//
// The figures are as stated; the caller applies the model and the share of honest reports.
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "crowd_account.h"

#define AGG_SCHEDULE_QUERIES_MAX 1000000 // queries of one kind

// Reads a schedule of at least one kind.
//   schedule, n_queries: local_epsilon, n and count as stated, each in its range; bit_epsilon is 0
//   name: the file's name, for messages
//   text: overwritten; text[len] is a NUL
// Returns: AGG_ERR_USAGE naming the line.
agg_err agg_schedule_parse(agg_query schedule[AGG_SCHEDULE_MAX], size_t *n_queries,
                           agg_error *error, const char *name, char *text,
                           size_t len) SHOAL_MUST_CHECK;

#endif
