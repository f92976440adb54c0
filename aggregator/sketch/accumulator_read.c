// SPDX-License-Identifier: Apache-2.0
// Reading the file of an accumulator, or its head alone; see accumulator.h for its layout.
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "accumulator.h"
#include "accumulator_parts.h"
#include "agg_size.h"
#include "bytes.h"
#include "call_streams.h"
#include "checksum.h"

#define HEADER AGG_ACCUMULATOR_HEADER
#define SHAPE AGG_ACCUMULATOR_SHAPE
#define CHUNK 16384u                   // numbers that are converted at once
#define READ_AHEAD ((uint64_t)1 << 16) // records or ids for which memory is reserved at once

// A stream with a checksum of the bytes that were read.
typedef struct incoming {
    FILE *stream;
    shoal_checksum sum;
} incoming;

// What a file says before its sums, beside what the accumulator keeps.
typedef struct head {
    uint32_t version, n_parts, n_claims, n_manifests;
    agg_rows rows; // that the file holds
    bool keeps_records;
    agg_shape shapes[SHOAL_PARTS_MAX];
} head;

static agg_err get(incoming *in, uint8_t *bytes, size_t len)
{
    if (fread(bytes, 1, len, in->stream) != len)
        return ferror(in->stream) ? AGG_ERR_IO : SHOAL_ERR_TRUNCATED;
    shoal_checksum_update(&in->sum, bytes, len);
    return SHOAL_OK;
}

static agg_err get_numbers(incoming *in, uint32_t *numbers, uint64_t n)
{
    uint8_t bytes[4 * CHUNK];
    for (uint64_t first = 0; first < n; first += CHUNK) {
        size_t some = n - first < CHUNK ? (size_t)(n - first) : CHUNK;
        agg_err err = get(in, bytes, 4 * some);
        if (err != SHOAL_OK) return err;
        for (size_t i = 0; i < some; i++) numbers[first + i] = load32_le(bytes + 4 * i);
    }
    return SHOAL_OK;
}

static bool is_name(const uint8_t *bytes, uint32_t len)
{
    if (len < 1 || len > SHOAL_NAME_MAX) return false;
    for (uint32_t i = 0; i < SHOAL_NAME_MAX; i++) {
        bool is_text = bytes[i] > ' ' && bytes[i] < 127;
        if (i < len ? !is_text : bytes[i] != 0) return false;
    }
    return true;
}

static agg_err get_header(agg_accumulator *acc, head *h, incoming *in)
{
    uint8_t header[HEADER];
    agg_err err = get(in, header, AGG_ACCUMULATOR_MAGIC_LEN);
    if (err != SHOAL_OK) return err;
    if (memcmp(header, AGG_ACCUMULATOR_MAGIC, AGG_ACCUMULATOR_MAGIC_LEN) != 0)
        return SHOAL_ERR_MAGIC;
    err = get(in, header + AGG_ACCUMULATOR_MAGIC_LEN, HEADER - AGG_ACCUMULATOR_MAGIC_LEN);
    if (err != SHOAL_OK) return err;
    h->version = load32_le(header + 8);
    h->keeps_records = h->version == AGG_ACCUMULATOR_VERSION_RECORDS;
    if (h->version < AGG_ACCUMULATOR_VERSION || h->version > AGG_ACCUMULATOR_VERSION_SHARDS)
        return SHOAL_ERR_VERSION;
    h->n_parts = load32_le(header + 12);
    uint32_t name_len = load32_le(header + 48);
    if (h->n_parts < 1 || h->n_parts > SHOAL_PARTS_MAX || !is_name(header + 52, name_len))
        return SHOAL_ERR_RANGE;
    memcpy(acc->recipe_hash, header + 16, 32);
    memcpy(acc->recipe_id, header + 52, name_len);
    acc->n = load64_le(header + 116);
    return SHOAL_OK;
}

