// SPDX-License-Identifier: Apache-2.0
// Estimates counts from Hadamard response (core/mechanism/hadamard.h), with the variance of the
// estimator as it is computed here.
//
// W(x) = sum over the R reports of x's block of s H[r][c], which is one Walsh-Hadamard transform of
// the block's sums of signs. A report holds its device's cell with probability p = 1 - T/2^64, and
// each other cell with q = (T/2^64)/(2 B - 1). The rows of a Hadamard matrix are orthogonal. A
// device therefore adds p - q on average if it holds x, and nothing if it holds another value:
//
//     f = W/(p - q),     Var = E R/(p - q)^2 - f,     E R = 2 n q + F (p - q)
//
// Every report of the block adds a sign, whose square is 1. The number F of devices whose value
// lies in the block is unknown. R is known, and E R is at least 2 n q whatever F is.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "affine1.h"
#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"
#include "estimator.h"
#include "flip_chance.h"
#include "joint_marks.h"
#include "sum_law.h"
#include "wht.h"

typedef struct blocks {
    int32_t *sums; // k blocks of m
    uint32_t k, m;
} blocks;

static void transform_some(void *context, unsigned part, unsigned n_parts)
{
    const blocks *b = context;
    uint32_t start = (uint32_t)((uint64_t)b->k * part / n_parts),
             stop = (uint32_t)((uint64_t)b->k * (part + 1) / n_parts);
    for (uint32_t block = start; block < stop; block++)
        agg_wht(b->sums + (size_t)block * b->m, b->m);
}

static agg_count count_of(double sum, double reports, double n, double p, double q)
{
    double gap = p - q, null = fmax(reports, 2 * n * q) / (gap * gap), count = sum / gap;
    return (agg_count){.count = count,
                       .stderr_ = sqrt(null - fmin(fmax(count, 0), null)),
                       .null_error = sqrt(null),
                       .score = null > 0 ? count / sqrt(null) : 0};
}

static agg_err counts(agg_count *counts, agg_error *error, const shoal_part *part,
                      const agg_sketch *sketch, uint64_t n, const uint64_t *items, size_t n_items,
                      unsigned n_threads)
{
    double p = (double)(0 - part->threshold) * 0x1p-64,
           q = agg_rare_probability(part) / (2 * part->k - 1);
    for (size_t i = 0; i < n_items; i++)
        if (items[i] >= part->size) return agg_fail_core(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME);
    blocks b = {agg_alloc(error, (size_t)sketch->n_cells, sizeof *b.sums), part->k, part->m};
    if (b.sums == NULL) return AGG_ERR_MEMORY;
    memcpy(b.sums, sketch->cells.sums, (size_t)sketch->n_cells * sizeof *b.sums);
    agg_parallel(n_threads < 1                 ? 1
                 : n_threads > AGG_THREADS_MAX ? AGG_THREADS_MAX
                                               : n_threads,
                 transform_some, &b);
    for (size_t i = 0; i < n_items; i++)
        counts[i] = count_of(b.sums[items[i] % part->k * part->m + items[i] / part->k],
                             sketch->rows[items[i] % part->k], (double)n, p, q);
    free(b.sums);
    return SHOAL_OK;
}

static uint64_t memory(const shoal_part *part, size_t n_items, unsigned n_threads)
{
    (void)n_items, (void)n_threads;
    return (uint64_t)part->k * part->m * sizeof(int32_t);
}

static void set_cell(agg_joint_coins *c, const shoal_part *part)
{
    double truth = agg_marks_truth(part), cells = 2.0 * part->k,
           other = agg_rare_probability(part) / (cells - 1);
    *c = (agg_joint_coins){truth,         other, 1 - truth,          1 - other,
                           truth / other, 1,     1 / (cells * other)};
}

static bool is_cell(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    uint32_t row = load32_le(record) / 2 % part->m;
    return load32_le(record) ==
           2 * (column % part->k * part->m + row) + (shoal_parity(row & column / part->k) ^ 1);
}

// Every second column of the block has the sign.
static double sum_block(const double *weights, const shoal_part *part, const uint8_t *record)
{
    uint32_t index = load32_le(record) >> 1;
    return weights[index - index % part->m] / 2;
}

static uint32_t place_of_block(const shoal_part *part, uint32_t x)
{
    return x % part->k * part->m;
}

static void block_coins(double *p, double *q, const shoal_part *part)
{
    *p = agg_common_side(part);
    *q = agg_rare_probability(part) / (2 * part->k - 1);
}

static const agg_joint_marks marks = {
    .columns = AGG_JOINT_BLOCKS,
    .set_coins = set_cell,
    .is_marked = is_cell,
    .sum_marked = sum_block,
    .place = place_of_block,
};

const agg_estimator agg_hadamard_estimator = {
    .id = shoal_hadamard_id,
    .counts = counts,
    .memory = memory,
    .marks = &marks,
    .block_coins = block_coins,
};
