// SPDX-License-Identifier: Apache-2.0
// "Other" over hashed rows; see joint_other_rows.h.
#include "joint_other_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "estimator.h"

#define LEAST_OTHER                                                                                \
    0.001         // Other counts as at least this share of the reports, since we divide by it
#define DOUBT 2.0 // standard errors of the noise that the measured spread must exceed
// A row's shares are used only if their spread is this many times their noise.
#define CAUTION 1000.0

// Returns: the reports of row j. Sums of signs do not tell their number. For them it is the
// expected number, n / k, which is close if there are many reports.
static double reports_of(const agg_joint_other_rows *o, const agg_joint_items *items, uint32_t j)
{
    double sum = 0;
    if (o->sketch->rows != NULL) return o->sketch->rows[j];
    if (items->marks->transform != NULL) return o->n / items->part->k;
    for (uint32_t l = 0; l < items->part->m; l++)
        sum += o->sketch->cells.ones[(size_t)j * items->part->m + l];
    return sum;
}

// Returns: the share of random values that have a given column.
static double prior_of(const agg_joint_items *items)
{
    return -expm1(items->hashes * log1p(-1.0 / items->part->m));
}

// Writes the unbiased share of each column among Other's reports of row j.
//   items: found for row j
static void share_row(agg_joint_other_rows *o, const agg_joint_items *items, uint32_t j,
                      double reports)
{
    items->marks->row_shares(o->shares, &items->coins, o->sketch, j, reports);
    for (uint32_t i = 0; i < items->n; i++)
        for (uint32_t h = 0; h < items->hashes && i != items->none; h++) {
            uint32_t column = items->columns[i * items->hashes + h];
            if (column != AGG_JOINT_NO_COLUMN) o->shares[column] -= o->item_shares[i];
        }
    double anywhere = items->none < items->n ? o->item_shares[items->none] / items->n_columns : 0;
    for (uint32_t l = 0; l < items->n_columns; l++)
        o->shares[l] = (o->shares[l] - anywhere) / o->share_of_other;
}

static double square_off(const double *x, uint32_t n, double middle)
{
    double sum = 0;
    for (uint32_t l = 0; l < n; l++) sum += (x[l] - middle) * (x[l] - middle);
    return sum;
}

// Returns: the variance of a column's share among the reports of a row, times the number of these
// reports. It takes the average rate of ones for every column.
static double share_variance(const agg_joint_other_rows *o, const agg_joint_items *items)
{
    const agg_joint_coins *c = &items->coins;
    double ones = 0, gap = c->own - c->other;
    if (items->marks->transform != NULL) return 1 / ((c->own - c->not_own) * (c->own - c->not_own));
    for (uint64_t i = 0; i < o->sketch->n_cells; i++) ones += o->sketch->cells.ones[i];
    double rate = ones / (o->n * items->part->m);
    return rate * (1 - rate) / (gap * gap);
}

// Estimates how much the shares of columns differ beyond chance. The estimate is cautious: if rows
// with few reports were trusted, their noise would return in the likelihood of the same reports.
static void find_spread(agg_joint_other_rows *o, agg_joint_items *items)
{
    double squares = 0, reports = 0, rows = 0;
    o->noise = share_variance(o, items) / (o->share_of_other * o->share_of_other);
    for (uint32_t j = 0; j < items->part->k; j++) {
        double of_row = reports_of(o, items, j);
        if (!(of_row > 0)) continue;
        agg_joint_items_find_row(items, j);
        share_row(o, items, j, of_row);
        squares += of_row * square_off(o->shares, items->n_columns, prior_of(items));
        reports += of_row;
        rows++;
    }
    // Each row's mean square has variance 2 / columns.
    double chance = rows + DOUBT * sqrt(2 * rows / items->n_columns);
    o->spread = reports > 0 ? fmax(0, squares / items->n_columns - chance * o->noise) / reports : 0;
}

