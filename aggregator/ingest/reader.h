// SPDX-License-Identifier: Apache-2.0
// Streams of reports in, runs of checked binary records out. A stream is batches one after another (magic "shoalbat") or
// NDJSON, one report a line; the first bytes tell which.
//
// A damaged batch stops the stream with an error that names the batch, and none of its records is given out. A bad
// NDJSON line is counted, its reason told for the first few, and the stream goes on: the caller decides how many are too many.
#ifndef READER_H
#define READER_H

#include <stdint.h>
#include <stdio.h>

#include "recipe_json.h"

// Takes `count` checked records of recipe->record_size bytes each.
//   batch_id: 16 bytes, or NULL for records of NDJSON lines
// Returns: SHOAL_OK to go on; anything else stops the reader, which hands it on.
typedef shoal_err (*agg_sink)(void *context, agg_error *error, const uint8_t *batch_id, const uint8_t *records,
                              uint32_t count);

// Is told of rejected lines: a text without the line itself.
typedef void (*agg_talk)(void *context, const char *text);

typedef struct agg_reader {
    const agg_recipe *recipe;
    agg_sink sink;
    void *sink_context;
    agg_talk talk; // may be NULL
    void *talk_context;
    void (*progress)(void *context, uint64_t bytes); // bytes read so far, now and then; may be NULL
    void *progress_context;
} agg_reader;

typedef struct agg_read_count {
    uint64_t bytes, batches, lines, records, rejected;
} agg_read_count;

#define AGG_TALK_MAX 10                       // rejected lines of a stream that are told one by one
#define AGG_REPORT_LINE_MAX ((size_t)1 << 18) // bytes of one NDJSON line

// Reads a stream to its end.
//   count: added to, not reset; also written on error
//   name: what errors call the stream
shoal_err agg_reader_stream(agg_read_count *count, agg_error *error, const agg_reader *reader, const char *name,
                            FILE *stream) SHOAL_MUST_CHECK;

// The same for a file; "-" is standard input.
shoal_err agg_reader_file(agg_read_count *count, agg_error *error, const agg_reader *reader,
                          const char *path) SHOAL_MUST_CHECK;

// The same for bytes in memory.
shoal_err agg_reader_bytes(agg_read_count *count, agg_error *error, const agg_reader *reader, const char *name,
                           const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

#endif
