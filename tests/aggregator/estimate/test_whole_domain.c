// SPDX-License-Identifier: Apache-2.0
// Supports of a closed domain: the row scan and the whole domain's transform against the
// definition, cell by cell, and the transforms behind them.
#include "agg_test.h"

#include "agg_cpu.h"
#include "estimator.h"
#include "hash_column.h"
#include "whole_domain.h"
#include "wht.h"

typedef struct setting {
    const char *mechanism;
    unsigned k, m, size;
} setting;

static const setting settings[] = {
    {"cms", 5, 2, 2},           {"cms", 7, 64, 300},   {"cms", 3, 4096, 4096},
    {"cms", 40, 32, 4},         {"olh", 5, 2, 2},      {"olh", 70, 64, 300},
    {"olh", 3, 8192, 9},        {"olh", 99, 4, 70000}, {"cms", 9, 65536, 9},
    {"hcms", 5, 2, 3},          {"hcms", 7, 64, 300},  {"hcms", 2, 8192, 513},
    {"hcms", 40, 32, 4},        {"hcms", 3, 16384, 9}, {"cms", 20, 128, 70000},
    {"hcms", 20, 4096, 140000},
};

static void recipe_of(agg_recipe *recipe, const setting *s)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"whole\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"%s\","
             "\"parameters\":{\"epsilon\":4,\"k\":%u,\"%s\":%u,\"size\":%u},\"hash\":\"affine1\","
             "\"seed\":\"%s\","
             "\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}",
             s->mechanism, s->k, strcmp(s->mechanism, "olh") == 0 ? "g" : "m", s->m, s->size,
             AGG_TEST_SEED);
    read_recipe(recipe, text);
}

// A sketch whose cells are any 32 bits at all, as in a forged file; every third row is empty.
static void fill_cells(agg_sketch *sketch, uint64_t stream, uint32_t mask)
{
    static const uint8_t seed[32] = {9};
    shoal_rng rng;
    shoal_rng_init_stream(&rng, seed, stream);
    for (uint64_t i = 0; i < sketch->n_cells; i++)
        sketch->cells.ones[i] =
            i / sketch->shape.m % 3 == 1 ? 0 : (uint32_t)shoal_rng_u64(&rng) & mask;
}

static int sign_of(uint32_t i, uint32_t j)
{
    return shoal_parity(i & j) ? -1 : 1;
}

// The definition: the sum of the cells that the item hashes to, for HCMS of the rows' transforms.
static int64_t direct(const shoal_part *part, const agg_sketch *sketch, uint64_t item)
{
    int64_t sum = 0;
    for (uint32_t j = 0; j < part->k; j++) {
        uint32_t column = agg_hash_column(part, j, item);
        const agg_cells row = {sketch->cells.ones + (size_t)j * part->m};
        if (part->mechanism != shoal_hcms_id) sum += row.ones[column];
        if (part->mechanism == shoal_hcms_id)
            for (uint32_t l = 0; l < part->m; l++) sum += sign_of(l, column) * (int64_t)row.sums[l];
    }
    return sum;
}

// Every index of small domains, 300 random ones of others and the ends; threads change nothing.
static void check_setting(const setting *s, uint64_t stream)
{
    agg_recipe recipe;
    agg_sketch sketch;
    agg_error error;
    const uint8_t seed[32] = {4};
    shoal_rng rng;
    recipe_of(&recipe, s);
    shoal_rng_init_stream(&rng, seed, stream);
    const shoal_part *part = shoal_recipe_part(recipe.recipe, 0);
    size_t size = agg_whole_domain_size(part);
    assert_true(size >= s->size && size / 2 < s->size && (size & (size - 1)) == 0);
    assert_ok(agg_sketch_init(&sketch, &error, &(agg_shape){part->mechanism, part->k, part->m}));
    fill_cells(&sketch, stream, UINT32_MAX);
    int64_t *one = malloc(size * sizeof *one), *three = malloc(size * sizeof *three);
    assert_non_null(one);
    assert_non_null(three);
    assert_ok(agg_whole_domain(one, &error, part, &sketch, 1));
    assert_ok(agg_whole_domain(three, &error, part, &sketch, 3));
    assert_memory_equal(one, three, size * sizeof *one);
    for (uint32_t i = 0; i < (size <= 512 ? size : 300); i++) {
        uint64_t x = size <= 512 ? i : i == 0 ? 0 : i == 1 ? size - 1 : shoal_rng_below(&rng, size);
        assert_int_equal(one[x], direct(part, &sketch, x));
    }
    free(one);
    free(three);
    agg_sketch_release(&sketch);
    agg_recipe_release(&recipe);
}

static void whole_domains_are_the_definition(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        check_setting(&settings[i], i);
}

