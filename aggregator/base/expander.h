// SPDX-License-Identifier: Apache-2.0
// Expands a compressed stream, zstd or gzip, a piece at a time. So memory is bounded by what the
// caller asks for, whatever the stream expands to.
//
// WASI builds have neither library: there every compressed stream is refused.
#ifndef EXPANDER_H
#define EXPANDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agg_error.h"

typedef enum agg_compression {
    AGG_COMPRESSION_NONE = 0,
    AGG_COMPRESSION_ZSTD,
    AGG_COMPRESSION_GZIP
} agg_compression;

#define AGG_COMPRESSION_HEAD 4u // bytes that tell the compression

// Bytes that expanding takes at most: zstd's window, and the buffers.
#define AGG_EXPANDER_BYTES ((size_t)18 << 20)

// Finds how a stream is compressed, by its first bytes.
//   len: AGG_COMPRESSION_HEAD, or fewer where the stream has no more
agg_compression agg_compression_of(const uint8_t *first, size_t len);

// The same of a file. Returns: AGG_COMPRESSION_NONE where it cannot be read.
agg_compression agg_compression_of_file(const char *path);

typedef struct agg_expander agg_expander;

// Opens an expander of a stream whose first bytes were read already. Close it with
// agg_expander_close, and then the stream.
//   compression: not AGG_COMPRESSION_NONE
//   len: at most AGG_COMPRESSION_HEAD
agg_err agg_expander_open(agg_expander **expander, agg_error *error, agg_compression compression,
                          FILE *stream, const uint8_t *first, size_t len) SHOAL_MUST_CHECK;
void agg_expander_close(agg_expander *expander); // may be NULL

// Expands up to `cap` bytes.
//   got: at least 1, or 0 at the end of the stream
// Returns: SHOAL_ERR_TRUNCATED where the stream ends too early; SHOAL_ERR_CHECKSUM where it is
// damaged, or its window is larger than zstd's levels up to 19 have; AGG_ERR_IO.
agg_err agg_expander_read(agg_expander *expander, size_t *got, agg_error *error, uint8_t *out,
                          size_t cap) SHOAL_MUST_CHECK;

#endif
