// SPDX-License-Identifier: Apache-2.0
// A table as a stream of Arrow: the columnar format that notebooks and databases read without
// parsing. docs/formats.md states the schemas.
#ifndef ARROW_TABLE_H
#define ARROW_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "agg_error.h"
#include "result_table.h"

// Writes the schema, record batches of at most AGG_ARROW_BATCH rows, and the end mark of a stream.
//
// Texts are utf8; bytes that are not UTF-8 become U+FFFD, as in JSON. Numbers are float64, whole
// numbers int64, flags bool. Missing cells are null; columns that have none are not nullable. The
// facts of the table are metadata of the schema, and a unit is metadata of its column.
//
// Returns: AGG_ERR_USAGE if the stream is a terminal, and in builds without Arrow; AGG_ERR_IO if
// the stream fails; AGG_ERR_MEMORY; SHOAL_ERR_OVERFLOW for a whole number from 2^63 on.
agg_err agg_arrow_print(FILE *stream, agg_error *error, const agg_table *table) SHOAL_MUST_CHECK;

#define AGG_ARROW_BATCH 65536u

#endif
