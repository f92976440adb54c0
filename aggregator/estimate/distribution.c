// SPDX-License-Identifier: Apache-2.0
// Makes histograms, distribution functions and quantiles; see distribution.h.
#include "distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "density_sources.h"
#include "domain_dictionary.h"
#include "estimator.h"
#include "normal_law.h"
#include "recipe.h"
#include "window_picks.h"

#define USUAL_BINS 16u
#define BINS_MAX 256u

// What a straight line through a cell misses of a curve, in differences of neighbouring shares: the
// most for a cell, and half of it through a bucket, where the fit is curved itself.
#define GRID_SHARE 0.125
#define BUCKET_SHARE 0.03125

// What the making of one distribution needs.
typedef struct making {
    agg_distribution *out;
    const agg_recipe *recipe;
    const agg_accumulator *acc;
    const agg_distribution_options *options;
    agg_density_observed observed;
    double z;
} making;

static double in_units(const agg_recipe *recipe, double fraction)
{
    double low = (double)recipe->recipe->low_micro / 1e6,
           high = (double)recipe->recipe->high_micro / 1e6;
    return low + fraction * (high - low);
}

// ---- observations ----

static agg_err observe_counts(making *m, agg_error *error, const agg_estimate *estimate)
{
    size_t n = estimate->n_rows;
    double *counts = agg_alloc(error, n, sizeof *counts),
           *stderrs = agg_alloc(error, n, sizeof *stderrs);
    bool has_any = false, has_all = counts != NULL && stderrs != NULL;
    for (size_t i = 0; has_all && i < n; i++) {
        counts[estimate->rows[i].item] = estimate->rows[i].raw;
        stderrs[estimate->rows[i].item] = estimate->rows[i].stderr_;
    }
    // A window or a missing variable is of no bucket.
    const bool has_none =
        agg_picks_windows(m->recipe->recipe) || m->recipe->recipe->n_variables > 0;
    if (has_all)
        has_any = agg_density_of_buckets(&m->observed, has_none ? 0 : (double)estimate->n, counts,
                                         stderrs, n);
    free(counts);
    free(stderrs);
    if (!has_all) return AGG_ERR_MEMORY;
    if (has_any) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                    "the counts of all buckets add up to nothing: there are too few reports for a "
                    "distribution");
}

// All buckets are observed, whatever the release threshold: withhold() is applied to what is made
// of them.
static agg_err observe_buckets(making *m, agg_error *error)
{
    shoal_recipe whole = *m->recipe->recipe;
    agg_recipe view = *m->recipe;
    whole.release_threshold = 0;
    view.recipe = &whole;
    agg_dictionary dictionary;
    agg_estimate estimate;
    agg_estimate_options options = {.n_threads = m->options->n_threads};
    agg_err err = agg_dictionary_of_recipe(&dictionary, error, m->recipe);
    if (err != SHOAL_OK) return err;
    err = agg_estimate_run(&estimate, error, &view, m->acc, &dictionary, &options);
    if (err == SHOAL_OK) {
        err = observe_counts(m, error, &estimate);
        agg_estimate_release(&estimate);
    }
    agg_dictionary_release(&dictionary);
    return err;
}

static agg_err observe(making *m, agg_error *error)
{
    const shoal_recipe *r = m->recipe->recipe;
    const shoal_part *part = shoal_recipe_value_part(r);
    const agg_estimator *estimator = agg_estimator_of(part->mechanism);
    agg_place_law law;
    if (r->value != SHOAL_VALUE_NUMBER)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s asks for no number: it has no quantiles", m->recipe->id);
    if (part->domain != SHOAL_DOMAIN_NUMBER) return observe_buckets(m, error);
    if (estimator == NULL || estimator->places == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s asks for a mean, which tells no quantiles "
                        "(docs/distributions.md)",
                        m->recipe->id);
    if (agg_picks_windows(r))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s has reports for windows, and one without events counts as the "
                        "middle of the range: that is no distribution of numbers",
                        m->recipe->id);
    agg_err err = agg_estimate_check(error, m->recipe, m->acc);
    if (err != SHOAL_OK) return err;
    estimator->places(&law, part);
    agg_density_of_places(&m->observed, &law, m->acc->parts[r->value_part].cells.ones);
    if (m->observed.n > 0) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME, "there are no reports");
}

