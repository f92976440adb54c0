// SPDX-License-Identifier: Apache-2.0
// Changes over periods; see changes.h.
#include "changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "changes_check.h"
#include "estimator.h"
#include "recipe.h"
#include "shared_rows.h"
#include "window_picks.h"

// Collisions that add less than this part of the coins' variance are taken to be independent, and
// the pairs of periods are not compared.
#define NEGLIGIBLE 1e-3

static const shoal_part *part_of(const agg_changes_period *p)
{
    return shoal_recipe_value_part(p->recipe->recipe);
}

static const agg_sketch *sketch_of(const agg_changes_period *p)
{
    return &p->acc->parts[p->recipe->recipe->value_part];
}

// ---- sums over periods ----

static agg_err init_sums(agg_periods *sums, agg_error *error, size_t n)
{
    *sums = (agg_periods){.n = n};
    sums->reports = agg_alloc(error, n + 1, sizeof *sums->reports);
    sums->squares = agg_alloc(error, n + 1, sizeof *sums->squares);
    sums->coins = agg_alloc(error, n + 1, sizeof *sums->coins);
    if (sums->reports == NULL || sums->squares == NULL || sums->coins == NULL)
        return AGG_ERR_MEMORY;
    sums->reports[0] = sums->squares[0] = sums->coins[0] = 0;
    return SHOAL_OK;
}

// Adds period t. Its collisions go to the diagonal of the matrix.
static void add_period(agg_periods *sums, double *matrix, const agg_changes_period *p, size_t t)
{
    const agg_estimator *estimator = agg_estimator_of(part_of(p)->mechanism);
    agg_debias debias = {0};
    double n = (double)p->acc->n;
    if (estimator->debias != NULL) estimator->debias(&debias, part_of(p), sketch_of(p), p->acc->n);
    sums->reports[t + 1] = sums->reports[t] + n;
    sums->squares[t + 1] = sums->squares[t] + n * n;
    sums->coins[t + 1] = sums->coins[t] + debias.base - debias.pairs;
    matrix[t * sums->n + t] = debias.pairs;
    if (t > 0) return;
    sums->slope = debias.slope;
    sums->curve = debias.curve + agg_rows_collision(part_of(p));
    sums->design = fmax(1, agg_picks_design(p->recipe->recipe));
    sums->has_support = estimator->debias != NULL && !debias.is_signed;
    sums->scale = debias.scale;
    sums->expected = sums->has_support ? -debias.offset / debias.scale / n : 0;
}

static bool are_negligible(const agg_periods *sums, const double *matrix)
{
    for (size_t t = 0; t < sums->n; t++)
        if (matrix[t * sums->n + t] > NEGLIGIBLE * (sums->coins[t + 1] - sums->coins[t]))
            return false;
    return true;
}

// Fills the matrix with what periods of the same rows share.
// Returns: whether any two do.
static bool fill_shared(double *matrix, const agg_changes_period *periods, size_t n)
{
    bool is_any = false;
    double collision = agg_rows_collision(part_of(&periods[0]));
    for (size_t t = 0; t < n; t++)
        for (size_t u = 0; u < t; u++) {
            const shoal_part *a = part_of(&periods[t]), *b = part_of(&periods[u]);
            const agg_sketch *x = sketch_of(&periods[t]), *y = sketch_of(&periods[u]);
            uint64_t n_t = periods[t].acc->n, n_u = periods[u].acc->n;
            if (!agg_rows_shared(a, b)) continue;
            matrix[t * n + u] = matrix[u * n + t] = collision * agg_rows_pairs(a, x, n_t, b, y);
            matrix[t * n + t] = collision * agg_rows_pairs(a, x, n_t, NULL, NULL);
            matrix[u * n + u] = collision * agg_rows_pairs(b, y, n_u, NULL, NULL);
            is_any = true;
        }
    return is_any;
}

// Sums a matrix over the rectangle before each of its places.
static agg_err sum_matrix(agg_periods *sums, agg_error *error, const double *matrix)
{
    size_t n = sums->n, row = n + 1;
    sums->collision = agg_alloc(error, row * row, sizeof *sums->collision);
    if (sums->collision == NULL) return AGG_ERR_MEMORY;
    double *c = sums->collision;
    for (size_t i = 0; i < row; i++) c[i] = c[i * row] = 0;
    for (size_t t = 0; t < n; t++)
        for (size_t u = 0; u < n; u++)
            c[(t + 1) * row + u + 1] =
                matrix[t * n + u] + c[t * row + u + 1] + c[(t + 1) * row + u] - c[t * row + u];
    return SHOAL_OK;
}

