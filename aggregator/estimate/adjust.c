// SPDX-License-Identifier: Apache-2.0
// Empirical Bayes over the rows of a result; see adjust.h.
#include "adjust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "smooth_prior.h"

#define NODES 110u    // of true counts, a fifth of a standard error apart
#define STEP 0.2      // of a standard error
#define BINS_MAX 160u // of raw counts
#define BELOW 4.0     // standard errors below 0 where bins begin
#define MARGIN 4.5    // standard errors between the last raw count and the last node
#define UNLIKE 0.1    // relative, of the variances of rows with one count
#define MISFIT 0.001  // p-value of a distribution that does not fit
#define TABLE_MAX 2000u
#define SQRT_HALF 0.70710678118654752440

// What is known of noise and true counts.
typedef struct noise {
    const agg_support_law *law; // NULL: normal, anywhere
    bool is_exact;              // supports are few, and have their exact law
    double base, slope;         // variance of a count: base + slope f
} noise;

// A grid of true counts: cells between edges, each with its middle as node. After them come the
// atom at 0 and one node far above.
typedef struct grid {
    double edges[NODES + 1], nodes[NODES], at[NODES], widths[NODES];
    double last; // largest raw count that the nodes explain
} grid;

static double error_at(const noise *v, double f)
{
    return sqrt(fmax(v->base + v->slope * fmax(f, 0), v->base / 100));
}

// ---- noise ----

// Fits base and slope to the rows' errors by least squares.
// Returns: false if rows of one count have errors of their own.
static bool read_noise(noise *v, const agg_adjust_rows *rows)
{
    double n = (double)rows->n, x = 0, y = 0, xx = 0, xy = 0, off = 0;
    for (size_t i = 0; i < rows->n; i++) {
        double f = fmax(rows->counts[i], 0), square = rows->stderrs[i] * rows->stderrs[i];
        x += f / n;
        y += square / n;
    }
    for (size_t i = 0; i < rows->n; i++) {
        double f = fmax(rows->counts[i], 0) - x, square = rows->stderrs[i] * rows->stderrs[i];
        xx += f * f;
        xy += f * (square - y);
    }
    v->slope = xx > 0 ? xy / xx : 0;
    v->base = y - v->slope * x;
    if (!(v->base > 0)) return false;
    for (size_t i = 0; i < rows->n; i++) {
        double f = fmax(rows->counts[i], 0), own = rows->stderrs[i] * rows->stderrs[i];
        double ratio = own / fmax(v->base + v->slope * f, v->base / 100) - 1;
        off += ratio * ratio / n;
    }
    return sqrt(off) < UNLIKE;
}

// Returns: P(raw count <= x | f). With supports, x is halfway between two of them.
static double below(const noise *v, double f, double x)
{
    if (v->is_exact) {
        double c = floor(v->law->n * v->law->q + (v->law->p - v->law->q) * x);
        if (c < 0) return 0;
        return c >= v->law->n ? 1 : agg_support_tail(v->law, round(f), c, false);
    }
    return erfc(-(x - f) / error_at(v, f) * SQRT_HALF) / 2;
}

// Returns: the likelihood of f for a raw count x, up to a factor.
static double likelihood(const noise *v, double f, double x)
{
    if (v->is_exact) {
        double half = 0.5 / (v->law->p - v->law->q);
        return below(v, f, x + half) - below(v, f, x - half);
    }
    double s = error_at(v, f), z = (x - f) / s;
    return exp(-z * z / 2) / s;
}

// ---- the grid ----

static void make_grid(grid *g, const noise *v)
{
    double unit = error_at(v, 0);
    g->edges[0] = 0;
    for (size_t j = 0; j < NODES; j++) {
        g->edges[j + 1] = g->edges[j] + STEP * error_at(v, g->edges[j]);
        g->nodes[j] = (g->edges[j] + g->edges[j + 1]) / 2;
        g->at[j] = log1p(g->nodes[j] / unit);
        g->widths[j] = log1p(g->edges[j + 1] / unit) - log1p(g->edges[j] / unit);
    }
    g->last = g->edges[NODES] - MARGIN * error_at(v, g->edges[NODES]);
}

// Returns: an edge of bins near x: halfway between two supports.
static double edge_near(const noise *v, double x)
{
    if (v->law == NULL) return x;
    double gap = v->law->p - v->law->q, mean = v->law->n * v->law->q;
    return (floor(mean + gap * x) + 0.5 - mean) / gap;
}