static agg_err get_shapes(head *h, incoming *in)
{
    uint8_t bytes[SHAPE];
    for (uint32_t i = 0; i < h->n_parts; i++) {
        agg_err err = get(in, bytes, SHAPE);
        if (err != SHOAL_OK) return err;
        h->shapes[i] = (agg_shape){load32_le(bytes), load32_le(bytes + 4), load32_le(bytes + 8)};
    }
    return SHOAL_OK;
}

// Returns: the rows of all sketches; of a mechanism that nobody knows one.
static uint64_t row_count(const head *h)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < h->n_parts; i++) {
        const agg_sketch_kind *kind = agg_sketch_kind_of(h->shapes[i].mechanism);
        n += kind == NULL || kind->is_one_row ? 1 : h->shapes[i].k;
    }
    return n;
}

// Checks what a file of version 4 says before it lists its claims. One that claims no shards holds
// some rows only; else it would be of an older version.
static agg_err check_shards_head(const head *h, const agg_claims *listed,
                                 const agg_accumulator *acc)
{
    uint64_t n_rows = row_count(h);
    if (h->rows.first == 0 ? h->rows.last != 0 || h->n_manifests == 0
                           : h->rows.last < h->rows.first || h->rows.last > n_rows ||
                                 h->rows.last - h->rows.first + 1 == n_rows || h->keeps_records)
        return SHOAL_ERR_RANGE;
    if (h->n_manifests > AGG_MANIFESTS_MAX) return SHOAL_ERR_RANGE;
    if (h->n_manifests > 0)
        return listed->n == 0 && listed->is_complete ? SHOAL_OK : SHOAL_ERR_RANGE;
    if (listed->n == 0 && !listed->is_complete) return SHOAL_OK;
    return agg_accumulator_claims_fit(listed, acc->n) ? SHOAL_OK : SHOAL_ERR_RANGE;
}

// Reads what a file of version 3 or 4 says of its claims before it lists them.
static agg_err get_claims_head(agg_claims *claims, head *h, const agg_accumulator *acc,
                               incoming *in)
{
    uint8_t bytes[AGG_ACCUMULATOR_SHARDS_HEAD];
    bool has_shards = h->version == AGG_ACCUMULATOR_VERSION_SHARDS;
    if (h->version < AGG_ACCUMULATOR_VERSION_CLAIMS) return SHOAL_OK;
    agg_err err = get(in, bytes, has_shards ? sizeof bytes : AGG_ACCUMULATOR_CLAIMS_HEAD);
    if (err != SHOAL_OK) return err;
    uint32_t flags = load32_le(bytes), n = load32_le(bytes + 4);
    if ((flags & ~(AGG_ACCUMULATOR_HAS_RECORDS | AGG_ACCUMULATOR_IS_INCOMPLETE)) != 0)
        return SHOAL_ERR_RANGE;
    h->keeps_records = (flags & AGG_ACCUMULATOR_HAS_RECORDS) != 0;
    const agg_claims listed = {.n = n, .is_complete = (flags & AGG_ACCUMULATOR_IS_INCOMPLETE) == 0};
    h->n_claims = n;
    if (has_shards) {
        h->n_manifests = load32_le(bytes + 8);
        h->rows = (agg_rows){load32_le(bytes + 12), load32_le(bytes + 16)};
        err = check_shards_head(h, &listed, acc);
        if (err != SHOAL_OK) return err;
    } else if (!agg_accumulator_claims_fit(&listed, acc->n)) {
        return SHOAL_ERR_RANGE;
    }
    claims->is_complete = listed.is_complete && h->n_manifests == 0;
    return SHOAL_OK;
}

