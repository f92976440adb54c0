// SPDX-License-Identifier: Apache-2.0
// zstd and gzip; see expander.h.
#include "expander.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

agg_compression agg_compression_of(const uint8_t *first, size_t len)
{
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd}, gzip[] = {0x1f, 0x8b};
    if (len >= sizeof zstd && memcmp(first, zstd, sizeof zstd) == 0) return AGG_COMPRESSION_ZSTD;
    if (len >= sizeof gzip && memcmp(first, gzip, sizeof gzip) == 0) return AGG_COMPRESSION_GZIP;
    return AGG_COMPRESSION_NONE;
}

agg_compression agg_compression_of_file(const char *path)
{
    uint8_t first[AGG_COMPRESSION_HEAD];
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) return AGG_COMPRESSION_NONE;
    size_t len = fread(first, 1, sizeof first, stream);
    fclose(stream);
    return agg_compression_of(first, len);
}

#ifdef SHOAL_WITH_COMPRESSION
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define INPUT ((size_t)128 << 10)
#define WINDOW_LOG 24 // 16 MiB; level 19 has 8

struct agg_expander {
    FILE *stream;
    ZSTD_DCtx *zstd; // NULL: gzip
    z_stream gzip;
    size_t start, end; // of the input that is left
    bool is_within;    // the stream may not end here
    bool is_wide;      // the window is larger than what is allowed
    bool is_over;      // all of the stream was read
    uint8_t input[INPUT];
};

static bool start_library(agg_expander *e, agg_compression compression)
{
    if (compression == AGG_COMPRESSION_GZIP) return inflateInit2(&e->gzip, 16 + MAX_WBITS) == Z_OK;
    e->zstd = ZSTD_createDCtx();
    return e->zstd != NULL &&
           !ZSTD_isError(ZSTD_DCtx_setParameter(e->zstd, ZSTD_d_windowLogMax, WINDOW_LOG));
}

agg_err agg_expander_open(agg_expander **expander, agg_error *error, agg_compression compression,
                          FILE *stream, const uint8_t *first, size_t len)
{
    agg_expander *e = agg_alloc(error, 1, sizeof *e);
    *expander = NULL;
    if (e == NULL) return AGG_ERR_MEMORY;
    e->stream = stream;
    memcpy(e->input, first, len);
    e->end = len;
    if (!start_library(e, compression)) {
        ZSTD_freeDCtx(e->zstd);
        free(e);
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory to expand a file");
    }
    *expander = e;
    return SHOAL_OK;
}

void agg_expander_close(agg_expander *e)
{
    if (e == NULL) return;
    if (e->zstd == NULL) inflateEnd(&e->gzip);
    ZSTD_freeDCtx(e->zstd);
    free(e);
}

// Expands what it can of the input that is there.
// Returns: false where the input is damaged.
static bool expand(agg_expander *e, size_t *got, uint8_t *out, size_t cap)
{
    if (e->zstd != NULL) {
        ZSTD_inBuffer in = {e->input + e->start, e->end - e->start, 0};
        ZSTD_outBuffer made = {out, cap, 0};
        size_t left = ZSTD_decompressStream(e->zstd, &made, &in);
        e->start += in.pos;
        *got = made.pos;
        e->is_within = left != 0;
        e->is_wide = ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge;
        return !ZSTD_isError(left);
    }
    e->gzip.next_in = e->input + e->start;
    e->gzip.avail_in = (uInt)(e->end - e->start);
    e->gzip.next_out = out;
    e->gzip.avail_out = cap < INPUT ? (uInt)cap : (uInt)INPUT;
    uInt room = e->gzip.avail_out;
    int result = inflate(&e->gzip, Z_NO_FLUSH);
    e->start = e->end - e->gzip.avail_in;
    *got = room - e->gzip.avail_out;
    e->is_within = result != Z_STREAM_END;
    if (result == Z_STREAM_END) return inflateReset(&e->gzip) == Z_OK; // another may follow
    return result == Z_OK || result == Z_BUF_ERROR;
}

static agg_err fill(agg_expander *e, agg_error *error)
{
    if (e->start < e->end || e->is_over) return SHOAL_OK;
    e->start = 0;
    e->end = fread(e->input, 1, sizeof e->input, e->stream);
    e->is_over = e->end == 0;
    if (!ferror(e->stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot read: %s", strerror(errno));
}

agg_err agg_expander_read(agg_expander *e, size_t *got, agg_error *error, uint8_t *out, size_t cap)
{
    *got = 0;
    while (*got == 0) {
        agg_err err = fill(e, error);
        if (err != SHOAL_OK) return err;
        if (e->is_over && !e->is_within) return SHOAL_OK;
        if (!expand(e, got, out, cap))
            return agg_fail(error, SHOAL_ERR_CHECKSUM, AGG_EXIT_IO, "%s",
                            e->is_wide ? "the window of zstd is larger than 16 MiB: use a level up "
                                         "to 19"
                                       : "the compressed bytes are damaged");
        if (*got == 0 && e->is_over)
            return agg_fail(error, SHOAL_ERR_TRUNCATED, AGG_EXIT_IO,
                            "the compressed bytes end too early");
    }
    return SHOAL_OK;
}

#else

agg_err agg_expander_open(agg_expander **expander, agg_error *error, agg_compression compression,
                          FILE *stream, const uint8_t *first, size_t len)
{
    (void)compression, (void)stream, (void)first, (void)len;
    *expander = NULL;
    return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_IO,
                    "this build of shoal does not read compressed files: expand them first");
}

void agg_expander_close(agg_expander *expander)
{
    (void)expander;
}

agg_err agg_expander_read(agg_expander *expander, size_t *got, agg_error *error, uint8_t *out,
                          size_t cap)
{
    (void)expander, (void)out, (void)cap;
    *got = 0;
    return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_IO, "no compressed files are read");
}

#endif
