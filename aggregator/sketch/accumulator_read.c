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
    uint32_t version, n_parts, n_claims;
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
    if (h->version < AGG_ACCUMULATOR_VERSION || h->version > AGG_ACCUMULATOR_VERSION_CLAIMS)
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

// Reads what a file of version 3 says of its claims before it lists them.
static agg_err get_claims_head(agg_claims *claims, head *h, const agg_accumulator *acc,
                               incoming *in)
{
    uint8_t bytes[AGG_ACCUMULATOR_CLAIMS_HEAD];
    if (h->version != AGG_ACCUMULATOR_VERSION_CLAIMS) return SHOAL_OK;
    agg_err err = get(in, bytes, sizeof bytes);
    if (err != SHOAL_OK) return err;
    uint32_t flags = load32_le(bytes), n = load32_le(bytes + 4);
    if ((flags & ~(AGG_ACCUMULATOR_HAS_RECORDS | AGG_ACCUMULATOR_IS_INCOMPLETE)) != 0)
        return SHOAL_ERR_RANGE;
    h->keeps_records = (flags & AGG_ACCUMULATOR_HAS_RECORDS) != 0;
    const agg_claims listed = {.n = n, .is_complete = (flags & AGG_ACCUMULATOR_IS_INCOMPLETE) == 0};
    if (!agg_accumulator_claims_fit(&listed, acc->n)) return SHOAL_ERR_RANGE;
    claims->is_complete = listed.is_complete;
    h->n_claims = n;
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

// Reads everything before the sums.
static agg_err get_head(agg_accumulator *acc, agg_error *error, head *h, incoming *in)
{
    agg_err err = get_header(acc, h, in);
    if (err == SHOAL_OK) err = get_shapes(h, in);
    if (err == SHOAL_OK) err = get_claims_head(&acc->claims, h, acc, in);
    return err == SHOAL_OK ? get_ids(&acc->claims, error, h, in) : err;
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

static agg_err get_body(agg_accumulator *acc, agg_error *error, incoming *in)
{
    uint8_t trailer[8];
    agg_err err =
        agg_accumulator_keeps_records(acc) ? get_records(acc, error, in) : get_sums(acc, in);
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
    return agg_fail(error, err, exit_code, "%s: accumulator cannot be read: %s", name, what);
}

agg_err agg_accumulator_read(agg_accumulator *acc, agg_error *error, const char *name, FILE *stream)
{
    incoming in = {.stream = stream};
    head h = {.n_parts = 0};
    agg_error inner = {SHOAL_OK, AGG_EXIT_IO, ""};
    memset(acc, 0, sizeof *acc);
    shoal_checksum_init(&in.sum);
    agg_err err = get_head(acc, &inner, &h, &in);
    if (err == SHOAL_OK) err = agg_accumulator_init_parts(acc, &inner, h.shapes, h.n_parts);
    if (err == SHOAL_OK) err = agg_accumulator_check_room(acc, &inner, 0);
    if (err == SHOAL_OK && h.keeps_records) agg_record_set_init(&acc->set, acc->record_size);
    if (err == SHOAL_OK) err = get_body(acc, &inner, &in);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_accumulator_release(acc);
    return fail_reading(error, err, &inner, name);
}

static FILE *open_file(agg_error *error, const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot open: %s", path, strerror(errno));
    return stream;
}

agg_err agg_accumulator_load(agg_accumulator *acc, agg_error *error, const char *path)
{
    memset(acc, 0, sizeof *acc);
    if (strcmp(path, "-") == 0) {
        FILE *in = agg_in(error);
        return in != NULL ? agg_accumulator_read(acc, error, "standard input", in) : AGG_ERR_USAGE;
    }
    FILE *stream = open_file(error, path);
    if (stream == NULL) return AGG_ERR_IO;
    agg_err err = agg_accumulator_read(acc, error, path, stream);
    fclose(stream);
    return err;
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
    if (version < AGG_ACCUMULATOR_VERSION || version > AGG_ACCUMULATOR_VERSION_CLAIMS)
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
    if (err == SHOAL_OK) *about = (agg_claims_about){h.n_claims, agg_accumulator_is_claimed(&acc)};
    agg_accumulator_release(&acc);
    return err;
}

agg_err agg_accumulator_load_claims(agg_claims *claims, agg_error *error, const char *path)
{
    agg_accumulator acc;
    head h = {.n_parts = 0};
    memset(claims, 0, sizeof *claims);
    agg_err err = peek(&acc, &h, error, path, true);
    if (err == SHOAL_OK) {
        *claims = acc.claims;
        memset(&acc.claims, 0, sizeof acc.claims);
    }
    agg_accumulator_release(&acc);
    return err;
}
