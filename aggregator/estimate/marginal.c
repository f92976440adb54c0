// SPDX-License-Identifier: Apache-2.0
// Sums over cells and their errors; see marginal.h.
//
// A bucket has c cells, which F devices hold. The n reports support the cells A times in all. One
// report supports N of them, with mean M1 and variance V1 if its device is in the bucket, and M0
// and V0 if not. M1 - M0 = p - q whatever c is, because all other cells are supported alike. So
//
//     F = (A - n M0)/(p - q),     Var = ( F V1 + (n - F) V0 )/(p - q)^2
//
// One-hot: N is a sum of c independent bits: M0 = c q, V0 = c q (1-q), V1 = V0 - q (1-q) + p (1-p).
//
// Randomized response: a report is one cell, so that N is 0 or 1: M0 = c q, V = M (1 - M).
//
// Subset selection: a set of d of s indices contains the own one with probability p, and otherwise
// any of the s - 1 others alike. N is hypergeometric on either side of the coin.
//
// Hadamard response (hadamard_estimate.c): a report adds its sign times the sum of the matrix's
// column over the bucket's rows in its block. The mean square of that sum over the column is c_b,
// the number of the bucket's cells in the report's block b, because rows are orthogonal. With R_b
// reports in block b,
//
//     Var = sum_b E R_b c_b/(p - q)^2 - F,     E R_b >= 2 n q
#include "marginal.h"

#include <math.h>
#include <stdlib.h>

#include "agg_size.h"
#include "estimator.h"
#include "recipe.h"
#include "sum_law.h"
#include "support_score.h"

// A field as a digit of the item: the bucket is (item / stride) mod size.
typedef struct digit {
    uint64_t stride;
    uint32_t size, cells; // number of buckets, and of cells in each
} digit;

static digit digit_of(const shoal_recipe *recipe, uint32_t field)
{
    digit d = {1, recipe->encoding.fields[field].size, 0};
    for (uint32_t i = field + 1; i < recipe->encoding.n_fields; i++)
        d.stride *= recipe->encoding.fields[i].size;
    d.cells = recipe->parts[0].size / d.size;
    return d;
}

static agg_count count_of(double support, const agg_sum_law *law, double n)
{
    double gap = law->in.mean - law->out.mean, mean = n * law->out.mean;
    double count = (support - mean) / gap, inside = fmin(fmax(count, 0), n);
    double null_error = sqrt(n * law->out.variance);
    double variance = inside * law->in.variance + (n - inside) * law->out.variance;
    return (agg_count){.count = count,
                       .stderr_ = sqrt(variance) / gap,
                       .null_error = null_error / gap,
                       .score = agg_support_score(support, n * law->most, mean, null_error)};
}

static agg_err sum_supports(agg_count *counts, agg_error *error, const shoal_part *part,
                            const agg_accumulator *acc, const digit *d)
{
    agg_sum_law one;
    const uint32_t *ones = acc->parts[0].cells.ones;
    int64_t *support = agg_alloc(error, d->size, sizeof *support);
    if (support == NULL) return AGG_ERR_MEMORY;
    for (uint64_t item = 0; item < part->size; item++)
        support[item / d->stride % d->size] += ones[item];
    agg_estimator_of(part->mechanism)->sum_law(&one, part, d->cells);
    for (uint32_t b = 0; b < d->size; b++)
        counts[b] = count_of((double)support[b], &one, (double)acc->n);
    free(support);
    return SHOAL_OK;
}

static void sum_blocks(agg_count *counts, const shoal_part *part, const agg_accumulator *acc,
                       const digit *d, const agg_count *cells)
{
    double p = 0, q = 0;
    agg_estimator_of(part->mechanism)->block_coins(&p, &q, part);
    double gap = p - q;
    double least = 2 * (double)acc->n * q * d->cells;
    for (uint32_t b = 0; b < d->size; b++) counts[b] = (agg_count){0};
    for (uint64_t item = 0; item < part->size; item++) {
        agg_count *sum = &counts[item / d->stride % d->size];
        sum->count += cells[item].count;
        sum->null_error += acc->parts[0].rows[item % part->k];
    }
    for (uint32_t b = 0; b < d->size; b++) {
        agg_count *sum = &counts[b];
        double null = fmax(sum->null_error, least) / (gap * gap);
        *sum = (agg_count){.count = sum->count,
                           .stderr_ = sqrt(null - fmin(fmax(sum->count, 0), null)),
                           .null_error = sqrt(null),
                           .score = null > 0 ? sum->count / sqrt(null) : 0};
    }
}

// Estimates every item, in order.
static agg_err count_cells(agg_count *cells, agg_error *error, const shoal_part *part,
                           const agg_accumulator *acc, unsigned n_threads)
{
    uint64_t *items = agg_alloc(error, part->size, sizeof *items);
    if (items == NULL) return AGG_ERR_MEMORY;
    for (uint32_t i = 0; i < part->size; i++) items[i] = i;
    agg_err err = agg_estimator_counts(cells, error, part, &acc->parts[0], acc->n, items,
                                       part->size, n_threads);
    free(items);
    return err;
}

agg_err agg_marginal_check(agg_error *error, const shoal_recipe *recipe, uint32_t field)
{
    uint32_t mechanism = recipe->parts[0].mechanism;
    const agg_estimator *estimator = agg_estimator_of(mechanism);
    if (field >= recipe->encoding.n_fields)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "the recipe has no such field");
    if (recipe->encoding.n_fields == 1 || estimator->sum_law != NULL ||
        estimator->block_coins != NULL)
        return SHOAL_OK;
    return agg_fail(
        error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
        "%s: its hashes make the errors of cells depend on one another, so the error of their sum "
        "over one field is unknown; it is known for onehot, grr, subset and hadamard",
        shoal_mechanism_by_id(mechanism)->name);
}

agg_err agg_marginal(agg_count *counts, agg_error *error, const shoal_recipe *recipe,
                     const agg_accumulator *acc, uint32_t field, unsigned n_threads)
{
    const shoal_part *part = &recipe->parts[0];
    agg_err err = agg_marginal_check(error, recipe, field);
    if (err == SHOAL_OK) err = agg_accumulator_check_recipe(acc, error, recipe);
    if (err != SHOAL_OK) return err;
    digit d = digit_of(recipe, field);
    const agg_estimator *estimator = agg_estimator_of(part->mechanism);
    if (recipe->encoding.n_fields == 1) return count_cells(counts, error, part, acc, n_threads);
    if (estimator->sum_law != NULL) return sum_supports(counts, error, part, acc, &d);
    agg_count *cells = agg_alloc(error, part->size, sizeof *cells);
    if (cells == NULL) return AGG_ERR_MEMORY;
    err = count_cells(cells, error, part, acc, n_threads);
    if (err == SHOAL_OK) sum_blocks(counts, part, acc, &d, cells);
    free(cells);
    return err;
}

uint64_t agg_marginal_memory(const shoal_recipe *recipe, uint32_t field, unsigned n_threads)
{
    const shoal_part *part = &recipe->parts[0];
    uint64_t counting =
        part->size * sizeof(uint64_t) + agg_estimator_memory(part, part->size, n_threads);
    if (recipe->encoding.n_fields == 1) return counting;
    if (agg_estimator_of(part->mechanism)->sum_law != NULL)
        return recipe->encoding.fields[field].size * sizeof(int64_t);
    return counting + part->size * sizeof(agg_count);
}
