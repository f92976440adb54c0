// SPDX-License-Identifier: Apache-2.0
// The loop over rows and items; see row_scan.h.
//
// Four rows are processed together. With poly1, a few hundred items are hashed in each of them, and
// then all four cells of an item are added at once. Items, columns and rows stay in the first-level
// cache meanwhile, or in the second if rows are long.
#include "row_scan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "affine1.h"
#include "agg_cpu.h"
#include "agg_parallel.h"
#include "agg_size.h"
#include "poly1_columns.h"

#define TOGETHER AGG_POLY1_ROWS
#define CHUNK ((size_t)256) // items that are hashed before their cells are added
#define BYTE_VALUES 256u
#define POINT_BYTES (SHOAL_AFFINE1_BITS / 8)

typedef struct scan {
    const shoal_part *part;
    const agg_sketch *sketch;
    agg_row_values values;
    agg_poly1_columns poly1_columns;
    bool is_signed;
    uint64_t *points, *squares; // items as points of the hash's field; their squares for poly1
    size_t n_items, block;
    int64_t *sums; // n_items a thread
    int32_t *rows; // TOGETHER * m a thread
} scan;

// The tables of a row's affine1 map: the part of the column that each byte of a point contributes.
typedef struct affine_tables {
    uint32_t of_byte[POINT_BYTES][BYTE_VALUES];
} affine_tables;

// The rows that are processed together; those from n_rows on are zeros.
typedef struct row_group {
    unsigned n_rows;
    shoal_poly1 poly1[TOGETHER]; // used with poly1
    affine_tables affine[TOGETHER];
    int32_t *values; // TOGETHER * m
} row_group;

// Looks up a column. The map is linear up to b, so that the parts of the point's bytes add up.
static void prepare_affine(affine_tables *hash, const shoal_part *part, uint32_t j)
{
    shoal_affine1 row;
    shoal_affine1_row(&row, part->seed, part->first_row + j, part->m);
    for (uint32_t byte = 0; byte < POINT_BYTES; byte++) {
        uint32_t *table = hash->of_byte[byte];
        table[0] = byte == 0 ? row.b : 0;
        for (uint32_t bit = 0; bit < 8; bit++) {
            uint32_t image = shoal_affine1_hash(&row, (uint32_t)1 << (8 * byte + bit)) ^ row.b;
            for (uint32_t x = 0; x < (uint32_t)1 << bit; x++)
                table[x | (uint32_t)1 << bit] = table[x] ^ image;
        }
    }
}

static bool is_affine(const shoal_part *part)
{
    return part->hash == SHOAL_HASH_AFFINE1;
}

// Adds row j to the group.
static void prepare_hash(row_group *group, const shoal_part *part, uint32_t j)
{
    if (is_affine(part))
        prepare_affine(&group->affine[group->n_rows], part, j);
    else
        shoal_poly1_row(&group->poly1[group->n_rows], part->seed, part->first_row + j);
    group->n_rows++;
}

static inline uint32_t affine_column(const affine_tables *hash, uint64_t point)
{
    return hash->of_byte[0][point & 255] ^ hash->of_byte[1][point >> 8 & 255] ^
           hash->of_byte[2][point >> 16 & 255];
}

// Looks all items up in one row with affine1.
static void add_affine_unsigned(int64_t *sums, const int32_t *row, const affine_tables *hash,
                                const uint64_t *points, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sums[i] += (int64_t)(uint32_t)row[affine_column(hash, points[i])];
}

static void add_affine_signed(int64_t *sums, const int32_t *row, const affine_tables *hash,
                              const uint64_t *points, size_t n)
{
    for (size_t i = 0; i < n; i++) sums[i] += row[affine_column(hash, points[i])];
}

// Adds the cells of a group of rows at known columns.
static void add_cells_unsigned(int64_t *sums, const int32_t *values, size_t m,
                               uint32_t columns[TOGETHER][CHUNK], size_t n)
{
    const uint32_t *first = (const uint32_t *)values, *second = first + m, *third = second + m,
                   *fourth = third + m;
    for (size_t i = 0; i < n; i++)
        sums[i] += (int64_t)first[columns[0][i]] + second[columns[1][i]] + third[columns[2][i]] +
                   fourth[columns[3][i]];
}

static void add_cells_signed(int64_t *sums, const int32_t *values, size_t m,
                             uint32_t columns[TOGETHER][CHUNK], size_t n)
{
    const int32_t *second = values + m, *third = second + m, *fourth = third + m;
    for (size_t i = 0; i < n; i++)
        sums[i] += (int64_t)values[columns[0][i]] + second[columns[1][i]] + third[columns[2][i]] +
                   fourth[columns[3][i]];
}

static void add_affine_group(const scan *s, int64_t *sums, const row_group *group, size_t first,
                             size_t n)
{
    for (unsigned r = 0; r < group->n_rows; r++) {
        const int32_t *row = group->values + (size_t)r * s->part->m;
        (s->is_signed ? add_affine_signed : add_affine_unsigned)(
            sums + first, row, &group->affine[r], s->points + first, n);
    }
}

