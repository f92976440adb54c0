// SPDX-License-Identifier: Apache-2.0
// Whole domains: every index of a list answered from a Count Mean Sketch by one transform, and
// 20,000,000 records of Apple's HCMS setting, m = 32,768 and k = 1,024, from records to counts. One
// core.
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "affine1.h"
#include "bench.h"
#include "bytes.h"
#include "estimator.h"
#include "poly1.h"
#include "whole_domain.h"

#define ROWS 65536u
#define COLUMNS 1024u
#define NAIVE_INDICES 8u
#define HCMS_ROWS 1024u
#define HCMS_COLUMNS 32768u
#define HCMS_RECORDS 20000000u
#define HCMS_NAIVE_RECORDS 1000000u
#define WORDS 4096u
#define BITS_MOST 24

typedef struct decode {
    agg_recipe recipe;
    agg_accumulator acc;
    int64_t *support; // of a whole domain
    uint8_t *records; // of HCMS
    uint64_t items[WORDS];
    shoal_affine1 affine[ROWS]; // for the naive forms: keys are derived once
    shoal_poly1 poly[HCMS_ROWS];
} decode;

static const shoal_part *part_of(const decode *d)
{
    return shoal_recipe_part(d->recipe.recipe, 0);
}

// An empty accumulator over a list of `size` indices, or over open strings where that is 0.
static void start(decode *d, const char *mechanism, uint32_t k, uint32_t m, uint32_t size)
{
    char json[1024], list[32] = "";
    agg_error error;
    if (size > 0) snprintf(list, sizeof list, ",\"size\":%u", size);
    int len = snprintf(
        json, sizeof json,
        "{\"recipe\":\"bench\",\"analysis\":\"bench\",\"stream\":\"items\",\"value\":\"item\","
        "\"mechanism\":\"%s\",\"parameters\":{\"epsilon\":4,\"k\":%u,\"m\":%u%s},\"hash\":\"%s\","
        "\"seed\":\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\","
        "\"limit\":{\"per_day\":1},\"expires\":\"2099-12-31\"}",
        mechanism, k, m, list, size > 0 ? "affine1" : "poly1");
    bench_check(agg_recipe_from_bytes(&d->recipe, &error, "recipe", json, (size_t)len),
                "the recipe is refused");
    bench_check(agg_accumulator_init(&d->acc, &error, d->recipe.recipe), "out of memory");
    for (uint32_t j = 0; j < k; j++) shoal_affine1_row(&d->affine[j], part_of(d)->seed, j, m);
    for (uint32_t j = 0; j < HCMS_ROWS; j++) shoal_poly1_row(&d->poly[j], part_of(d)->seed, j);
}

static uint32_t column_of(const decode *d, uint32_t j, uint64_t item)
{
    if (part_of(d)->hash == SHOAL_HASH_AFFINE1)
        return shoal_affine1_hash(&d->affine[j], (uint32_t)item);
    return shoal_poly1_hash(&d->poly[j], shoal_poly1_point(item), part_of(d)->m);
}

static void real_decode(void *context)
{
    decode *d = context;
    agg_error error;
    bench_check(agg_whole_domain(d->support, &error, part_of(d), &d->acc.parts[0], 1),
                "the decoding failed");
    bench_keep((uint64_t)d->support[0]);
}

// Index by index: a hash and a cache miss a row.
static void naive_decode(void *context)
{
    decode *d = context;
    for (uint32_t x = 0; x < NAIVE_INDICES; x++) {
        uint64_t sum = 0;
        for (uint32_t j = 0; j < ROWS; j++)
            sum += d->acc.parts[0].cells.ones[(size_t)j * COLUMNS + column_of(d, j, x)];
        bench_keep(sum);
    }
}

static void read_sketch(void *context)
{
    decode *d = context;
    const agg_sketch *sketch = &d->acc.parts[0];
    bench_keep(bench_read(sketch->cells.ones, sketch->n_cells * sizeof *sketch->cells.ones));
}

