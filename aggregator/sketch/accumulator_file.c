// SPDX-License-Identifier: Apache-2.0
// The file of an accumulator: its size, writing and reading; see accumulator.h for its layout.
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "accumulator_parts.h"
#include "agg_file.h"
#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"
#include "checksum.h"
#include "compound.h"
#include "recipe.h"

static const uint8_t magic[8] = {'s', 'h', 'o', 'a', 'l', 'a', 'c', 'c'};
#define HEADER 124u
#define SHAPE 12u
#define SHARED_BYTES ((uint64_t)1 << 20)    // size of a file, below which one thread is faster
#define WRITEBACK_BYTES ((uint64_t)8 << 20) // written between two requests for writeback
#define CHUNK 16384u                        // numbers that are converted at once
#define NEAR 65536u             // numbers that are summed, then written while the cache has them
#define FAR ((uint64_t)1 << 20) // numbers that are only written: one large write is faster
#define READ_AHEAD ((uint64_t)1 << 16) // records for which memory is reserved at once

uint64_t agg_accumulator_size(const agg_accumulator *acc)
{
    uint64_t size = HEADER + SHAPE * (uint64_t)acc->n_parts + 8;
    if (agg_accumulator_keeps_records(acc))
        return size + 8 + acc->set.n_distinct * (acc->record_size + 4u);
    for (uint32_t i = 0; i < acc->n_parts; i++)
        size += 4 * (acc->parts[i].n_rows + acc->parts[i].n_cells);
    return size;
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
    memcpy(header, magic, sizeof magic);
    store32_le(header + 8, agg_accumulator_keeps_records(acc) ? AGG_ACCUMULATOR_VERSION_RECORDS
                                                              : AGG_ACCUMULATOR_VERSION);
    store32_le(header + 12, acc->n_parts);
    memcpy(header + 16, acc->recipe_hash, 32);
    store32_le(header + 48, (uint32_t)strlen(acc->recipe_id));
    memcpy(header + 52, acc->recipe_id, strlen(acc->recipe_id));
    store64_le(header + 116, acc->n);
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

agg_err agg_accumulator_save_by(const agg_accumulator *acc, agg_error *error, const char *path,
                                unsigned n_threads)
{
    agg_file file;
    if (strcmp(path, "-") == 0) {
        agg_err err = write_by(stdout, error, acc, n_threads);
        if (err != SHOAL_OK || fflush(stdout) == 0) return err;
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the accumulator: %s",
                        strerror(errno));
    }
    agg_err err = agg_file_create(&file, error, path);
    if (err != SHOAL_OK) return err;
    agg_file_expect(&file, agg_accumulator_size(acc));
    err = write_by(file.stream, error, acc, n_threads);
    if (err == SHOAL_OK) return agg_file_commit(&file, error);
    agg_error_prefix(error, "%s", path);
    agg_file_abandon(&file);
    return err;
}

agg_err agg_accumulator_save(const agg_accumulator *acc, agg_error *error, const char *path)
{
    return agg_accumulator_save_by(acc, error, path, 1);
}

static agg_err get(summed *in, uint8_t *bytes, size_t len)
{
    if (fread(bytes, 1, len, in->stream) != len)
        return ferror(in->stream) ? AGG_ERR_IO : SHOAL_ERR_TRUNCATED;
    shoal_checksum_update(&in->sum, bytes, len);
    return SHOAL_OK;
}

static agg_err get_numbers(summed *in, uint32_t *numbers, uint64_t n)
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

static agg_err get_header(agg_accumulator *acc, uint32_t *n_parts, bool *has_records, summed *in)
{
    uint8_t header[HEADER];
    agg_err err = get(in, header, sizeof magic);
    if (err != SHOAL_OK) return err;
    if (memcmp(header, magic, sizeof magic) != 0) return SHOAL_ERR_MAGIC;
    err = get(in, header + sizeof magic, HEADER - sizeof magic);
    if (err != SHOAL_OK) return err;
    uint32_t version = load32_le(header + 8);
    *has_records = version == AGG_ACCUMULATOR_VERSION_RECORDS;
    if (version != AGG_ACCUMULATOR_VERSION && !*has_records) return SHOAL_ERR_VERSION;
    *n_parts = load32_le(header + 12);
    uint32_t name_len = load32_le(header + 48);
    if (*n_parts < 1 || *n_parts > SHOAL_PARTS_MAX || !is_name(header + 52, name_len))
        return SHOAL_ERR_RANGE;
    memcpy(acc->recipe_hash, header + 16, 32);
    memcpy(acc->recipe_id, header + 52, name_len);
    acc->n = load64_le(header + 116);
    return SHOAL_OK;
}

