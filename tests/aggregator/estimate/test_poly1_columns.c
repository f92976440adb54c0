// SPDX-License-Identifier: Apache-2.0
// poly1 of many points: every variant that the machine has against the core's hash, point by point.
#include "agg_test.h"

#include "poly1_columns.h"

#define PRIME (((uint64_t)1 << 61) - 1)
#define N_MAX 64u

static const uint32_t ms[] = {1, 2, 3, 1000, 1024, 65535, 65536, (1u << 24) - 1, 1u << 24};
#define N_MS (sizeof ms / sizeof ms[0])

// Numbers at which halves of 31 bits, digits of 52 and the prime itself change what they do.
static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 511,
                                 512,
                                 ((uint64_t)1 << 31) - 1,
                                 (uint64_t)1 << 31,
                                 ((uint64_t)1 << 31) + 1,
                                 ((uint64_t)1 << 32) - 1,
                                 (uint64_t)1 << 32,
                                 ((uint64_t)1 << 52) - 1,
                                 (uint64_t)1 << 52,
                                 ((uint64_t)1 << 60) - 1,
                                 (uint64_t)1 << 60,
                                 PRIME - ((uint64_t)1 << 31),
                                 PRIME - 2,
                                 PRIME - 1};
#define N_EDGES (sizeof edges / sizeof edges[0])

// Every variant's columns of n points in AGG_POLY1_ROWS rows are the core's, and nothing is written
// behind them.
static void check(const shoal_poly1 *rows, const uint64_t *points, size_t n, uint32_t m)
{
    uint64_t squares[N_MAX];
    uint32_t columns[AGG_POLY1_ROWS * (N_MAX + 1)];
    for (size_t i = 0; i < n; i++) squares[i] = agg_poly1_square(points[i]);
    for (agg_cpu cpu = AGG_CPU_PORTABLE; cpu <= agg_cpu_best(); cpu++) {
        memset(columns, 0xab, sizeof columns);
        agg_poly1_columns_of(cpu)(columns, N_MAX + 1, rows, points, squares, n, m);
        for (size_t r = 0; r < AGG_POLY1_ROWS; r++) {
            const uint32_t *of_row = columns + r * (N_MAX + 1);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(of_row[i], shoal_poly1_hash(&rows[r], points[i], m));
            assert_int_equal(of_row[n], 0xabababab);
        }
    }
}

static void random_points(void **state)
{
    static const uint8_t seed[32] = {31};
    shoal_rng rng;
    (void)state;
    shoal_rng_init(&rng, seed);
    for (uint32_t t = 0; t < 3000; t++) {
        uint64_t points[N_MAX + 1];
        shoal_poly1 rows[AGG_POLY1_ROWS];
        for (uint32_t r = 0; r < AGG_POLY1_ROWS; r++)
            shoal_poly1_row(&rows[r], seed, AGG_POLY1_ROWS * t + r);
        for (size_t i = 0; i <= N_MAX; i++) points[i] = shoal_poly1_point(shoal_rng_u64(&rng));
        check(rows, points + t % 2, t % N_MAX + t / N_MAX % 2,
              ms[t % N_MS]); // all lengths, at any alignment
    }
}

static void edges_of_every_kind(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_EDGES; a++)
        for (size_t b = 0; b < N_EDGES; b++)
            for (size_t c = 0; c < N_EDGES; c += AGG_POLY1_ROWS) {
                shoal_poly1 rows[AGG_POLY1_ROWS];
                for (size_t r = 0; r < AGG_POLY1_ROWS; r++)
                    rows[r] = (shoal_poly1){edges[a], edges[b], edges[(c + r) % N_EDGES]};
                check(rows, edges, N_EDGES, ms[(a + b + c) % N_MS]);
            }
}

// x y mod PRIME by doubling, with nothing in common with the code under test.
static uint64_t slow_multiply(uint64_t x, uint64_t y)
{
    uint64_t sum = 0;
    for (int bit = 60; bit >= 0; bit--) {
        sum = sum * 2 % PRIME;
        if (y >> bit & 1) sum = (sum + x) % PRIME;
    }
    return sum;
}

static void squares(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EDGES; i++)
        assert_int_equal(agg_poly1_square(edges[i]), slow_multiply(edges[i], edges[i]));
}

// The least y whose column is `column`: ceil(column 2^61 / m).
static uint64_t first_of_column(uint32_t column, uint32_t m)
{
    uint64_t whole = ((uint64_t)1 << 61) / m, rest = ((uint64_t)1 << 61) % m;
    return column * whole + (column * rest + m - 1) / m;
}

// Polynomials chosen so that a point's value lies at the border of two columns, within a few units
// and within the few thousand times 2^9 that a variant may leave out: where an approximation goes
// wrong if it can.
static void borders_of_columns(void **state)
{
    static const int64_t steps[] = {-1, 0, 1, -512, 511, 512, -600000, 600000};
    static const uint8_t seed[32] = {32};
    shoal_rng rng;
    (void)state;
    shoal_rng_init(&rng, seed);
    for (uint32_t t = 0; t < 4000; t++) {
        uint32_t m = ms[t % N_MS], column = (uint32_t)shoal_rng_below(&rng, m);
        uint64_t points[9],
            y = (first_of_column(column, m) + PRIME + (uint64_t)steps[t / N_MS % 8]) % PRIME;
        shoal_poly1 rows[AGG_POLY1_ROWS], *row = &rows[t / 3 % AGG_POLY1_ROWS];
        for (uint32_t r = 0; r < AGG_POLY1_ROWS; r++)
            shoal_poly1_row(&rows[r], seed, AGG_POLY1_ROWS * t + r);
        for (int i = 0; i < 9; i++) points[i] = shoal_poly1_point(shoal_rng_u64(&rng));
        uint64_t x = points[t % 9],
                 rest = slow_multiply(row->a, slow_multiply(x, x)) + slow_multiply(row->b, x);
        row->c = (y + 2 * PRIME - rest) % PRIME;
        check(rows, points, 9, m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_points),
        cmocka_unit_test(edges_of_every_kind),
        cmocka_unit_test(squares),
        cmocka_unit_test(borders_of_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
