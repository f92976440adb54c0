// SPDX-License-Identifier: Apache-2.0
// From an accumulator to rows of counts, errors and intervals; see estimate.h.
#include "estimate.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "estimator.h"
#include "marginal.h"
#include "recipe.h"
#include "window_picks.h"

#define RANKED_ALONE 32u // rows up to which a pass for each is faster than sorting all

static bool is_mean(const agg_estimate *e)
{
    return e->recipe->recipe->parts[0].domain == SHOAL_DOMAIN_NUMBER;
}

static agg_estimate_row make_row(agg_text value, uint64_t item, const agg_count *c)
{
    return (agg_estimate_row){.value = value,
                              .item = item,
                              .count = c->count,
                              .stderr_ = c->stderr_,
                              .score = c->score,
                              .raw = c->count};
}

static int compare_rows(const void *a, const void *b)
{
    const agg_estimate_row *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    if (x->raw != y->raw) return x->raw > y->raw ? -1 : 1;
    return agg_text_compare(x->value, y->value);
}

// Marks the detected rows.
static agg_err detect(agg_estimate *e, agg_error *error)
{
    double least = HUGE_VAL;
    double *scores = agg_alloc(error, e->n_rows, sizeof *scores);
    if (scores == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < e->n_rows; i++) scores[i] = e->rows[i].score;
    agg_err err =
        agg_multiple_least(&least, error, scores, e->n_rows, e->multiple, 1 - e->confidence);
    for (size_t i = 0; i < e->n_rows; i++) e->rows[i].detected = scores[i] >= least;
    free(scores);
    return err;
}

// Scales a mean from a fraction of the range to the recipe's units. A mean is not tested against
// zero.
static void scale_mean(agg_count *mean, const shoal_recipe *recipe)
{
    double width = (double)recipe->high_micro / 1e6 - (double)recipe->low_micro / 1e6;
    mean->count = (double)recipe->low_micro / 1e6 + mean->count * width;
    mean->stderr_ *= width;
    mean->null_error = HUGE_VAL;
    mean->score = 0;
}

static agg_err post_process(agg_estimate *e, agg_error *error)
{
    double *counts = agg_alloc(error, e->n_rows, sizeof *counts),
           *stderrs = agg_alloc(error, e->n_rows, sizeof *stderrs);
    bool *is_detected = agg_alloc(error, e->n_rows, sizeof *is_detected);
    bool has_all = counts != NULL && stderrs != NULL && is_detected != NULL;
    for (size_t i = 0; has_all && i < e->n_rows; i++) {
        counts[i] = e->rows[i].raw;
        stderrs[i] = e->rows[i].stderr_;
        is_detected[i] = e->rows[i].detected;
    }
    agg_err err = AGG_ERR_MEMORY;
    if (has_all) err = agg_post_apply(counts, error, &e->post, stderrs, is_detected, e->n_rows);
    for (size_t i = 0; err == SHOAL_OK && i < e->n_rows; i++) e->rows[i].count = counts[i];
    free(counts);
    free(stderrs);
    free(is_detected);
    return err;
}

static agg_err count_items(agg_count *counts, agg_error *error, agg_estimate *e,
                           const agg_accumulator *acc, const agg_dictionary *dictionary,
                           unsigned n_threads)
{
    const shoal_recipe *recipe = e->recipe->recipe;
    if (e->by > 0) return agg_marginal(counts, error, recipe, acc, e->by - 1, n_threads);
    return agg_estimator_counts_with_law(counts, &e->law, error, shoal_recipe_value_part(recipe),
                                         &acc->parts[recipe->value_part], acc->n, dictionary->items,
                                         dictionary->n, n_threads);
}

// Computes the interval of a row's raw count.
static void find_ends(double *low, double *high, const agg_estimate *e, const agg_estimate_row *row,
                      const agg_intervals *intervals)
{
    double added = agg_picks_variance(e->recipe->recipe, (double)e->n, row->raw);
    agg_intervals_of(low, high, intervals, row->raw, added, row->stderr_);
}

static const agg_support_law *law_of(const agg_estimate *e)
{
    return e->law.p > 0 ? &e->law : NULL;
}

static agg_err set_intervals(agg_estimate *e, agg_error *error)
{
    agg_intervals intervals;
    agg_err err = agg_intervals_init(&intervals, error, law_of(e), 1 - e->confidence);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < e->n_rows; i++)
        find_ends(&e->rows[i].low, &e->rows[i].high, e, &e->rows[i], &intervals);
    agg_intervals_release(&intervals);
    return SHOAL_OK;
}

