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

static double variance_at(const agg_debias *d, double f)
{
    double variance = d->base + d->slope * f + d->curve * f * f;
    return variance > 0 ? variance : 0;
}

static double clamp(double x, double low, double high)
{
    if (x < low) return low;
    return x > high ? high : x;
}

static agg_estimate_row make_row(const agg_estimate *e, const agg_debias *d, agg_text value, int64_t support, double z)
{
    double count = d->scale * (double)support + d->offset;
    double error = sqrt(variance_at(d, clamp(count, 0, (double)e->n)));
    agg_estimate_row row = {value, count, error, count - z * error, count + z * error, 0};
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

// Marks the rows (sorted) that stand out of the noise of a value that nobody sent.
static void detect(agg_estimate *e, double zero_error)
{
    double alpha = 1 - e->confidence, tests = (double)e->n_rows;
    size_t n_detected = 0;
    for (size_t i = 0; i < e->n_rows; i++) {
        double share = alpha; // chance of a false detection that this row may use up
        if (e->multiple == AGG_BONFERRONI) share = alpha / tests;
        if (e->multiple == AGG_BH) share = alpha * (double)(i + 1) / tests;
        // Benjamini-Hochberg takes every row up to the last that passes its own bound; the other bounds are one for all rows.
        if (e->rows[i].count > -agg_normal_quantile(share) * zero_error) n_detected = i + 1;
    }
    for (size_t i = 0; i < n_detected; i++) e->rows[i].detected = 1;
}

static shoal_err make_rows(agg_estimate *e, agg_error *error, const agg_accumulator *acc,
                           const agg_dictionary *dictionary, unsigned n_threads)
{
    const shoal_part *part = &e->recipe->recipe.parts[0];
    const agg_estimator *estimator = agg_estimator_of(part->mechanism);
    agg_debias debias = {0, 0, 0, 0, 0};
    double z = -agg_normal_quantile((1 - e->confidence) / 2);
    int64_t *support = agg_alloc(error, dictionary->n, sizeof *support);
    e->rows = agg_alloc(error, dictionary->n, sizeof *e->rows);
    shoal_err err = support == NULL || e->rows == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK)
        err = estimator->support(support, error, part, &acc->parts[0], dictionary->items, dictionary->n, n_threads);
    if (err == SHOAL_OK) {
        estimator->debias(&debias, part, &acc->parts[0], acc->n);
        for (size_t i = 0; i < dictionary->n; i++)
            e->rows[i] = make_row(e, &debias, dictionary->values[i], support[i], z);
        e->n_rows = dictionary->n;
        qsort(e->rows, e->n_rows, sizeof *e->rows, compare_rows);
        detect(e, sqrt(variance_at(&debias, 0)));
    }
    free(support);
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
    estimate->epsilon = recipe->recipe.eps_micro / 1e6;
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
