// SPDX-License-Identifier: Apache-2.0
// A reader turns a stream of reports into runs of checked binary records. A stream is batches one
// after another (magic "shoalbat") or NDJSON, one report a line; its first bytes tell which.
//
// Batches may be compressed as a whole (expander.h), and then one thread reads them. Memory is
// bounded by the largest batch that a header may announce, whatever the bytes expand to.
//
// A damaged batch stops the stream with an error that names the batch; none of its records is given
// out. A bad NDJSON line is counted, its reason is logged for the first few, and the stream goes
// on: the caller decides how many are too many.
//
// Three readers lie behind this face: batches (batch_reader.h), lines on one thread (line_reader.h)
// and lines that threads share (shared_lines.h). A file is mapped (mapped_file.h), and several
// threads read it; a pipe is read by one. The runs and their order depend on neither.
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
    uint32_t version; // of the batch; 0 for records of NDJSON lines
} agg_run;

#define AGG_RUNS_MAX 256u // runs of one call of a sink

// Takes 1 .. AGG_RUNS_MAX runs, in the order of the stream.
// Returns: SHOAL_OK to go on. An error stops the reader, which returns it.
typedef agg_err (*agg_sink)(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs);

// Takes a run on the thread that has checked it, while other threads do the same, in any order.
//   part:  below the reader's n_threads; concurrent calls have different parts
//   error: belongs to this thread
typedef agg_err (*agg_share)(void *context, agg_error *error, unsigned part, const agg_run *run);

typedef struct agg_reader {
    const agg_recipe *recipe;
    agg_sink sink; // called on the caller's thread
    void *sink_context;
    agg_log_fn log; // is told why lines were rejected, never the lines; may be NULL
    void *log_context;
    void (*progress)(void *context, uint64_t bytes); // now and then: bytes read so far; may be NULL
    void *progress_context;
    unsigned n_threads; // that read a file or memory; 0 means 1
} agg_reader;

typedef struct agg_read_count {
    uint64_t bytes, batches, lines, records, rejected;
} agg_read_count;

#define AGG_REPORT_LINE_MAX ((size_t)1 << 18) // bytes of one NDJSON line

// Returns: the most bytes that reading files takes: the part of a file that is mapped and in use,
// and the records of its lines.
//   batch_bytes: size of the largest batch, which is in use as a whole; 0: the files hold lines
uint64_t agg_reader_memory(const agg_recipe *recipe, unsigned n_threads, uint64_t batch_bytes);

// Reads a stream to its end.
//   count: added to, not reset; also on error
//   name:  of the stream, for error messages
agg_err agg_reader_stream(agg_read_count *count, agg_error *error, const agg_reader *reader,
                          const char *name, FILE *stream) SHOAL_MUST_CHECK;

// The same for a file; "-" is standard input.
agg_err agg_reader_file(agg_read_count *count, agg_error *error, const agg_reader *reader,
                        const char *path) SHOAL_MUST_CHECK;

// The same for a file, where order does not matter: each thread goes on with the records that it
// has just checked. Most runs go to `share`, with the sink's context. Runs that threads cannot
// share go to the sink. The sink is also called with n_runs 0 at each barrier, when all threads
// wait and no call of `share` is under way. When a damaged batch is found, records of later ones
// may have been given out.
//   span: records, about, between two barriers; the fewer, the more time threads spend waiting
agg_err agg_reader_file_shared(agg_read_count *count, agg_error *error, const agg_reader *reader,
                               agg_share share, uint32_t span, const char *path) SHOAL_MUST_CHECK;

// Reads all that a window (read_window.h) shows, and releases the window. The functions above open
// a window and call this one.
//   share, span: as for agg_reader_file_shared; NULL where all runs go to the sink, in order
agg_err agg_reader_window(agg_read_count *count, agg_error *error, const agg_reader *reader,
                          const char *name, agg_share share, uint32_t span,
                          struct agg_read_window *window) SHOAL_MUST_CHECK;

#endif
