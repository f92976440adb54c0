// SPDX-License-Identifier: Apache-2.0
// The forms of a result that are rows and nothing else.
#ifndef TABLE_WRITE_H
#define TABLE_WRITE_H

#include "print_text.h"
#include "result_table.h"

// Ends the printing of a result: writes its rows as NDJSON, CSV or Arrow, and flushes the stream.
// For the other formats, which the caller has printed, it only flushes.
// Returns: AGG_ERR_IO if the stream fails; as agg_arrow_print.
agg_err agg_table_write(FILE *stream, agg_error *error, const agg_table *table,
                        agg_format format) SHOAL_MUST_CHECK;

#endif
