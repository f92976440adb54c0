// SPDX-License-Identifier: Apache-2.0
// Checksums of accumulators and batches; see sealed_check.h.
#include "sealed_check.h"

#include <string.h>

#include "accumulator.h"
#include "batch.h"
#include "bytes.h"
#include "checksum.h"

#define CHUNK ((size_t)1 << 16)
#define TRAILER 8u // XXH64 of everything before it, in both formats

// Reads the head of an accumulator or of a batch, whichever the magic says.
static agg_err read_head(sealed_about *about, const uint8_t *bytes, size_t len, uint64_t size)
{
    shoal_batch batch;
    agg_err err = agg_accumulator_read_head(about->recipe_hash, &about->n, bytes, len);
    if (err != SHOAL_ERR_MAGIC) return err;
    err = shoal_batch_peek(&batch, bytes, len);
    if (err != SHOAL_OK) return err;
    if (batch.size != size) return batch.size < size ? SHOAL_ERR_EXTRA : SHOAL_ERR_TRUNCATED;
    memcpy(about->recipe_hash, batch.recipe_hash, sizeof about->recipe_hash);
    about->n = batch.count;
    return SHOAL_OK;
}

agg_err sealed_check(sealed_about *about, bool *is_stopped, const sealed_source *source,
                     const agg_pace *pace)
{
    uint8_t bytes[CHUNK], trailer[TRAILER], expected[TRAILER];
    shoal_checksum sum;
    shoal_checksum_init(&sum);
    *is_stopped = false;
    if (source->len < TRAILER) return SHOAL_ERR_TRUNCATED;
    for (uint64_t at = 0, end = source->len - TRAILER; at < end;) {
        size_t some = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
        if (!source->read(source->context, bytes, some)) return SHOAL_ERR_TRUNCATED;
        agg_err err = at == 0 ? read_head(about, bytes, some, source->len) : SHOAL_OK;
        if (err != SHOAL_OK) return err;
        shoal_checksum_update(&sum, bytes, some);
        at += some;
        *is_stopped = !agg_pace_go_on(pace, source->is_sleep_safe ? some : 0);
        if (*is_stopped) return SHOAL_OK;
    }
    if (!source->read(source->context, trailer, TRAILER)) return SHOAL_ERR_TRUNCATED;
    store64_le(expected, shoal_checksum_value(&sum));
    return memcmp(trailer, expected, TRAILER) == 0 ? SHOAL_OK : SHOAL_ERR_CHECKSUM;
}
