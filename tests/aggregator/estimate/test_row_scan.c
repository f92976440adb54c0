// SPDX-License-Identifier: Apache-2.0
// Sums over rows against the definition, cell by cell: every mechanism, both hash families, any
// number of rows, items and threads, and every instruction set that the machine has.
#include "agg_test.h"

#include "agg_cpu.h"
#include "estimator.h"
#include "hash_column.h"
#include "row_scan.h"

typedef struct setting {
    const char *mechanism, *columns;
    unsigned k, m, n_items, block;
    unsigned size; // of a list, over affine1; 0: any strings, over poly1
} setting;

// Fewer rows than are taken together, as many, a few more; items around a chunk and a block.
static const setting settings[] = {
    {"cms", "m", 1, 1024, 1, 0, 0},    {"cms", "m", 3, 2, 7, 3, 0},
    {"cms", "m", 4, 1000, 255, 0, 0},  {"cms", "m", 5, 1024, 256, 256, 0},
    {"cms", "m", 97, 64, 257, 100, 0}, {"cms", "m", 6, 65536, 600, 512, 0},
    {"olh", "g", 2, 4, 300, 299, 0},   {"olh", "g", 70, 64, 33, 0, 0},
    {"olh", "g", 1000, 2, 12, 5, 0},   {"hcms", "m", 7, 64, 300, 0, 0},
    {"cms", "m", 7, 1024, 600, 0, 70}, {"hcms", "m", 9, 64, 300, 100, 1u << 24},
};
#define N_SETTINGS (sizeof settings / sizeof settings[0])

static void recipe_of(agg_recipe *recipe, const setting *s)
{
    char text[1024], list[32] = "";
    if (s->size > 0) snprintf(list, sizeof list, ",\"size\":%u", s->size);
    snprintf(text, sizeof text,
             "{\"recipe\":\"scan\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"%s\","
             "\"parameters\":{\"epsilon\":4,\"k\":%u,\"%s\":%u%s},\"hash\":\"%s\",\"seed\":\"%s\","
             "\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}",
             s->mechanism, s->k, s->columns, s->m, list, s->size > 0 ? "affine1" : "poly1",
             AGG_TEST_SEED);
    read_recipe(recipe, text);
}

static void copy_row(int32_t *values, const agg_sketch *sketch, uint32_t j)
{
    memcpy(values, sketch->cells.sums + (size_t)j * sketch->shape.m,
           sketch->shape.m * sizeof *values);
}

// Any 32 bits at all, as in a forged file; every fourth row is empty.
static void fill_cells(agg_sketch *sketch, shoal_rng *rng)
{
    for (uint64_t i = 0; i < sketch->n_cells; i++)
        sketch->cells.ones[i] = i / sketch->shape.m % 4 == 1 ? 0 : (uint32_t)shoal_rng_u64(rng);
}

// HCMS's cells are signed: they are scanned as they are, untransformed.
static int64_t direct(const shoal_part *part, const agg_sketch *sketch, uint64_t item)
{
    int64_t sum = 0;
    for (uint32_t j = 0; j < part->k; j++) {
        size_t at = (size_t)j * part->m + agg_hash_column(part, j, item);
        sum += part->mechanism == shoal_hcms_id ? sketch->cells.sums[at]
                                                : (int64_t)sketch->cells.ones[at];
    }
    return sum;
}

// The supports by every instruction set, with one thread and with several.
static void check(const setting *s, const shoal_part *part, const agg_sketch *sketch,
                  const uint64_t *items, const int64_t *expected)
{
    static int64_t support[700];
    static const unsigned threads[] = {1, 2, 5};
    agg_error error;
    for (agg_cpu cpu = AGG_CPU_PORTABLE; cpu <= agg_cpu_best(); cpu++) {
        assert_int_equal(setenv("SHOAL_CPU", agg_cpu_name(cpu), 1), 0);
        for (int t = 0; t < 3; t++) {
            memset(support, 0x55, sizeof support);
            assert_ok(agg_row_scan(support, &error, part, sketch, copy_row, items, s->n_items,
                                   s->block, threads[t]));
            assert_memory_equal(support, expected, s->n_items * sizeof *support);
        }
    }
    assert_int_equal(unsetenv("SHOAL_CPU"), 0);
}

static void supports_are_the_definition(void **state)
{
    static const uint8_t seed[32] = {33};
    (void)state;
    for (size_t i = 0; i < N_SETTINGS; i++) {
        agg_recipe recipe;
        agg_sketch sketch;
        agg_error error;
        shoal_rng rng;
        static uint64_t items[700];
        static int64_t expected[700];
        recipe_of(&recipe, &settings[i]);
        const shoal_part *part = shoal_recipe_part(recipe.recipe, 0);
        shoal_rng_init_stream(&rng, seed, i);
        assert_ok(
            agg_sketch_init(&sketch, &error, &(agg_shape){part->mechanism, part->k, part->m}));
        fill_cells(&sketch, &rng);
        for (uint32_t x = 0; x < settings[i].n_items; x++) {
            items[x] = settings[i].size > 0 ? shoal_rng_below(&rng, settings[i].size)
                                            : shoal_rng_u64(&rng);
            expected[x] = direct(part, &sketch, items[x]);
        }
        check(&settings[i], part, &sketch, items, expected);
        agg_sketch_release(&sketch);
        agg_recipe_release(&recipe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(supports_are_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
