// SPDX-License-Identifier: Apache-2.0
// Count Mean Sketch: folding records into one row, 2,048 and 65,536 rows, and looking words up in
// the last; folds of the other mechanisms that count bits. One core.
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "bench.h"
#include "bytes.h"
#include "estimator.h"
#include "folder.h"
#include "poly1.h"
#include "record.h"

#define COLUMNS 1024u
#define ROWS_MAX 65536u
#define RECORDS (30u * ROWS_MAX) // thirty a row of the largest sketch: 260 MB
#define RUN 65536u               // records that come at a time, as from a batch
#define NAIVE_RECORDS 65536u
#define WORDS 4096u
#define NAIVE_WORDS 8u

typedef struct fold {
    agg_accumulator acc;
    agg_folder folder; // made once: a command has one for all its files
    uint8_t *records;
    uint32_t size;   // of one record
    int with_sketch; // the read pass reads the sketch too
} fold;

static void real_fold(void *context)
{
    fold *f = context;
    agg_error error;
    for (uint32_t i = 0; i < RECORDS; i += RUN)
        bench_check(agg_folder_add(&f->folder, &error, f->records + (size_t)i * f->size, RUN),
                    "a run is refused");
    bench_check(agg_folder_flush(&f->folder, &error), "the last run is refused");
}

static void naive_fold(void *context)
{
    fold *f = context;
    for (uint32_t i = 0; i < NAIVE_RECORDS; i++) {
        const uint8_t *record = f->records + (size_t)i * f->size;
        uint32_t *counts = f->acc.parts[0].cells.ones + (size_t)load32_le(record) * COLUMNS;
        for (uint32_t l = 0; l < COLUMNS; l++)
            counts[l] += (uint32_t)(record[4 + l / 8] >> l % 8 & 1);
    }
}

static void read_fold(void *context)
{
    fold *f = context;
    const agg_sketch *sketch = &f->acc.parts[0];
    bench_keep(bench_read(f->records, (size_t)RECORDS * f->size));
    if (f->with_sketch)
        bench_keep(bench_read(sketch->cells.ones, sketch->n_cells * sizeof *sketch->cells.ones));
}

// Sends the records to rows 0 .. k-1, k a power of two, and runs the step.
static void fold_into(fold *f, uint32_t k, const char *name, double aim_read)
{
    agg_recipe recipe;
    agg_error error;
    bench_recipe(&recipe, "cms", k, COLUMNS);
    for (uint32_t i = 0; i < RECORDS; i++) {
        uint8_t *record = f->records + (size_t)i * f->size;
        store32_le(record, load32_le(record) & (k - 1));
    }
    bench_check(agg_accumulator_init(&f->acc, &error, recipe.recipe), "out of memory");
    bench_check(agg_folder_init(&f->folder, &error, &f->acc, 0, 1), "out of memory");
    f->with_sketch = k == ROWS_MAX;
    bench_run_variants(&(bench_step){name,
                                     "record",
                                     "a bit at a time, scalar",
                                     0,
                                     aim_read,
                                     {real_fold, RECORDS},
                                     {naive_fold, NAIVE_RECORDS},
                                     {read_fold, RECORDS},
                                     f});
    agg_folder_release(&f->folder);
    agg_recipe_release(&recipe);
}

typedef struct lookup {
    agg_recipe recipe;
    const agg_sketch *sketch;
    shoal_poly1 *rows;
    uint64_t items[WORDS];
    int64_t sums[WORDS];
} lookup;

static void real_lookup(void *context)
{
    lookup *l = context;
    agg_error error;
    const shoal_part *part = shoal_recipe_part(l->recipe.recipe, 0);
    bench_check(agg_estimator_of(part->mechanism)
                    ->support(l->sums, &error, part, l->sketch, l->items, WORDS, 1),
                "the look-up failed");
    bench_keep((uint64_t)l->sums[0]);
}

// Words outside, rows inside: a cache miss for every look-up.
static void naive_lookup(void *context)
{
    lookup *l = context;
    for (uint32_t i = 0; i < NAIVE_WORDS; i++) {
        double sum = 0;
        uint64_t point = shoal_poly1_point(l->items[i]);
        for (uint32_t j = 0; j < ROWS_MAX; j++)
            sum += l->sketch->cells
                       .ones[(size_t)j * COLUMNS + shoal_poly1_hash(&l->rows[j], point, COLUMNS)];
        bench_keep((uint64_t)sum);
    }
}

static void read_lookup(void *context)
{
    lookup *l = context;
    bench_keep(
        bench_read(l->sketch->cells.ones, l->sketch->n_cells * sizeof *l->sketch->cells.ones));
}

