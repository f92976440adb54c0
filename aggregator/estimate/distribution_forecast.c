// SPDX-License-Identifier: Apache-2.0
// Expected errors of distributions; see distribution_forecast.h.
#include "distribution_forecast.h"

#include <math.h>
#include <stdlib.h>

#include "agg_size.h"
#include "bytes.h"
#include "density_sources.h"
#include "estimator.h"
#include "rng.h"
#include "split_tail.h"

#define PI 3.14159265358979323846
#define POISSON_MAX 500.0 // a larger mean is drawn as a normal number
#define FINE 16           // steps of a cell over which the law of a quantile is summed

void agg_forecast_crowd_of(agg_forecast_crowd *crowd, double (*below)(double x))
{
    double before = 0;
    for (size_t i = 0; i < AGG_FORECAST_CELLS; i++) {
        double here = i + 1 < AGG_FORECAST_CELLS ? below((double)(i + 1) / AGG_FORECAST_CELLS) : 1;
        crowd->shares[i] = here - before;
        before = here;
    }
}

double agg_forecast_below(const agg_forecast_crowd *crowd, double x)
{
    double sum = 0, at = x * AGG_FORECAST_CELLS;
    size_t whole = at > 0 ? (size_t)at : 0;
    if (whole > AGG_FORECAST_CELLS) whole = AGG_FORECAST_CELLS;
    for (size_t i = 0; i < whole; i++) sum += crowd->shares[i];
    return whole < AGG_FORECAST_CELLS && at > 0 ? sum + (at - (double)whole) * crowd->shares[whole]
                                                : sum;
}

// ---- expected observations ----

static void expect_places(agg_density_observed *o, const shoal_part *part,
                          const agg_forecast_crowd *crowd, double n)
{
    static const uint32_t none[AGG_DENSITY_PLACES_MAX] = {0};
    agg_place_law law;
    agg_estimator_of(part->mechanism)->places(&law, part);
    agg_density_of_places(o, &law, none);
    for (size_t i = 0; i < AGG_FORECAST_CELLS; i++) {
        double x = ((double)i + 0.5) / AGG_FORECAST_CELLS;
        for (uint32_t y = 0; y < law.places; y++)
            o->counts[y] += n * crowd->shares[i] * agg_place_probability(&law, y, x);
    }
    o->n = n;
}

static bool expect_buckets(agg_density_observed *o, const shoal_part *part, const double *variances,
                           const agg_forecast_crowd *crowd, double n)
{
    double counts[AGG_DENSITY_BUCKETS_MAX], errors[AGG_DENSITY_BUCKETS_MAX], before = 0;
    if (part->size > AGG_DENSITY_BUCKETS_MAX) return false;
    for (uint32_t b = 0; b < part->size; b++) {
        double here = agg_forecast_below(crowd, (double)(b + 1) / part->size);
        counts[b] = n * (here - before);
        errors[b] = sqrt(variances[b]);
        before = here;
    }
    return agg_density_of_buckets(o, n, counts, errors, part->size);
}

// ---- drawn observations ----

static double uniform(shoal_rng *rng)
{
    return ((double)(shoal_rng_u64(rng) >> 11) + 0.5) * 0x1p-53;
}

static double normal(shoal_rng *rng)
{
    double radius = sqrt(-2 * log(uniform(rng)));
    return radius * cos(2 * PI * uniform(rng));
}

// Returns: a Poisson number; a rounded normal one where that is as good.
static double poisson(shoal_rng *rng, double mean)
{
    double product = 1, n = -1, end = exp(-mean);
    if (mean > POISSON_MAX) return fmax(0, floor(mean + sqrt(mean) * normal(rng) + 0.5));
    do {
        product *= uniform(rng);
        n++;
    } while (product > end);
    return n;
}

static void draw_places(agg_density_observed *o, const shoal_part *part,
                        const agg_forecast_crowd *crowd, double n, shoal_rng *rng)
{
    expect_places(o, part, crowd, n);
    o->n = 0;
    for (uint32_t y = 0; y < o->law.places; y++) o->n += o->counts[y] = poisson(rng, o->counts[y]);
}

static bool draw_buckets(agg_density_observed *o, const shoal_part *part, const double *variances,
                         bool sums_up, const agg_forecast_crowd *crowd, double n, shoal_rng *rng)
{
    double counts[AGG_DENSITY_BUCKETS_MAX], errors[AGG_DENSITY_BUCKETS_MAX], before = 0, held = 0;
    double none = part->size > 0 ? variances[0] : 0, all = 0, sum = 0;
    if (part->size > AGG_DENSITY_BUCKETS_MAX) return false;
    for (uint32_t b = 0; b < part->size; b++) {
        double here = agg_forecast_below(crowd, (double)(b + 1) / part->size);
        held += counts[b] = poisson(rng, n * (here - before));
        before = here;
        errors[b] = sqrt(variances[b]) * normal(rng);
        sum += errors[b];
        all += variances[b];
        none = fmin(none, variances[b]); // nobody holds it
    }
    sum += sqrt(none) * normal(rng);
    for (uint32_t b = 0; b < part->size; b++) {
        counts[b] *= held > 0 ? n / held : 0;
        counts[b] += errors[b] - (sums_up ? sum * variances[b] / (all + none) : 0);
        errors[b] = sqrt(variances[b]);
    }
    return agg_density_of_buckets(o, n, counts, errors, part->size);
}

// ---- errors ----

// Returns: E |X| of a normal X.
static double expected_size(double mean, double sd)
{
    if (!(sd > 0)) return fabs(mean);
    double z = mean / sd, density = exp(-z * z / 2) / sqrt(2 * PI);
    return 2 * sd * density + mean * (1 - 2 * agg_normal_tail(z));
}

