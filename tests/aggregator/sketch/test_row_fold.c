// SPDX-License-Identifier: Apache-2.0
// Folds of bits: every variant of vertical counting against the definition and against the portable
// one, bit for bit; grouping by row in any range, order and number of threads against adding one
// record at a time. SHOAL_CPU chooses the variant of the folds.
#include "agg_test.h"

#include <sys/mman.h>
#include <unistd.h>

#include "agg_parallel.h"
#include "bit_columns.h"
#include "bytes.h"
#include "folder.h"
#include "rng.h"
#include "row_fold.h"

#define VECTORS 600u
#define BYTES_MAX 520u

REFERENCE static void add_by_definition(uint32_t *counts, uint32_t m, const uint8_t *vector)
{
    for (uint32_t l = 0; l < m; l++) counts[l] += (uint32_t)(vector[l / 8] >> l % 8 & 1);
}

// What a vector may be: random bits, sparse ones, all ones, all zeros, or one bit.
REFERENCE static void make_vector(uint8_t *vector, uint32_t m, unsigned kind, uint32_t i,
                                  shoal_rng *rng)
{
    uint32_t size = (m + 7) / 8;
    memset(vector, kind == 2 ? 0xff : 0, size);
    if (kind < 2) shoal_rng_bytes(rng, vector, size);
    if (kind == 1)
        for (uint32_t b = 0; b < size; b++)
            vector[b] &= (uint8_t)shoal_rng_u64(rng) & (uint8_t)shoal_rng_u64(rng);
    if (kind == 4) vector[i % m / 8] = (uint8_t)(1u << i % m % 8);
    if (m % 8 != 0) vector[size - 1] &= (uint8_t)((1u << m % 8) - 1);
}

// Counts begin near their largest, so that some wrap, and end at a guard value that must stay.
static void check_counts(const uint8_t *const *vectors, uint32_t m, uint32_t n)
{
    static uint32_t expected[8 * BYTES_MAX], counts[8 * BYTES_MAX + 1];
    for (uint32_t l = 0; l < m; l++) expected[l] = UINT32_MAX - 100 + l;
    for (uint32_t i = 0; i < n; i++) add_by_definition(expected, m, vectors[i]);
    for (int cpu = 0; cpu <= (int)agg_cpu_best(); cpu++) {
        for (uint32_t l = 0; l < m; l++) counts[l] = UINT32_MAX - 100 + l;
        counts[m] = 0x5a5a5a5a;
        agg_bit_columns_of((agg_cpu)cpu)->add(counts, m, vectors, n);
        if (memcmp(counts, expected, m * sizeof *counts) != 0)
            fail_msg("%s: %u vectors of %u bits", agg_cpu_name((agg_cpu)cpu), n, m);
        assert_int_equal(counts[m], 0x5a5a5a5a);
    }
}

// Every width around a boundary of words and vectors, every number of vectors around a boundary of
// adders and counters, at addresses of every alignment.
static void counts_every_bit(void **state)
{
    static const uint32_t widths[] = {1,    2,    7,    8,    9,    31,   63,        64,   65,
                                      100,  127,  128,  129,  255,  256,  257,       300,  511,
                                      512,  513,  576,  577,  640,  1000, 511 + 512, 1024, 1025,
                                      1031, 1100, 1535, 1536, 1537, 2048, 2500,      4096, 4099};
    static const uint32_t numbers[] = {0,  1,  2,  7,  8,   9,   15,  16,  17,  23, 24,
                                       25, 31, 32, 33, 127, 254, 255, 256, 300, 600};
    static const uint8_t seed[32] = {1};
    uint8_t *bits = malloc(VECTORS * (BYTES_MAX + 1));
    const uint8_t *vectors[VECTORS];
    shoal_rng rng;
    (void)state;
    assert_non_null(bits);
    shoal_rng_init(&rng, seed);
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (unsigned kind = 0; kind < 5; kind++) {
            for (uint32_t i = 0; i < VECTORS; i++) {
                uint8_t *vector = bits + i * (BYTES_MAX + 1); // an odd distance
                make_vector(vector, widths[w], kind, i, &rng);
                vectors[i] = vector;
            }
            for (size_t c = 0; c < sizeof numbers / sizeof numbers[0]; c++)
                check_counts(vectors, widths[w], numbers[c]);
        }
    }
    free(bits);
}

