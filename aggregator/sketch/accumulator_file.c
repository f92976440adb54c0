// SPDX-License-Identifier: Apache-2.0
// Writing the file of an accumulator, and its size; see accumulator.h for its layout.
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "accumulator.h"
#include "accumulator_parts.h"
#include "agg_file.h"
#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"
#include "call_streams.h"
#include "checksum.h"
#include "compound.h"
#include "recipe.h"

#define HEADER AGG_ACCUMULATOR_HEADER
#define SHAPE AGG_ACCUMULATOR_SHAPE
#define SHARED_BYTES ((uint64_t)1 << 20)    // size of a file, below which one thread is faster
#define WRITEBACK_BYTES ((uint64_t)8 << 20) // written between two requests for writeback
#define CHUNK 16384u                        // numbers that are converted at once
#define NEAR 65536u             // numbers that are summed, then written while the cache has them
#define FAR ((uint64_t)1 << 20) // numbers that are only written: one large write is faster

static bool has_claims(const agg_accumulator *acc)
{
    return acc->claims.n > 0 || acc->claims.is_complete;
}

static bool has_shards(const agg_accumulator *acc)
{
    return acc->shards.n > 0 || acc->rows.first > 0;
}

static uint32_t version_of(const agg_accumulator *acc)
{
    if (has_shards(acc)) return AGG_ACCUMULATOR_VERSION_SHARDS;
    if (has_claims(acc)) return AGG_ACCUMULATOR_VERSION_CLAIMS;
    return agg_accumulator_keeps_records(acc) ? AGG_ACCUMULATOR_VERSION_RECORDS
                                              : AGG_ACCUMULATOR_VERSION;
}

uint64_t agg_accumulator_size(const agg_accumulator *acc)
{
    uint64_t size = HEADER + SHAPE * (uint64_t)acc->n_parts + 8;
    if (has_shards(acc))
        size += AGG_ACCUMULATOR_SHARDS_HEAD + AGG_CLAIM * (uint64_t)acc->claims.n;
    else if (has_claims(acc))
        size += AGG_ACCUMULATOR_CLAIMS_HEAD + AGG_CLAIM * (uint64_t)acc->claims.n;
    for (size_t i = 0; i < acc->shards.n; i++) size += agg_shard_claim_size(&acc->shards.list[i]);
    if (agg_accumulator_keeps_records(acc))
        return size + 8 + acc->set.n_distinct * (acc->record_size + 4u);
    for (uint32_t i = 0; i < acc->n_parts; i++)
        size += 4 * (acc->parts[i].n_rows + acc->parts[i].n_cells);
    return size;
}

uint64_t agg_accumulator_memory(const agg_accumulator *acc)
{
    uint64_t bytes = acc->set.records_cap * acc->record_size + acc->set.counts_cap * 4u;
    for (uint32_t i = 0; i < acc->n_parts; i++)
        bytes += 4 * (acc->parts[i].n_rows + acc->parts[i].n_cells);
    return bytes;
}

agg_err agg_accumulator_size_of(uint64_t *size, agg_error *error, const shoal_recipe *recipe)
{
    uint64_t sum = HEADER + SHAPE * (uint64_t)recipe->n_parts + 8;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        const agg_sketch_kind *kind = agg_sketch_kind_of(part->mechanism);
        if (kind == NULL) return agg_fail_core(error, SHOAL_ERR_MECHANISM, AGG_EXIT_RUNTIME);
        uint64_t n_rows = kind->has_rows ? part->k : 0;
        sum += 4 * (n_rows + (uint64_t)(kind->is_one_row ? 1 : part->k) * part->m);
    }
    *size = shoal_recipe_keeps_records(recipe) ? AGG_RECORD_SET_BYTES : sum;
    return SHOAL_OK;
}

// A stream with a running checksum. Bytes go to the stream, into the checksum, or both.
typedef struct summed {
    FILE *stream; // NULL: bytes are only summed
    shoal_checksum sum;
    bool is_apart;    // another thread computes the checksum
    uint64_t written; // bytes written to the stream
    uint64_t begun;   // of these, bytes whose writeback to the disk was requested
} summed;

