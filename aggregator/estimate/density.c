// SPDX-License-Identifier: Apache-2.0
// Fits smooth distributions; see density.h.
//
// With J = diag(theta) - theta theta', the derivative of theta in eta, the negative second
// derivative of the penalized log likelihood is nearly H = J I J + lambda K, where I is the
// expected information. H has no curvature along a constant eta, which changes nothing; a small
// term there makes it definite. The posterior is normal with covariance H^-1, and the share F of a
// set of cells has the variance u' H^-1 u with u = J 1_set.
//
// The logarithm of the evidence, by Laplace's approximation, up to a constant:
//
//     log likelihood - penalty + (1/2) sum_r log(lambda v_r) - (1/2) log det H
#include "density.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "dense.h"

#define STEPS_MAX 60     // Newton steps; 5 are usual, since each fit starts at the last
#define CONVERGED 1e-3   // expected gain of a step, in units of log likelihood
#define LEVEL 1e-3       // curvature along a constant eta
#define RIDGE 1e-9       // share added to the diagonal of H, above agg_dense_cholesky's bound
#define LARGEST_STEP 5.0 // of any eta
#define N_DECADES                                                                                  \
    13 // strengths 10^9, 10^8, ... 10^-3, then two between the best and its neighbours
#define N_STRENGTHS (N_DECADES + 2)
#define HOPELESS 15.0  // an evidence so far below the best ends the search
#define NEGLIGIBLE 4.0 // an evidence so far below the best has no part in the average
static const double exponents[] = {1, 3};
#define N_EXPONENTS (sizeof exponents / sizeof *exponents)

// What a fit is for: an estimate, one without errors, or a forecast from expected observations.
typedef enum density_use { ESTIMATE, SHARES_ALONE, FORECAST } density_use;

typedef struct fitting {
    const agg_density_data *data;
    size_t n;
    double *base;               // n, logarithms of the cells' widths
    double *freedom;            // n - 2, v_r
    double log_freedom;         // sum of log v_r
    double *eta, *shares, *old; // n
    double *gradient, *step;    // n
    double *matrix;             // n * n; a Cholesky factor of H after `maximize`
    double strength;            // lambda
    density_use use;
} fitting;

// One candidate of the average.
typedef struct candidate {
    double exponent, strength, evidence;
    double *eta;
} candidate;

static void set_freedom(fitting *f, double exponent)
{
    double span = (double)f->n - 1;
    f->log_freedom = 0;
    for (size_t r = 0; r + 2 < f->n; r++) {
        double x = ((double)r + 1) / span;
        f->freedom[r] = pow(4 * x * (1 - x), exponent);
        f->log_freedom += log(f->freedom[r]);
    }
}

static double bend(const double *eta, size_t r)
{
    return eta[r] - 2 * eta[r + 1] + eta[r + 2];
}

static double total(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

// Sets the shares of the current eta. Returns: the penalized log likelihood.
static double evaluate(fitting *f)
{
    double most = -INFINITY, sum = 0, penalty = 0, level = total(f->eta, f->n);
    for (size_t j = 0; j < f->n; j++) most = fmax(most, f->base[j] + f->eta[j]);
    for (size_t j = 0; j < f->n; j++) sum += f->shares[j] = exp(f->base[j] + f->eta[j] - most);
    for (size_t j = 0; j < f->n; j++) f->shares[j] /= sum;
    for (size_t r = 0; r + 2 < f->n; r++)
        penalty += f->freedom[r] * bend(f->eta, r) * bend(f->eta, r);
    return f->data->log_likelihood(f->data, f->shares) -
           (f->strength * penalty + LEVEL * level * level) / 2;
}

// Turns the information in shares, in the lower triangle, into J I J.
static void into_eta(fitting *f)
{
    size_t n = f->n;
    double *flow = f->old, whole = 0; // I theta, and theta' I theta
    for (size_t j = 0; j < n; j++) flow[j] = 0;
    for (size_t j = 0; j < n; j++) {
        const double *row = &f->matrix[j * n];
        for (size_t k = 0; k <= j; k++) flow[j] += row[k] * f->shares[k];
        for (size_t k = 0; k < j; k++) flow[k] += row[k] * f->shares[j];
    }
    for (size_t j = 0; j < n; j++) whole += flow[j] * f->shares[j];
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k <= j; k++) {
            double *i = &f->matrix[j * n + k];
            *i = f->shares[j] * f->shares[k] * (*i - flow[j] - flow[k] + whole);
        }
}

