// SPDX-License-Identifier: Apache-2.0
// Cohorts over weeks; the formulas are in retention.h.
#include "retention.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "apart.h"
#include "domain_dictionary.h"
#include "estimate.h"
#include "normal_law.h"
#include "recipe.h"
#include "window_picks.h"

agg_ratio agg_ratio_of(double a, double variance_a, double b, double variance_b, double quantile)
{
    agg_ratio ratio = {NAN, NAN, NAN, NAN, false};
    double left = b * b - quantile * quantile * variance_b;
    if (!(b > 0 && left > 0)) return ratio;
    double root = quantile * sqrt(variance_b * a * a + variance_a * left);
    ratio.ratio = a / b;
    ratio.stderr_ = sqrt(variance_a + ratio.ratio * ratio.ratio * variance_b) / b;
    ratio.low = (a * b - root) / left;
    ratio.high = (a * b + root) / left;
    ratio.is_bounded = true;
    return ratio;
}

const char *agg_retention_why_name(agg_retention_why why)
{
    switch (why) {
    case AGG_RETENTION_NO_WEEK: return "no-week";
    case AGG_RETENTION_SMALL_BASE: return "small-cohort";
    case AGG_RETENTION_WITHHELD: return "withheld";
    case AGG_RETENTION_SHOWN: break;
    }
    return "shown";
}

// ---- what is asked ----

static agg_err check_recipe(agg_error *error, const agg_recipe *recipe)
{
    const char *why = NULL;
    if (recipe->recipe->n_variables > 0)
        why = "it has several variables";
    else if (recipe->recipe->epochs > 0)
        why = "it is one epoch of a run";
    else if (agg_picks_windows(recipe->recipe))
        why = "its reports answer for windows (send.pick), not for people";
    else if (!agg_recipe_is_closed(recipe))
        why = "it takes any string";
    if (why == NULL) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "recipe %s holds no retention: %s, and ages in weeks are a list \"0\", \"1\", "
                    "\"2\"...",
                    recipe->id, why);
}

static bool is_number(agg_text text, size_t number)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%zu", number);
    return text.len == (size_t)len && memcmp(text.bytes, digits, text.len) == 0;
}

// Finds the ages in the list of all values.
static agg_err read_ages(size_t *n_ages, agg_text *or_more, agg_error *error,
                         const agg_recipe *recipe, const agg_dictionary *list)
{
    size_t n = 0;
    *or_more = (agg_text){"", 0};
    while (n < list->n && is_number(list->values[n], n)) n++;
    *n_ages = n;
    if (n == list->n && n >= 2) return SHOAL_OK;
    if (n + 1 == list->n && n >= 2) {
        *or_more = list->values[n];
        return SHOAL_OK;
    }
    if (n == list->n)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s holds no retention: its list has one age", recipe->id);
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "recipe %s holds no retention: entry %zu of its list is not \"%zu\", and ages "
                    "in weeks are a list \"0\", \"1\", \"2\"... whose last entry may have another "
                    "name",
                    recipe->id, n + 1, n);
}

agg_err agg_retention_ages(size_t *n_ages, agg_text *or_more, agg_error *error,
                           const agg_recipe *recipe)
{
    agg_dictionary list;
    agg_err err = check_recipe(error, recipe);
    if (err == SHOAL_OK) err = agg_dictionary_of_recipe(&list, error, recipe);
    if (err != SHOAL_OK) return err;
    err = read_ages(n_ages, or_more, error, recipe, &list);
    if (err == SHOAL_OK && or_more->len > 0 && recipe->values.n > 0)
        *or_more = recipe->values.texts[*n_ages]; // the list goes, the recipe stays
    agg_dictionary_release(&list);
    return err;
}