// A vector may end where memory does, and may start there.
static void reads_nothing_beyond(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)state;
    uint8_t *memory =
        mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory, page, PROT_NONE), 0);
    assert_int_equal(mprotect(memory + 2 * page, page, PROT_NONE), 0);
    for (size_t i = 0; i < page; i++) memory[page + i] = (uint8_t)(i * 7 + i / 256);
    for (uint32_t size = 1; size <= BYTES_MAX; size++) {
        const uint8_t *ends[20], *starts[20];
        for (int i = 0; i < 20; i++) ends[i] = memory + 2 * page - size, starts[i] = memory + page;
        for (uint32_t n = 1; n <= 20; n += 19) {
            check_counts(ends, 8 * size, n);
            check_counts(starts, 8 * size, n);
        }
    }
    munmap(memory, 3 * page);
}

typedef struct some_records {
    uint8_t *bytes;
    size_t stride;
    uint32_t count, k, m;
} some_records;

#define BETWEEN                                                                                    \
    69u // bytes of other parts between records; none behind the last, as in the last part of a
        // record

// Records of k rows: random rows, or all of one row, or mostly one.
static void make_rows(some_records *r, uint32_t count, uint32_t k, uint32_t m, unsigned kind)
{
    static const uint8_t seed[32] = {2};
    shoal_rng rng;
    *r = (some_records){NULL, 4 + (m + 7) / 8 + BETWEEN, count, k, m};
    r->bytes = malloc(count > 0 ? count * r->stride - BETWEEN : 1);
    assert_non_null(r->bytes);
    shoal_rng_init_stream(&rng, seed, kind);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *record = r->bytes + i * r->stride;
        uint32_t row = (uint32_t)shoal_rng_below(&rng, k);
        if (kind == 1 || (kind == 2 && i % 8 != 0)) row = k - 1;
        if (i + 1 < count) memset(record, 0xff, r->stride);
        store32_le(record, row);
        make_vector(record + 4, m, kind == 1 ? 2 : 0, i, &rng);
    }
}

static void check_rows(const some_records *r, uint32_t first, uint32_t n_rows, unsigned n_threads)
{
    agg_error error;
    size_t cells = (size_t)n_rows * r->m;
    uint32_t *expected = calloc(cells + n_rows, sizeof *expected),
             *got = calloc(cells + n_rows, sizeof *got);
    assert_non_null(expected);
    assert_non_null(got);
    for (uint32_t i = 0; i < r->count; i++) {
        const uint8_t *record = r->bytes + i * r->stride;
        uint32_t row = load32_le(record) - first;
        if (row >= n_rows) continue;
        add_by_definition(expected + (size_t)row * r->m, r->m, record + 4);
        expected[cells + row]++;
    }
    const agg_row_range range = {got, got + cells, first, n_rows, r->m, NULL, NULL, NULL};
    assert_ok(agg_row_fold(&range, &error, r->bytes, r->stride, r->count, n_threads));
    assert_memory_equal(got, expected, (cells + n_rows) * sizeof *got);
    free(expected);
    free(got);
}

// Few records and many a row, ranges of rows, more threads than rows.
static void groups_by_row(void **state)
{
    static const struct {
        uint32_t count, k, m;
    } sizes[] = {{0, 5, 20},        {1, 5, 20},        {3, 1000, 33},   {124, 1000, 33},
                 {126, 1000, 33},   {700, 64, 70},     {9000, 3, 600},  {9001, 40, 129},
                 {20000, 500, 260}, {9000, 100, 1100}, {2000, 40, 4099}};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (unsigned kind = 0; kind < 3; kind++) {
            some_records r;
            make_rows(&r, sizes[s].count, sizes[s].k, sizes[s].m, kind);
            check_rows(&r, 0, r.k, 1);
            check_rows(&r, 0, r.k, 3);
            check_rows(&r, 1, r.k - 2, 2);
            check_rows(&r, r.k - 1, 1, AGG_THREADS_MAX);
            free(r.bytes);
        }
}