static agg_err get_shapes(agg_shape shapes[SHOAL_PARTS_MAX], uint32_t n_parts, summed *in)
{
    uint8_t bytes[SHAPE];
    for (uint32_t i = 0; i < n_parts; i++) {
        agg_err err = get(in, bytes, SHAPE);
        if (err != SHOAL_OK) return err;
        shapes[i] = (agg_shape){load32_le(bytes), load32_le(bytes + 4), load32_le(bytes + 8)};
    }
    return SHOAL_OK;
}

static agg_err get_sums(agg_accumulator *acc, summed *in)
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
static agg_err get_records(agg_accumulator *acc, agg_error *error, summed *in)
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

static agg_err get_body(agg_accumulator *acc, agg_error *error, summed *in)
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

agg_err agg_accumulator_read(agg_accumulator *acc, agg_error *error, const char *name, FILE *stream)
{
    summed in = {.stream = stream};
    agg_shape shapes[SHOAL_PARTS_MAX];
    uint32_t n_parts = 0;
    bool has_records = false;
    agg_error inner = {SHOAL_OK, AGG_EXIT_IO, ""};
    memset(acc, 0, sizeof *acc);
    shoal_checksum_init(&in.sum);
    agg_err err = get_header(acc, &n_parts, &has_records, &in);
    if (err == SHOAL_OK) err = get_shapes(shapes, n_parts, &in);
    if (err == SHOAL_OK) err = agg_accumulator_init_parts(acc, &inner, shapes, n_parts);
    if (err == SHOAL_OK) err = agg_accumulator_check_room(acc, &inner, 0);
    if (err == SHOAL_OK && has_records) agg_record_set_init(&acc->set, acc->record_size);
    if (err == SHOAL_OK) err = get_body(acc, &inner, &in);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_accumulator_release(acc);
    const char *what = inner.text[0] != '\0' ? inner.text
                       : err == AGG_ERR_IO   ? strerror(errno)
                                             : shoal_err_text(err);
    int exit_code = err == AGG_ERR_MEMORY ? AGG_EXIT_RUNTIME : AGG_EXIT_IO;
    return agg_fail(error, err, exit_code, "%s: accumulator cannot be read: %s", name, what);
}

agg_err agg_accumulator_load(agg_accumulator *acc, agg_error *error, const char *path)
{
    memset(acc, 0, sizeof *acc);
    if (strcmp(path, "-") == 0) return agg_accumulator_read(acc, error, "standard input", stdin);
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot open: %s", path,
                        strerror(errno));
    agg_err err = agg_accumulator_read(acc, error, path, stream);
    fclose(stream);
    return err;
}

agg_err agg_accumulator_peek(bool *keeps_records, agg_error *error, const char *path)
{
    uint8_t head[12];
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot open: %s", path,
                        strerror(errno));
    size_t len = fread(head, 1, sizeof head, stream);
    fclose(stream);
    agg_err err = len < sizeof head                        ? SHOAL_ERR_TRUNCATED
                  : memcmp(head, magic, sizeof magic) != 0 ? SHOAL_ERR_MAGIC
                                                           : SHOAL_OK;
    uint32_t version = err == SHOAL_OK ? load32_le(head + 8) : 0;
    if (err == SHOAL_OK && version != AGG_ACCUMULATOR_VERSION &&
        version != AGG_ACCUMULATOR_VERSION_RECORDS)
        err = SHOAL_ERR_VERSION;
    if (err != SHOAL_OK)
        return agg_fail(error, err, AGG_EXIT_IO, "%s: accumulator cannot be read: %s", path,
                        shoal_err_text(err));
    *keeps_records = version == AGG_ACCUMULATOR_VERSION_RECORDS;
    return SHOAL_OK;
}
