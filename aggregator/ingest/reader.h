// SPDX-License-Identifier: Apache-2.0
// Streams of reports in, runs of checked binary records out. A stream is batches one after another
// (magic "shoalbat") or NDJSON, one report a line; the first bytes tell which.
//
// A damaged batch stops the stream with an error that names the batch, and none of its records is
// given out. A bad NDJSON line is counted, its reason told for the first few, and the stream goes
// on: the caller decides how many are too many.
//
// Files are read where the kernel has them (mapped_file.h), lines and batches of one on several
// threads at a time; pipes by one. What comes out, and in which order, does not depend on either.
#ifndef READER_H
#define READER_H

#include <stdint.h>
#include <stdio.h>

#include "log.h"
#include "recipe_json.h"

struct agg_read_window;

// Checked records that lie together, recipe->record_size bytes each.
typedef struct agg_run {
    const uint8_t *batch_id; // 16 bytes, or NULL for records of NDJSON lines
    const uint8_t *records;
    uint32_t count;
} agg_run;

#define AGG_RUNS_MAX 256u // that are given out at once

// Takes 1 .. AGG_RUNS_MAX runs, in the order of the stream.
// Returns: SHOAL_OK to go on; anything else stops the reader, which hands it on.
typedef agg_err (*agg_sink)(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs);

// Takes a run on the thread that has checked it, while others do the same, in no order.
//   part: below the reader's n_threads; two calls at the same time differ in it
//   error: of this thread
typedef agg_err (*agg_share)(void *context, agg_error *error, unsigned part, const agg_run *run);

typedef struct agg_reader {
    const agg_recipe *recipe;
    agg_sink sink; // called by the caller's own thread
    void *sink_context;
    agg_log_fn talk; // is told why lines were rejected, never the lines; may be NULL
    void *talk_context;
    void (*progress)(void *context, uint64_t bytes); // bytes read so far, now and then; may be NULL
    void *progress_context;
    unsigned n_threads; // of a file or of memory; 0 is 1
} agg_reader;

typedef struct agg_read_count {
    uint64_t bytes, batches, lines, records, rejected;
} agg_read_count;

#define AGG_REPORT_LINE_MAX ((size_t)1 << 18) // bytes of one NDJSON line

// Finds the most that a reader of files takes: of their bytes those that it looks at, and records
// of their lines.
//   batch_bytes: of the largest batch, which is looked at whole; 0: of lines
uint64_t agg_reader_memory(const agg_recipe *recipe, unsigned n_threads, uint64_t batch_bytes);

// Reads a stream to its end.
//   count: added to, not reset; also written on error
//   name: what errors call the stream
agg_err agg_reader_stream(agg_read_count *count, agg_error *error, const agg_reader *reader,
                          const char *name, FILE *stream) SHOAL_MUST_CHECK;

// The same for a file; "-" is standard input.
agg_err agg_reader_file(agg_read_count *count, agg_error *error, const agg_reader *reader,
                        const char *path) SHOAL_MUST_CHECK;

// The same for a file, where order does not matter and threads are to go on with what they have
// checked. Most runs go to `share`, with the sink's context. Whatever is not for threads to share
// goes to the sink, which is also called with n_runs 0 when threads have come together, and no call
// of `share` is under way. After a damaged batch records of later ones may have been given out.
//   span: records, about, after which threads come together; the fewer, the longer they wait for
//   each other
agg_err agg_reader_file_shared(agg_read_count *count, agg_error *error, const agg_reader *reader,
                               agg_share share, uint32_t span, const char *path) SHOAL_MUST_CHECK;

// Reads what a window (read_window.h) shows, and releases the window: the way of all of the above.
//   share, span: as above; NULL where all runs go to the sink, in order
agg_err agg_reader_window(agg_read_count *count, agg_error *error, const agg_reader *reader,
                          const char *name, agg_share share, uint32_t span,
                          struct agg_read_window *window) SHOAL_MUST_CHECK;

#endif
