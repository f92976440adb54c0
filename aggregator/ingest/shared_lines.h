// SPDX-License-Identifier: Apache-2.0
// Reading NDJSON reports on several threads, of a stream that is all in memory. Private to ingest/.
//
// Threads share a few MiB at a time, cut where lines end. Each reads the reports of its share up to
// the first line that is not, byte for byte, one of the recipe's own (line_reader.h); what it left
// is read by one thread afterwards. Where order does not matter, a thread gives out the records of
// a share itself while they are in its cache, then takes the next share.
#ifndef SHARED_LINES_H
#define SHARED_LINES_H

#include "line_reader.h"

// Reads the rest of the stream.
//   rest: reads the lines that threads leave
agg_err agg_shared_lines_run(agg_reading *r, agg_line_reader *rest) SHOAL_MUST_CHECK;

// Returns: the most bytes that the records of n_threads take.
uint64_t agg_shared_lines_memory(const agg_recipe *recipe, unsigned n_threads);

#endif