static agg_err fill_rows(agg_estimate *e, agg_error *error, const agg_accumulator *acc,
                         const agg_dictionary *dictionary, agg_count *counts, unsigned n_threads)
{
    agg_err err = count_items(counts, error, e, acc, dictionary, n_threads);
    if (err != SHOAL_OK) return err;
    if (e->by == 0)
        agg_alarms_test_counts(&e->alarms, shoal_recipe_value_part(e->recipe->recipe), e->n, counts,
                               dictionary->n);
    agg_picks_widen(counts, dictionary->n, e->recipe->recipe, (double)e->n);
    if (is_mean(e)) scale_mean(counts, e->recipe->recipe);
    for (size_t i = 0; i < dictionary->n; i++)
        e->rows[i] = make_row(dictionary->values[i], dictionary->items[i], &counts[i]);
    e->n_rows = dictionary->n;
    err = set_intervals(e, error);
    if (err == SHOAL_OK) err = detect(e, error);
    if (err == SHOAL_OK && e->post.rule != AGG_POST_NONE) err = post_process(e, error);
    return err;
}

static agg_err make_rows(agg_estimate *e, agg_error *error, const agg_accumulator *acc,
                         const agg_dictionary *dictionary, unsigned n_threads)
{
    agg_count *counts = agg_alloc(error, dictionary->n, sizeof *counts);
    e->rows = agg_alloc(error, dictionary->n, sizeof *e->rows);
    e->statistic = is_mean(e) ? "mean" : "count";
    agg_err err = counts == NULL || e->rows == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) err = fill_rows(e, error, acc, dictionary, counts, n_threads);
    free(counts);
    return err;
}

// Returns: the count that must reach the release threshold; for a mean, the number of reports.
static double released_count(const agg_estimate *e, const agg_estimate_row *row)
{
    if (is_mean(e)) return (double)e->n;
    return row->count < row->raw ? row->count : row->raw;
}

static void swap_rows(agg_estimate_row *a, agg_estimate_row *b)
{
    agg_estimate_row row = *a;
    *a = *b;
    *b = row;
}

// Moves the first `top` rows to the front, in any order, by quickselect: the domain may have
// millions of rows of which few are wanted.
static void select_rows(agg_estimate_row *rows, size_t n, size_t top)
{
    uint64_t state = n;
    while (n > top) {
        size_t low = 0;
        state = state * 6364136223846793005u +
                1442695040888963407u; // random, so that no order of the rows makes all pivots bad
        swap_rows(&rows[(state >> 33) % n], &rows[n - 1]);
        for (size_t i = 0; i + 1 < n; i++)
            if (compare_rows(&rows[i], &rows[n - 1]) < 0) swap_rows(&rows[i], &rows[low++]);
        swap_rows(&rows[low], &rows[n - 1]);
        if (low >= top) {
            n = low;
        } else {
            rows += low + 1;
            n -= low + 1;
            top -= low + 1;
        }
    }
}

// Drops the rows that may not be released, then the rows beyond `top`, and sorts the rest.
static void cut_rows(agg_estimate *e, size_t top)
{
    double threshold = (double)e->recipe->recipe->release_threshold;
    size_t kept = 0;
    for (size_t i = 0; i < e->n_rows; i++)
        if (threshold <= 0 || released_count(e, &e->rows[i]) >= threshold)
            e->rows[kept++] = e->rows[i];
    e->n_withheld = e->n_rows - kept;
    e->n_rows = top > 0 && kept > top ? top : kept;
    select_rows(e->rows, kept, e->n_rows);
    qsort(e->rows, e->n_rows, sizeof *e->rows, compare_rows);
}

static int compare_items(const void *a, const void *b)
{
    const agg_estimate_row *x = *(agg_estimate_row *const *)a, *y = *(agg_estimate_row *const *)b;
    if (x->item != y->item) return x->item < y->item ? -1 : 1;
    return agg_text_compare(x->value, y->value);
}

// Moves the rows that others picked to the front, in their order. Those that are withheld here stay
// out. All that may be released stay among the rows, for ranks.
//   n: rows at the front that may be released
static agg_err take_picks(agg_estimate *e, agg_error *error, const agg_estimate *picks, size_t n)
{
    agg_estimate_row *rows = agg_alloc(error, n, sizeof *rows), **known = NULL;
    if (rows != NULL) known = agg_alloc(error, n, sizeof *known);
    if (known == NULL) {
        free(rows);
        return AGG_ERR_MEMORY;
    }
    size_t n_taken = 0, at;
    for (size_t i = 0; i < n; i++) known[i] = &e->rows[i];
    qsort(known, n, sizeof *known, compare_items);
    for (size_t i = 0; i < picks->n_rows; i++) {
        const agg_estimate_row *pick = &picks->rows[i];
        agg_estimate_row **found = bsearch(&pick, known, n, sizeof *known, compare_items);
        if (found == NULL) continue;
        rows[n_taken++] = **found;
        (*found)->rank.low = 1; // taken; ranks are set later
    }
    at = n_taken;
    for (size_t i = 0; i < n; i++)
        if (e->rows[i].rank.low == 0) rows[at++] = e->rows[i];
    memcpy(e->rows, rows, n * sizeof *rows);
    e->n_rows = n_taken;
    e->n_picking = picks->n;
    free(rows);
    free(known);
    return SHOAL_OK;
}

