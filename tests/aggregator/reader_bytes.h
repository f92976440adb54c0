// SPDX-License-Identifier: Apache-2.0
// Reading a stream that lies in memory, for tests and benchmarks.
#ifndef READER_BYTES_H
#define READER_BYTES_H

#include "read_window.h"
#include "reader.h"

static inline agg_err reader_bytes(agg_read_count *count, agg_error *error,
                                   const agg_reader *reader, const char *name, const uint8_t *bytes,
                                   size_t len)
{
    agg_read_window window;
    agg_read_window_open_bytes(&window, bytes, len);
    return agg_reader_window(count, error, reader, name, NULL, 0, &window);
}

#endif