static bool put(summed *out, const uint8_t *bytes, size_t len)
{
    if (!out->is_apart) shoal_checksum_update(&out->sum, bytes, len);
    if (out->stream == NULL) return true;
    if (fwrite(bytes, 1, len, out->stream) != len) return false;
    out->written += len;
    if (out->written - out->begun < WRITEBACK_BYTES) return true;
    agg_file_begin_sync(out->stream, out->begun, out->written - out->begun);
    out->begun = out->written;
    return true;
}

static bool put_numbers(summed *out, const uint32_t *numbers, uint64_t n)
{
    static const uint32_t one = 1;
    uint8_t bytes[4 * CHUNK];
    // Then numbers have the same bytes in memory as in the file.
    bool is_little_endian = load32_le((const uint8_t *)&one) == one;
    uint64_t most = !is_little_endian ? CHUNK : out->is_apart ? FAR : NEAR;
    for (uint64_t first = 0; first < n; first += most) {
        size_t some = (size_t)(n - first < most ? n - first : most);
        for (size_t i = 0; i < some && !is_little_endian; i++)
            store32_le(bytes + 4 * i, numbers[first + i]);
        if (!put(out, is_little_endian ? (const uint8_t *)(numbers + first) : bytes, 4 * some))
            return false;
    }
    return true;
}

static void print_header(uint8_t header[HEADER], const agg_accumulator *acc)
{
    memset(header, 0, HEADER);
    memcpy(header, AGG_ACCUMULATOR_MAGIC, AGG_ACCUMULATOR_MAGIC_LEN);
    store32_le(header + 8, version_of(acc));
    store32_le(header + 12, acc->n_parts);
    memcpy(header + 16, acc->recipe_hash, 32);
    store32_le(header + 48, (uint32_t)strlen(acc->recipe_id));
    memcpy(header + 52, acc->recipe_id, strlen(acc->recipe_id));
    store64_le(header + 116, acc->n);
}

static bool put_claims(summed *out, const agg_accumulator *acc)
{
    uint8_t bytes[AGG_ACCUMULATOR_SHARDS_HEAD];
    const agg_claims *claims = &acc->claims;
    bool has_more = has_shards(acc);
    store32_le(bytes,
               (agg_accumulator_keeps_records(acc) ? AGG_ACCUMULATOR_HAS_RECORDS : 0u) |
                   (claims->is_complete || acc->shards.n > 0 ? 0u : AGG_ACCUMULATOR_IS_INCOMPLETE));
    store32_le(bytes + 4, (uint32_t)claims->n);
    store32_le(bytes + 8, (uint32_t)acc->shards.n);
    store32_le(bytes + 12, acc->rows.first);
    store32_le(bytes + 16, acc->rows.last);
    return put(out, bytes, has_more ? sizeof bytes : AGG_ACCUMULATOR_CLAIMS_HEAD) &&
           (claims->n == 0 || put(out, claims->ids[0], AGG_CLAIM * claims->n));
}

static bool put_shards(summed *out, const agg_shard_claims *shards)
{
    uint8_t head[AGG_SHARD_CLAIM_HEAD];
    bool ok = true;
    for (size_t i = 0; ok && i < shards->n; i++) {
        const agg_shard_claim *claim = &shards->list[i];
        agg_shard_claim_print_head(head, claim);
        ok =
            put(out, head, sizeof head) &&
            (claim->n_earlier == 0 || put(out, claim->earlier[0], 32 * (size_t)claim->n_earlier)) &&
            put(out, claim->held, agg_shard_bits(claim->n_shards));
    }
    return ok;
}

static bool put_sums(summed *out, const agg_accumulator *acc)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < acc->n_parts; i++) {
        ok = put_numbers(out, acc->parts[i].rows, acc->parts[i].n_rows) &&
             put_numbers(out, acc->parts[i].cells.ones, acc->parts[i].n_cells);
    }
    return ok;
}

static bool put_records(summed *out, const agg_record_set *set)
{
    uint8_t eight[8], count[4];
    store64_le(eight, set->n_distinct);
    bool ok = put(out, eight, sizeof eight);
    for (uint64_t i = 0; ok && i < set->n_distinct; i++) {
        store32_le(count, set->counts[i]);
        ok = put(out, agg_record_set_at(set, i), set->record_size) && put(out, count, sizeof count);
    }
    return ok;
}

