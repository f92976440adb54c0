// SPDX-License-Identifier: Apache-2.0
// The text of shoal account --schedule: one kind of queries a line.
//
//   LOCAL_EPSILON REPORTS [QUERIES]   # what follows is a remark
//
// Figures are those that are stated: the model and the share of honest reports are the caller's to
// apply.
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "crowd_account.h"

#define AGG_SCHEDULE_QUERIES_MAX 1000000 // of one kind

// Reads a schedule of at least one kind.
//   schedule, n_queries: local_epsilon, n and count as stated, each in its range; bit_epsilon 0
//   name: of the file, for messages
//   text: changed; text[len] is a NUL
// Returns: AGG_ERR_USAGE naming the line.
agg_err agg_schedule_parse(agg_query schedule[AGG_SCHEDULE_MAX], size_t *n_queries,
                           agg_error *error, const char *name, char *text,
                           size_t len) SHOAL_MUST_CHECK;

#endif