static double crowd_quantile(const agg_forecast_crowd *crowd, double p)
{
    double sum = 0;
    for (size_t i = 0; i < AGG_FORECAST_CELLS; i++) {
        double share = crowd->shares[i];
        if (sum + share >= p && share > 0)
            return ((double)i + (p - sum) / share) / AGG_FORECAST_CELLS;
        sum += share;
    }
    return 1;
}

typedef struct fitted {
    size_t n; // edges
    const double *edges;
    const agg_density_share *below;
} fitted;

// Returns: E |estimate - quantile|, the sum over places of the chance that one of the two lies
// below and the other does not.
static double quantile_error(const fitted *f, double quantile, double p)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < f->n; i++) {
        double width = (f->edges[i + 1] - f->edges[i]) / FINE;
        for (int k = 0; k < FINE; k++) {
            double part = (k + 0.5) / FINE,
                   x = f->edges[i] + part * (f->edges[i + 1] - f->edges[i]);
            double share = f->below[i].share + part * (f->below[i + 1].share - f->below[i].share);
            double sd =
                f->below[i].stderr_ + part * (f->below[i + 1].stderr_ - f->below[i].stderr_);
            double reached = sd > 0 ? agg_normal_tail((p - share) / sd) : share >= p;
            sum += width * (x < quantile ? reached : 1 - reached);
        }
    }
    return sum;
}

// Returns: where the share reaches p.
static double quantile_of(const fitted *f, double p)
{
    for (size_t i = 0; i + 1 < f->n; i++) {
        double a = f->below[i].share, b = f->below[i + 1].share;
        if (b >= p)
            return f->edges[i] + (b > a ? (p - a) / (b - a) : 1) * (f->edges[i + 1] - f->edges[i]);
    }
    return 1;
}

// What is judged: the forecast of many fits, or one of them.
typedef struct asked {
    const agg_forecast_crowd *crowd;
    const double *p;
    size_t n_quantiles;
    bool is_one;
} asked;

static void judge(agg_forecast *out, const fitted *f, const asked *a)
{
    double before = 0;
    out->distance = 0;
    for (size_t i = 1; i < f->n; i++) {
        double bias = f->below[i].share - agg_forecast_below(a->crowd, f->edges[i]);
        double sd = a->is_one ? 0 : f->below[i].stderr_;
        double here = i + 1 < f->n ? expected_size(bias, sd) : 0;
        out->distance += (f->edges[i] - f->edges[i - 1]) * (before + here) / 2;
        before = here;
    }
    for (size_t i = 0; i < a->n_quantiles; i++) {
        double quantile = out->quantiles[i] = crowd_quantile(a->crowd, a->p[i]);
        out->errors[i] = a->is_one ? fabs(quantile_of(f, a->p[i]) - quantile)
                                   : quantile_error(f, quantile, a->p[i]);
    }
}

// Fits what was observed or is expected.
static agg_err fit_and_judge(agg_forecast *out, agg_error *error, const agg_density_observed *o,
                             const asked *a)
{
    size_t n = o->data.n_cells + 1;
    agg_density_range *ranges = agg_alloc(error, n, sizeof *ranges);
    agg_density_share *below = agg_alloc(error, n, sizeof *below);
    agg_err err = ranges == NULL || below == NULL ? (agg_err)AGG_ERR_MEMORY : SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < n; i++)
        ranges[i] = (agg_density_range){0, o->edges[i]};
    if (err == SHOAL_OK)
        err = a->is_one ? agg_density_shares(below, error, &o->data, ranges, n)
                        : agg_density_forecast(below, error, &o->data, ranges, n);
    if (err == SHOAL_OK) {
        const fitted f = {n, o->edges, below};
        judge(out, &f, a);
    }
    free(ranges);
    free(below);
    return err;
}

static agg_err refuse(agg_error *error)
{
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                    "no distribution can be told: too few reports, or more than %u buckets",
                    AGG_DENSITY_BUCKETS_MAX);
}

agg_err agg_distribution_forecast(agg_forecast *forecast, agg_error *error, const shoal_part *part,
                                  const double *variances, const agg_forecast_crowd *crowd,
                                  double n, const double *p, size_t n_quantiles)
{
    agg_density_observed *o = agg_alloc(error, 1, sizeof *o);
    const asked a = {crowd, p, n_quantiles, false};
    if (o == NULL) return AGG_ERR_MEMORY;
    bool is_told = true;
    if (variances == NULL)
        expect_places(o, part, crowd, n);
    else
        is_told = expect_buckets(o, part, variances, crowd, n);
    agg_err err = is_told ? fit_and_judge(forecast, error, o, &a) : refuse(error);
    free(o);
    return err;
}

agg_err agg_distribution_trial(agg_forecast *trial, agg_error *error, const shoal_part *part,
                               const double *variances, bool sums_up,
                               const agg_forecast_crowd *crowd, double n, const double *p,
                               size_t n_quantiles, uint64_t seed)
{
    agg_density_observed *o = agg_alloc(error, 1, sizeof *o);
    const asked a = {crowd, p, n_quantiles, true};
    uint8_t bytes[32] = {0x70, 0x6c};
    shoal_rng rng;
    if (o == NULL) return AGG_ERR_MEMORY;
    store64_le(bytes + 8, seed);
    shoal_rng_init(&rng, bytes);
    bool is_told = true;
    if (variances == NULL)
        draw_places(o, part, crowd, n, &rng);
    else
        is_told = draw_buckets(o, part, variances, sums_up, crowd, n, &rng);
    agg_err err = is_told && o->n > 0 ? fit_and_judge(trial, error, o, &a) : refuse(error);
    free(o);
    return err;
}
