// SPDX-License-Identifier: Apache-2.0
// Differences between two accumulators; the formulas are in compare.h.
#include "compare.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "apart.h"
#include "estimator.h"
#include "normal_law.h"
#include "recipe.h"
#include "support_score.h"
#include "window_picks.h"

// One side of a comparison. Its numbers are x = origin + unit * count; for a share, unit is 1/n.
typedef struct side {
    agg_count *counts;
    agg_debias debias;
    bool has_law; // debias gives the variance at any count
    double n, origin, unit;
    const shoal_recipe *recipe;
    double threshold; // for release, in reports
} side;

static double clamp(double x, double low, double high)
{
    if (x < low) return low;
    return x > high ? high : x;
}

static double variance_of(const side *s, size_t i)
{
    double error = s->unit * s->counts[i].stderr_;
    return error * error;
}

// Returns: the variance that picking events of windows adds to x_i.
static double picked_variance(const side *s, agg_compare_of of, size_t i)
{
    double x = s->counts[i].count, variance = of == AGG_COMPARE_MEANS
                                                  ? agg_picks_mean_variance(s->recipe, s->n, x)
                                                  : agg_picks_variance(s->recipe, s->n, x);
    return s->unit * s->unit * variance;
}

// Returns: the variance of x_i if x were the truth.
static double variance_at(const side *s, size_t i, double x)
{
    if (!s->has_law) return variance_of(s, i);
    double f = clamp(x / s->unit, 0, s->n);
    double variance = s->debias.base + s->debias.slope * f + s->debias.curve * f * f;
    return variance > 0 ? s->unit * s->unit * variance : 0;
}

// Returns: the value of both sides if nothing changed.
static double pooled(const side *a, const side *b, size_t i, double x, double y, double high)
{
    double of_a = a->unit * a->counts[i].null_error, of_b = b->unit * b->counts[i].null_error;
    double all = of_a * of_a + of_b * of_b;
    double weight = all > 0 ? of_b * of_b / all : 0.5;
    return clamp(weight * x + (1 - weight) * y, 0, high);
}

// Returns: the variance of one side if nothing changed, from the coins and from who happened to
// report. The reports of one window are drawn together.
static double null_variance(agg_compare_of of, const side *s, size_t i, double same)
{
    double design = fmax(1, agg_picks_design(s->recipe));
    if (of == AGG_COMPARE_MEANS) return variance_of(s, i) + picked_variance(s, of, i);
    double drawn = of == AGG_COMPARE_SHARES ? same * (1 - same) / s->n : same;
    return variance_at(s, i, same) + design * drawn;
}

// Returns: the deviation of x from its value if nothing changed, in standard deviations. An excess
// is cut down to the binomial law's deviation.
static double deviation(const side *s, double x, double same, double sd)
{
    const agg_debias *d = &s->debias;
    double z = sd > 0 ? (x - same) / sd : 0;
    if (z <= 0 || !s->has_law || d->is_signed) return z;
    double support = (x / s->unit - d->offset) / d->scale,
           mean = (same / s->unit - d->offset) / d->scale;
    return clamp(agg_support_score(support, s->n, mean, sd / (s->unit * d->scale)), 0, z);
}

// Sets z and the score. The score sums the deviations of both sides with the weights that they have
// in z, and is cut down to z.
static void judge(agg_compare_row *row, agg_compare_of of, const side *a, const side *b, size_t i)
{
    double same = pooled(a, b, i, row->a, row->b, of == AGG_COMPARE_SHARES ? 1 : fmax(a->n, b->n));
    double of_a = null_variance(of, a, i, same), of_b = null_variance(of, b, i, same),
           all = of_a + of_b;
    if (!(all > 0)) return;
    row->z = row->score = row->difference / sqrt(all);
    if (of == AGG_COMPARE_MEANS) return;
    of_a = sqrt(of_a);
    of_b = sqrt(of_b);
    double score =
        (deviation(b, row->b, same, of_b) * of_b - deviation(a, row->a, same, of_a) * of_a) /
        sqrt(all);
    row->score = score * row->z > 0 ? copysign(fmin(fabs(score), fabs(row->z)), row->z) : 0;
}

// Returns: whether a side's count is below its release threshold. A mean counts all reports.
static bool is_withheld(const agg_compare *c, const side *s, size_t i)
{
    double count = c->of == AGG_COMPARE_MEANS ? s->n : s->counts[i].count;
    return s->threshold > 0 && count < s->threshold;
}