static agg_err check_weeks(agg_error *error, const agg_recipe *recipe,
                           const agg_retention_week *weeks, size_t n_weeks)
{
    size_t n_there = 0;
    agg_err err = SHOAL_OK;
    if (n_weeks < 2)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "retention takes the accumulators of two weeks or more, in their order");
    if (n_weeks > AGG_RETENTION_WEEKS_MAX)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "more than %zu weeks",
                        AGG_RETENTION_WEEKS_MAX);
    for (size_t i = 0; i < n_weeks; i++) n_there += weeks[i].acc != NULL;
    if (n_there == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "no week has an accumulator");
    for (size_t i = 0; i < n_weeks && err == SHOAL_OK; i++) {
        if (weeks[i].acc == NULL) continue;
        err = agg_estimate_check(error, recipe, weeks[i].acc);
        if (err != SHOAL_OK)
            agg_error_prefix(error, "%.*s", (int)weeks[i].label.len, weeks[i].label.bytes);
    }
    return err;
}

// Runs after check_weeks, so that all accumulators are of the recipe.
static agg_err check_apart(agg_error *error, const agg_recipe *recipe,
                           const agg_retention_week *weeks, size_t n_weeks)
{
    for (size_t i = 0; i < n_weeks; i++)
        for (size_t j = i + 1; j < n_weeks; j++) {
            if (weeks[i].acc == NULL || weeks[j].acc == NULL) continue;
            agg_err err = agg_check_apart(error, recipe, weeks[i].acc, weeks[j].acc);
            if (err == SHOAL_OK) continue;
            agg_error_prefix(error, "%.*s and %.*s", (int)weeks[i].label.len, weeks[i].label.bytes,
                             (int)weeks[j].label.len, weeks[j].label.bytes);
            return err;
        }
    return SHOAL_OK;
}

// ---- the counts of all weeks ----

static const agg_retention_count missing = {NAN, NAN, NAN, NAN, true, false};
static const agg_retention_count withheld = {NAN, NAN, NAN, NAN, false, true};

// The estimates of one week: `counts` has an entry of the list each.
static agg_err estimate_week(agg_retention_count *counts, agg_retention_total *total,
                             agg_error *error, const agg_retention *r, const agg_dictionary *list,
                             const agg_retention_week *week, unsigned n_threads)
{
    const agg_estimate_options options = {
        .confidence = r->confidence, .multiple = AGG_NONE, .n_threads = n_threads};
    agg_estimate estimate;
    agg_err err = agg_estimate_run(&estimate, error, r->recipe, week->acc, list, &options);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < list->n; i++) counts[i] = withheld; // rows that are not there
    for (size_t i = 0; i < estimate.n_rows; i++) {
        const agg_estimate_row *row = &estimate.rows[i];
        size_t entry = 0;
        while (row->value.bytes != list->values[entry].bytes) entry++;
        counts[entry] =
            (agg_retention_count){row->raw, row->stderr_, row->low, row->high, false, false};
    }
    total->n = week->acc->n;
    total->shards = estimate.shards;
    total->alarms = estimate.alarms;
    agg_estimate_release(&estimate);
    return SHOAL_OK;
}

// Returns: the people who came before, of n.
static agg_retention_count rest_of(const agg_retention_count *new_, double n)
{
    if (new_->is_missing || new_->is_withheld) return *new_;
    return (agg_retention_count){n - new_->count, new_->stderr_, n - new_->high,
                                 n - new_->low,   false,         false};
}

static agg_err estimate_weeks(agg_retention *r, agg_retention_count *counts, agg_error *error,
                              const agg_dictionary *list, const agg_retention_week *weeks,
                              unsigned n_threads)
{
    for (size_t w = 0; w < r->n_weeks; w++) {
        agg_retention_count *own = &counts[w * list->n];
        agg_retention_total *total = &r->weeks[w];
        for (size_t i = 0; i < list->n; i++) own[i] = missing;
        *total = (agg_retention_total){.label = weeks[w].label, .is_missing = weeks[w].acc == NULL};
        if (!total->is_missing) {
            agg_err err = estimate_week(own, total, error, r, list, &weeks[w], n_threads);
            if (err != SHOAL_OK) return err;
        }
        total->new_ = own[0];
        total->returning = rest_of(&own[0], (double)total->n);
        total->or_more = r->or_more.len > 0 ? own[r->n_ages] : missing;
    }
    return SHOAL_OK;
}

// ---- cohorts ----

// Returns: the variance of a count as one of the people behind the reports.
static double variance_of(const agg_retention *r, const agg_retention_count *count)
{
    double left_out = 1 - r->recipe->recipe->sample_micro / 1e6;
    return count->stderr_ * count->stderr_ + fmax(count->count, 0) * left_out;
}