// Reads the ids. Memory grows with what the file really holds, not with the number that it claims.
static agg_err get_ids(agg_claims *claims, agg_error *error, const head *h, incoming *in)
{
    while (claims->n < h->n_claims) {
        size_t some = h->n_claims - claims->n < READ_AHEAD ? h->n_claims - claims->n : READ_AHEAD;
        void *ids = claims->ids;
        agg_err err = agg_grow(&ids, &claims->cap, claims->n + some, sizeof *claims->ids, error);
        claims->ids = ids;
        if (err == SHOAL_OK) err = get(in, claims->ids[claims->n], AGG_CLAIM * some);
        if (err != SHOAL_OK) return err;
        for (size_t end = claims->n + some; claims->n < end; claims->n++)
            if (claims->n > 0 &&
                memcmp(claims->ids[claims->n - 1], claims->ids[claims->n], AGG_CLAIM) >= 0)
                return SHOAL_ERR_RANGE;
    }
    return SHOAL_OK;
}

// Reads the manifests. Each allocates little before its bytes are read.
static agg_err get_shards(agg_shard_claims *shards, agg_error *error, const head *h, incoming *in)
{
    uint8_t bytes[AGG_SHARD_CLAIM_HEAD];
    while (shards->n < h->n_manifests) {
        void *list = shards->list;
        agg_err err = agg_grow(&list, &shards->cap, shards->n + 1, sizeof *shards->list, error);
        shards->list = list;
        if (err == SHOAL_OK) err = get(in, bytes, sizeof bytes);
        if (err != SHOAL_OK) return err;
        agg_shard_claim *claim = &shards->list[shards->n];
        err = agg_shard_claim_read_head(claim, error, bytes);
        if (err != SHOAL_OK) return err;
        shards->n++;
        if (claim->n_earlier > 0) err = get(in, claim->earlier[0], 32 * (size_t)claim->n_earlier);
        if (err == SHOAL_OK) err = get(in, claim->held, agg_shard_bits(claim->n_shards));
        if (err != SHOAL_OK) return err;
    }
    return agg_shard_claims_check_read(shards);
}

// Reads everything before the sums.
static agg_err get_head(agg_accumulator *acc, agg_error *error, head *h, incoming *in)
{
    agg_err err = get_header(acc, h, in);
    if (err == SHOAL_OK) err = get_shapes(h, in);
    if (err == SHOAL_OK) err = get_claims_head(&acc->claims, h, acc, in);
    if (err == SHOAL_OK) err = get_ids(&acc->claims, error, h, in);
    return err == SHOAL_OK ? get_shards(&acc->shards, error, h, in) : err;
}

static agg_err skip(incoming *in, uint64_t n_bytes)
{
    uint8_t bytes[4 * CHUNK];
    agg_err err = SHOAL_OK;
    for (; err == SHOAL_OK && n_bytes > 0;) {
        size_t some = n_bytes < sizeof bytes ? (size_t)n_bytes : sizeof bytes;
        err = get(in, bytes, some);
        n_bytes -= some;
    }
    return err;
}

// Reads the numbers of some rows among those of a file that holds them all.
//   n: numbers to read
static agg_err get_some(incoming *in, uint32_t *numbers, uint64_t n, uint64_t per_row,
                        agg_part_rows rows)
{
    agg_err err = skip(in, 4 * per_row * rows.first);
    if (err == SHOAL_OK) err = get_numbers(in, numbers, n);
    return err == SHOAL_OK ? skip(in, 4 * per_row * (rows.n - rows.end)) : err;
}