static agg_compare_row make_row(const agg_compare *c, const side *a, const side *b, size_t i,
                                agg_text value, double quantile)
{
    agg_compare_row row = {.value = value,
                           .a = a->origin + a->counts[i].count * a->unit,
                           .b = b->origin + b->counts[i].count * b->unit};
    row.difference = row.b - row.a;
    row.stderr_ = sqrt(variance_of(a, i) + picked_variance(a, c->of, i) + variance_of(b, i) +
                       picked_variance(b, c->of, i));
    row.low = row.difference - quantile * row.stderr_;
    row.high = row.difference + quantile * row.stderr_;
    judge(&row, c->of, a, b, i);
    row.a_withheld = is_withheld(c, a, i);
    row.b_withheld = is_withheld(c, b, i);
    return row;
}

static int compare_rows(const void *x, const void *y)
{
    const agg_compare_row *a = x, *b = y;
    if (fabs(a->z) != fabs(b->z)) return fabs(a->z) > fabs(b->z) ? -1 : 1;
    return agg_text_compare(a->value, b->value);
}

static int compare_scores(const void *x, const void *y)
{
    double a = fabs(((const agg_compare_row *)x)->score),
           b = fabs(((const agg_compare_row *)y)->score);
    return (a < b) - (a > b);
}

// Sorts the rows and marks those that differ by more than two collections of one population would,
// two-sided.
static void detect(agg_compare *c)
{
    size_t n_detected = 0;
    qsort(c->rows, c->n_rows, sizeof *c->rows, compare_scores);
    for (size_t i = 0; i < c->n_rows; i++) {
        double share = agg_multiple_share(c->multiple, 1 - c->confidence, i, c->n_rows);
        if (fabs(c->rows[i].score) > -agg_normal_quantile(share / 2)) n_detected = i + 1;
    }
    for (size_t i = 0; i < n_detected; i++) c->rows[i].detected = 1;
}

static void cut_rows(agg_compare *c, size_t top)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->n_rows; i++) {
        if (c->rows[i].a_withheld && c->rows[i].b_withheld)
            c->n_withheld++;
        else
            c->rows[kept++] = c->rows[i];
    }
    c->n_rows = top > 0 && kept > top ? top : kept;
}

// Sets what holds for differences that were selected.
static void judge_selection(agg_compare *c)
{
    size_t n_selected = 0;
    if (c->of == AGG_COMPARE_MEANS) return;
    for (size_t i = 0; i < c->n_rows; i++) n_selected += c->rows[i].detected;
    c->selection = agg_selection_of(n_selected, c->n_dictionary, c->confidence);
    for (size_t i = 0; i < c->n_rows; i++) {
        agg_compare_row *row = &c->rows[i];
        row->fcr_low = row->difference - c->selection.quantile * row->stderr_;
        row->fcr_high = row->difference + c->selection.quantile * row->stderr_;
    }
}

static bool is_mean(const agg_recipe *recipe)
{
    return recipe->recipe->parts[0].domain == SHOAL_DOMAIN_NUMBER;
}

static void set_unit(side *s, agg_compare_of of, const shoal_recipe *recipe)
{
    if (of == AGG_COMPARE_SHARES) s->unit = 1 / s->n;
    if (of != AGG_COMPARE_MEANS) return;
    s->origin = (double)recipe->low_micro / 1e6;
    s->unit = (double)recipe->high_micro / 1e6 - s->origin;
}

static agg_err read_side(side *s, agg_error *error, const agg_compare_side *in, agg_compare_of of,
                         unsigned n_threads)
{
    const shoal_part *part = &in->recipe->recipe->parts[0];
    const agg_sketch *sketch = &in->acc->parts[0];
    const agg_estimator *estimator = agg_estimator_of(part->mechanism);
    *s = (side){.n = (double)in->acc->n,
                .unit = 1,
                .recipe = in->recipe->recipe,
                .threshold = (double)in->recipe->recipe->release_threshold};
    set_unit(s, of, in->recipe->recipe);
    s->counts = agg_alloc(error, in->dictionary->n, sizeof *s->counts);
    if (s->counts == NULL) return AGG_ERR_MEMORY;
    s->has_law = estimator->debias != NULL;
    if (s->has_law) estimator->debias(&s->debias, part, sketch, in->acc->n);
    return agg_estimator_counts(s->counts, error, part, sketch, in->acc->n, in->dictionary->items,
                                in->dictionary->n, n_threads);
}

