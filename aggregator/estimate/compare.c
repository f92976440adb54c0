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
#include "shared_rows.h"
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

// What the two sides share.
typedef struct sides {
    side a, b;
    bool is_shared;   // collisions of hash rows are the same on both sides
    double collision; // K of shared_rows.h
    double moved;     // G of shared_rows.h, at least 0: how far all values moved
    double opposed;   // what devices that moved may add to the variance (compare.h)
} sides;

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

// Returns: the variance of x_i by coins and by which rows reports drew, without the collisions of
// pairs of reports.
static double lone_variance(const side *s, double count)
{
    const agg_debias *d = &s->debias;
    double variance = d->base - d->pairs + d->slope * clamp(count, 0, s->n);
    return variance > 0 ? s->unit * s->unit * variance : 0;
}

// Returns: the variance of the difference by coins and collisions. Shared collisions leave what the
// other values moved: all of G, less this value's own square without its noise.
static double coins_variance(const sides *s, size_t i)
{
    const side *a = &s->a, *b = &s->b;
    if (!s->is_shared) return variance_of(a, i) + variance_of(b, i) + s->opposed;
    double x = a->counts[i].count, y = b->counts[i].count;
    double lone = lone_variance(a, x) + lone_variance(b, y);
    double own = fmax(0, (b->unit * y - a->unit * x) * (b->unit * y - a->unit * x) - lone -
                             s->collision * s->moved);
    return lone + s->collision * fmax(0, s->moved - own);
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
static double null_variance(agg_compare_of of, const side *s, size_t i, double same, bool is_shared)
{
    double design = fmax(1, agg_picks_design(s->recipe));
    if (of == AGG_COMPARE_MEANS) return variance_of(s, i) + picked_variance(s, of, i);
    double drawn = of == AGG_COMPARE_SHARES ? same * (1 - same) / s->n : same;
    double coins = is_shared ? lone_variance(s, same / s->unit) : variance_at(s, i, same);
    return coins + design * drawn;
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
static void judge(agg_compare_row *row, agg_compare_of of, const sides *s, size_t i)
{
    const side *a = &s->a, *b = &s->b;
    double same = pooled(a, b, i, row->a, row->b, of == AGG_COMPARE_SHARES ? 1 : fmax(a->n, b->n));
    double of_a = null_variance(of, a, i, same, s->is_shared),
           of_b = null_variance(of, b, i, same, s->is_shared);
    double all = of_a + of_b + (s->is_shared ? s->collision * s->moved : s->opposed);
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

static agg_compare_row make_row(const agg_compare *c, const sides *s, size_t i, agg_text value,
                                double quantile)
{
    const side *a = &s->a, *b = &s->b;
    agg_compare_row row = {.value = value,
                           .a = a->origin + a->counts[i].count * a->unit,
                           .b = b->origin + b->counts[i].count * b->unit};
    row.difference = row.b - row.a;
    row.stderr_ =
        sqrt(coins_variance(s, i) + picked_variance(a, c->of, i) + picked_variance(b, c->of, i));
    row.low = row.difference - quantile * row.stderr_;
    row.high = row.difference + quantile * row.stderr_;
    judge(&row, c->of, s, i);
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
    const shoal_part *part = shoal_recipe_value_part(in->recipe->recipe);
    const agg_sketch *sketch = &in->acc->parts[in->recipe->recipe->value_part];
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

// Sets what both sides share.
static void find_shared(sides *s, const agg_compare_side *in_a, const agg_compare_side *in_b)
{
    const shoal_recipe *of_a = in_a->recipe->recipe, *of_b = in_b->recipe->recipe;
    const shoal_part *a = shoal_recipe_value_part(of_a), *b = shoal_recipe_value_part(of_b);
    const agg_sketch *x = &in_a->acc->parts[of_a->value_part],
                     *y = &in_b->acc->parts[of_b->value_part];
    double u = s->a.unit, v = s->b.unit;
    s->is_shared = agg_rows_shared(a, b);
    if (!s->is_shared) return;
    s->collision = agg_rows_collision(a);
    s->moved = fmax(0, u * u * agg_rows_pairs(a, x, in_a->acc->n, NULL, NULL) +
                           v * v * agg_rows_pairs(b, y, in_b->acc->n, NULL, NULL) -
                           2 * u * v * agg_rows_pairs(a, x, in_a->acc->n, b, y));
}

// Sets what permanent answers do: at worst every device of the smaller side is on both, and moved.
static void find_opposed(sides *s, const shoal_part *a, const shoal_part *b)
{
    const agg_estimator *estimator = agg_estimator_of(a->mechanism);
    if (agg_compare_repeats(a, b) && estimator->opposed != NULL)
        s->opposed = -2 * s->a.unit * s->b.unit * fmin(s->a.n, s->b.n) * estimator->opposed(a);
}

static agg_err make_rows(agg_compare *c, agg_error *error, const agg_compare_side *in_a,
                         const agg_compare_side *in_b, const agg_compare_options *options)
{
    double quantile = -agg_normal_quantile((1 - c->confidence) / 2);
    sides s = {0};
    agg_err err = read_side(&s.a, error, in_a, c->of, options->n_threads);
    if (err == SHOAL_OK) err = read_side(&s.b, error, in_b, c->of, options->n_threads);
    if (err == SHOAL_OK) {
        c->rows = agg_alloc(error, c->n_dictionary, sizeof *c->rows);
        if (c->rows == NULL) err = AGG_ERR_MEMORY;
    }
    if (err == SHOAL_OK) {
        c->n_rows = c->n_dictionary;
        find_shared(&s, in_a, in_b);
        find_opposed(&s, shoal_recipe_value_part(in_a->recipe->recipe),
                     shoal_recipe_value_part(in_b->recipe->recipe));
        for (size_t i = 0; i < c->n_rows; i++)
            c->rows[i] = make_row(c, &s, i, in_a->dictionary->values[i], quantile);
        detect(c);
        qsort(c->rows, c->n_rows, sizeof *c->rows, compare_rows);
    }
    free(s.a.counts);
    free(s.b.counts);
    return err;
}

uint64_t agg_compare_memory(const agg_recipe *a, const agg_recipe *b, size_t n_values,
                            unsigned n_threads)
{
    uint64_t of_a = agg_estimator_memory(shoal_recipe_value_part(a->recipe), n_values, n_threads);
    uint64_t of_b = agg_estimator_memory(shoal_recipe_value_part(b->recipe), n_values, n_threads),
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

bool agg_compare_repeats(const shoal_part *a, const shoal_part *b)
{
    const agg_estimator *estimator = agg_estimator_of(a->mechanism);
    return a->mechanism == b->mechanism && estimator != NULL && estimator->same_answers != NULL &&
           estimator->same_answers(a, b);
}

agg_err agg_compare_run(agg_compare *compare, agg_error *error, const agg_compare_side *a,
                        const agg_compare_side *b, const agg_compare_options *options)
{
    *compare =
        (agg_compare){.recipe_a = a->recipe,
                      .recipe_b = b->recipe,
                      .n_a = a->acc->n,
                      .n_b = b->acc->n,
                      .shards_a = agg_shard_claims_about(&a->acc->shards),
                      .shards_b = agg_shard_claims_about(&b->acc->shards),
                      .repeats = agg_compare_repeats(shoal_recipe_value_part(a->recipe->recipe),
                                                     shoal_recipe_value_part(b->recipe->recipe)),
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