// Returns: the largest standard error of the rows that are shown or might be.
static double largest_error(const agg_estimate *e, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, e->rows[i].stderr_);
    return most;
}

static void find_ranks(agg_estimate *e, agg_ranks *ranks, const agg_intervals *intervals,
                       double hidden)
{
    if (e->n_rows > RANKED_ALONE) agg_ranks_sort(ranks);
    for (size_t i = 0; i < e->n_rows; i++) {
        double low = 0, high = 0;
        find_ends(&low, &high, e, &e->rows[i], intervals);
        e->rows[i].rank = agg_ranks_find(ranks, low, high);
        if (hidden < low) e->rows[i].rank.high -= e->n_withheld;
    }
}

// Sets the ranks among all rows. Rows below the release threshold enter as if they reached it, so
// that a rank tells no more of them than the threshold does. After post-processing a withheld row
// may have a raw count above the threshold, and is never surely below another row.
//   n: rows at the front that may be released
static agg_err rank_rows(agg_estimate *e, agg_error *error, size_t n)
{
    agg_ranks ranks;
    agg_intervals intervals;
    double hidden = (double)e->recipe->recipe->release_threshold;
    agg_err err = agg_ranks_init(&ranks, error, n, e->n_dictionary, e->confidence);
    if (err != SHOAL_OK) return err;
    err = agg_intervals_init(&intervals, error, law_of(e), ranks.level);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++)
        find_ends(&ranks.lows[i], &ranks.highs[i], e, &e->rows[i], &intervals);
    if (err == SHOAL_OK) {
        double added = agg_picks_variance(e->recipe->recipe, (double)e->n, hidden);
        hidden = e->post.rule == AGG_POST_NONE
                     ? agg_intervals_highest(&intervals, hidden, added, largest_error(e, n))
                     : HUGE_VAL;
        find_ranks(e, &ranks, &intervals, hidden);
    }
    agg_intervals_release(&intervals);
    agg_ranks_release(&ranks);
    return err;
}

// Adjusts the rows that are shown, by all that may be shown.
//   n: rows at the front that may be released
static agg_err adjust_rows(agg_estimate *e, agg_error *error, size_t n)
{
    double threshold = (double)e->recipe->recipe->release_threshold;
    agg_adjustment adjustment = {.state = AGG_ADJUST_POST};
    double *counts = agg_alloc(error, n, sizeof *counts),
           *stderrs = agg_alloc(error, n, sizeof *stderrs);
    agg_adjust_rows rows = {
        n, counts, stderrs, 0, e->n_withheld, threshold, (double)e->n, law_of(e), e->confidence};
    agg_err err = counts == NULL || stderrs == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        counts[i] = e->rows[i].raw;
        stderrs[i] = e->rows[i].stderr_;
        rows.n_detected += e->rows[i].detected;
    }
    if (e->n_picking > 0)
        adjustment.state = AGG_ADJUST_SPLIT;
    else if (err == SHOAL_OK && (e->post.rule == AGG_POST_NONE || threshold <= 0))
        err = agg_adjust_fit(&adjustment, error, &rows);
    for (size_t i = 0; err == SHOAL_OK && i < e->n_rows; i++) {
        agg_estimate_row *row = &e->rows[i];
        row->adjusted = agg_adjust_row(&adjustment, row->raw, row->low, row->high);
    }
    e->adjusting = adjustment.state;
    agg_adjust_release(&adjustment);
    free(counts);
    free(stderrs);
    return err;
}

// Sets what holds for rows that were selected.
static agg_err judge_selection(agg_estimate *e, agg_error *error)
{
    size_t n_selected = 0;
    agg_intervals intervals;
    if (is_mean(e)) return SHOAL_OK;
    for (size_t i = 0; i < e->n_rows; i++) n_selected += e->rows[i].detected;
    if (e->n_picking > 0) n_selected = e->n_dictionary; // none was selected by its own count
    e->selection = agg_selection_of(n_selected, e->n_dictionary, e->confidence);
    agg_err err = agg_intervals_init(&intervals, error, law_of(e), e->selection.level);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < e->n_rows; i++)
        find_ends(&e->rows[i].fcr_low, &e->rows[i].fcr_high, e, &e->rows[i], &intervals);
    agg_intervals_release(&intervals);
    err = rank_rows(e, error, e->n_dictionary - e->n_withheld);
    return err == SHOAL_OK ? adjust_rows(e, error, e->n_dictionary - e->n_withheld) : err;
}

