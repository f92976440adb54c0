// SPDX-License-Identifier: Apache-2.0
// Transforms in pieces that fit the caches; see wht.h.
#include "wht.h"

#include <stdlib.h>
#include <string.h>

#include "agg_cpu.h"
#include "agg_parallel.h"
#include "agg_size.h"

#define WHT_VARIANT agg_wht_portable
#include "wht_variant.h"

// Returns: the variant for this machine. AVX-512 was a tenth faster, too little for a file of its
// own.
static const wht_transforms *chosen(void)
{
#ifdef SHOAL_X86
    if (agg_cpu_chosen() >= AGG_CPU_AVX2) return &agg_wht_avx2;
#endif
    return &agg_wht_portable;
}

void agg_wht(int32_t *x, uint32_t m)
{
    chosen()->whole_32((uint32_t *)x, m); // the same bits read as unsigned
}

void agg_wht_row(int64_t *x, uint32_t m)
{
    chosen()->whole_64((uint64_t *)x, m);
}

// A long transform treats x as a matrix of `rows` rows of ROW numbers. Every row is transformed,
// then every column. Columns are copied WIDTH at a time, because numbers a power of two apart evict
// each other from the cache.
#define ROW ((size_t)1 << 16)
#define WIDTH ((size_t)64)

typedef struct matrix {
    uint64_t *x;
    size_t rows;
    const wht_transforms *by;
    uint64_t *copies; // rows * WIDTH numbers a thread
} matrix;

static void transform_rows(void *context, unsigned part, unsigned n_parts)
{
    const matrix *a = context;
    for (size_t r = a->rows * part / n_parts; r < a->rows * (part + 1) / n_parts; r++)
        a->by->whole_64(a->x + r * ROW, ROW);
}

static void transform_columns(void *context, unsigned part, unsigned n_parts)
{
    const matrix *a = context;
    uint64_t *copy = a->copies + part * a->rows * WIDTH;
    size_t strips = ROW / WIDTH;
    for (size_t s = strips * part / n_parts; s < strips * (part + 1) / n_parts; s++) {
        uint64_t *strip = a->x + s * WIDTH;
        for (size_t r = 0; r < a->rows; r++)
            memcpy(copy + r * WIDTH, strip + r * ROW, WIDTH * sizeof *copy);
        a->by->from_64(copy, a->rows * WIDTH, WIDTH);
        for (size_t r = 0; r < a->rows; r++)
            memcpy(strip + r * ROW, copy + r * WIDTH, WIDTH * sizeof *copy);
    }
}

agg_err agg_wht_wide(int64_t *x, agg_error *error, size_t n, unsigned n_threads)
{
    matrix a = {(uint64_t *)x, n / ROW, chosen(), NULL};
    if (n <= ROW) {
        a.by->whole_64(a.x, n);
        return SHOAL_OK;
    }
    if (n_threads < 1) n_threads = 1;
    if (n_threads > AGG_THREADS_MAX) n_threads = AGG_THREADS_MAX;
    void *copies = agg_alloc(error, n_threads * a.rows + 1, WIDTH * sizeof *a.copies);
    if (copies == NULL) return AGG_ERR_MEMORY;
    a.copies = agg_line_start(copies);
    agg_parallel(n_threads, transform_rows, &a);
    agg_parallel(n_threads, transform_columns, &a);
    free(copies);
    return SHOAL_OK;
}
