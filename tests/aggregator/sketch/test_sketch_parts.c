// SPDX-License-Identifier: Apache-2.0
// The loops that must be exact: vertical bit counting, scattered additions and the Walsh-Hadamard
// transform, against their definitions.
#include "agg_test.h"

#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"
#include "rng.h"
#include "scattered_adds.h"
#include "wht.h"

// Large sketches take their records piece by piece: the same sums as one by one, on any number of
// threads.
//   width: records are of the last `width` cells, but for the first two: of few, one area is filled
//   again and again
static void check_scattered(uint32_t mechanism, uint32_t k, uint32_t m, size_t size, uint32_t count,
                            uint32_t width)
{
    static const uint8_t seed[32] = {8};
    const agg_sketch_kind *kind = agg_sketch_kind_of(mechanism);
    agg_sketch grouped, direct;
    agg_error error;
    shoal_rng rng;
    size_t stride = size + 4; // another part's bytes lie between
    uint8_t *records = malloc(count * stride);
    assert_non_null(records);
    shoal_rng_init(&rng, seed);
    assert_ok(agg_sketch_init(&grouped, &error, &(agg_shape){mechanism, k, m}));
    assert_ok(agg_sketch_init(&direct, &error, &(agg_shape){mechanism, k, m}));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t cell = k * m - 1 - (uint32_t)shoal_rng_below(&rng, width),
                 sign = (uint32_t)shoal_rng_u64(&rng) & 1;
        if (i < 2) cell = i == 0 ? 0 : k * m - 1;
        if (size == 8) store32_le(records + i * stride, cell / m);
        store32_le(records + i * stride + size - 4, size == 8 ? 2 * (cell % m) + sign : cell);
        direct.cells.ones[cell] += size == 8 && sign == 0 ? UINT32_MAX : 1;
    }
    assert_ok(kind->add(&grouped, &error, records, stride, count, 1));
    assert_memory_equal(grouped.cells.ones, direct.cells.ones,
                        direct.n_cells * sizeof *direct.cells.ones);
    memset(grouped.cells.ones, 0, grouped.n_cells * sizeof *grouped.cells.ones);
    assert_ok(kind->add(&grouped, &error, records, stride, count, size == 8 ? 3 : AGG_THREADS_MAX));
    assert_memory_equal(grouped.cells.ones, direct.cells.ones,
                        direct.n_cells * sizeof *direct.cells.ones);
    agg_sketch_release(&grouped);
    agg_sketch_release(&direct);
    free(records);
}

static void scattered_adds_are_exact(void **state)
{
    (void)state;
    check_scattered(shoal_hcms_id, 1024, 1024, 8, AGG_FEW_RECORDS + 1, 1024 * 1024);
    check_scattered(shoal_hcms_id, 777, 2048, 8, AGG_FEW_RECORDS - 1, 777 * 2048);
    check_scattered(shoal_olh_id, 70001, 16, 4, AGG_FEW_RECORDS, 70001 * 16);
    check_scattered(shoal_olh_id, 1u << 17, 8, 4, 1000000, 1u << 20);
    check_scattered(shoal_olh_id, 70001, 16, 4, 300000, 1);
    check_scattered(shoal_hcms_id, 777, 2048, 8, 300000, 200000);
    check_scattered(shoal_hcms_id, (1u << 15) + 1, 1u << 10, 8, 100000, 1u << 25); // wider pieces
}

static int sign_of(uint32_t i, uint32_t j)
{
    int sign = 1;
    for (uint32_t x = i & j; x != 0; x &= x - 1) sign = -sign;
    return sign;
}

static void transforms_by_definition(void **state)
{
    static const uint8_t seed[32] = {2};
    int32_t x[1024], y[1024];
    shoal_rng rng;
    (void)state;
    shoal_rng_init(&rng, seed);
    for (uint32_t m = 2; m <= 1024; m *= 2) {
        for (uint32_t i = 0; i < m; i++) x[i] = y[i] = (int32_t)shoal_rng_below(&rng, 2001) - 1000;
        agg_wht(y, m);
        for (uint32_t i = 0; i < m; i++) {
            int32_t sum = 0;
            for (uint32_t j = 0; j < m; j++) sum += sign_of(i, j) * x[j];
            assert_int_equal(y[i], sum);
        }
        agg_wht(y, m);
        for (uint32_t i = 0; i < m; i++) assert_int_equal(y[i], (int32_t)m * x[i]);
    }
}

static void transform_keeps_the_largest_sum(void **state)
{
    int32_t x[8];
    (void)state;
    for (int i = 0; i < 8; i++) x[i] = INT32_MAX / 8;
    agg_wht(x, 8);
    assert_int_equal(x[0], INT32_MAX / 8 * 8);
    for (int i = 1; i < 8; i++) assert_int_equal(x[i], 0);
}

static void mark(void *context, unsigned part, unsigned n_parts)
{
    unsigned *seen = context;
    seen[part] += n_parts;
}

static void every_part_runs_once(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 17; n++) {
        unsigned seen[17] = {0};
        agg_parallel(n, mark, seen);
        for (unsigned i = 0; i < 17; i++) assert_int_equal(seen[i], i < n ? n : 0);
    }
}

static void sizes_are_checked(void **state)
{
    size_t product = 5;
    agg_error error;
    (void)state;
    assert_true(agg_size_multiply(&product, 3, 4));
    assert_int_equal(product, 12);
    assert_false(agg_size_multiply(&product, SIZE_MAX / 2, 3));
    assert_int_equal(product, 12);
    assert_null(agg_alloc(&error, SIZE_MAX / 4, 8));
    assert_err(error.code, AGG_ERR_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scattered_adds_are_exact), cmocka_unit_test(transforms_by_definition),
        cmocka_unit_test(transform_keeps_the_largest_sum), cmocka_unit_test(every_part_runs_once),
        cmocka_unit_test(sizes_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