static agg_err find_sums(agg_changes *c, agg_error *error)
{
    size_t n = c->n_periods;
    double *matrix = agg_alloc(error, n * n, sizeof *matrix);
    agg_err err = matrix == NULL ? AGG_ERR_MEMORY : init_sums(&c->sums, error, n);
    if (err == SHOAL_OK) {
        memset(matrix, 0, n * n * sizeof *matrix);
        for (size_t t = 0; t < n; t++) add_period(&c->sums, matrix, &c->periods[t], t);
        if (!are_negligible(&c->sums, matrix)) c->is_shared = fill_shared(matrix, c->periods, n);
        if (agg_rows_collision(part_of(&c->periods[0])) > 0)
            err = sum_matrix(&c->sums, error, matrix);
    }
    free(matrix);
    return err;
}

// ---- series ----

// Sums the variances of one value's counts over periods; each is that of a count of nobody so far.
// A count lowers its own variance, so a period that is high by chance would look sure of it. Only
// what the pooled share explains may be taken off.
static void sum_variances(const agg_changes *c, double *variances, const double *counts)
{
    size_t n = c->n_periods;
    const double *reports = c->sums.reports;
    double share = fmin(fmax(counts[n] / reports[n], 0), 1);
    for (size_t t = 0; t < n; t++) {
        double most = share * (reports[t + 1] - reports[t]),
               own = fmax(counts[t + 1] - counts[t], 0);
        variances[t + 1] = variances[t] + fmax(0, variances[t + 1] - fmin(own, most));
    }
}

// Reads the series of all values.
//   variances: NULL if the mechanism states a law
static agg_err read_series(agg_changes *c, agg_error *error, double *variances, unsigned n_threads)
{
    size_t row = c->n_periods + 1;
    agg_count *counts = agg_alloc(error, c->n_dictionary, sizeof *counts);
    agg_err err = counts == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < c->n_dictionary; i++) {
        c->counts[i * row] = 0;
        if (variances != NULL) variances[i * row] = 0;
    }
    for (size_t t = 0; err == SHOAL_OK && t < c->n_periods; t++) {
        const agg_changes_period *p = &c->periods[t];
        err = agg_estimator_counts(counts, error, part_of(p), sketch_of(p), p->acc->n,
                                   p->dictionary->items, p->dictionary->n, n_threads);
        for (size_t i = 0; err == SHOAL_OK && i < c->n_dictionary; i++) {
            size_t at = i * row + t;
            c->counts[at + 1] = c->counts[at] + counts[i].count;
            if (variances != NULL) variances[at + 1] = counts[i].null_error * counts[i].null_error;
        }
    }
    for (size_t i = 0; err == SHOAL_OK && variances != NULL && i < c->n_dictionary; i++)
        sum_variances(c, variances + i * row, c->counts + i * row);
    free(counts);
    return err;
}

static agg_series series_of(const agg_changes *c, const double *variances, size_t index)
{
    size_t row = c->n_periods + 1;
    return (agg_series){&c->sums, c->counts + index * row,
                        variances == NULL ? NULL : (double *)(uintptr_t)variances + index * row};
}

static int compare_rows(const void *x, const void *y)
{
    const agg_changes_row *a = x, *b = y;
    if (a->p != b->p) return a->p < b->p ? -1 : 1;
    if (fabs(a->score) != fabs(b->score)) return fabs(a->score) > fabs(b->score) ? -1 : 1;
    return agg_text_compare(a->value, b->value);
}

static void test_rows(agg_changes *c, const double *variances)
{
    size_t n_periods = c->n_periods;
    for (size_t i = 0; i < c->n_dictionary; i++) {
        agg_series series = series_of(c, variances, i);
        agg_split_best best = agg_series_scan(&series, 0, n_periods);
        c->rows[i] = (agg_changes_row){
            .value = c->periods[0].dictionary->values[i],
            .index = i,
            .share = series.counts[n_periods] / c->sums.reports[n_periods],
            .score = best.score,
            .at = best.at,
            .p = agg_series_tail(&series, 0, n_periods, best.score, 1 - c->confidence)};
    }
    c->n_rows = c->n_dictionary;
    qsort(c->rows, c->n_rows, sizeof *c->rows, compare_rows);
    for (size_t i = 0; i < c->n_rows; i++)
        if (c->rows[i].p <= agg_multiple_share(c->multiple, 1 - c->confidence, i, c->n_rows))
            c->n_detected = i + 1;
}

static agg_change_shape shape_of(const agg_changes *c, const agg_changes_row *row,
                                 const agg_series *series)
{
    if (row->dates.n > 0) return AGG_CHANGE_STEP;
    return agg_series_line_fit(series) > 1 - c->confidence ? AGG_CHANGE_GRADUAL
                                                           : AGG_CHANGE_SEVERAL;
}

static double threshold_of(const agg_changes *c)
{
    double most = 0;
    for (size_t t = 0; t < c->n_periods; t++)
        most = fmax(most, (double)c->periods[t].recipe->recipe->release_threshold);
    return most;
}