// Reads the accumulator's rows of a file that holds all.
static agg_err get_rows(agg_accumulator *acc, const head *h, incoming *in)
{
    for (uint32_t i = 0; i < acc->n_parts; i++) {
        const agg_part_rows rows = agg_accumulator_part_rows(acc, h->shapes, i);
        const agg_sketch_kind *kind = agg_sketch_kind_of(h->shapes[i].mechanism);
        agg_sketch *sketch = &acc->parts[i];
        uint64_t rows_per = kind->has_rows ? h->shapes[i].k / rows.n : 0;
        agg_err err = get_some(in, sketch->rows, sketch->n_rows, rows_per, rows);
        if (err == SHOAL_OK)
            err = get_some(in, sketch->cells.ones, sketch->n_cells, h->shapes[i].m, rows);
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

static agg_err get_sums(agg_accumulator *acc, incoming *in)
{
    for (uint32_t i = 0; i < acc->n_parts; i++) {
        agg_sketch *sketch = &acc->parts[i];
        agg_err err = get_numbers(in, sketch->rows, sketch->n_rows);
        if (err == SHOAL_OK) err = get_numbers(in, sketch->cells.ones, sketch->n_cells);
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

// Checks a record as the mechanisms of its parts do: adding trusts the row that it states.
static agg_err check_record(const agg_accumulator *acc, const uint8_t *record)
{
    for (uint32_t i = 0; i < acc->n_parts; i++) {
        const agg_shape *shape = &acc->parts[i].shape;
        const shoal_part part = {.mechanism = shape->mechanism, .k = shape->k, .m = shape->m};
        agg_err err = shoal_mechanism_by_id(shape->mechanism)->check(&part, record);
        if (err != SHOAL_OK) return err;
        record += agg_sketch_kind_of(shape->mechanism)->record_size(shape);
    }
    return SHOAL_OK;
}

// Reads the records that are kept. Memory grows with what the file really holds, not with the
// number that it claims.
static agg_err get_records(agg_accumulator *acc, agg_error *error, incoming *in)
{
    agg_record_set *set = &acc->set;
    uint8_t eight[8], four[4];
    uint64_t n = 0;
    agg_err err = get(in, eight, sizeof eight);
    uint64_t n_distinct = load64_le(eight);
    for (uint64_t i = 0; err == SHOAL_OK && i < n_distinct; i++) {
        if (i % READ_AHEAD == 0)
            err = agg_record_set_reserve(set, error,
                                         n_distinct - i < READ_AHEAD ? n_distinct : i + READ_AHEAD);
        if (err != SHOAL_OK) return err;
        uint8_t *record = set->records + i * set->record_size;
        err = get(in, record, set->record_size);
        if (err == SHOAL_OK) err = get(in, four, sizeof four);
        if (err != SHOAL_OK) return err;
        set->counts[i] = load32_le(four);
        set->n_distinct = i + 1;
        n += set->counts[i];
        if (set->counts[i] == 0 ||
            (i > 0 && memcmp(record - set->record_size, record, set->record_size) >= 0))
            return SHOAL_ERR_RANGE;
        err = check_record(acc, record);
    }
    if (err != SHOAL_OK) return err;
    return n == acc->n ? SHOAL_OK : SHOAL_ERR_RANGE;
}

static agg_err get_body(agg_accumulator *acc, agg_error *error, const head *h, incoming *in)
{
    uint8_t trailer[8];
    agg_err err = agg_accumulator_keeps_records(acc) ? get_records(acc, error, in)
                  : acc->rows.first == h->rows.first ? get_sums(acc, in)
                                                     : get_rows(acc, h, in);
    if (err != SHOAL_OK) return err;
    uint64_t expected = shoal_checksum_value(&in->sum);
    err = get(in, trailer, sizeof trailer);
    if (err != SHOAL_OK) return err;
    if (load64_le(trailer) != expected) return SHOAL_ERR_CHECKSUM;
    if (fgetc(in->stream) != EOF) return SHOAL_ERR_EXTRA;
    return agg_accumulator_keeps_records(acc) ? agg_accumulator_sum_records(acc, error) : SHOAL_OK;
}

// Fails with the reason that is known best.
static agg_err fail_reading(agg_error *error, agg_err err, const agg_error *inner, const char *name)
{
    const char *what = inner->text[0] != '\0' ? inner->text
                       : err == AGG_ERR_IO    ? strerror(errno)
                                              : shoal_err_text(err);
    int exit_code = err == AGG_ERR_MEMORY ? AGG_EXIT_RUNTIME : AGG_EXIT_IO;
    if (err == AGG_ERR_INCOMPLETE || err == SHOAL_ERR_ARGUMENT) // the file is good
        return agg_fail(error, err, inner->exit_code, "%s: %s", name, inner->text);
    return agg_fail(error, err, exit_code, "%s: accumulator cannot be read: %s", name, what);
}

// Decides which rows are read.
//   rows: as for agg_accumulator_load_rows; NULL: all, and the file holds all
static agg_err choose_rows(agg_accumulator *acc, agg_error *error, const head *h,
                           const agg_rows *rows)
{
    uint64_t n_rows = row_count(h);
    acc->rows = h->rows;
    if (rows == NULL && h->rows.first > 0)
        return agg_fail(error, AGG_ERR_INCOMPLETE, AGG_EXIT_RUNTIME,
                        "incomplete: it holds only rows %u-%u; shoal merge puts rows together",
                        h->rows.first, h->rows.last);
    if (rows == NULL || rows->first == 0) return SHOAL_OK;
    if (rows->last > n_rows)
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE, "it has %llu rows",
                        (unsigned long long)n_rows);
    if (h->keeps_records)
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE,
                        "it keeps records, which have no rows: merge it without --rows");
    if (h->rows.first > 0 && (h->rows.first != rows->first || h->rows.last != rows->last))
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE, "it holds rows %u-%u",
                        h->rows.first, h->rows.last);
    if (rows->last - rows->first + 1 < n_rows) acc->rows = *rows;
    return SHOAL_OK;
}

static agg_err read_chosen(agg_accumulator *acc, agg_error *error, const char *name, FILE *stream,
                           const agg_rows *rows)
{
    incoming in = {.stream = stream};
    head h = {.n_parts = 0};
    agg_error inner = {SHOAL_OK, AGG_EXIT_IO, ""};
    memset(acc, 0, sizeof *acc);
    shoal_checksum_init(&in.sum);
    agg_err err = get_head(acc, &inner, &h, &in);
    if (err == SHOAL_OK) err = choose_rows(acc, &inner, &h, rows);
    if (err == SHOAL_OK) err = agg_accumulator_init_parts(acc, &inner, h.shapes, h.n_parts);
    if (err == SHOAL_OK) err = agg_accumulator_check_room(acc, &inner, 0);
    if (err == SHOAL_OK && h.keeps_records) agg_record_set_init(&acc->set, acc->record_size);
    if (err == SHOAL_OK) err = get_body(acc, &inner, &h, &in);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_accumulator_release(acc);
    return fail_reading(error, err, &inner, name);
}

agg_err agg_accumulator_read(agg_accumulator *acc, agg_error *error, const char *name, FILE *stream)
{
    return read_chosen(acc, error, name, stream, NULL);
}

agg_err agg_accumulator_read_rows(agg_accumulator *acc, agg_error *error, const char *name,
                                  FILE *stream, agg_rows rows)
{
    return read_chosen(acc, error, name, stream, &rows);
}

static FILE *open_file(agg_error *error, const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot open: %s", path, strerror(errno));
    return stream;
}

static agg_err load_rows(agg_accumulator *acc, agg_error *error, const char *path,
                         const agg_rows *rows)
{
    memset(acc, 0, sizeof *acc);
    if (strcmp(path, "-") == 0) {
        FILE *in = agg_in(error);
        return in != NULL ? read_chosen(acc, error, "standard input", in, rows) : AGG_ERR_USAGE;
    }
    FILE *stream = open_file(error, path);
    if (stream == NULL) return AGG_ERR_IO;
    agg_err err = read_chosen(acc, error, path, stream, rows);
    fclose(stream);
    return err;
}

agg_err agg_accumulator_load(agg_accumulator *acc, agg_error *error, const char *path)
{
    return load_rows(acc, error, path, NULL);
}

agg_err agg_accumulator_load_rows(agg_accumulator *acc, agg_error *error, const char *path,
                                  agg_rows rows)
{
    return load_rows(acc, error, path, &rows);
}

// ---- the head alone ----

agg_err agg_accumulator_read_head(uint8_t recipe_hash[32], uint64_t *n, const uint8_t *bytes,
                                  size_t len)
{
    if (len < AGG_ACCUMULATOR_MAGIC_LEN) return SHOAL_ERR_TRUNCATED;
    if (memcmp(bytes, AGG_ACCUMULATOR_MAGIC, AGG_ACCUMULATOR_MAGIC_LEN) != 0)
        return SHOAL_ERR_MAGIC;
    if (len < HEADER) return SHOAL_ERR_TRUNCATED;
    uint32_t version = load32_le(bytes + 8);
    if (version < AGG_ACCUMULATOR_VERSION || version > AGG_ACCUMULATOR_VERSION_SHARDS)
        return SHOAL_ERR_VERSION;
    memcpy(recipe_hash, bytes + 16, 32);
    *n = load64_le(bytes + 116);
    return SHOAL_OK;
}

// Reads the head of a file.
//   acc: only its n and its claims are of use; release it, also after an error
//   with_ids: reads the ids too
static agg_err peek(agg_accumulator *acc, head *h, agg_error *error, const char *path,
                    bool with_ids)
{
    agg_error inner = {SHOAL_OK, AGG_EXIT_IO, ""};
    memset(acc, 0, sizeof *acc);
    FILE *stream = open_file(error, path);
    if (stream == NULL) return AGG_ERR_IO;
    incoming in = {.stream = stream};
    shoal_checksum_init(&in.sum);
    agg_err err = get_header(acc, h, &in);
    if (err == SHOAL_OK) err = get_shapes(h, &in);
    if (err == SHOAL_OK) err = get_claims_head(&acc->claims, h, acc, &in);
    if (err == SHOAL_OK && with_ids) err = get_ids(&acc->claims, &inner, h, &in);
    if (err == SHOAL_OK && with_ids) err = get_shards(&acc->shards, &inner, h, &in);
    if (err != SHOAL_OK) fail_reading(error, err, &inner, path);
    fclose(stream);
    return err;
}

agg_err agg_accumulator_peek(bool *keeps_records, agg_error *error, const char *path)
{
    agg_accumulator acc;
    head h = {.n_parts = 0};
    agg_err err = peek(&acc, &h, error, path, false);
    if (err == SHOAL_OK) *keeps_records = h.keeps_records;
    agg_accumulator_release(&acc);
    return err;
}

agg_err agg_accumulator_peek_claims(agg_claims_about *about, agg_error *error, const char *path)
{
    agg_accumulator acc;
    head h = {.n_parts = 0};
    agg_err err = peek(&acc, &h, error, path, false);
    if (err == SHOAL_OK)
        *about = (agg_claims_about){h.n_claims, h.n_manifests,
                                    h.n_manifests > 0 || agg_accumulator_is_claimed(&acc), h.rows,
                                    row_count(&h)};
    agg_accumulator_release(&acc);
    return err;
}

agg_err agg_accumulator_load_claims(agg_claims *claims, agg_shard_claims *shards, agg_error *error,
                                    const char *path)
{
    agg_accumulator acc;
    head h = {.n_parts = 0};
    memset(claims, 0, sizeof *claims);
    memset(shards, 0, sizeof *shards);
    agg_err err = peek(&acc, &h, error, path, true);
    if (err == SHOAL_OK) {
        *claims = acc.claims;
        *shards = acc.shards;
        memset(&acc.shards, 0, sizeof acc.shards);
        memset(&acc.claims, 0, sizeof acc.claims);
    }
    agg_accumulator_release(&acc);
    return err;
}
