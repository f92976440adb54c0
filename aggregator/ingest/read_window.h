// SPDX-License-Identifier: Apache-2.0
// A window is the part of a stream that a reader looks at: a buffer that moves along a pipe, or all
// of a mapped file or of memory, where it lies. A stream that is compressed is expanded as it is
// read. Private to ingest/.
#ifndef READ_WINDOW_H
#define READ_WINDOW_H

#include <stdbool.h>

#include "agg_error.h"
#include "expander.h"
#include "input_print.h"
#include "mapped_file.h"

typedef struct agg_read_window {
    FILE *stream;           // NULL: the whole stream is in memory
    agg_expander *expander; // of the stream; NULL where it is not compressed
    bool is_probed;         // whether it is compressed is known
    agg_mapped_file mapped;
    uint8_t *buffer; // where there is a stream
    size_t cap;
    const uint8_t *bytes; // of which [start, end) is still to be read
    size_t start, end;
    size_t passed;          // bytes that were counted as read
    size_t dropped;         // bytes whose pages were dropped
    bool is_over;           // the stream has no bytes behind `end`
    agg_input_print *print; // is given all bytes of a stream, where there is one; may be NULL
} agg_read_window;

// Size of a stream's buffer at first.
#define AGG_READ_WINDOW_BYTES ((size_t)1 << 18)

// Opens a window on a stream. A file from which nothing was read is mapped if may_map. The caller
// releases the window and closes the stream.
void agg_read_window_open(agg_read_window *window, FILE *stream, bool may_map);
void agg_read_window_open_bytes(agg_read_window *window, const uint8_t *bytes, size_t len);
void agg_read_window_release(agg_read_window *window);

// Returns: the number of bytes that can be read at once.
static inline size_t agg_read_window_has(const agg_read_window *window)
{
    return window->end - window->start;
}

// Reads until there are `needed` bytes or the stream is over; bytes may move. Memory grows with the
// bytes that really came, not with a size that a header announces.
//   n_read: added to
// Returns: AGG_ERR_IO, AGG_ERR_MEMORY.
agg_err agg_read_window_fill(agg_read_window *window, agg_error *error, uint64_t *n_read,
                             size_t needed) SHOAL_MUST_CHECK;

// Notes that bytes before `start` will not be read again.
//   n_read: added to, where the whole stream is in memory
void agg_read_window_pass(agg_read_window *window, uint64_t *n_read);

#endif