// Adds the penalty to gradient and matrix.
static void add_penalty(fitting *f)
{
    static const double d[3] = {1, -2, 1};
    size_t n = f->n;
    double level = total(f->eta, n);
    for (size_t r = 0; r + 2 < n; r++) {
        double weight = f->strength * f->freedom[r], pull = weight * bend(f->eta, r);
        for (size_t i = 0; i < 3; i++) {
            f->gradient[r + i] -= pull * d[i];
            for (size_t k = 0; k <= i; k++) f->matrix[(r + i) * n + r + k] += weight * d[i] * d[k];
        }
    }
    for (size_t j = 0; j < n; j++) {
        f->gradient[j] -= LEVEL * level;
        for (size_t k = 0; k <= j; k++) f->matrix[j * n + k] += LEVEL;
        f->matrix[j * n + j] *= 1 + RIDGE;
        f->matrix[j * n + j] += RIDGE;
    }
}

// Sets gradient, factor and step at the current shares.
// Returns: the expected gain of the step; NaN if there is no factor.
static double look(fitting *f)
{
    size_t n = f->n;
    memset(f->matrix, 0, n * n * sizeof *f->matrix);
    f->data->curvature(f->step, f->matrix, f->data, f->shares);
    double mean = 0, gain = 0;
    for (size_t j = 0; j < n; j++) mean += f->step[j] * f->shares[j];
    for (size_t j = 0; j < n; j++) f->gradient[j] = f->shares[j] * (f->step[j] - mean);
    into_eta(f);
    add_penalty(f);
    if (!agg_dense_cholesky(f->matrix, n)) return NAN;
    memcpy(f->step, f->gradient, n * sizeof *f->step);
    agg_dense_forward(f->step, f->matrix, n);
    agg_dense_backward(f->step, f->matrix, n);
    for (size_t j = 0; j < n; j++) gain += f->gradient[j] * f->step[j];
    return gain;
}

// Goes along the step as far as it helps. Returns: whether it helped at all.
static bool climb(fitting *f, double *value, double gain)
{
    double most = 0, share;
    memcpy(f->old, f->eta, f->n * sizeof *f->old);
    for (size_t j = 0; j < f->n; j++) most = fmax(most, fabs(f->step[j]));
    share = most > LARGEST_STEP ? LARGEST_STEP / most : 1;
    for (int halvings = 0; halvings < 30; halvings++, share /= 2) {
        for (size_t j = 0; j < f->n; j++) f->eta[j] = f->old[j] + share * f->step[j];
        double next = evaluate(f);
        if (next >= *value + 1e-4 * share * gain) {
            *value = next;
            return true;
        }
    }
    memcpy(f->eta, f->old, f->n * sizeof *f->old);
    *value = evaluate(f);
    return false;
}

// Finds the maximum from the current eta. Returns: the logarithm of the evidence, up to a constant;
// NaN if there is no fit.
static double maximize(fitting *f)
{
    double value = evaluate(f), half_log_det = 0;
    for (int steps = 0;; steps++) {
        double gain = look(f);
        if (isnan(gain)) return NAN;
        if (gain < CONVERGED || steps == STEPS_MAX || !climb(f, &value, gain)) break;
    }
    for (size_t j = 0; j < f->n; j++) half_log_det += log(f->matrix[j * f->n + j]);
    return value + (((double)f->n - 2) * log(f->strength) + f->log_freedom) / 2 - half_log_det;
}

