// SPDX-License-Identifier: Apache-2.0
// Puts together what several processes merged by rows (shoal merge --rows).
#ifndef MERGE_ROWS_H
#define MERGE_ROWS_H

#include "accumulator.h"

// Reads "A-B" with 1 <= A <= B.
//   text: NULL for all rows
// Returns: AGG_ERR_USAGE.
agg_err agg_merge_rows_parse(agg_rows *rows, agg_error *error, const char *text) SHOAL_MUST_CHECK;

// Makes the accumulator that holds all rows, of files that hold some each.
// Returns: SHOAL_ERR_ARGUMENT, naming the file, for one that does not count the same as the first
// one; SHOAL_ERR_DUPLICATE for two that hold the same row; AGG_ERR_INCOMPLETE, naming the rows,
// where no file holds some.
agg_err agg_merge_rows(agg_accumulator *whole, agg_error *error, const char *const *files,
                       int n_files) SHOAL_MUST_CHECK;

#endif