static void describe_row(agg_changes *c, agg_changes_row *row, const double *variances)
{
    agg_series series = series_of(c, variances, row->index);
    double threshold = threshold_of(c), head = series.counts[row->at];
    row->detected = true;
    row->dates = agg_series_dates(
        &series, 1 - c->confidence,
        agg_multiple_share(c->multiple, 1 - c->confidence, c->n_detected - 1, c->n_dictionary));
    row->shape = shape_of(c, row, &series);
    agg_series_levels(&row->before, &row->after, &row->difference, &series, row->at);
    row->before_withheld = threshold > 0 && head < threshold;
    row->after_withheld = threshold > 0 && series.counts[c->n_periods] - head < threshold;
}

static void cut_rows(agg_changes *c, size_t top)
{
    double threshold = threshold_of(c);
    size_t kept = 0;
    for (size_t i = 0; i < c->n_rows; i++) {
        double all = c->counts[c->rows[i].index * (c->n_periods + 1) + c->n_periods];
        if (threshold > 0 && all < threshold)
            c->n_withheld++;
        else
            c->rows[kept++] = c->rows[i];
    }
    c->n_rows = top > 0 && kept > top ? top : kept;
}

static agg_err find_changes(agg_changes *c, agg_error *error, const agg_changes_options *options)
{
    size_t cells = 0;
    double *variances = NULL;
    bool has_law = agg_estimator_of(part_of(&c->periods[0])->mechanism)->debias != NULL;
    agg_err err = find_sums(c, error);
    if (err != SHOAL_OK) return err;
    if (!agg_size_multiply(&cells, c->n_dictionary, c->n_periods + 1))
        return agg_fail_core(error, SHOAL_ERR_OVERFLOW, AGG_EXIT_RUNTIME);
    c->counts = agg_alloc(error, cells, sizeof *c->counts);
    c->rows = agg_alloc(error, c->n_dictionary, sizeof *c->rows);
    if (!has_law) variances = agg_alloc(error, cells, sizeof *variances);
    if (c->counts == NULL || c->rows == NULL || (!has_law && variances == NULL))
        err = AGG_ERR_MEMORY;
    if (err == SHOAL_OK) err = read_series(c, error, variances, options->n_threads);
    if (err == SHOAL_OK) {
        test_rows(c, variances);
        for (size_t i = 0; i < c->n_detected; i++) describe_row(c, &c->rows[i], variances);
        c->selection =
            agg_selection_of(c->n_detected, c->n_dictionary * (c->n_periods - 1), c->confidence);
        cut_rows(c, options->top);
    }
    free(variances);
    return err;
}

uint64_t agg_changes_memory(const agg_recipe *recipe, size_t n_values, size_t n_periods,
                            unsigned n_threads)
{
    const shoal_part *part = shoal_recipe_value_part(recipe->recipe);
    bool has_law = agg_estimator_of(part->mechanism)->debias != NULL;
    uint64_t series = (uint64_t)n_values * (n_periods + 1) * sizeof(double) * (has_law ? 1 : 2);
    return series + n_values * (sizeof(agg_count) + sizeof(agg_changes_row)) +
           2 * (uint64_t)(n_periods + 1) * (n_periods + 1) * sizeof(double) +
           agg_estimator_memory(part, n_values, n_threads);
}

const char *agg_change_shape_name(agg_change_shape shape)
{
    switch (shape) {
    case AGG_CHANGE_STEP: return "step";
    case AGG_CHANGE_GRADUAL: return "gradual";
    case AGG_CHANGE_SEVERAL: return "several";
    case AGG_CHANGE_NONE: break;
    }
    return "";
}

agg_err agg_changes_run(agg_changes *changes, agg_error *error, const agg_changes_period *periods,
                        size_t n_periods, const agg_changes_options *options)
{
    *changes = (agg_changes){.periods = periods,
                             .n_periods = n_periods,
                             .confidence = options->confidence > 0 ? options->confidence : 0.95,
                             .multiple = options->multiple,
                             .n_dictionary = periods[0].dictionary->n};
    if (!(changes->confidence > 0 && changes->confidence < 1))
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "the confidence must lie between 0 and 1");
    agg_err err = agg_changes_check(error, periods, n_periods);
    for (size_t t = 0; err == SHOAL_OK && t < n_periods; t++) {
        agg_shards_about shards = agg_shard_claims_about(&periods[t].acc->shards);
        changes->shards.n += shards.n;
        changes->shards.missing += shards.missing;
    }
    if (err == SHOAL_OK) err = find_changes(changes, error, options);
    if (err != SHOAL_OK) agg_changes_release(changes);
    return err;
}

void agg_changes_release(agg_changes *changes)
{
    free(changes->rows);
    free(changes->counts);
    free(changes->sums.reports);
    free(changes->sums.squares);
    free(changes->sums.coins);
    free(changes->sums.collision);
    memset(changes, 0, sizeof *changes);
}
