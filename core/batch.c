// SPDX-License-Identifier: Apache-2.0
// Batch codec; see batch.h.
#include "batch.h"

#include "bytes.h"
#include "checksum.h"

static const uint8_t magic[8] = {'s', 'h', 'o', 'a', 'l', 'b', 'a', 't'};
#define VERSION 1u

static uint64_t size_of(uint32_t record_size, uint32_t count)
{
    return SHOAL_BATCH_HEADER + (uint64_t)record_size * count + SHOAL_BATCH_TRAILER;
}

static int is_count(uint32_t record_size, uint32_t count)
{
    return record_size >= 1 && count >= 1 && count <= SHOAL_BATCH_COUNT_MAX &&
           size_of(record_size, count) <= SHOAL_BATCH_SIZE_MAX;
}

size_t shoal_batch_size(const shoal_recipe *recipe, uint32_t count)
{
    return is_count(recipe->record_size, count) ? (size_t)size_of(recipe->record_size, count) : 0;
}

shoal_err shoal_batch_seal(uint8_t *bytes, size_t len, const shoal_recipe *recipe, uint32_t count, const uint8_t id[16])
{
    if (len == 0 || len != shoal_batch_size(recipe, count)) return SHOAL_ERR_ARGUMENT;
    memcpy(bytes, magic, sizeof magic);
    store32_le(bytes + 8, VERSION);
    store32_le(bytes + 12, recipe->record_size);
    store32_le(bytes + 16, count);
    store32_le(bytes + 20, 0);
    memcpy(bytes + 24, recipe->recipe_hash, 32);
    memcpy(bytes + 56, id, 16);
    size_t body = len - SHOAL_BATCH_TRAILER;
    store64_le(bytes + body, shoal_checksum_of(bytes, body));
    return SHOAL_OK;
}

shoal_err shoal_batch_peek(shoal_batch *batch, const uint8_t *bytes, size_t len)
{
    size_t seen = len < sizeof magic ? len : sizeof magic;
    if (memcmp(bytes, magic, seen) != 0) return SHOAL_ERR_MAGIC;
    if (len < SHOAL_BATCH_HEADER) return SHOAL_ERR_TRUNCATED;
    if (load32_le(bytes + 8) != VERSION) return SHOAL_ERR_VERSION;
    uint32_t record_size = load32_le(bytes + 12), count = load32_le(bytes + 16);
    if (!is_count(record_size, count) || load32_le(bytes + 20) != 0) return SHOAL_ERR_RANGE;
    batch->record_size = record_size;
    batch->count = count;
    batch->size = size_of(record_size, count);
    memcpy(batch->recipe_hash, bytes + 24, 32);
    memcpy(batch->id, bytes + 56, 16);
    return SHOAL_OK;
}

shoal_err shoal_batch_open(shoal_batch *batch, const uint8_t *bytes, size_t len, const shoal_recipe *recipe,
                           uint32_t *bad_record)
{
    shoal_batch head;
    shoal_err err = shoal_batch_peek(&head, bytes, len);
    if (err != SHOAL_OK) return err;
    if (len < head.size) return SHOAL_ERR_TRUNCATED;
    if (len > head.size) return SHOAL_ERR_EXTRA;
    size_t body = len - SHOAL_BATCH_TRAILER;
    if (load64_le(bytes + body) != shoal_checksum_of(bytes, body)) return SHOAL_ERR_CHECKSUM;
    if (memcmp(head.recipe_hash, recipe->recipe_hash, 32) != 0) return SHOAL_ERR_RECIPE_HASH;
    if (head.record_size != recipe->record_size) return SHOAL_ERR_RANGE;
    for (uint32_t i = 0; i < head.count; i++) {
        err = shoal_record_check(recipe, bytes + SHOAL_BATCH_HEADER + (size_t)i * head.record_size);
        if (err == SHOAL_OK) continue;
        if (bad_record != NULL) *bad_record = i;
        return err;
    }
    *batch = head;
    return SHOAL_OK;
}
