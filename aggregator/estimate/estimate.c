// SPDX-License-Identifier: Apache-2.0
// From an accumulator to rows of counts, errors and intervals; see estimate.h.
#include "estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "estimator.h"
#include "normal_law.h"

const char *agg_multiple_name(agg_multiple multiple)
{
    switch (multiple) {
    case AGG_BH: return "bh";
    case AGG_NONE: return "none";
    case AGG_BONFERRONI: break;
    }
    return "bonferroni";
}

static agg_estimate_row make_row(agg_text value, const agg_count *c, double z)
{
    agg_estimate_row row = {value,         c->count, c->stderr_, c->count - z * c->stderr_, c->count + z * c->stderr_,
                            c->null_error, 0};
    return row;
}

static int compare_rows(const void *a, const void *b)
{
    const agg_estimate_row *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    size_t shorter = x->value.len < y->value.len ? x->value.len : y->value.len;
    int order = memcmp(x->value.bytes, y->value.bytes, shorter);
    return order != 0 ? order : (x->value.len > y->value.len) - (x->value.len < y->value.len);
}

// How far a row stands out of the noise of a value that nobody sent, in its standard errors.
static double score(const agg_estimate_row *row)
{
    if (row->null_error > 0) return row->count / row->null_error;
    return row->count > 0 ? HUGE_VAL : 0;
}

static int compare_scores(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// Marks the rows that stand out. Benjamini-Hochberg takes every row up to the last that passes its own bound; the other
// bounds are one for all rows.
static shoal_err detect(agg_estimate *e, agg_error *error)
{
    double alpha = 1 - e->confidence, tests = (double)e->n_rows, least = HUGE_VAL;
    double *scores = agg_alloc(error, e->n_rows, sizeof *scores);
    if (scores == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < e->n_rows; i++) scores[i] = score(&e->rows[i]);
    qsort(scores, e->n_rows, sizeof *scores, compare_scores);
    for (size_t i = 0; i < e->n_rows; i++) {
        double share = alpha; // chance of a false detection that this row may use up
        if (e->multiple == AGG_BONFERRONI) share = alpha / tests;
        if (e->multiple == AGG_BH) share = alpha * (double)(i + 1) / tests;
        if (scores[i] > -agg_normal_quantile(share)) least = scores[i];
    }
    for (size_t i = 0; i < e->n_rows; i++) e->rows[i].detected = score(&e->rows[i]) >= least;
    free(scores);
    return SHOAL_OK;
}

// From a fraction of the range to the recipe's units. A mean is not tested against zero.
static void scale_mean(agg_count *mean, const shoal_recipe *recipe)
{
    double width = (double)recipe->high_micro / 1e6 - (double)recipe->low_micro / 1e6;
    mean->count = (double)recipe->low_micro / 1e6 + mean->count * width;
    mean->stderr_ *= width;
    mean->null_error = HUGE_VAL;
}

static shoal_err fill_rows(agg_estimate *e, agg_error *error, const agg_accumulator *acc,
                           const agg_dictionary *dictionary, agg_count *counts, unsigned n_threads)
{
    const shoal_part *part = &e->recipe->recipe.parts[0];
    double z = -agg_normal_quantile((1 - e->confidence) / 2);
    shoal_err err =
        agg_estimator_counts(counts, error, part, &acc->parts[0], acc->n, dictionary->items, dictionary->n, n_threads);
    if (err != SHOAL_OK) return err;
    if (part->domain == SHOAL_DOMAIN_NUMBER) scale_mean(counts, &e->recipe->recipe);
    for (size_t i = 0; i < dictionary->n; i++) e->rows[i] = make_row(dictionary->values[i], &counts[i], z);
    e->n_rows = dictionary->n;
    err = detect(e, error);
    qsort(e->rows, e->n_rows, sizeof *e->rows, compare_rows);
    return err;
}

static shoal_err make_rows(agg_estimate *e, agg_error *error, const agg_accumulator *acc,
                           const agg_dictionary *dictionary, unsigned n_threads)
{
    agg_count *counts = agg_alloc(error, dictionary->n, sizeof *counts);
    e->rows = agg_alloc(error, dictionary->n, sizeof *e->rows);
    e->statistic = e->recipe->recipe.parts[0].domain == SHOAL_DOMAIN_NUMBER ? "mean" : "count";
    shoal_err err = counts == NULL || e->rows == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) err = fill_rows(e, error, acc, dictionary, counts, n_threads);
    free(counts);
    return err;
}

// Drops what may not be released, then what was not asked for. Rows are sorted by count.
static void cut_rows(agg_estimate *e, size_t top)
{
    double threshold = (double)e->recipe->recipe.release_threshold;
    if (threshold > 0)
        while (e->n_rows > 0 && e->rows[e->n_rows - 1].count < threshold) {
            e->n_rows--;
            e->n_withheld++;
        }
    if (top > 0 && e->n_rows > top) e->n_rows = top;
}

static shoal_err check_cohort(agg_error *error, const agg_recipe *recipe, const agg_accumulator *acc)
{
    if (acc->n >= recipe->recipe.cohort_minimum) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_COHORT, AGG_EXIT_PRIVACY,
                    "recipe %s: %llu reports are fewer than its minimum cohort of %u; nothing is shown", recipe->id,
                    (unsigned long long)acc->n, recipe->recipe.cohort_minimum);
}

shoal_err agg_estimate_run(agg_estimate *estimate, agg_error *error, const agg_recipe *recipe,
                           const agg_accumulator *acc, const agg_dictionary *dictionary,
                           const agg_estimate_options *options)
{
    memset(estimate, 0, sizeof *estimate);
    estimate->recipe = recipe;
    estimate->n = acc->n;
    estimate->epsilon = recipe->recipe.cost_micro / 1e6;
    estimate->confidence = options->confidence > 0 ? options->confidence : 0.95;
    estimate->multiple = options->multiple;
    estimate->n_dictionary = dictionary->n;
    if (!(estimate->confidence > 0 && estimate->confidence < 1))
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "the confidence must lie between 0 and 1");
    shoal_err err = agg_accumulator_check_recipe(acc, error, &recipe->recipe);
    if (err == SHOAL_OK) err = check_cohort(error, recipe, acc);
    if (err == SHOAL_OK) err = make_rows(estimate, error, acc, dictionary, options->n_threads);
    if (err != SHOAL_OK) {
        agg_estimate_release(estimate);
        return err;
    }
    cut_rows(estimate, options->top);
    return SHOAL_OK;
}

void agg_estimate_release(agg_estimate *estimate)
{
    free(estimate->rows);
    memset(estimate, 0, sizeof *estimate);
}