// Thirty records a row at epsilon 4 set about four bits in thirty: cells of 0 to 7.
static void decode_cms(decode *d, uint32_t bits, const char *name, double aim_s)
{
    double indices = (double)((uint64_t)1 << bits);
    start(d, "cms", ROWS, COLUMNS, (uint32_t)1 << bits);
    for (uint64_t i = 0; i < d->acc.parts[0].n_cells; i++)
        d->acc.parts[0].cells.ones[i] = (uint32_t)i * 2654435761u >> 29;
    bench_run(&(bench_step){name,
                            "index",
                            "index by index, scalar",
                            aim_s * 1e9 / indices,
                            0,
                            {real_decode, (uint64_t)indices},
                            {naive_decode, NAIVE_INDICES},
                            {read_sketch, (uint64_t)indices},
                            d});
    agg_accumulator_release(&d->acc);
    agg_recipe_release(&d->recipe);
}

static void make_records(uint8_t *records)
{
    static const uint8_t seed[32] = "hcms records";
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < HCMS_RECORDS; i++) {
        uint64_t x = shoal_rng_u64(&rng);
        store32_le(records + (size_t)i * 8, (uint32_t)x & (HCMS_ROWS - 1));
        store32_le(records + (size_t)i * 8 + 4, (uint32_t)(x >> 32) & (2 * HCMS_COLUMNS - 1));
    }
}

static void fold(decode *d)
{
    agg_error error;
    memset(d->acc.parts[0].cells.ones, 0,
           d->acc.parts[0].n_cells * sizeof *d->acc.parts[0].cells.ones);
    d->acc.n = 0;
    bench_check(agg_accumulator_add(&d->acc, &error, d->records, HCMS_RECORDS, 1),
                "the records are refused");
}

static void real_list(void *context)
{
    fold(context);
    real_decode(context);
}

static void real_words(void *context)
{
    decode *d = context;
    agg_error error;
    fold(d);
    bench_check(agg_estimator_of(part_of(d)->mechanism)
                    ->support(d->support, &error, part_of(d), &d->acc.parts[0], d->items, WORDS, 1),
                "the look-up failed");
    bench_keep((uint64_t)d->support[0]);
}

// Record by record and entry by entry: what one record adds to the count of every one of the words.
static void naive_hcms(void *context)
{
    decode *d = context;
    int64_t sum = 0;
    for (uint32_t i = 0; i < HCMS_NAIVE_RECORDS / WORDS; i++) {
        const uint8_t *record = d->records + (size_t)i * 8;
        uint32_t column_sign = load32_le(record + 4);
        for (uint32_t w = 0; w < WORDS; w++) {
            uint32_t column = column_of(d, load32_le(record), d->items[w]);
            uint32_t negative = shoal_parity(column_sign >> 1 & column) ^ (column_sign & 1) ^ 1;
            sum += negative ? -1 : 1;
        }
    }
    bench_keep((uint64_t)sum);
}

static void read_records(void *context)
{
    decode *d = context;
    bench_keep(bench_read(d->records, (size_t)HCMS_RECORDS * 8));
}

static void decode_hcms(decode *d, uint32_t bits, const char *name)
{
    start(d, "hcms", HCMS_ROWS, HCMS_COLUMNS, bits > 0 ? (uint32_t)1 << bits : 0);
    for (uint32_t w = 0; w < WORDS; w++) d->items[w] = w * 4099;
    bench_run(&(bench_step){name,
                            "record",
                            "each record to each of 4,096 values, scalar",
                            0,
                            0,
                            {bits > 0 ? real_list : real_words, HCMS_RECORDS},
                            {naive_hcms, HCMS_NAIVE_RECORDS / WORDS},
                            {read_records, HCMS_RECORDS},
                            d});
    agg_accumulator_release(&d->acc);
    agg_recipe_release(&d->recipe);
}

void bench_decode(void)
{
    decode *d = bench_alloc(1, sizeof *d);
    d->support = bench_alloc((size_t)1 << BITS_MOST, sizeof *d->support);
    decode_cms(d, 18, "decode 2^18 indices, CMS k=65536", 0.5);
    decode_cms(d, 24, "decode 2^24 indices, CMS k=65536", 2);
    d->records = bench_alloc(HCMS_RECORDS, 8);
    make_records(d->records);
    decode_hcms(d, 18, "20,000,000 HCMS records, 2^18 indices");
    decode_hcms(d, 24, "20,000,000 HCMS records, 2^24 indices");
    decode_hcms(d, 0, "20,000,000 HCMS records, 4,096 words");
    free(d->records);
    free(d->support);
    free(d);
}
