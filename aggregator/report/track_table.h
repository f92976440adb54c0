// SPDX-License-Identifier: Apache-2.0
// A series over epochs as rows and columns: the rows of track_print.h.
#ifndef TRACK_TABLE_H
#define TRACK_TABLE_H

#include "result_table.h"
#include "track_print.h"

// Describes the rows: one an epoch, or for items one a value and update.
//   result: kept in the table
void agg_track_table(agg_table *table, const agg_track_result *result);

// The same, of epochs in any case.
void agg_track_table_of_epochs(agg_table *table, const agg_track_result *result);

// Returns: whether to print a value: it is among the first `top` or has moved, and is not withheld.
//   update: its index; rank: of the value
bool agg_track_is_shown(const agg_track_result *result, size_t update, size_t rank);

#endif