// Fills the upper edges of all bins but the last, which has none.
// Returns: the number of edges.
static size_t make_edges(double *edges, const noise *v, const grid *g, double threshold)
{
    size_t n = 0;
    double unit = error_at(v, 0), x = -BELOW * unit;
    if (threshold > 0) {
        edges[n++] = threshold;
        x = threshold + STEP * unit;
    }
    for (; x < g->last && n < BINS_MAX - 2; x += STEP * error_at(v, x)) {
        double edge = edge_near(v, x);
        if (n == 0 || edge > edges[n - 1]) edges[n++] = edge;
    }
    edges[n] = n > 0 ? fmax(g->last, edges[n - 1]) : g->last;
    return n + 1;
}

// ---- the fit ----

static void fill_response(double *response, size_t n_edges, const double *edges, const noise *v,
                          const grid *g)
{
    size_t n_nodes = NODES + 2;
    for (size_t j = 0; j < n_nodes; j++) {
        double before = 0;
        for (size_t b = 0; b <= n_edges; b++) {
            double up_to = b == n_edges ? 1 : below(v, j < NODES ? g->nodes[j] : 0, edges[b]);
            response[b * n_nodes + j] = j == NODES + 1 ? b == n_edges : fmax(up_to - before, 0);
            before = up_to;
        }
    }
}