// The estimators' supports, on both sides of the choice: one item is scanned, all of them are
// transformed.
static void estimators_choose_between_equals(void **state)
{
    static const setting all_kinds[] = {
        {"cms", 50, 16, 3000}, {"hcms", 50, 16, 3000}, {"olh", 50, 16, 3000}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        agg_recipe recipe;
        agg_sketch sketch;
        agg_error error;
        static uint64_t items[3000];
        static int64_t all[3000], whole[4096], single;
        recipe_of(&recipe, &all_kinds[i]);
        const shoal_part *part = shoal_recipe_part(recipe.recipe, 0);
        const agg_estimator *estimator = agg_estimator_of(part->mechanism);
        assert_ok(
            agg_sketch_init(&sketch, &error, &(agg_shape){part->mechanism, part->k, part->m}));
        fill_cells(&sketch, 77, 0xffff);
        for (uint32_t x = 0; x < 3000; x++) items[x] = 2999 - x;
        assert_ok(estimator->support(all, &error, part, &sketch, items, 3000, 2));
        assert_ok(agg_whole_domain(whole, &error, part, &sketch, 1));
        for (uint32_t x = 0; x < 3000; x += 37) {
            assert_int_equal(all[x], direct(part, &sketch, items[x]));
            assert_int_equal(all[x], whole[items[x]]);
            assert_ok(estimator->support(&single, &error, part, &sketch, &items[x], 1, 1));
            assert_int_equal(all[x], single);
        }
        agg_sketch_release(&sketch);
        agg_recipe_release(&recipe);
    }
}

// Longer than a cache's piece, than a row of the matrix, and than two of them, against the
// definition at random points.
static void long_transforms_by_definition(void **state)
{
    static const size_t lengths[] = {1, 2, 4, 8192, 65536, 131072, 262144};
    static const uint8_t seed[32] = {6};
    shoal_rng rng;
    agg_error error;
    (void)state;
    shoal_rng_init(&rng, seed);
    for (size_t c = 0; c < sizeof lengths / sizeof lengths[0]; c++) {
        size_t n = lengths[c], bytes = n * sizeof(int64_t);
        int64_t *x = malloc(bytes), *y = malloc(bytes), *z = malloc(bytes);
        int32_t *narrow = malloc(bytes / 2);
        assert_true(x != NULL && y != NULL && z != NULL && narrow != NULL);
        for (size_t i = 0; i < n; i++) x[i] = (int64_t)shoal_rng_below(&rng, 2001) - 1000;
        for (size_t i = 0; i < n; i++) narrow[i] = (int32_t)x[i];
        memcpy(y, x, bytes);
        memcpy(z, x, bytes);
        assert_ok(agg_wht_wide(y, &error, n, 1));
        assert_ok(agg_wht_wide(z, &error, n, 3));
        assert_memory_equal(y, z, bytes);
        agg_wht(narrow, (uint32_t)n);
        for (int i = 0; i < 20; i++) {
            uint32_t at = (uint32_t)shoal_rng_below(&rng, n);
            int64_t sum = 0;
            for (uint32_t l = 0; l < n; l++) sum += sign_of(at, l) * x[l];
            assert_int_equal(y[at], sum);
            assert_int_equal(narrow[at], sum);
        }
        free(x);
        free(y);
        free(z);
        free(narrow);
    }
}

// One of the transforms, by the instruction set that SHOAL_CPU names; `bytes` of numbers.
typedef void transform(void *x, size_t bytes);

static void narrow(void *x, size_t bytes)
{
    agg_wht(x, (uint32_t)(bytes / sizeof(int32_t)));
}

static void wide_row(void *x, size_t bytes)
{
    agg_wht_row(x, (uint32_t)(bytes / sizeof(int64_t)));
}

static void wide(void *x, size_t bytes)
{
    agg_error error;
    assert_ok(agg_wht_wide(x, &error, bytes / sizeof(int64_t), 2));
}

// Bytes of any kind: all ones, only the greatest or the least numbers, random ones: sums wrap in
// all of them alike.
static void fill(uint8_t *x, size_t bytes, unsigned kind, shoal_rng *rng)
{
    for (size_t i = 0; i < bytes; i++) {
        int is_top = i % (kind == 1 ? 4 : 8) == (kind == 1 ? 3u : 7u);
        x[i] = kind == 0  ? 0xff
               : kind < 3 ? (uint8_t)(is_top ? 0x80 : 0)
                          : (uint8_t)shoal_rng_u64(rng);
    }
}

static void all_instruction_sets_transform_alike(void **state)
{
    static transform *const transforms[] = {narrow, wide_row, wide};
    static const uint8_t seed[32] = {7};
    enum { MOST = 1 << 20 };
    uint8_t *start = malloc(MOST), *portable = malloc(MOST), *other = malloc(MOST);
    shoal_rng rng;
    (void)state;
    assert_true(start != NULL && portable != NULL && other != NULL);
    shoal_rng_init(&rng, seed);
    for (size_t bytes = 8; bytes <= MOST; bytes *= 2) {
        for (unsigned t = 0; t < 12; t++) {
            fill(start, bytes, t / 3, &rng);
            for (agg_cpu cpu = AGG_CPU_PORTABLE; cpu <= agg_cpu_best(); cpu++) {
                uint8_t *x = cpu == AGG_CPU_PORTABLE ? portable : other;
                memcpy(x, start, bytes);
                assert_int_equal(setenv("SHOAL_CPU", agg_cpu_name(cpu), 1), 0);
                transforms[t % 3](x, bytes);
                assert_memory_equal(x, portable, bytes);
            }
        }
    }
    assert_int_equal(unsetenv("SHOAL_CPU"), 0);
    free(start);
    free(portable);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_domains_are_the_definition),
                                       cmocka_unit_test(estimators_choose_between_equals),
                                       cmocka_unit_test(long_transforms_by_definition),
                                       cmocka_unit_test(all_instruction_sets_transform_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
