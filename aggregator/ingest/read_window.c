// SPDX-License-Identifier: Apache-2.0
// Windows on streams, files and memory; see read_window.h.
#include "read_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

void agg_read_window_open_bytes(agg_read_window *window, const uint8_t *bytes, size_t len)
{
    *window = (agg_read_window){.bytes = bytes, .end = len, .is_over = true};
}

void agg_read_window_open(agg_read_window *window, FILE *stream, bool may_map)
{
    agg_mapped_file mapped;
    if (may_map && agg_mapped_file_open(&mapped, stream)) {
        if (agg_compression_of(mapped.bytes, mapped.len) == AGG_COMPRESSION_NONE) {
            agg_read_window_open_bytes(window, mapped.bytes, mapped.len);
            window->mapped = mapped;
            return;
        }
        agg_mapped_file_close(&mapped);
    }
    *window = (agg_read_window){.stream = stream};
}

void agg_read_window_release(agg_read_window *window)
{
    agg_expander_close(window->expander);
    agg_mapped_file_close(&window->mapped);
    free(window->buffer);
    memset(window, 0, sizeof *window);
}

// Reads the next bytes of the stream, at most `cap`; *got is 0 at its end.
//   cap: at least AGG_COMPRESSION_HEAD
static agg_err read_some(agg_read_window *w, size_t *got, agg_error *error, uint8_t *bytes,
                         size_t cap)
{
    if (!w->is_probed) {
        *got = fread(bytes, 1, AGG_COMPRESSION_HEAD, w->stream);
        w->is_probed = true;
        agg_compression compression = agg_compression_of(bytes, *got);
        if (compression == AGG_COMPRESSION_NONE) return SHOAL_OK;
        agg_err err = agg_expander_open(&w->expander, error, compression, w->stream, bytes, *got);
        if (err != SHOAL_OK) return err;
    }
    if (w->expander != NULL) return agg_expander_read(w->expander, got, error, bytes, cap);
    *got = fread(bytes, 1, cap, w->stream);
    return SHOAL_OK;
}

agg_err agg_read_window_fill(agg_read_window *w, agg_error *error, uint64_t *n_read, size_t needed)
{
    if (agg_read_window_has(w) >= needed || w->is_over) return SHOAL_OK;
    if (w->start > 0 && needed > w->cap - w->start) {
        memmove(w->buffer, w->buffer + w->start, w->end - w->start);
        w->end -= w->start;
        w->start = 0;
    }
    while (agg_read_window_has(w) < needed && !w->is_over) {
        void *buffer = w->buffer;
        size_t more = w->end == w->cap ? AGG_READ_WINDOW_BYTES : 0;
        agg_err err = agg_grow(&buffer, &w->cap, w->end + more, 1, error);
        w->bytes = w->buffer = buffer;
        if (err != SHOAL_OK) return err;
        size_t got = 0;
        err = read_some(w, &got, error, w->buffer + w->end, w->cap - w->end);
        if (err != SHOAL_OK) return err;
        if (w->print != NULL) agg_input_print_update(w->print, w->buffer + w->end, got);
        w->is_over = got == 0;
        w->end += got;
        *n_read += got;
    }
    if (ferror(w->stream))
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot read: %s", strerror(errno));
    return SHOAL_OK;
}

#define DROP_BYTES ((size_t)1 << 20) // of pages that are dropped at once

void agg_read_window_pass(agg_read_window *window, uint64_t *n_read)
{
    if (window->stream != NULL) return;
    *n_read += window->start - window->passed;
    window->passed = window->start;
    if (window->start - window->dropped < DROP_BYTES) return;
    agg_mapped_file_drop(&window->mapped, window->dropped, window->start);
    window->dropped = window->start / DROP_BYTES * DROP_BYTES;
}
