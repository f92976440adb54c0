// SPDX-License-Identifier: Apache-2.0
// Prints a log that was checked to standard output, and keeps the head that was seen for the next
// look.
#ifndef TLOG_PRINT_H
#define TLOG_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "tlog_log.h"

// Compares with the head of the last look, if there was one.
//   seen: how many entries there were then; UINT64_MAX if there was no look
//   path: the file of agg_tlog_keep_seen, which need not exist
// Returns: an error with log->fault where the log took something back.
agg_err agg_tlog_compare_seen(agg_tlog *log, uint64_t *seen, agg_error *error, const char *path,
                              const agg_tlog_key *key) SHOAL_MUST_CHECK;

// Keeps the log's head.
agg_err agg_tlog_keep_seen(const agg_tlog *log, agg_error *error,
                           const char *path) SHOAL_MUST_CHECK;

// Prints what the log holds, as a table or as JSON.
//   seen: of agg_tlog_compare_seen, or UINT64_MAX
void agg_tlog_print(const agg_tlog *log, bool is_signed, uint64_t seen, bool is_json);

// Prints as JSON why the log is not believable.
void agg_tlog_print_fault(const agg_tlog *log, const agg_error *error);

// Prints the proof that an entry below the log's size is in it (c2sp.org/tlog-proof).
void agg_tlog_print_proof(const agg_tlog *log, uint64_t index);

#endif