static void look_up(const agg_sketch *sketch)
{
    lookup *l = bench_alloc(1, sizeof *l);
    bench_recipe(&l->recipe, "cms", ROWS_MAX, COLUMNS);
    l->sketch = sketch;
    l->rows = bench_alloc(ROWS_MAX, sizeof *l->rows);
    for (uint32_t j = 0; j < ROWS_MAX; j++)
        shoal_poly1_row(&l->rows[j], shoal_recipe_part(l->recipe.recipe, 0)->seed, j);
    for (uint32_t i = 0; i < WORDS; i++) {
        const char bytes[4] = {(char)('a' + i % 16), (char)('a' + i / 16 % 16),
                               (char)('a' + i / 256), 'x'};
        agg_recipe_item(&l->items[i], &l->recipe, bytes, sizeof bytes);
    }
    // 25 s for 250,000 words and 65,536 rows.
    bench_run_variants(&(bench_step){"estimate words, k=65536 (slice of 4,096)",
                                     "word and row",
                                     "word by word, scalar",
                                     25e9 / (250000.0 * ROWS_MAX),
                                     0,
                                     {real_lookup, (uint64_t)WORDS * ROWS_MAX},
                                     {naive_lookup, (uint64_t)NAIVE_WORDS * ROWS_MAX},
                                     {read_lookup, (uint64_t)WORDS * ROWS_MAX},
                                     l});
    free(l->rows);
    agg_recipe_release(&l->recipe);
    free(l);
}

// Records of the other mechanisms that count bits, without an accumulator around them.
typedef struct bits {
    agg_sketch sketch;
    const uint8_t *records;
    uint32_t size, rows_len; // of a record; of the row it begins with, 0 or 4
} bits;

static void real_bits(void *context)
{
    bits *b = context;
    agg_error error;
    const agg_sketch_kind *kind = agg_sketch_kind_of(b->sketch.shape.mechanism);
    for (uint32_t i = 0; i < RECORDS; i += RUN)
        bench_check(
            kind->add(&b->sketch, &error, b->records + (size_t)i * b->size, b->size, RUN, 1),
            "a run is refused");
}

static void naive_bits(void *context)
{
    bits *b = context;
    uint32_t m = b->sketch.shape.m;
    for (uint32_t i = 0; i < NAIVE_RECORDS; i++) {
        const uint8_t *record = b->records + (size_t)i * b->size, *vector = record + b->rows_len;
        uint32_t *counts =
            b->sketch.cells.ones + (b->rows_len > 0 ? (size_t)load32_le(record) * m : 0);
        for (uint32_t l = 0; l < m; l++) counts[l] += (uint32_t)(vector[l / 8] >> l % 8 & 1);
    }
}

static void read_bits(void *context)
{
    bits *b = context;
    bench_keep(bench_read(b->records, (size_t)RECORDS * b->size));
}

static void fold_bits(uint8_t *records, const agg_shape *shape, const char *name)
{
    bits b = {.records = records};
    agg_error error;
    const agg_sketch_kind *kind = agg_sketch_kind_of(shape->mechanism);
    b.size = kind->record_size(shape);
    b.rows_len = b.size - (shape->m + 7) / 8;
    for (uint32_t i = 0; i < RECORDS && b.rows_len > 0; i++)
        store32_le(records + (size_t)i * b.size, i * 40503u % shape->k);
    bench_check(agg_sketch_init(&b.sketch, &error, shape), "out of memory");
    bench_run(&(bench_step){name,
                            "record",
                            "a bit at a time, scalar",
                            0,
                            0,
                            {real_bits, RECORDS},
                            {naive_bits, NAIVE_RECORDS},
                            {read_bits, RECORDS},
                            &b});
    agg_sketch_release(&b.sketch);
}

void bench_cms(void)
{
    fold f;
    agg_recipe recipe;
    bench_recipe(&recipe, "cms", ROWS_MAX, COLUMNS);
    f.size = shoal_record_size(recipe.recipe);
    f.records = bench_alloc(RECORDS, f.size);
    bench_records(f.records, &recipe, RECORDS);
    fold_into(&f, ROWS_MAX, "fold CMS, k=65536, 30 records a row", 3);
    look_up(&f.acc.parts[0]);
    agg_accumulator_release(&f.acc);
    fold_into(&f, 2048, "fold CMS, k=2048, random rows", 3);
    agg_accumulator_release(&f.acc);
    fold_into(&f, 1, "fold CMS, one row", 1.5);
    agg_accumulator_release(&f.acc);
    fold_bits(f.records, &(agg_shape){shoal_onehot_symmetric_id, 1, 1000},
              "fold one-hot, 1,000 entries");
    fold_bits(f.records, &(agg_shape){shoal_rappor_id, 64, 128},
              "fold RAPPOR, 128 bits, 64 cohorts");
    free(f.records);
    agg_recipe_release(&recipe);
}
