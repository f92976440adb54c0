// SPDX-License-Identifier: Apache-2.0
// Rows outside, items inside; see row_scan.h.
#include "row_scan.h"

#include <stdlib.h>
#include <string.h>

#include "affine1.h"
#include "agg_parallel.h"
#include "agg_size.h"
#include "poly1.h"

#define BYTE_VALUES 256u
#define POINT_BYTES (SHOAL_AFFINE1_BITS / 8)

typedef struct scan {
    const shoal_part *part;
    const agg_sketch *sketch;
    agg_row_values values;
    int is_signed;
    const uint64_t *points; // items as points of the hash's field
    size_t n_items, block;
    int64_t *sums;    // n_items per thread
    int32_t *scratch; // m per thread
} scan;

// One row's hash, ready to be asked for many points.
typedef struct row_hash {
    shoal_poly1 poly;
    uint32_t of_byte[POINT_BYTES][BYTE_VALUES]; // affine1: what each byte of a point adds to the column
    uint32_t m;
    int is_affine;
} row_hash;

// The map is linear up to b, so that the column is the sum of what the point's bytes give.
static void prepare_affine(row_hash *hash, const shoal_part *part, uint32_t j)
{
    shoal_affine1 row;
    shoal_affine1_row(&row, part->seed, part->first_row + j, part->m);
    for (uint32_t byte = 0; byte < POINT_BYTES; byte++) {
        uint32_t *table = hash->of_byte[byte];
        table[0] = byte == 0 ? row.b : 0;
        for (uint32_t bit = 0; bit < 8; bit++) {
            uint32_t image = shoal_affine1_hash(&row, (uint32_t)1 << (8 * byte + bit)) ^ row.b;
            for (uint32_t x = 0; x < (uint32_t)1 << bit; x++) table[x | (uint32_t)1 << bit] = table[x] ^ image;
        }
    }
}

static void prepare_hash(row_hash *hash, const shoal_part *part, uint32_t j)
{
    hash->m = part->m;
    hash->is_affine = part->hash == SHOAL_HASH_AFFINE1;
    if (hash->is_affine)
        prepare_affine(hash, part, j);
    else
        shoal_poly1_row(&hash->poly, part->seed, part->first_row + j);
}

static inline uint32_t column_of(const row_hash *hash, uint64_t point)
{
    if (!hash->is_affine) return shoal_poly1_hash(&hash->poly, point, hash->m);
    return hash->of_byte[0][point & 255] ^ hash->of_byte[1][point >> 8 & 255] ^ hash->of_byte[2][point >> 16 & 255];
}

static void add_unsigned(int64_t *sums, const uint64_t *points, size_t n, const int32_t *values, const row_hash *hash)
{
    for (size_t i = 0; i < n; i++) sums[i] += (int64_t)(uint32_t)values[column_of(hash, points[i])];
}

static void add_signed(int64_t *sums, const uint64_t *points, size_t n, const int32_t *values, const row_hash *hash)
{
    for (size_t i = 0; i < n; i++) sums[i] += values[column_of(hash, points[i])];
}

static int is_empty(const int32_t *values, uint32_t m)
{
    int32_t any = 0;
    for (uint32_t l = 0; l < m; l++) any |= values[l];
    return any == 0;
}

// Local hashing may have more rows than records: an empty one is not worth its key.
static void scan_row(const scan *s, int64_t *sums, int32_t *values, uint32_t j, size_t first, size_t n)
{
    row_hash hash;
    s->values(values, s->sketch, j);
    if (is_empty(values, s->part->m)) return;
    prepare_hash(&hash, s->part, j);
    (s->is_signed ? add_signed : add_unsigned)(sums + first, s->points + first, n, values, &hash);
}

static void scan_rows(void *context, unsigned part, unsigned n_parts)
{
    const scan *s = context;
    uint32_t k = s->part->k;
    uint32_t start = (uint32_t)((uint64_t)k * part / n_parts), stop = (uint32_t)((uint64_t)k * (part + 1) / n_parts);
    int64_t *sums = s->sums + part * s->n_items;
    int32_t *values = s->scratch + (size_t)part * s->part->m;
    for (size_t first = 0; first < s->n_items; first += s->block) {
        size_t n = s->n_items - first < s->block ? s->n_items - first : s->block;
        for (uint32_t j = start; j < stop; j++) scan_row(s, sums, values, j, first, n);
    }
}

static shoal_err run(scan *s, int64_t *support, agg_error *error, const uint64_t *items, unsigned n_threads)
{
    uint64_t *points = agg_alloc(error, s->n_items, sizeof *points);
    s->sums = agg_alloc(error, s->n_items * n_threads, sizeof *s->sums);
    s->scratch = agg_alloc(error, (size_t)s->part->m * n_threads, sizeof *s->scratch);
    s->points = points;
    shoal_err err = points == NULL || s->sums == NULL || s->scratch == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) {
        int is_affine = s->part->hash == SHOAL_HASH_AFFINE1;
        for (size_t i = 0; i < s->n_items; i++) points[i] = is_affine ? items[i] : shoal_poly1_point(items[i]);
        agg_parallel(n_threads, scan_rows, s);
        memset(support, 0, s->n_items * sizeof *support);
        for (unsigned t = 0; t < n_threads; t++)
            for (size_t i = 0; i < s->n_items; i++) support[i] += s->sums[t * s->n_items + i];
    }
    free(points);
    free(s->sums);
    free(s->scratch);
    return err;
}

shoal_err agg_row_scan(int64_t *support, agg_error *error, const shoal_part *part, const agg_sketch *sketch,
                       agg_row_values values, const uint64_t *items, size_t n_items, size_t block, unsigned n_threads)
{
    int is_signed = agg_sketch_kind_of(sketch->shape.mechanism)->is_signed;
    scan s = {part, sketch, values, is_signed, NULL, n_items, block > 0 ? block : n_items, NULL, NULL};
    if (n_items == 0) return SHOAL_OK;
    if (n_threads < 1) n_threads = 1;
    if (n_threads > AGG_THREADS_MAX) n_threads = AGG_THREADS_MAX;
    return run(&s, support, error, items, n_threads);
}