static agg_err share_items(agg_joint_other_rows *o, agg_error *error, const agg_joint_items *items,
                           const double *given, unsigned n_threads)
{
    // "None of the list", the last item, is not estimated.
    uint32_t n_estimated = given == NULL && o->n > 0 ? items->none : 0;
    agg_count *counts = agg_alloc(error, items->n, sizeof *counts);
    if (counts == NULL) return AGG_ERR_MEMORY;
    agg_err err = n_estimated > 0
                      ? agg_estimator_counts(counts, error, items->part, o->sketch, (uint64_t)o->n,
                                             items->items, n_estimated, n_threads)
                      : SHOAL_OK;
    double sum = 0;
    for (uint32_t i = 0; err == SHOAL_OK && i < items->n; i++) {
        double share = given != NULL ? given[i] : i < n_estimated ? counts[i].count / o->n : 0;
        o->item_shares[i] = share > 0 ? fmin(share, 1) : 0;
        sum += o->item_shares[i];
    }
    o->share_of_other = fmax(1 - sum, LEAST_OTHER);
    free(counts);
    return err;
}

agg_err agg_joint_other_rows_init(agg_joint_other_rows *o, agg_error *error, agg_joint_items *items,
                                  const agg_sketch *sketch, uint64_t n, const double *item_shares,
                                  unsigned n_threads)
{
    bool has_bits = items->hashes > 1;
    *o = (agg_joint_other_rows){.sketch = sketch, .n = (double)n};
    o->item_shares = agg_alloc(error, items->n, sizeof *o->item_shares);
    o->shares = agg_alloc(error, items->n_columns, sizeof *o->shares);
    o->is_named = agg_alloc(error, items->n_columns, sizeof *o->is_named);
    o->bits.log_odds = agg_alloc(error, has_bits ? items->n_columns : 0, sizeof(double));
    agg_err err = agg_joint_mixture_init(&o->mixture, error, has_bits ? 0 : items->n_columns);
    if (o->item_shares == NULL || o->shares == NULL || o->is_named == NULL ||
        o->bits.log_odds == NULL)
        return AGG_ERR_MEMORY;
    if (err == SHOAL_OK) err = share_items(o, error, items, item_shares, n_threads);
    if (err == SHOAL_OK) find_spread(o, items);
    return err;
}

void agg_joint_other_rows_release(agg_joint_other_rows *o)
{
    free(o->item_shares);
    free(o->shares);
    free(o->is_named);
    free(o->bits.log_odds);
    agg_joint_mixture_release(&o->mixture);
    memset(o, 0, sizeof *o);
}

static double shrink(double middle, double x, double trust)
{
    double shrunk = middle + trust * (x - middle);
    return shrunk < 0 ? 0 : shrunk > 1 ? 1 : shrunk;
}

// Bits are independent: each marked one adds to the log-likelihood of none marked.
static void model_bits(agg_joint_bits *bits, const double *shares, const agg_joint_items *items)
{
    const agg_joint_coins *c = &items->coins;
    bits->log_unmarked = 0;
    for (uint32_t l = 0; l < items->n_columns; l++) {
        double v = shares[l];
        double one = c->other * (1 - v) + c->own * v,
               zero = c->not_other * (1 - v) + c->not_own * v;
        double of_zero = log(zero / c->not_other);
        bits->log_odds[l] = log(one / c->other) - of_zero;
        bits->log_unmarked += of_zero;
    }
}

static void model_mixture(agg_joint_mixture *mixture, const double *shares, double none,
                          const agg_joint_items *items)
{
    memcpy(mixture->weights, shares, items->n_columns * sizeof *shares);
    mixture->none = none;
    agg_joint_mixture_scale(mixture, items->n_columns);
    if (items->marks->transform != NULL) items->marks->transform(mixture->weights, items->part);
}

void agg_joint_other_rows_model(agg_joint_other_rows *o, const agg_joint_items *items, uint32_t j)
{
    double reports = reports_of(o, items, j), middle = prior_of(items);
    share_row(o, items, j, reports > 0 ? reports : 1);
    double trust =
        o->spread > 0 && reports > 0 ? fmax(0, 1 - CAUTION * o->noise / (reports * o->spread)) : 0;
    for (uint32_t l = 0; l < items->n_columns; l++)
        o->shares[l] = shrink(middle, o->shares[l], trust);
    agg_joint_items_name_columns(o->is_named, items);
    double none = agg_joint_leave_unnamed(o->shares, o->is_named, items);
    if (items->hashes > 1)
        model_bits(&o->bits, o->shares, items);
    else
        model_mixture(&o->mixture, o->shares, none, items);
}

double agg_joint_other_rows_log(const agg_joint_other_rows *o, const agg_joint_items *items,
                                const uint8_t *record)
{
    if (items->hashes == 1) return agg_joint_mixture_log(&o->mixture, items, record);
    return o->bits.log_unmarked + items->marks->sum_marked(o->bits.log_odds, items->part, record);
}
