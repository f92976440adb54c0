// SPDX-License-Identifier: Apache-2.0
// Estimates counts from RAPPOR's bit counts (Erlingsson, Pihur and Korolova 2014; fanti-2016
// equation 2 and section 3).
//
// In a list, entry i has bit i for itself. With C of n records that have the bit set,
//
//     f = (C - n p*) / (q* - p*),     Var = ( f q* (1 - q*) + (n - f) p* (1 - p*) ) / (q* - p*)^2
//
// Open strings share bits, and rappor_decode.h separates them. An item's count then depends on the
// other items of the query.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "estimator.h"
#include "joint_marks.h"
#include "poly1.h"
#include "rappor.h"
#include "rappor_decode.h"
#include "support_score.h"

static void effective(double *p_star, double *q_star, const shoal_part *part)
{
    uint64_t p = 0, q = 0;
    shoal_rappor_effective(&p, &q, part);
    *p_star = (double)p * 0x1p-64;
    *q_star = (double)q * 0x1p-64;
}

static agg_err count_list(agg_count *counts, agg_error *error, const shoal_part *part,
                          const agg_sketch *sketch, double n, const uint64_t *items, size_t n_items)
{
    double p = 0, q = 0;
    effective(&p, &q, part);
    double gap = q - p, none = n * p * (1 - p) / (gap * gap);
    for (size_t i = 0; i < n_items; i++) {
        if (items[i] >= part->m) return agg_fail_core(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME);
        double count = (sketch->cells.ones[items[i]] - n * p) / gap;
        double f = count < 0 ? 0 : count > n ? n : count;
        double variance = none + f * (q * (1 - q) - p * (1 - p)) / (gap * gap);
        double score = agg_support_score(sketch->cells.ones[items[i]], n, n * p, sqrt(none) * gap);
        counts[i] = (agg_count){
            .count = count, .stderr_ = sqrt(variance), .null_error = sqrt(none), .score = score};
    }
    return SHOAL_OK;
}

// Writes the design row of every item's bit in every cohort and hash: bits[i * per_item + row].
static void find_bits(uint32_t *bits, const shoal_part *part, const uint64_t *items, size_t n_items)
{
    size_t per_item = (size_t)part->k * part->hashes;
    for (uint32_t c = 0; c < part->k; c++)
        for (uint32_t h = 0; h < part->hashes; h++) {
            shoal_poly1 row;
            uint32_t j = shoal_rappor_row(part, c, h);
            shoal_poly1_row(&row, part->seed, j);
            for (size_t i = 0; i < n_items; i++)
                bits[i * per_item + j] =
                    c * part->m + shoal_poly1_hash(&row, shoal_poly1_point(items[i]), part->m);
        }
}

// Sorts the few bits of one cohort and drops repeats.
// Returns: how many are left.
static size_t sort_few(uint32_t *bits, size_t n)
{
    size_t kept = 0;
    for (size_t i = 1; i < n; i++)
        for (size_t e = i; e > 0 && bits[e - 1] > bits[e]; e--) {
            uint32_t swap = bits[e];
            bits[e] = bits[e - 1];
            bits[e - 1] = swap;
        }
    for (size_t i = 0; i < n; i++)
        if (i == 0 || bits[i] != bits[i - 1]) bits[kept++] = bits[i];
    return kept;
}

static void make_columns(size_t *start, uint32_t *rows, const shoal_part *part, size_t n_items)
{
    size_t at = 0, per_item = (size_t)part->k * part->hashes;
    for (size_t i = 0; i < n_items; i++) {
        for (size_t c = 0; c < part->k; c++) {
            uint32_t *few = rows + i * per_item + c * part->hashes;
            size_t kept = sort_few(few, part->hashes);
            for (size_t e = 0; e < kept; e++)
                rows[at++] = few[e]; // the write index is never ahead of the read index
        }
        start[i + 1] = at;
    }
}

// The null error is set so that count over null error is the decoder's z.
static agg_count count_of(const agg_rappor_row *row)
{
    bool has_z = row->count * row->z > 0 && isfinite(row->z);
    double null_error = has_z ? row->count / row->z : row->stderr_,
           score = row->count > 0 ? HUGE_VAL : 0;
    return (agg_count){.count = row->count,
                       .stderr_ = row->stderr_,
                       .null_error = null_error,
                       .score = null_error > 0 ? row->count / null_error : score};
}

