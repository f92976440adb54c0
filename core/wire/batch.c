// SPDX-License-Identifier: Apache-2.0
// Writes and reads batches; see batch.h.
#include "batch.h"

#include <stdbool.h>

#include "bytes.h"
#include "checksum.h"
#include "recipe.h"
#include "sha256.h"

static const uint8_t magic[8] = {'s', 'h', 'o', 'a', 'l', 'b', 'a', 't'};
#define AT_ID 56 // the bytes before it are hashed
#define AT_SALT 72

static uint32_t header_of(uint32_t version)
{
    return version == 1 ? SHOAL_BATCH_HEADER_V1 : SHOAL_BATCH_HEADER;
}

static uint64_t size_of(uint32_t version, uint32_t record_size, uint32_t count)
{
    return header_of(version) + (uint64_t)record_size * count + SHOAL_BATCH_TRAILER;
}

static bool is_count(uint32_t version, uint32_t record_size, uint32_t count)
{
    return record_size >= 1 && count >= 1 && count <= SHOAL_BATCH_COUNT_MAX &&
           size_of(version, record_size, count) <= SHOAL_BATCH_SIZE_MAX;
}

static size_t size_or_zero(uint32_t version, const shoal_recipe *recipe, uint32_t count)
{
    bool is_ok = is_count(version, recipe->record_size, count);
    return is_ok ? (size_t)size_of(version, recipe->record_size, count) : 0;
}

size_t shoal_batch_size(const shoal_recipe *recipe, uint32_t count)
{
    return size_or_zero(2, recipe, count);
}

size_t shoal_batch_size_v1(const shoal_recipe *recipe, uint32_t count)
{
    return size_or_zero(1, recipe, count);
}

static void put_header(uint8_t *bytes, const shoal_recipe *recipe, const shoal_batch *batch)
{
    memcpy(bytes, magic, sizeof magic);
    store32_le(bytes + 8, batch->version);
    store32_le(bytes + 12, recipe->record_size);
    store32_le(bytes + 16, batch->count);
    store32_le(bytes + 20, batch->day);
    memcpy(bytes + 24, recipe->recipe_hash, 32);
}

static void put_trailer(uint8_t *bytes, size_t len)
{
    size_t body = len - SHOAL_BATCH_TRAILER;
    store64_le(bytes + body, shoal_checksum_of(bytes, body));
}

void shoal_batch_id_pieces(shoal_batch_piece pieces[SHOAL_BATCH_ID_PIECES],
                           const shoal_batch *batch, const uint8_t *bytes)
{
    static const uint8_t label[] = "shoal batch"; // with its zero byte
    pieces[0] = (shoal_batch_piece){label, sizeof label};
    pieces[1] = (shoal_batch_piece){bytes, AT_ID};
    pieces[2] =
        (shoal_batch_piece){bytes + AT_SALT, (size_t)batch->size - AT_SALT - SHOAL_BATCH_TRAILER};
}

void shoal_batch_id(uint8_t id[16], const shoal_batch *batch, const uint8_t *bytes)
{
    shoal_batch_piece pieces[SHOAL_BATCH_ID_PIECES];
    shoal_sha256 sha;
    uint8_t digest[32];
    shoal_batch_id_pieces(pieces, batch, bytes);
    shoal_sha256_init(&sha);
    for (int i = 0; i < SHOAL_BATCH_ID_PIECES; i++)
        shoal_sha256_update(&sha, pieces[i].bytes, pieces[i].len);
    shoal_sha256_final(digest, &sha);
    memcpy(id, digest, 16);
}

shoal_err shoal_batch_seal(uint8_t *bytes, size_t len, const shoal_recipe *recipe, uint32_t count,
                           uint32_t day, const uint8_t salt[16])
{
    if (len == 0 || len != shoal_batch_size(recipe, count)) return SHOAL_ERR_ARGUMENT;
    if (day == 0) return SHOAL_ERR_DAY_ZERO;
    if (day > SHOAL_BATCH_DAY_MAX) return SHOAL_ERR_DAY_LATE;
    const shoal_batch batch = {.version = 2, .day = day, .count = count, .size = len};
    put_header(bytes, recipe, &batch);
    memcpy(bytes + AT_SALT, salt, 16);
    shoal_batch_id(bytes + AT_ID, &batch, bytes);
    put_trailer(bytes, len);
    return SHOAL_OK;
}

shoal_err shoal_batch_seal_v1(uint8_t *bytes, size_t len, const shoal_recipe *recipe,
                              uint32_t count, const uint8_t id[16])
{
    if (len == 0 || len != shoal_batch_size_v1(recipe, count)) return SHOAL_ERR_ARGUMENT;
    const shoal_batch batch = {.version = 1, .count = count};
    put_header(bytes, recipe, &batch);
    memcpy(bytes + AT_ID, id, 16);
    put_trailer(bytes, len);
    return SHOAL_OK;
}

static shoal_err check_day(uint32_t version, uint32_t day)
{
    if (version == 1) return day == 0 ? SHOAL_OK : SHOAL_ERR_RANGE;
    if (day == 0) return SHOAL_ERR_DAY_ZERO;
    return day <= SHOAL_BATCH_DAY_MAX ? SHOAL_OK : SHOAL_ERR_DAY_LATE;
}

shoal_err shoal_batch_peek(shoal_batch *batch, const uint8_t *bytes, size_t len)
{
    size_t seen = len < sizeof magic ? len : sizeof magic;
    if (memcmp(bytes, magic, seen) != 0) return SHOAL_ERR_MAGIC;
    if (len < SHOAL_BATCH_HEADER_V1) return SHOAL_ERR_TRUNCATED;
    uint32_t version = load32_le(bytes + 8), day = load32_le(bytes + 20);
    if (version != 1 && version != 2) return SHOAL_ERR_VERSION;
    uint32_t record_size = load32_le(bytes + 12), count = load32_le(bytes + 16);
    if (!is_count(version, record_size, count)) return SHOAL_ERR_RANGE;
    shoal_err err = check_day(version, day);
    if (err != SHOAL_OK) return err;
    batch->version = version;
    batch->day = day;
    batch->header = header_of(version);
    batch->record_size = record_size;
    batch->count = count;
    batch->size = size_of(version, record_size, count);
    memcpy(batch->recipe_hash, bytes + 24, 32);
    memcpy(batch->id, bytes + AT_ID, 16);
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
    const uint8_t *records = bytes + head->header;
    uint32_t size = head->record_size, most = size < PIECE_BYTES ? PIECE_BYTES / size : 1;
    bool is_ours =
        memcmp(head->recipe_hash, recipe->recipe_hash, 32) == 0 && size == recipe->record_size;
    shoal_checksum_init(&sum);
    shoal_checksum_update(&sum, bytes, head->header);
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

shoal_err shoal_batch_open_unhashed(shoal_batch *batch, const uint8_t *bytes, size_t len,
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

shoal_err shoal_batch_open(shoal_batch *batch, const uint8_t *bytes, size_t len,
                           const shoal_recipe *recipe, uint32_t *bad_record)
{
    shoal_batch head;
    uint8_t id[16];
    shoal_err err = shoal_batch_open_unhashed(&head, bytes, len, recipe, bad_record);
    if (err != SHOAL_OK) return err;
    if (head.version != 1) {
        shoal_batch_id(id, &head, bytes);
        if (memcmp(id, head.id, sizeof id) != 0) return SHOAL_ERR_BATCH_ID;
    }
    *batch = head;
    return SHOAL_OK;
}