static void judge_cell(agg_retention_cell *cell, const agg_retention *r,
                       const agg_retention_count *base)
{
    double quantile = -agg_normal_quantile((1 - r->confidence) / 2);
    cell->share = cell->stderr_ = cell->low = cell->high = NAN;
    cell->why = AGG_RETENTION_NO_WEEK;
    if (base->is_missing || cell->count.is_missing) return;
    cell->why = AGG_RETENTION_WITHHELD;
    if (base->is_withheld || cell->count.is_withheld) return;
    agg_ratio ratio = agg_ratio_of(cell->count.count, variance_of(r, &cell->count), base->count,
                                   variance_of(r, base), quantile);
    cell->why = AGG_RETENTION_SMALL_BASE;
    if (!ratio.is_bounded) return;
    cell->why = AGG_RETENTION_SHOWN;
    if (cell->age == 0) ratio = (agg_ratio){1, 0, 1, 1, true};
    cell->share = ratio.ratio;
    cell->stderr_ = ratio.stderr_;
    cell->low = ratio.low;
    cell->high = ratio.high;
}

// Returns: the number of ages at which a cohort is seen.
static size_t ages_of(const agg_retention *r, size_t cohort)
{
    size_t left = r->n_weeks - cohort;
    return left < r->n_ages ? left : r->n_ages;
}

static void make_cells(agg_retention *r, const agg_retention_count *counts, size_t n_entries)
{
    r->n_cells = 0;
    for (size_t c = 0; c < r->n_weeks; c++)
        for (size_t age = 0; age < ages_of(r, c); age++) {
            agg_retention_cell *cell = &r->cells[r->n_cells++];
            *cell = (agg_retention_cell){
                .cohort = c, .age = age, .count = counts[(c + age) * n_entries + age]};
            judge_cell(cell, r, &counts[c * n_entries]);
        }
}

const agg_retention_cell *agg_retention_find(const agg_retention *r, size_t cohort, size_t age)
{
    size_t at = age;
    if (cohort >= r->n_weeks || age >= ages_of(r, cohort)) return NULL;
    for (size_t c = 0; c < cohort; c++) at += ages_of(r, c);
    return &r->cells[at];
}

static agg_err run(agg_retention *r, agg_error *error, const agg_dictionary *list,
                   const agg_retention_week *weeks, unsigned n_threads)
{
    agg_retention_count *counts = agg_alloc(error, r->n_weeks * list->n, sizeof *counts);
    size_t most = r->n_ages < r->n_weeks ? r->n_ages : r->n_weeks;
    r->weeks = agg_alloc(error, r->n_weeks, sizeof *r->weeks);
    r->cells = agg_alloc(error, r->n_weeks * most, sizeof *r->cells);
    agg_err err =
        counts == NULL || r->weeks == NULL || r->cells == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) err = estimate_weeks(r, counts, error, list, weeks, n_threads);
    if (err == SHOAL_OK) make_cells(r, counts, list->n);
    free(counts);
    return err;
}

agg_err agg_retention_run(agg_retention *r, agg_error *error, const agg_recipe *recipe,
                          const agg_retention_week *weeks, size_t n_weeks, double confidence,
                          unsigned n_threads)
{
    agg_dictionary list;
    *r = (agg_retention){
        .recipe = recipe, .confidence = confidence > 0 ? confidence : 0.95, .n_weeks = n_weeks};
    agg_err err = agg_retention_ages(&r->n_ages, &r->or_more, error, recipe);
    if (err == SHOAL_OK) err = check_weeks(error, recipe, weeks, n_weeks);
    if (err == SHOAL_OK) err = check_apart(error, recipe, weeks, n_weeks);
    if (err == SHOAL_OK) err = agg_dictionary_of_recipe(&list, error, recipe);
    if (err != SHOAL_OK) return err;
    err = run(r, error, &list, weeks, n_threads);
    agg_dictionary_release(&list);
    if (err != SHOAL_OK) agg_retention_release(r);
    return err;
}

void agg_retention_release(agg_retention *r)
{
    free(r->weeks);
    free(r->cells);
    *r = (agg_retention){0};
}