static size_t bin_of(const double *edges, size_t n_edges, double x)
{
    size_t from = 0, n = n_edges;
    while (n > 0) {
        size_t half = n / 2;
        if (edges[from + half] < x) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return from;
}

static agg_err fit(double *weights, agg_adjustment *a, agg_error *error,
                   const agg_adjust_rows *rows, const noise *v, const grid *g)
{
    double edges[BINS_MAX], counts[BINS_MAX] = {0};
    size_t n_edges = make_edges(edges, v, g, rows->n_hidden > 0 ? rows->threshold : 0);
    double *response = agg_alloc(error, n_edges + 1, (NODES + 2) * sizeof *response);
    agg_smooth_fit quality;
    if (response == NULL) return AGG_ERR_MEMORY;
    fill_response(response, n_edges, edges, v, g);
    for (size_t i = 0; i < rows->n; i++) counts[bin_of(edges, n_edges, rows->counts[i])]++;
    if (rows->n_hidden > 0) counts[0] += (double)rows->n_hidden;
    const agg_smooth_problem problem = {n_edges + 1, NODES + 2, 2,        response,
                                        counts,      g->at,     g->widths};
    agg_err err = agg_smooth_prior(weights, &quality, error, &problem);
    free(response);
    if (err != SHOAL_OK) return err;
    a->p = quality.p;
    a->state = quality.p < MISFIT ? AGG_ADJUST_MISFIT : AGG_ADJUST_FITTED;
    return SHOAL_OK;
}

// ---- posterior laws ----

// Returns: the count below which a share of the posterior lies; cells are even inside.
static double quantile(const double *posterior, const grid *g, double share)
{
    double sum = posterior[NODES]; // the atom
    if (share <= sum) return 0;
    for (size_t j = 0; j < NODES; j++) {
        if (sum + posterior[j] >= share)
            return g->edges[j] + (share - sum) / posterior[j] * (g->edges[j + 1] - g->edges[j]);
        sum += posterior[j];
    }
    return g->edges[NODES];
}

static agg_adjusted posterior_at(const double *weights, const noise *v, const grid *g, double x,
                                 double confidence)
{
    double posterior[NODES + 1], sum = 0, mean = 0;
    for (size_t j = 0; j <= NODES; j++) {
        posterior[j] = weights[j] * likelihood(v, j < NODES ? g->nodes[j] : 0, x);
        sum += posterior[j];
    }
    if (!(sum > 0)) return (agg_adjusted){NAN, NAN, NAN};
    for (size_t j = 0; j <= NODES; j++) {
        posterior[j] /= sum;
        if (j < NODES) mean += posterior[j] * g->nodes[j];
    }
    return (agg_adjusted){mean, quantile(posterior, g, (1 - confidence) / 2),
                          quantile(posterior, g, (1 + confidence) / 2)};
}

static agg_err make_table(agg_adjustment *a, agg_error *error, const double *weights,
                          const noise *v, const grid *g, double confidence)
{
    double unit = error_at(v, 0), step = unit / 10;
    a->first = -BELOW * unit;
    if (v->is_exact) {
        step = 1 / (v->law->p - v->law->q);
        a->first = -v->law->n * v->law->q * step;
    }
    a->last = g->last;
    a->n_known = (size_t)fmin(ceil((a->last - a->first) / step) + 1, TABLE_MAX);
    a->at = agg_alloc(error, a->n_known, sizeof *a->at);
    a->known = agg_alloc(error, a->n_known, sizeof *a->known);
    if (a->at == NULL || a->known == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < a->n_known; i++) {
        a->at[i] = a->first + (double)i * step;
        a->known[i] = posterior_at(weights, v, g, a->at[i], confidence);
    }
    a->last = fmin(a->last, a->at[a->n_known - 1]);
    return SHOAL_OK;
}

agg_err agg_adjust_fit(agg_adjustment *adjustment, agg_error *error, const agg_adjust_rows *rows)
{
    noise v = {.law = rows->law};
    grid *g = NULL;
    double weights[NODES + 2];
    *adjustment = (agg_adjustment){.state = AGG_ADJUST_FEW, .p = 1};
    if (rows->n_detected < AGG_ADJUST_LEAST) return SHOAL_OK;
    adjustment->state = AGG_ADJUST_UNLIKE;
    if (!read_noise(&v, rows)) return SHOAL_OK;
    v.is_exact = v.law != NULL && v.law->stretch < 1.05 &&
                 agg_support_variance(v.law, 0) <= AGG_SMALL_VARIANCE;
    g = agg_alloc(error, 1, sizeof *g);
    if (g == NULL) return AGG_ERR_MEMORY;
    make_grid(g, &v);
    agg_err err = SHOAL_OK;
    if (rows->n_hidden > 0 && rows->threshold >= g->last) { // all that is shown is far above
        adjustment->state = AGG_ADJUST_FITTED;
        adjustment->first = adjustment->last = g->last;
    } else {
        err = fit(weights, adjustment, error, rows, &v, g);
        if (err == SHOAL_OK && adjustment->state == AGG_ADJUST_FITTED)
            err = make_table(adjustment, error, weights, &v, g, rows->confidence);
    }
    free(g);
    if (err != SHOAL_OK) agg_adjust_release(adjustment);
    return err;
}

agg_adjusted agg_adjust_row(const agg_adjustment *adjustment, double count, double low, double high)
{
    if (adjustment->state != AGG_ADJUST_FITTED) return (agg_adjusted){NAN, NAN, NAN};
    if (count >= adjustment->last) return (agg_adjusted){count, low, high};
    size_t i = bin_of(adjustment->at, adjustment->n_known, count);
    if (i == 0) return adjustment->known[0];
    const agg_adjusted *a = &adjustment->known[i - 1], *b = &adjustment->known[i];
    double share = (count - adjustment->at[i - 1]) / (adjustment->at[i] - adjustment->at[i - 1]);
    return (agg_adjusted){a->mean + share * (b->mean - a->mean), a->low + share * (b->low - a->low),
                          a->high + share * (b->high - a->high)};
}

const char *agg_adjust_note(agg_adjust_state state)
{
    switch (state) {
    case AGG_ADJUST_FITTED:
        return "adjusted: what is to be expected of a row that was picked for its size";
    case AGG_ADJUST_FEW: return "no adjusted figures: fewer than 20 rows are detected";
    case AGG_ADJUST_MISFIT:
        return "no adjusted figures: no smooth distribution of true counts explains these counts";
    case AGG_ADJUST_UNLIKE: return "no adjusted figures: the errors of the rows differ too much";
    case AGG_ADJUST_POST:
        return "no adjusted figures: post-processing decides here which rows are withheld";
    case AGG_ADJUST_SPLIT: return "no adjusted figures: other reports picked the rows";
    case AGG_ADJUST_NONE: break;
    }
    return "no adjusted figures of a mean";
}

const char *agg_adjust_name(agg_adjust_state state)
{
    switch (state) {
    case AGG_ADJUST_FITTED: return "fitted";
    case AGG_ADJUST_FEW: return "few";
    case AGG_ADJUST_MISFIT: return "misfit";
    case AGG_ADJUST_UNLIKE: return "unlike";
    case AGG_ADJUST_POST: return "post";
    case AGG_ADJUST_SPLIT: return "split";
    case AGG_ADJUST_NONE: break;
    }
    return "none";
}

void agg_adjust_release(agg_adjustment *adjustment)
{
    free(adjustment->at);
    free(adjustment->known);
    memset(adjustment, 0, sizeof *adjustment);
}