static void add_poly1_group(const scan *s, int64_t *sums, const row_group *group, size_t first,
                            size_t n)
{
    uint32_t columns[TOGETHER][CHUNK], m = s->part->m;
    for (size_t i = first; i < first + n; i += CHUNK) {
        size_t count = first + n - i < CHUNK ? first + n - i : CHUNK;
        s->poly1_columns(columns[0], CHUNK, group->poly1, s->points + i, s->squares + i, count, m);
        (s->is_signed ? add_cells_signed : add_cells_unsigned)(sums + i, group->values, m, columns,
                                                               count);
    }
}

// Adds the group's cells for n items from `first` on.
static void add_group(const scan *s, int64_t *sums, const row_group *group, size_t first, size_t n)
{
    (is_affine(s->part) ? add_affine_group : add_poly1_group)(s, sums, group, first, n);
}

// Fills the last group up with rows of zeros.
static void fill_group(row_group *group, uint32_t m)
{
    for (unsigned r = group->n_rows; r < TOGETHER; r++) {
        memset(group->values + (size_t)r * m, 0, m * sizeof *group->values);
        group->poly1[r] = group->poly1[0];
    }
}

static bool is_empty(const int32_t *values, uint32_t m)
{
    int32_t any = 0;
    for (uint32_t l = 0; l < m; l++) any |= values[l];
    return any == 0;
}

// Returns: whether a row is empty. Local hashing may have more rows than records, and an empty row
// is not worth deriving its key.
static void scan_block(const scan *s, int64_t *sums, row_group *group, uint32_t start,
                       uint32_t stop, size_t first, size_t n)
{
    group->n_rows = 0;
    for (uint32_t j = start; j < stop; j++) {
        int32_t *values = group->values + (size_t)group->n_rows * s->part->m;
        s->values(values, s->sketch, j);
        if (is_empty(values, s->part->m)) continue;
        prepare_hash(group, s->part, j);
        if (group->n_rows < TOGETHER) continue;
        add_group(s, sums, group, first, n);
        group->n_rows = 0;
    }
    if (group->n_rows == 0) return;
    fill_group(group, s->part->m);
    add_group(s, sums, group, first, n);
}

static void scan_rows(void *context, unsigned part, unsigned n_parts)
{
    const scan *s = context;
    uint64_t k = s->part->k;
    uint32_t start = (uint32_t)(k * part / n_parts), stop = (uint32_t)(k * (part + 1) / n_parts);
    row_group group;
    group.values = s->rows + (size_t)part * TOGETHER * s->part->m;
    for (size_t first = 0; first < s->n_items; first += s->block) {
        size_t n = s->n_items - first < s->block ? s->n_items - first : s->block;
        scan_block(s, s->sums + part * s->n_items, &group, start, stop, first, n);
    }
}

static void make_points(const scan *s, const uint64_t *items)
{
    for (size_t i = 0; i < s->n_items; i++) {
        s->points[i] = is_affine(s->part) ? items[i] : shoal_poly1_point(items[i]);
        s->squares[i] = agg_poly1_square(s->points[i]);
    }
}

static agg_err run(scan *s, int64_t *support, agg_error *error, const uint64_t *items,
                   unsigned n_threads)
{
    s->points = agg_alloc(error, s->n_items, sizeof *s->points);
    s->squares = agg_alloc(error, s->n_items, sizeof *s->squares);
    s->sums = agg_alloc(error, s->n_items, n_threads * sizeof *s->sums);
    void *rows = agg_alloc(error, s->part->m + AGG_LINE, n_threads * TOGETHER * sizeof *s->rows);
    bool has_all = s->points != NULL && s->squares != NULL && s->sums != NULL && rows != NULL;
    if (has_all) {
        s->rows = agg_line_start(rows);
        make_points(s, items);
        agg_parallel(n_threads, scan_rows, s);
        memset(support, 0, s->n_items * sizeof *support);
        for (unsigned t = 0; t < n_threads; t++)
            for (size_t i = 0; i < s->n_items; i++) support[i] += s->sums[t * s->n_items + i];
    }
    free(s->points);
    free(s->squares);
    free(s->sums);
    free(rows);
    return has_all ? SHOAL_OK : AGG_ERR_MEMORY;
}

static unsigned threads_of(unsigned n_threads)
{
    return n_threads < 1 ? 1 : n_threads > AGG_THREADS_MAX ? AGG_THREADS_MAX : n_threads;
}

uint64_t agg_row_scan_memory(const shoal_part *part, size_t n_items, unsigned n_threads)
{
    uint64_t of_item =
        2 * sizeof(uint64_t) + threads_of(n_threads) * sizeof(int64_t); // points, squares and sums
    return n_items * of_item +
           (uint64_t)threads_of(n_threads) * TOGETHER * part->m * sizeof(int32_t);
}

agg_err agg_row_scan(int64_t *support, agg_error *error, const shoal_part *part,
                     const agg_sketch *sketch, agg_row_values values, const uint64_t *items,
                     size_t n_items, size_t block, unsigned n_threads)
{
    scan s = {.part = part,
              .sketch = sketch,
              .values = values,
              .poly1_columns = agg_poly1_columns_of(agg_cpu_chosen()),
              .is_signed = agg_sketch_kind_of(sketch->shape.mechanism)->is_signed,
              .n_items = n_items,
              .block = block > 0 ? block : n_items};
    if (n_items == 0) return SHOAL_OK;
    return run(&s, support, error, items, threads_of(n_threads));
}