// Returns: u' K u of the penalty and of the level, with H's strength. `x` is u.
static double roughness(const fitting *f, const double *x)
{
    double level = total(x, f->n), sum = LEVEL * level * level;
    for (size_t r = 0; r + 2 < f->n; r++)
        sum += f->strength * f->freedom[r] * bend(x, r) * bend(x, r);
    return sum;
}

// Returns: the trace of H^-1 J I J, with H in its factor: n less the trace of H^-1 times the
// penalty.
static double effective_parameters(fitting *f)
{
    static const double d[3] = {1, -2, 1};
    double sum = (double)f->n, *x = f->step;
    for (size_t r = 0; r + 1 < f->n; r++) {
        bool is_level = r + 2 == f->n;
        double square = 0, weight = is_level ? LEVEL : f->strength * f->freedom[r];
        for (size_t j = 0; j < f->n; j++) x[j] = is_level ? 1 : j >= r && j < r + 3 ? d[j - r] : 0;
        agg_dense_forward(x, f->matrix, f->n);
        for (size_t j = 0; j < f->n; j++) square += x[j] * x[j];
        sum -= weight * square;
    }
    return sum;
}

// Fits one strength from the current eta. Returns: whether there is a fit.
static bool try_strength(fitting *f, candidate *out, double exponent, double log_strength)
{
    f->strength = pow(10, log_strength);
    out->exponent = exponent;
    out->strength = f->strength;
    out->evidence = maximize(f);
    if (f->use == FORECAST && isfinite(out->evidence)) out->evidence += effective_parameters(f) / 2;
    memcpy(out->eta, f->eta, f->n * sizeof *f->eta);
    return isfinite(out->evidence);
}

// Fits the strengths of one exponent, from the strongest down, and then more beside the best.
//   memory: N_STRENGTHS * n
// Returns: the number of candidates written.
static size_t try_strengths(fitting *f, candidate *out, double exponent, double *memory)
{
    size_t n = 0, best = 0;
    set_freedom(f, exponent);
    memset(f->eta, 0, f->n * sizeof *f->eta);
    for (size_t i = 0; i < N_STRENGTHS; i++) out[i].eta = memory + i * f->n;
    while (n < N_DECADES) {
        if (!try_strength(f, &out[n], exponent, 9 - (double)n)) break;
        if (out[n].evidence > out[best].evidence) best = n;
        if (out[n].evidence < out[best].evidence - HOPELESS) break;
        n++;
    }
    if (n == 0) return 0;
    const candidate middle = out[best];
    for (int side = -1; side <= 1; side += 2) {
        memcpy(f->eta, middle.eta, f->n * sizeof *f->eta);
        n += try_strength(f, &out[n], exponent, 9 - (double)best + 0.5 * side);
    }
    return n;
}

// Sets the part of each cell that lies in a range.
static void cells_within(double *part, const agg_density_data *data, const agg_density_range *range)
{
    for (size_t j = 0; j < data->n_cells; j++) {
        double low = data->edges[j], high = data->edges[j + 1];
        double within = fmin(high, range->high) - fmax(low, range->low);
        part[j] = within > 0 ? within / (high - low) : 0;
    }
}

// Adds a functional of the posterior to a running mixture: sum of part_j theta_j, whose mean is
// kept in `share` and whose mean square in `stderr_`.
static void add_share(agg_density_share *sum, fitting *f, double weight, const double *part)
{
    double mean = 0, variance = 0;
    for (size_t j = 0; j < f->n; j++) mean += part[j] * f->shares[j];
    if (f->use == SHARES_ALONE) {
        sum->share += weight * mean;
        return;
    }
    for (size_t j = 0; j < f->n; j++) f->step[j] = f->shares[j] * (part[j] - mean);
    agg_dense_forward(f->step, f->matrix, f->n);
    for (size_t j = 0; j < f->n; j++) variance += f->step[j] * f->step[j];
    sum->share += weight * mean;
    if (f->use == ESTIMATE) {
        sum->stderr_ += weight * (variance + mean * mean);
        return;
    }
    // The fit varies by H^-1 J I J H^-1 = H^-1 less H^-1 times the penalty times H^-1. The fits of
    // all strengths vary together.
    agg_dense_backward(f->step, f->matrix, f->n);
    sum->stderr_ += weight * sqrt(fmax(0, variance - roughness(f, f->step)));
}