// Writes everything before the checksum.
static bool put_all(summed *out, const agg_accumulator *acc)
{
    uint8_t header[HEADER], shape[SHAPE];
    print_header(header, acc);
    bool ok = put(out, header, HEADER);
    for (uint32_t i = 0; ok && i < acc->n_parts; i++) {
        store32_le(shape, acc->parts[i].shape.mechanism);
        store32_le(shape + 4, acc->parts[i].shape.k);
        store32_le(shape + 8, acc->parts[i].shape.m);
        ok = put(out, shape, SHAPE);
    }
    if (ok && (has_claims(acc) || has_shards(acc))) ok = put_claims(out, acc);
    if (ok) ok = put_shards(out, &acc->shards);
    return ok &&
           (agg_accumulator_keeps_records(acc) ? put_records(out, &acc->set) : put_sums(out, acc));
}

typedef struct writing {
    const agg_accumulator *acc;
    summed parts[2];
    bool is_ok[2];
} writing;

static void put_part(void *context, unsigned part, unsigned n_parts)
{
    writing *w = context;
    (void)n_parts;
    w->is_ok[part] = put_all(&w->parts[part], w->acc);
}

// With one thread, it sums what it writes. With two, the caller's thread writes and the other sums
// the same bytes: XXH64 sums of parts cannot be combined, so the sum is not split.
static agg_err write_by(FILE *stream, agg_error *error, const agg_accumulator *acc,
                        unsigned n_threads)
{
    uint8_t trailer[8];
    if (has_claims(acc) && !agg_accumulator_claims_fit(&acc->claims, acc->n))
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_RUNTIME,
                        "recipe %s: %zu ids cannot claim %llu records", acc->recipe_id,
                        acc->claims.n, (unsigned long long)acc->n);
    bool is_shared = n_threads > 1 && agg_accumulator_size(acc) >= SHARED_BYTES;
    writing w = {acc, {{.stream = stream, .is_apart = is_shared}, {.stream = NULL}}, {true, true}};
    shoal_checksum_init(&w.parts[0].sum);
    shoal_checksum_init(&w.parts[1].sum);
    agg_parallel(is_shared ? 2 : 1, put_part, &w);
    store64_le(trailer, shoal_checksum_value(&w.parts[is_shared].sum));
    if (w.is_ok[0] && w.is_ok[1] && fwrite(trailer, 1, sizeof trailer, stream) == sizeof trailer)
        return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the accumulator: %s",
                    strerror(errno));
}

agg_err agg_accumulator_write(FILE *stream, agg_error *error, const agg_accumulator *acc)
{
    return write_by(stream, error, acc, 1);
}

static agg_err save_to(agg_file *file, agg_error *error, const agg_accumulator *acc,
                       const char *path, unsigned n_threads)
{
    agg_file_expect(file, agg_accumulator_size(acc));
    agg_err err = write_by(file->stream, error, acc, n_threads);
    if (err == SHOAL_OK) return agg_file_commit(file, error);
    agg_error_prefix(error, "%s", path);
    agg_file_abandon(file);
    return err;
}

agg_err agg_accumulator_save_by(const agg_accumulator *acc, agg_error *error, const char *path,
                                unsigned n_threads)
{
    agg_file file;
    if (strcmp(path, "-") == 0) {
        agg_err err = write_by(agg_out(), error, acc, n_threads);
        if (err != SHOAL_OK || fflush(agg_out()) == 0) return err;
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the accumulator: %s",
                        strerror(errno));
    }
    agg_err err = agg_file_create(&file, error, path);
    return err == SHOAL_OK ? save_to(&file, error, acc, path, n_threads) : err;
}

agg_err agg_accumulator_save_private(const agg_accumulator *acc, agg_error *error, const char *path)
{
    agg_file file;
    agg_err err = agg_file_create_private(&file, error, path);
    return err == SHOAL_OK ? save_to(&file, error, acc, path, 1) : err;
}

agg_err agg_accumulator_save(const agg_accumulator *acc, agg_error *error, const char *path)
{
    return agg_accumulator_save_by(acc, error, path, 1);
}
