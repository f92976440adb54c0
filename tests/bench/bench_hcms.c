// SPDX-License-Identifier: Apache-2.0
// Hadamard Count Mean Sketch at Apple's size, m = 32,768 and k = 1,024: folding records, and the
// transform of its rows. One core.
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "agg_size.h"
#include "bench.h"
#include "bytes.h"
#include "wht.h"

#define ROWS 1024u
#define COLUMNS 32768u
#define RECORDS (1u << 23)
#define NAIVE_ROWS 64u

typedef struct hcms {
    agg_accumulator acc;
    uint8_t *records;
    int32_t *scratch; // COLUMNS numbers
} hcms;

static int32_t *row(hcms *h, uint32_t j)
{
    return h->acc.parts[0].cells.sums + (size_t)j * COLUMNS;
}

static void real_fold(void *context)
{
    hcms *h = context;
    agg_error error;
    bench_check(agg_accumulator_add(&h->acc, &error, h->records, RECORDS, 1),
                "the records are refused");
}

static void naive_fold(void *context)
{
    hcms *h = context;
    for (uint32_t i = 0; i < RECORDS; i++) {
        const uint8_t *record = h->records + (size_t)i * 8;
        uint32_t column_sign = load32_le(record + 4);
        if (column_sign & 1)
            row(h, load32_le(record))[column_sign >> 1]++;
        else
            row(h, load32_le(record))[column_sign >> 1]--;
    }
}

static void read_fold(void *context)
{
    hcms *h = context;
    bench_keep(bench_read(h->records, (size_t)RECORDS * 8));
}

// A row is copied and transformed there, as the estimator does.
static void real_transform(void *context)
{
    hcms *h = context;
    for (uint32_t j = 0; j < ROWS; j++) {
        memcpy(h->scratch, row(h, j), COLUMNS * sizeof *h->scratch);
        agg_wht(h->scratch, COLUMNS);
        bench_keep((uint32_t)h->scratch[j]);
    }
}

static void naive_transform(void *context)
{
    hcms *h = context;
    for (uint32_t j = 0; j < NAIVE_ROWS; j++) {
        memcpy(h->scratch, row(h, j), COLUMNS * sizeof *h->scratch);
        for (uint32_t step = 1; step < COLUMNS; step *= 2)
            for (uint32_t i = 0; i < COLUMNS; i++) {
                if (i & step) continue;
                int32_t a = h->scratch[i], b = h->scratch[i + step];
                h->scratch[i] = a + b;
                h->scratch[i + step] = a - b;
            }
        bench_keep((uint32_t)h->scratch[j]);
    }
}

static void read_transform(void *context)
{
    hcms *h = context;
    bench_keep(bench_read(row(h, 0), (size_t)ROWS * COLUMNS * sizeof(int32_t)));
}

static void make_records(uint8_t *records)
{
    static const uint8_t seed[32] = "hcms records";
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < RECORDS; i++) {
        uint64_t x = shoal_rng_u64(&rng);
        store32_le(records + (size_t)i * 8, (uint32_t)x & (ROWS - 1));
        store32_le(records + (size_t)i * 8 + 4, (uint32_t)(x >> 32) & (2 * COLUMNS - 1));
    }
}

void bench_hcms(void)
{
    agg_recipe recipe;
    agg_error error;
    hcms *h = bench_alloc(1, sizeof *h);
    bench_recipe(&recipe, "hcms", ROWS, COLUMNS);
    bench_check(agg_accumulator_init(&h->acc, &error, recipe.recipe), "out of memory");
    h->records = bench_alloc(RECORDS, 8);
    void *scratch = bench_alloc(COLUMNS + AGG_LINE, sizeof *h->scratch);
    h->scratch = agg_line_start(scratch);
    make_records(h->records);
    bench_run(&(bench_step){"fold HCMS, 2^25 cells",
                            "record",
                            "an if and an add, scalar",
                            8,
                            0,
                            {real_fold, RECORDS},
                            {naive_fold, RECORDS},
                            {read_fold, RECORDS},
                            h});
    // 30 ms for the 1,024 rows.
    bench_run_variants(&(bench_step){"transform a row of 2^15",
                                     "row",
                                     "radix 2, scalar",
                                     30e6 / ROWS,
                                     0,
                                     {real_transform, ROWS},
                                     {naive_transform, NAIVE_ROWS},
                                     {read_transform, ROWS},
                                     h});
    agg_accumulator_release(&h->acc);
    agg_recipe_release(&recipe);
    free(h->records);
    free(scratch);
    free(h);
}