static void check_one_row(const some_records *r)
{
    agg_error error;
    uint32_t *expected = calloc(r->m, sizeof *expected), *got = calloc(r->m, sizeof *got);
    assert_non_null(expected);
    assert_non_null(got);
    for (uint32_t i = 0; i < r->count; i++)
        add_by_definition(expected, r->m, r->bytes + i * r->stride + 4);
    for (unsigned n_threads = 1; n_threads < 5; n_threads++) {
        memset(got, 0, r->m * sizeof *got);
        assert_ok(
            agg_one_row_fold(got, r->m, &error, r->bytes + 4, r->stride, r->count, n_threads));
        assert_memory_equal(got, expected, r->m * sizeof *got);
    }
    free(expected);
    free(got);
}

// Vectors of which many, sixteen or half of what counters hold are counted at a time, random and
// all ones.
static void one_row_in_order(void **state)
{
    static const uint32_t counts_of[] = {0, 1, 15, 16, 17, 126, 127, 128, 240, 254, 255, 256, 1000};
    static const uint32_t widths[] = {1, 70, 1024, 1600, 4099};
    (void)state;
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
        for (unsigned kind = 0; kind < 2; kind++) {
            some_records r;
            for (size_t c = 0; c < sizeof counts_of / sizeof counts_of[0]; c++) {
                make_rows(&r, counts_of[c], 1, widths[w], kind);
                check_one_row(&r);
                free(r.bytes);
            }
            make_rows(&r, 3000000 / widths[w] < 20001 ? 3000000 / widths[w] : 20001, 1, widths[w],
                      kind);
            check_one_row(&r);
            free(r.bytes);
        }
}

// More vectors than carry-save counters hold, and all bits set.
static void all_ones_do_not_overflow_counters(void **state)
{
    uint8_t ones[128];
    const uint8_t *vectors[1000];
    (void)state;
    memset(ones, 0xff, sizeof ones);
    for (int i = 0; i < 1000; i++) vectors[i] = ones;
    for (uint32_t n = 240; n <= 1000; n++) check_counts(vectors, 1024, n);
}

// Carry-save counters, filled in any portions, hold the same numbers as counts.
static void counters_hold_counts(void **state)
{
    static const uint32_t widths[] = {1, 33, 256, 257, 511, 512, 513, 1000, 1024, 1025, 2300};
    static const uint8_t seed[32] = {3};
    static uint32_t expected[8 * BYTES_MAX], counts[8 * BYTES_MAX];
    uint8_t *bits = malloc(VECTORS * BYTES_MAX),
            *counters = malloc(agg_counters_size(8 * BYTES_MAX));
    const uint8_t *vectors[VECTORS];
    shoal_rng rng;
    (void)state;
    shoal_rng_init(&rng, seed);
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
        for (int cpu = 0; cpu <= (int)agg_cpu_best(); cpu++) {
            const agg_bit_columns *columns = agg_bit_columns_of((agg_cpu)cpu);
            uint32_t m = widths[w];
            memset(counters, 0, agg_counters_size(m));
            memset(counts, 0, m * sizeof *counts);
            memset(expected, 0, m * sizeof *expected);
            for (uint32_t total = 0, n = 0; total < 4 * AGG_COUNTERS_MAX; total += n) {
                uint32_t room = AGG_COUNTERS_MAX - total % AGG_COUNTERS_MAX;
                n = 1 + (uint32_t)shoal_rng_below(&rng, room);
                for (uint32_t i = 0; i < n; i++) {
                    uint8_t *vector = bits + i * BYTES_MAX;
                    make_vector(vector, m, total < 2 * AGG_COUNTERS_MAX ? 2 : 0, i, &rng);
                    vectors[i] = vector;
                    add_by_definition(expected, m, vector);
                }
                columns->collect(counters, m, vectors, n);
                if (n == room) columns->drain(counts, m, counters);
            }
            assert_memory_equal(counts, expected, m * sizeof *counts);
            columns->drain(counts, m, counters); // nothing is left in them
            assert_memory_equal(counts, expected, m * sizeof *counts);
        }
    free(bits);
    free(counters);
}

