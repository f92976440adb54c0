// SPDX-License-Identifier: Apache-2.0
// Reading NDJSON reports line by line, on one thread. Private to ingest/.
//
// Lines that are, byte for byte, as the recipe's clients write them are read without a JSON parser
// (agg_report_read); any other line goes through agg_report_parse. A line that is refused is
// counted, and the stream goes on.
#ifndef LINE_READER_H
#define LINE_READER_H

#include "reading.h"
#include "report_json.h"

#define AGG_LINE_RUN_MAX 4096u // records that one run gives out

typedef struct agg_line_reader {
    agg_reading *r;
    agg_report_frame frame;
    uint8_t *records; // of the next run: room for AGG_LINE_RUN_MAX
    uint32_t count;
} agg_line_reader;

agg_err agg_line_reader_init(agg_line_reader *lines, agg_reading *r) SHOAL_MUST_CHECK;
void agg_line_reader_release(agg_line_reader *lines);

// Reads the lines that begin before `limit`, an offset in the window, and gives their records out.
//   limit: SIZE_MAX for all lines
agg_err agg_line_reader_run(agg_line_reader *lines, size_t limit) SHOAL_MUST_CHECK;

// Reads lines as long as they are the recipe's own reports, byte for byte.
//   records: receives at most `room` records
//   *at: moves to the first line that is not, or that does not end before `end`
// Returns: how many lines were read.
uint32_t agg_line_reader_framed(uint8_t *records, uint32_t room, const agg_report_frame *frame,
                                const uint8_t **at, const uint8_t *end);

#endif