static agg_err make_rows(agg_compare *c, agg_error *error, const agg_compare_side *in_a,
                         const agg_compare_side *in_b, const agg_compare_options *options)
{
    double quantile = -agg_normal_quantile((1 - c->confidence) / 2);
    side a = {0}, b = {0};
    agg_err err = read_side(&a, error, in_a, c->of, options->n_threads);
    if (err == SHOAL_OK) err = read_side(&b, error, in_b, c->of, options->n_threads);
    if (err == SHOAL_OK) {
        c->rows = agg_alloc(error, c->n_dictionary, sizeof *c->rows);
        if (c->rows == NULL) err = AGG_ERR_MEMORY;
    }
    if (err == SHOAL_OK) {
        c->n_rows = c->n_dictionary;
        for (size_t i = 0; i < c->n_rows; i++)
            c->rows[i] = make_row(c, &a, &b, i, in_a->dictionary->values[i], quantile);
        detect(c);
        qsort(c->rows, c->n_rows, sizeof *c->rows, compare_rows);
    }
    free(a.counts);
    free(b.counts);
    return err;
}

uint64_t agg_compare_memory(const agg_recipe *a, const agg_recipe *b, size_t n_values,
                            unsigned n_threads)
{
    uint64_t of_a = agg_estimator_memory(&a->recipe->parts[0], n_values, n_threads);
    uint64_t of_b = agg_estimator_memory(&b->recipe->parts[0], n_values, n_threads),
             kept = sizeof(agg_count);
    uint64_t rows = sizeof(agg_compare_row);
    uint64_t of_sides =
        n_values * kept + (of_a > n_values * kept + of_b ? of_a : n_values * kept + of_b);
    uint64_t at_end = n_values * (2 * kept + rows);
    return of_sides > at_end ? of_sides : at_end;
}

// Refuses sides that cannot be compared, whatever they hold.
static agg_err check_sides(agg_error *error, const agg_compare_side *a, const agg_compare_side *b,
                           double confidence)
{
    if (!(confidence > 0 && confidence < 1))
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "the confidence must lie between 0 and 1");
    if (a->recipe->recipe->epochs > 0 || b->recipe->recipe->epochs > 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s is one epoch of a run, and its reports are read together with "
                        "those of the epochs before it: use shoal track",
                        a->recipe->recipe->epochs > 0 ? a->recipe->id : b->recipe->id);
    if (is_mean(a->recipe) != is_mean(b->recipe))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "a mean and counts cannot be compared");
    if (a->recipe->recipe->pick != b->recipe->recipe->pick ||
        a->recipe->recipe->window != b->recipe->recipe->window)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipes %s and %s pick events in different ways (send.pick, send.window), "
                        "so that their counts are no counts of the same thing",
                        a->recipe->id, b->recipe->id);
    return SHOAL_OK;
}

agg_err agg_compare_run(agg_compare *compare, agg_error *error, const agg_compare_side *a,
                        const agg_compare_side *b, const agg_compare_options *options)
{
    *compare = (agg_compare){.recipe_a = a->recipe,
                             .recipe_b = b->recipe,
                             .n_a = a->acc->n,
                             .n_b = b->acc->n,
                             .shards_a = agg_shard_claims_about(&a->acc->shards),
                             .shards_b = agg_shard_claims_about(&b->acc->shards),
                             .of = options->of,
                             .confidence = options->confidence > 0 ? options->confidence : 0.95,
                             .multiple = options->multiple,
                             .n_dictionary = a->dictionary->n};
    agg_err err = check_sides(error, a, b, compare->confidence);
    if (err != SHOAL_OK) return err;
    if (is_mean(a->recipe)) compare->of = AGG_COMPARE_MEANS;
    if (b->dictionary->n != a->dictionary->n)
        return agg_fail_core(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_RUNTIME);
    err = agg_estimate_check(error, a->recipe, a->acc);
    if (err == SHOAL_OK) err = agg_estimate_check(error, b->recipe, b->acc);
    if (err == SHOAL_OK) err = agg_check_apart(error, a->recipe, a->acc, b->acc);
    if (err == SHOAL_OK) err = make_rows(compare, error, a, b, options);
    if (err != SHOAL_OK) {
        agg_compare_release(compare);
        return err;
    }
    cut_rows(compare, options->top);
    judge_selection(compare);
    return SHOAL_OK;
}

void agg_compare_release(agg_compare *compare)
{
    free(compare->rows);
    memset(compare, 0, sizeof *compare);
}
