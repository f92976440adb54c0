// SPDX-License-Identifier: Apache-2.0
// Fingerprints of inputs; see input_print.h. Two XXH64 sums make 128 bits. They find the same bytes
// again and resist no forger: who can forge an input can as well write another report.
#include "input_print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "agg_size.h"
#include "batch.h"
#include "bytes.h"
#include "expander.h"

#define WHOLE ((uint64_t)256 << 10) // bytes at the start that count
#define STRIDE ((uint64_t)1 << 20)  // between the parts behind them that count
#define PART ((uint64_t)4 << 10)    // bytes of such a part

static const uint8_t label[] = "shoal reports";

void agg_input_print_init(agg_input_print *print)
{
    print->len = 0;
    shoal_checksum_init(&print->sums[0]);
    shoal_checksum_init(&print->sums[1]);
    shoal_checksum_update(&print->sums[1], label, sizeof label);
}

// Returns: how many of the next bytes count, or do not count, together.
//   *counts: which of the two
static uint64_t next_stretch(bool *counts, uint64_t at)
{
    uint64_t within = at % STRIDE;
    *counts = at < WHOLE || within < PART;
    if (at < WHOLE) return WHOLE - at;
    return *counts ? PART - within : STRIDE - within;
}

void agg_input_print_update(agg_input_print *print, const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        bool counts = false;
        uint64_t stretch = next_stretch(&counts, print->len);
        size_t some = stretch < len ? (size_t)stretch : len;
        for (int i = 0; counts && i < 2; i++) shoal_checksum_update(&print->sums[i], bytes, some);
        print->len += some;
        bytes += some;
        len -= some;
    }
}

void agg_input_print_claim(uint8_t id[AGG_CLAIM], const agg_input_print *print)
{
    uint8_t bytes[24];
    store64_le(bytes, print->len);
    store64_le(bytes + 8, shoal_checksum_value(&print->sums[0]));
    store64_le(bytes + 16, shoal_checksum_value(&print->sums[1]));
    agg_claim_of(id, (const char *)label, bytes, sizeof bytes);
}

static agg_err fail_io(agg_error *error, const char *path)
{
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot read: %s", path, strerror(errno));
}

// Reads what counts of `size` bytes, and passes over the rest.
static agg_err take_parts(agg_input_print *print, agg_error *error, const char *path, FILE *stream,
                          uint64_t size, uint8_t *buffer)
{
    while (print->len < size) {
        bool counts = false;
        uint64_t stretch = next_stretch(&counts, print->len);
        if (stretch > size - print->len) stretch = size - print->len;
        if (counts && fread(buffer, 1, (size_t)stretch, stream) != stretch)
            return ferror(stream) ? fail_io(error, path)
                                  : agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO,
                                             "%s: changed while it was read", path);
        if (counts)
            agg_input_print_update(print, buffer, (size_t)stretch);
        else if (fseeko(stream, (off_t)stretch, SEEK_CUR) != 0)
            return fail_io(error, path);
        else
            print->len += stretch;
    }
    return SHOAL_OK;
}

static agg_err take_file(agg_input_print *print, bool *has_lines, agg_error *error,
                         const char *path, FILE *stream)
{
    uint8_t first[SHOAL_BATCH_HEADER_V1];
    shoal_batch batch;
    struct stat about;
    size_t len = fread(first, 1, sizeof first, stream);
    if (ferror(stream) || stat(path, &about) != 0 || fseeko(stream, 0, SEEK_SET) != 0)
        return fail_io(error, path);
    *has_lines = len > 0 && agg_compression_of(first, len) == AGG_COMPRESSION_NONE &&
                 shoal_batch_peek(&batch, first, len) == SHOAL_ERR_MAGIC;
    if (!*has_lines) return SHOAL_OK;
    uint8_t *buffer = agg_alloc(error, (size_t)WHOLE, 1);
    if (buffer == NULL) return AGG_ERR_MEMORY;
    agg_err err = take_parts(print, error, path, stream, (uint64_t)about.st_size, buffer);
    free(buffer);
    return err;
}

agg_err agg_input_print_of_file(agg_input_print *print, bool *has_lines, agg_error *error,
                                const char *path)
{
    agg_input_print_init(print);
    *has_lines = false;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot open: %s", path,
                        strerror(errno));
    agg_err err = take_file(print, has_lines, error, path, stream);
    fclose(stream);
    return err;
}