// ---- quantiles ----

// The distribution function at cell edges while quantiles are read from it.
typedef struct function {
    size_t n;                       // edges
    const double *at;               // fractions of the range
    const agg_density_share *below; // n
    size_t each;                    // cells of a bucket; 1: cells are what was observed
} function;

// Returns: the place in (at[i], at[i+1]] where a + (b - a) x first reaches p; the caller knows that
// it does.
static double cross(const function *f, size_t i, double a, double b, double p)
{
    double part = b > a ? (p - a) / (b - a) : 1;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return f->at[i] + part * (f->at[i + 1] - f->at[i]);
}

// Returns: the share between edges i and i + n; 0 beyond the range.
static double share_of(const function *f, size_t i, size_t n)
{
    return i + n < f->n ? f->below[i + n].share - f->below[i].share : 0;
}

// Returns: what a straight line through a cell may miss of the share below edge i. Within a bucket
// only the smoothness of its neighbours says how numbers lie.
static double hidden(const function *f, size_t i)
{
    size_t each = f->each, first = i - i % each, n = f->n - 1;
    if (each == 1)
        return i == 0 || i == n ? 0 : GRID_SHARE * fabs(share_of(f, i, 1) - share_of(f, i - 1, 1));
    double own = share_of(f, first, each), part = (double)(i % each) / (double)each, steepest = 0;
    if (first >= each) steepest = fabs(own - share_of(f, first - each, each));
    if (first + 2 * each <= n)
        steepest = fmax(steepest, fabs(own - share_of(f, first + each, each)));
    return BUCKET_SHARE * 4 * part * (1 - part) * steepest;
}

// Returns: the half width of the interval of the share below edge i.
static double half_width(const function *f, size_t i, double z)
{
    return z * f->below[i].stderr_ + hidden(f, i);
}

static agg_quantile quantile_of(const function *f, double p, double z)
{
    agg_quantile q = {.p = p, .value = 1, .low = 1, .high = 0};
    bool has_value = false, has_low = false;
    for (size_t i = 0; i + 1 < f->n; i++) {
        double a = f->below[i].share, b = f->below[i + 1].share, ha = half_width(f, i, z),
               hb = half_width(f, i + 1, z);
        if (!has_low && b + hb >= p) q.low = cross(f, i, a + ha, b + hb, p);
        has_low |= b + hb >= p;
        if (!has_value && b >= p) q.value = cross(f, i, a, b, p);
        has_value |= b >= p;
        if (a - ha <= p) q.high = b - hb > p ? cross(f, i, a - ha, b - hb, p) : f->at[i + 1];
    }
    // Numbers beyond the range pile up at its very ends, not evenly in the end cells.
    if (q.low < f->at[1]) q.low = 0;
    if (q.high > f->at[f->n - 2]) q.high = 1;
    return q;
}

// ---- the result ----

static agg_distribution_bin bin_of(const making *m, const agg_density_range *range,
                                   const agg_density_share *s)
{
    double half = m->z * s->stderr_;
    return (agg_distribution_bin){.from = in_units(m->recipe, range->low),
                                  .to = in_units(m->recipe, range->high),
                                  .share = s->share,
                                  .stderr_ = s->stderr_,
                                  .low = fmax(0, s->share - half),
                                  .high = fmin(1, s->share + half)};
}

static void withhold(making *m)
{
    double least = (double)m->recipe->recipe->release_threshold / m->observed.n;
    for (size_t i = 0; i < m->out->n_bins; i++) {
        agg_distribution_bin *b = &m->out->bins[i];
        if (b->share >= least) continue;
        b->share = b->stderr_ = b->low = b->high = NAN;
        m->out->n_withheld++;
    }
    if (least > 0) m->out->n_steps = 0;
}

