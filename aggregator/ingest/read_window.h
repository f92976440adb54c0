// SPDX-License-Identifier: Apache-2.0
// The part of a stream that a reader looks at: a buffer that moves along a pipe, or all of a file
// or of memory where it lies. Private to ingest/.
#ifndef READ_WINDOW_H
#define READ_WINDOW_H

#include <stdbool.h>

#include "agg_error.h"
#include "mapped_file.h"

typedef struct agg_read_window {
    FILE *stream; // NULL: all is in memory
    agg_mapped_file mapped;
    uint8_t *buffer; // of a stream
    size_t cap;
    const uint8_t *bytes; // what is looked at: [start, end) is still to be read
    size_t start, end;
    size_t passed, dropped; // up to which it was noted that nobody looks, and let go
    bool is_over;           // nothing comes behind end
} agg_read_window;

// Bytes that a stream's window begins with.
#define AGG_READ_WINDOW_BYTES ((size_t)1 << 18)

// Opens a window on a stream: mapped where it is a file from which nothing was read. Release it,
// and close the stream, in any case.
void agg_read_window_open(agg_read_window *window, FILE *stream, bool may_map);
void agg_read_window_open_bytes(agg_read_window *window, const uint8_t *bytes, size_t len);
void agg_read_window_release(agg_read_window *window);

// Returns: bytes that are there to be read.
static inline size_t agg_read_window_has(const agg_read_window *window)
{
    return window->end - window->start;
}

// Reads until there are `needed` bytes or the stream is over; bytes may move. Memory grows with
// what came, not with what was announced.
//   n_read: added to
// Returns: AGG_ERR_IO, AGG_ERR_MEMORY.
agg_err agg_read_window_fill(agg_read_window *window, agg_error *error, uint64_t *n_read,
                             size_t needed) SHOAL_MUST_CHECK;

// Notes that what is before start will not be looked at again.
//   n_read: of what was in memory, added to
void agg_read_window_pass(agg_read_window *window, uint64_t *n_read);

#endif