static void finish_shares(agg_density_share *shares, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double variance = shares[i].stderr_ - shares[i].share * shares[i].share;
        shares[i].stderr_ = variance > 0 ? sqrt(variance) : 0;
    }
}

// What is asked of the average.
typedef struct asked {
    agg_density_share *shares;
    const agg_density_range *ranges;
    size_t n_ranges;
    double *part; // n_cells
} asked;

static void add_candidate(const asked *a, fitting *f, const candidate *c, double weight)
{
    set_freedom(f, c->exponent);
    f->strength = c->strength;
    memcpy(f->eta, c->eta, f->n * sizeof *f->eta);
    evaluate(f);
    if (f->use != SHARES_ALONE && isnan(look(f)))
        return; // it was definite when the candidate was made
    for (size_t i = 0; i < a->n_ranges; i++) {
        cells_within(a->part, f->data, &a->ranges[i]);
        add_share(&a->shares[i], f, weight, a->part);
    }
}

static agg_err average(const asked *a, agg_error *error, fitting *f, const candidate *all,
                       size_t n_all)
{
    double best = -INFINITY, sum = 0;
    for (size_t i = 0; i < n_all; i++) best = fmax(best, all[i].evidence);
    for (size_t i = 0; i < n_all; i++)
        if (all[i].evidence > best - NEGLIGIBLE) sum += exp(all[i].evidence - best);
    if (!(sum > 0))
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "no distribution fits the reports");
    memset(a->shares, 0, a->n_ranges * sizeof *a->shares);
    for (size_t i = 0; i < n_all; i++)
        if (all[i].evidence > best - NEGLIGIBLE)
            add_candidate(a, f, &all[i], exp(all[i].evidence - best) / sum);
    if (f->use == ESTIMATE) finish_shares(a->shares, a->n_ranges);
    return SHOAL_OK;
}

static agg_err fit(agg_density_share *shares, agg_error *error, const agg_density_data *data,
                   const agg_density_range *ranges, size_t n_ranges, density_use use)
{
    size_t n = data->n_cells, n_all = 0, most = N_EXPONENTS * N_STRENGTHS;
    candidate all[N_EXPONENTS * N_STRENGTHS];
    double *memory = agg_alloc(error, n * (n + 8 + most), sizeof *memory), *at = memory;
    if (memory == NULL) return AGG_ERR_MEMORY;
    fitting f = {.data = data, .n = n, .use = use};
    asked a = {.shares = shares, .ranges = ranges, .n_ranges = n_ranges};
    double **const vectors[] = {&f.base, &f.freedom,  &f.eta,  &f.shares,
                                &f.old,  &f.gradient, &f.step, &a.part};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++, at += n) *vectors[i] = at;
    f.matrix = at;
    at += n * n;
    for (size_t j = 0; j < n; j++) f.base[j] = log(data->edges[j + 1] - data->edges[j]);
    for (size_t e = 0; e < N_EXPONENTS; e++, at += N_STRENGTHS * n)
        n_all += try_strengths(&f, all + n_all, exponents[e], at);
    agg_err err = average(&a, error, &f, all, n_all);
    free(memory);
    return err;
}

agg_err agg_density_fit(agg_density_share *shares, agg_error *error, const agg_density_data *data,
                        const agg_density_range *ranges, size_t n_ranges)
{
    return fit(shares, error, data, ranges, n_ranges, ESTIMATE);
}

agg_err agg_density_shares(agg_density_share *shares, agg_error *error,
                           const agg_density_data *data, const agg_density_range *ranges,
                           size_t n_ranges)
{
    return fit(shares, error, data, ranges, n_ranges, SHARES_ALONE);
}

agg_err agg_density_forecast(agg_density_share *shares, agg_error *error,
                             const agg_density_data *data, const agg_density_range *ranges,
                             size_t n_ranges)
{
    return fit(shares, error, data, ranges, n_ranges, FORECAST);
}
