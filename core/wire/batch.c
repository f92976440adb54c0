// SPDX-License-Identifier: Apache-2.0
// Writes and reads batches; see batch.h.
#include "batch.h"

#include <stdbool.h>

#include "bytes.h"
#include "checksum.h"

static const uint8_t magic[8] = {'s', 'h', 'o', 'a', 'l', 'b', 'a', 't'};
#define VERSION 1u

static uint64_t size_of(uint32_t record_size, uint32_t count)
{
    return SHOAL_BATCH_HEADER + (uint64_t)record_size * count + SHOAL_BATCH_TRAILER;
}

static bool is_count(uint32_t record_size, uint32_t count)
{
    return record_size >= 1 && count >= 1 && count <= SHOAL_BATCH_COUNT_MAX &&
           size_of(record_size, count) <= SHOAL_BATCH_SIZE_MAX;
}

size_t shoal_batch_size(const shoal_recipe *recipe, uint32_t count)
{
    return is_count(recipe->record_size, count) ? (size_t)size_of(recipe->record_size, count) : 0;
}

shoal_err shoal_batch_seal(uint8_t *bytes, size_t len, const shoal_recipe *recipe, uint32_t count,
                           const uint8_t id[16])
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

// Finds the first of `count` records that its mechanisms refuse, and writes its index to *bad.
static shoal_err check_records(uint32_t *bad, const shoal_recipe *recipe, const uint8_t *records,
                               uint32_t count)
{
    shoal_err result = SHOAL_OK;
    if (recipe->n_parts < 1 || recipe->n_parts > SHOAL_PARTS_MAX) return SHOAL_ERR_ARGUMENT;
    for (uint32_t p = 0; p < recipe->n_parts; p++) {
        const shoal_part *part = &recipe->parts[p];
        const shoal_mechanism *mechanism = shoal_mechanism_by_id(part->mechanism);
        for (uint32_t i = 0; i < count; i++) {
            shoal_err err = mechanism->check(part, records + (size_t)i * recipe->record_size);
            if (err == SHOAL_OK) continue;
            *bad = count = i; // in the other parts, only earlier records matter now
            result = err;
        }
        records += part->record_size;
    }
    return result;
}

#define PIECE_BYTES 32768u // bytes of records summed and checked while in L1 cache

// Sums and checks a batch in one pass. A wrong checksum takes precedence over a bad record, because
// damage explains both.
static shoal_err check_body(uint32_t *bad, const shoal_batch *head, const shoal_recipe *recipe,
                            const uint8_t *bytes)
{
    shoal_checksum sum;
    shoal_err result = SHOAL_OK;
    const uint8_t *records = bytes + SHOAL_BATCH_HEADER;
    uint32_t size = head->record_size, most = size < PIECE_BYTES ? PIECE_BYTES / size : 1;
    bool is_ours =
        memcmp(head->recipe_hash, recipe->recipe_hash, 32) == 0 && size == recipe->record_size;
    shoal_checksum_init(&sum);
    shoal_checksum_update(&sum, bytes, SHOAL_BATCH_HEADER);
    for (uint32_t first = 0, some; first < head->count; first += some) {
        some = head->count - first < most ? head->count - first : most;
        shoal_checksum_update(&sum, records + (size_t)first * size, (size_t)some * size);
        if (!is_ours || result != SHOAL_OK) continue;
        result = check_records(bad, recipe, records + (size_t)first * size, some);
        if (result != SHOAL_OK) *bad += first;
    }
    if (load64_le(bytes + head->size - SHOAL_BATCH_TRAILER) != shoal_checksum_value(&sum))
        return SHOAL_ERR_CHECKSUM;
    if (memcmp(head->recipe_hash, recipe->recipe_hash, 32) != 0) return SHOAL_ERR_RECIPE_HASH;
    return is_ours ? result : SHOAL_ERR_RANGE;
}

shoal_err shoal_batch_open(shoal_batch *batch, const uint8_t *bytes, size_t len,
                           const shoal_recipe *recipe, uint32_t *bad_record)
{
    shoal_batch head;
    uint32_t bad = UINT32_MAX;
    shoal_err err = shoal_batch_peek(&head, bytes, len);
    if (err != SHOAL_OK) return err;
    if (len < head.size) return SHOAL_ERR_TRUNCATED;
    if (len > head.size) return SHOAL_ERR_EXTRA;
    err = check_body(&bad, &head, recipe, bytes);
    if (err == SHOAL_ERR_RECORD && bad_record != NULL) *bad_record = bad;
    if (err == SHOAL_OK) *batch = head;
    return err;
}