static void fill(making *m, const agg_density_range *ranges, const agg_density_share *shares)
{
    agg_distribution *d = m->out;
    const agg_density_share *below = shares + d->n_bins;
    const function f = {m->observed.data.n_cells + 1, m->observed.edges, below,
                        m->observed.n_buckets > 0 ? m->observed.cells_each : 1};
    for (size_t i = 0; i < d->n_bins; i++) d->bins[i] = bin_of(m, &ranges[i], &shares[i]);
    for (size_t i = 0; i < d->n_steps; i++)
        d->steps[i] = bin_of(m, &ranges[d->n_bins + i + 1], &below[i + 1]);
    d->n_quantiles = m->options->n_quantiles;
    for (size_t i = 0; i < d->n_quantiles; i++) {
        agg_quantile q = quantile_of(&f, m->options->quantiles[i], m->z);
        d->quantiles[i] = (agg_quantile){q.p, in_units(m->recipe, q.value),
                                         in_units(m->recipe, q.low), in_units(m->recipe, q.high)};
    }
    withhold(m);
}

// Ranges: the bins, then from 0 to each edge of a cell.
static void set_ranges(agg_density_range *ranges, const making *m)
{
    size_t n = m->out->n_bins;
    for (size_t i = 0; i < n; i++)
        ranges[i] = (agg_density_range){(double)i / (double)n, (double)(i + 1) / (double)n};
    for (size_t i = 0; i <= m->observed.data.n_cells; i++)
        ranges[n + i] = (agg_density_range){0, m->observed.edges[i]};
}

static agg_err make(making *m, agg_error *error)
{
    agg_distribution *d = m->out;
    size_t n = d->n_bins + m->observed.data.n_cells + 1;
    agg_density_range *ranges = agg_alloc(error, n, sizeof *ranges);
    agg_density_share *shares = agg_alloc(error, n, sizeof *shares);
    d->n_steps = m->observed.data.n_cells;
    d->bins = agg_alloc(error, d->n_bins, sizeof *d->bins);
    d->steps = agg_alloc(error, d->n_steps, sizeof *d->steps);
    agg_err err = AGG_ERR_MEMORY;
    if (ranges != NULL && shares != NULL && d->bins != NULL && d->steps != NULL) {
        set_ranges(ranges, m);
        err = agg_density_fit(shares, error, &m->observed.data, ranges, n);
    }
    if (err == SHOAL_OK) fill(m, ranges, shares);
    free(ranges);
    free(shares);
    if (err != SHOAL_OK) agg_distribution_release(d);
    return err;
}

bool agg_distribution_is_asked(const agg_recipe *recipe)
{
    const shoal_part *part = shoal_recipe_value_part(recipe->recipe);
    const agg_estimator *estimator = agg_estimator_of(part->mechanism);
    return estimator != NULL && estimator->places != NULL && !agg_picks_windows(recipe->recipe);
}

bool agg_distribution_is_told(const agg_recipe *recipe)
{
    if (recipe->recipe->value != SHOAL_VALUE_NUMBER) return false;
    const shoal_part *part = shoal_recipe_value_part(recipe->recipe);
    return part->domain != SHOAL_DOMAIN_NUMBER || agg_distribution_is_asked(recipe);
}

agg_distribution_options agg_distribution_of_pages(const agg_recipe *recipe)
{
    return (agg_distribution_options){.n_quantiles = recipe->recipe->release_threshold > 0 ? 0 : 5,
                                      .quantiles = {0.25, 0.5, 0.75, 0.9, 0.99}};
}

agg_err agg_distribution_run(agg_distribution *distribution, agg_error *error,
                             const agg_recipe *recipe, const agg_accumulator *acc,
                             const agg_distribution_options *options)
{
    making *m = agg_alloc(error, 1, sizeof *m);
    if (m == NULL) return AGG_ERR_MEMORY;
    double confidence = options->confidence > 0 ? options->confidence : 0.95;
    m->out = distribution;
    m->recipe = recipe;
    m->acc = acc;
    m->options = options;
    m->z = -agg_normal_quantile((1 - confidence) / 2);
    *distribution =
        (agg_distribution){.confidence = confidence,
                           .rows = options->rows,
                           .n_bins = options->n_bins > 0 ? options->n_bins : USUAL_BINS};
    agg_err err = options->n_bins > BINS_MAX ? agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                                                        "a histogram has at most %u bins", BINS_MAX)
                                             : observe(m, error);
    if (err == SHOAL_OK) err = make(m, error);
    free(m);
    return err;
}

void agg_distribution_release(agg_distribution *distribution)
{
    free(distribution->bins);
    free(distribution->steps);
    *distribution = (agg_distribution){0};
}