static agg_err count_strings(agg_count *counts, agg_error *error, const agg_rappor_counts *bits,
                             const agg_bit_design *design)
{
    agg_rappor_row *rows = agg_alloc(error, design->n_columns, sizeof *rows);
    if (rows == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_rappor_decode(rows, NULL, error, bits, design);
    for (size_t i = 0; err == SHOAL_OK && i < design->n_columns; i++)
        counts[i] = count_of(&rows[i]);
    free(rows);
    return err;
}

static agg_err count_open(agg_count *counts, agg_error *error, const shoal_part *part,
                          const agg_sketch *sketch, const uint64_t *items, size_t n_items)
{
    agg_rappor_counts bits = {part->k, part->m, sketch->cells.ones, sketch->rows, 0, 0};
    size_t n_bits = 0;
    effective(&bits.p_star, &bits.q_star, part);
    if (!agg_size_multiply(&n_bits, n_items, (size_t)part->k * part->hashes))
        return agg_fail_core(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME);
    size_t *start = agg_alloc(error, n_items + 1, sizeof *start);
    uint32_t *rows = agg_alloc(error, n_bits, sizeof *rows);
    agg_err err = start == NULL || rows == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) {
        const agg_bit_design design = {(size_t)part->k * part->m, n_items, start, rows};
        find_bits(rows, part, items, n_items);
        make_columns(start, rows, part, n_items);
        err = count_strings(counts, error, &bits, &design);
    }
    free(start);
    free(rows);
    return err;
}

static agg_err counts(agg_count *out, agg_error *error, const shoal_part *part,
                      const agg_sketch *sketch, uint64_t n, const uint64_t *items, size_t n_items,
                      unsigned n_threads)
{
    (void)n_threads;
    if (part->domain == SHOAL_DOMAIN_CLOSED)
        return count_list(out, error, part, sketch, (double)n, items, n_items);
    return count_open(out, error, part, sketch, items, n_items);
}

static uint64_t memory(const shoal_part *part, size_t n_items, unsigned n_threads)
{
    (void)n_threads;
    if (part->domain == SHOAL_DOMAIN_CLOSED) return 0;
    size_t per_item = (size_t)part->k * part->hashes;
    uint64_t design =
        n_items * (per_item * sizeof(uint32_t) + sizeof(size_t) + sizeof(agg_rappor_row));
    return design + agg_rappor_decode_memory((size_t)part->k * part->m, n_items, per_item);
}

// Bits of a list are supports of their own, whose coins devices draw independently.
static bool support_law(agg_support_law *law, const shoal_part *part, uint64_t n)
{
    double p = 0, q = 0;
    effective(&p, &q, part);
    *law = (agg_support_law){(double)n, q, p, 1};
    return part->domain == SHOAL_DOMAIN_CLOSED && n > 0;
}

static void set_mark_coins(agg_joint_coins *c, const shoal_part *part)
{
    uint64_t p = 0, q = 0;
    shoal_rappor_effective(&p, &q, part);
    agg_marks_set_bits(c, (double)p * 0x1p-64, (double)(0 - p) * 0x1p-64, (double)q * 0x1p-64,
                       (double)(0 - q) * 0x1p-64);
}

static const agg_joint_marks marks = {
    .columns = AGG_JOINT_APART,
    .set_coins = set_mark_coins,
    .row = agg_marks_first_word,
    .is_marked = agg_marks_is_bit_of_row,
    .sum_marked = agg_marks_sum_bits_of_row,
    .row_shares = agg_marks_shares_of_ones,
};

static bool same_answers(const shoal_part *a, const shoal_part *b)
{
    return a->m == b->m && a->hashes == b->hashes && a->k == b->k &&
           a->pqf_threshold[SHOAL_RAPPOR_F] == b->pqf_threshold[SHOAL_RAPPOR_F] &&
           memcmp(a->seed, b->seed, sizeof a->seed) == 0;
}

const agg_estimator agg_rappor_estimator = {
    .id = shoal_rappor_id,
    .counts = counts,
    .memory = memory,
    .marks = &marks,
    .support_law = support_law,
    .same_answers = same_answers,
};
