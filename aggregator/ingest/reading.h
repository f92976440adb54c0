// SPDX-License-Identifier: Apache-2.0
// One stream while it is read: the state that the readers of batches and of lines share, and the
// queue from which their threads take work. Private to ingest/.
#ifndef READING_H
#define READING_H

#include <stdbool.h>

#include "agg_parallel.h"
#include "read_window.h"
#include "reader.h"

typedef struct agg_reading {
    agg_read_count *count;
    agg_error *error;
    const agg_reader *reader;
    const char *name;
    agg_share share;    // NULL: runs are given to the sink, in order
    uint32_t span;      // records between two barriers, where there is `share`
    agg_lock guard;     // of the queue; initialized where there is `share`
    unsigned n_threads; // 1 where not all of the stream is in memory
    uint64_t n_batches; // batches of this stream that were read
    uint64_t line;      // number of the last line that was read
    agg_read_window window;
} agg_reading;

// Returns: the bytes from the window's start on that are there.
static inline size_t agg_reading_has(const agg_reading *r)
{
    return agg_read_window_has(&r->window);
}

// Reads until `needed` bytes are there or the stream is over, and reports progress.
agg_err agg_reading_fill(agg_reading *r, size_t needed) SHOAL_MUST_CHECK;

// Gives runs to the sink, and releases what the window's start has passed.
//   n_runs: 0 where threads gave them out
agg_err agg_reading_give(agg_reading *r, const agg_run *runs, uint32_t n_runs) SHOAL_MUST_CHECK;

// Tells the sink that all threads have met at a barrier: no call of `share` is under way.
agg_err agg_reading_tell_barrier(agg_reading *r) SHOAL_MUST_CHECK;

// Returns: bytes of a thread's share, of those that n_threads share at a time.
size_t agg_share_bytes(unsigned n_threads);

#define AGG_SHARE_BYTES_MIN ((size_t)1 << 20)

// Items, numbered from 0, that threads take one after another, and the first failure among them.
typedef struct agg_read_queue {
    agg_reading *r;
    uint32_t n, next;
    uint32_t most; // items that are taken at once
    agg_err err;
    agg_error error;
} agg_read_queue;

// Takes the next items: several at once while there are many, then fewer and fewer, so that the
// threads finish together.
//   *first, *end: the items that were taken
// Returns: whether there were any; false after a failure.
bool agg_read_queue_take(uint32_t *first, uint32_t *end, agg_read_queue *queue);

// Drops the items that were not taken yet.
void agg_read_queue_stop(agg_read_queue *queue);

// Gives a run to `share`, and keeps the first failure.
agg_err agg_read_queue_give(agg_read_queue *queue, unsigned part, const agg_run *run);

// Runs `work` on up to n_threads threads, one per item at most. Returns: the first failure.
agg_err agg_read_queue_run(agg_read_queue *queue, unsigned n_threads, agg_work work,
                           void *context) SHOAL_MUST_CHECK;

#endif