typedef struct way {
    uint32_t k, m, count;
    size_t bytes;
    agg_fold_method method;
} way;

#define WORKERS 4u // the number of threads that says: each adds a run of its own

typedef struct worker_records {
    agg_folder *folder;
    const uint8_t *records;
    size_t size;
    uint32_t count;
    agg_err errs[WORKERS];
} worker_records;

// A thread's quarter, in several runs.
static void add_quarter(void *context, unsigned part, unsigned n_parts)
{
    worker_records *all = context;
    agg_error error;
    uint32_t first = all->count / n_parts * part,
             end = part + 1 < n_parts ? first + all->count / n_parts : all->count;
    for (uint32_t some; first < end && all->errs[part] == SHOAL_OK; first += some) {
        some = end - first < 9000 ? end - first : 9000;
        const agg_folder_run run = {all->records + first * all->size, some};
        all->errs[part] = agg_folder_add_as(all->folder, &error, part, &run);
    }
}

static void add_by_workers(agg_folder *folder, const uint8_t *records, size_t size, uint32_t count)
{
    agg_error error;
    worker_records all = {folder, records, size, count, {SHOAL_OK}};
    agg_parallel(WORKERS, add_quarter, &all);
    for (unsigned worker = 0; worker < WORKERS; worker++) assert_ok(all.errs[worker]);
    assert_ok(agg_folder_add_runs(folder, &error, NULL, 0));
}

// A folder's accumulator against records added one by one.
static void check_folder(const way *w, unsigned kind, unsigned n_threads, uint32_t run)
{
    some_records r;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_folder folder;
    agg_error error;
    sketch_recipe(&recipe, "cms", 2, w->k, w->m);
    make_rows(&r, w->count, w->k, w->m, kind);
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    assert_ok(agg_folder_init(&folder, &error, &acc, w->bytes, n_threads));
    assert_int_equal(folder.plan.method, w->method);
    if (w->method == AGG_FOLD_BUCKETS) assert_true(folder.plan.buckets.n > 1);
    size_t size = shoal_record_size(recipe.recipe);
    uint8_t *records = malloc(size * run);
    uint32_t *expected = calloc(acc.parts[0].n_cells, sizeof *expected);
    assert_non_null(records);
    assert_non_null(expected);
    for (uint32_t first = 0, some = 0; first < r.count; first += some) {
        some = r.count - first < run ? r.count - first : run;
        for (uint32_t i = 0; i < some; i++) {
            const uint8_t *record = r.bytes + (first + i) * r.stride;
            memcpy(records + i * size, record, size);
            add_by_definition(expected + (size_t)load32_le(record) * w->m, w->m, record + 4);
        }
        const agg_folder_run runs[] = {{records, some / 3},
                                       {records + some / 3 * size, some - some / 3}};
        if (n_threads ==
            3) // as several runs, of which one may be long enough to be added where it lies
            assert_ok(agg_folder_add_runs(&folder, &error, runs, 2));
        else if (agg_folder_workers(&folder) == WORKERS)
            add_by_workers(&folder, records, size, some);
        else
            assert_ok(agg_folder_add(&folder, &error, records, some));
        if (first == 0) assert_ok(agg_folder_flush(&folder, &error)); // used on afterwards
    }
    assert_ok(agg_folder_flush(&folder, &error));
    assert_int_equal(acc.n, r.count);
    uint64_t n_rows = 0;
    for (uint32_t j = 0; j < w->k; j++) n_rows += acc.parts[0].rows[j];
    assert_int_equal(n_rows, r.count);
    assert_memory_equal(acc.parts[0].cells.ones, expected, acc.parts[0].n_cells * sizeof *expected);
    agg_folder_release(&folder);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
    free(r.bytes);
    free(records);
    free(expected);
}