agg_err agg_estimate_check(agg_error *error, const agg_recipe *recipe, const agg_accumulator *acc)
{
    agg_err err = agg_accumulator_check_recipe(acc, error, recipe->recipe);
    if (err != SHOAL_OK || acc->n >= recipe->recipe->cohort_minimum) return err;
    return agg_fail(
        error, AGG_ERR_COHORT, AGG_EXIT_PRIVACY,
        "recipe %s: %llu reports are fewer than its minimum cohort of %u; nothing is shown",
        recipe->id, (unsigned long long)acc->n, recipe->recipe->cohort_minimum);
}

// Call it only after the check of the minimum cohort, because the refusal of a total names n.
static agg_err check_post(agg_estimate *e, agg_error *error, const agg_post *post)
{
    e->post = *post;
    if (post->rule == AGG_POST_NONE) return SHOAL_OK;
    if (is_mean(e))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "post-processing is for counts, and this recipe estimates a mean");
    if (post->total == 0) e->post.total = (double)e->n;
    if (e->post.total <= (double)e->n) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "a total of %.0f is more than the %llu reports", post->total,
                    (unsigned long long)e->n);
}

// Returns: the bytes that count_items takes.
static uint64_t counting_memory(const shoal_recipe *recipe, size_t n_values,
                                const agg_estimate_options *options)
{
    const shoal_part *part = shoal_recipe_value_part(recipe);
    if (options->by == 0) return agg_estimator_memory(part, n_values, options->n_threads);
    return part->size * (sizeof(uint64_t) + sizeof(agg_count)) +
           agg_estimator_memory(part, part->size, options->n_threads);
}

uint64_t agg_estimate_memory(const agg_recipe *recipe, size_t n_values,
                             const agg_estimate_options *options)
{
    uint64_t counting = counting_memory(recipe->recipe, n_values, options);
    uint64_t after =
        n_values * 4 *
        sizeof(double); // scores while they are sorted, or counts while they are post-processed
    uint64_t more = counting > after ? counting : after;
    uint64_t rows = n_values * (sizeof(agg_estimate_row) + sizeof(agg_count)) + more;
    // The alarms are tested before the rows are made.
    uint64_t testing = agg_alarms_memory(recipe->recipe);
    return testing > rows ? testing : rows;
}

agg_err agg_estimate_run(agg_estimate *estimate, agg_error *error, const agg_recipe *recipe,
                         const agg_accumulator *acc, const agg_dictionary *dictionary,
                         const agg_estimate_options *options)
{
    memset(estimate, 0, sizeof *estimate);
    estimate->recipe = recipe;
    estimate->n = acc->n;
    estimate->shards = agg_shard_claims_about(&acc->shards);
    estimate->epsilon = recipe->recipe->cost_micro / 1e6;
    estimate->confidence = options->confidence > 0 ? options->confidence : 0.95;
    estimate->multiple = options->multiple;
    estimate->by = options->by;
    estimate->n_dictionary = dictionary->n;
    if (!(estimate->confidence > 0 && estimate->confidence < 1))
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "the confidence must lie between 0 and 1");
    if (recipe->recipe->epochs > 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s is one epoch of a run, and its reports are read together with "
                        "those of the epochs before it: use shoal track",
                        recipe->id);
    agg_err err = agg_estimate_check(error, recipe, acc);
    if (err == SHOAL_OK) err = check_post(estimate, error, &options->post);
    if (err == SHOAL_OK) err = agg_alarms_test(&estimate->alarms, error, recipe->recipe, acc);
    if (err == SHOAL_OK && options->copies != NULL)
        agg_alarms_test_copies(&estimate->alarms, recipe->recipe, options->copies);
    if (err == SHOAL_OK) err = make_rows(estimate, error, acc, dictionary, options->n_threads);
    if (err == SHOAL_OK) {
        agg_alarms_finish(&estimate->alarms);
        cut_rows(estimate, options->picks != NULL ? 0 : options->top);
        if (options->picks != NULL)
            err = take_picks(estimate, error, options->picks, estimate->n_rows);
    }
    if (err == SHOAL_OK) err = judge_selection(estimate, error);
    if (err != SHOAL_OK) agg_estimate_release(estimate);
    return err;
}

void agg_estimate_release(agg_estimate *estimate)
{
    free(estimate->rows);
    memset(estimate, 0, sizeof *estimate);
}