// Each way of a folder, with few bytes and enough, with records of every row and of nearly one.
static void folder_gives_the_same(void **state)
{
    static const way ways[] = {{1, 70, 30000, 0, AGG_FOLD_IN_ORDER},
                               {16, 1000, 20000, 0, AGG_FOLD_IN_ORDER},
                               {900, 1000, 60000, 0, AGG_FOLD_COUNTERS},
                               {600, 4099, 9000, 0, AGG_FOLD_COUNTERS},
                               {1100, 1025, 9000, 4096, AGG_FOLD_COUNTERS},
                               {16411, 32, 540000, 0, AGG_FOLD_BUCKETS},
                               {1031, 8190, 6000, (size_t)4 << 20, AGG_FOLD_BUCKETS},
                               {16411, 32, 3000, 1000, AGG_FOLD_IN_ORDER},
                               {8300, 100, 200000, (size_t)3300000, AGG_FOLD_BUCKETS},
                               {8200, 510, 50000, 0, AGG_FOLD_BUCKETS},
                               {8200, 512, 90000, (size_t)4 << 20, AGG_FOLD_BUCKETS}};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        for (unsigned kind = 0; kind < effort(3, 3, 1); kind++) {
            check_folder(&ways[i], kind, 1 + (unsigned)i % 2, kind == 0 ? 1777 : 50000);
            if (kind == 0) check_folder(&ways[i], kind, 3, 100000);
            if (ways[i].method != AGG_FOLD_IN_ORDER)
                check_folder(&ways[i], kind, WORKERS, kind == 0 ? 60000 : 7001);
        }
}

// Counters of all workers stay below 32 MiB: with more threads than that allows, some do not add.
static void counters_bound_workers(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_error error;
    (void)state;
    sketch_recipe(&recipe, "cms", 2, 8192, 1000);
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    for (unsigned n_threads = 1; n_threads <= 8; n_threads++) {
        agg_fold_plan plan = agg_fold_plan_make(&acc, 0, n_threads);
        assert_int_equal(plan.method, AGG_FOLD_COUNTERS);
        assert_int_equal(plan.n_workers, n_threads < 4 ? n_threads : 4);
        assert_true(plan.n_workers * plan.counters_bytes <= (size_t)32 << 20);
        assert_true(agg_fold_plan_beside(&plan, &acc) > plan.n_workers * plan.counters_bytes);
    }
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

int main(void)
{
    const struct CMUnitTest folds[] = {
        cmocka_unit_test(counters_bound_workers), cmocka_unit_test(groups_by_row),
        cmocka_unit_test(one_row_in_order), cmocka_unit_test(folder_gives_the_same)};
    const struct CMUnitTest variants[] = {cmocka_unit_test(counts_every_bit),
                                          cmocka_unit_test(counters_hold_counts),
                                          cmocka_unit_test(all_ones_do_not_overflow_counters),
                                          cmocka_unit_test(reads_nothing_beyond)};
    bool is_chosen = getenv("SHOAL_CPU") != NULL;
    if (is_chosen && agg_cpu_chosen() == agg_cpu_best()) {
        printf("the best variant is tested where SHOAL_CPU is not set\n");
        return 0;
    }
    int failed = cmocka_run_group_tests(folds, NULL, NULL);
    // These go through all variants, whichever is chosen, and start no thread.
    if (is_chosen || EFFORT_THREADS_ONLY) return failed;
    return failed + cmocka_run_group_tests(variants, NULL, NULL);
}
