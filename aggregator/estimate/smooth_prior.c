// SPDX-License-Identifier: Apache-2.0
// Penalized likelihood by Fisher scoring; see smooth_prior.h.
#include "smooth_prior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "chi_square.h"
#include "dense.h"

#define SPLINES 18u
#define PARAMS_MAX (SPLINES + 4u)
#define STEPS_MAX 60
#define RIDGE 1e-3 // keeps weights defined that nothing was seen of
#define LAMBDAS 9u
#define EXPECTED_LEAST 5.0

// The state of one fit.
typedef struct fitting {
    const agg_smooth_problem *p;
    size_t n_params;
    double total;
    double *basis;   // n_nodes x n_params
    double *design;  // n_bins x n_params, derivatives of mu
    double *mu;      // n_bins
    double *weights; // n_nodes, times the total
    double beta[PARAMS_MAX], start[PARAMS_MAX];
    double lambda;
    double information[PARAMS_MAX * PARAMS_MAX]; // Fisher's, without the penalty
} fitting;

// Returns: the cubic spline of knots -2, -1, 0, 1, 2.
static double spline(double x)
{
    double a = fabs(x);
    if (a >= 2) return 0;
    if (a >= 1) return (2 - a) * (2 - a) * (2 - a) / 6;
    return 2.0 / 3 - a * a * (1 - a / 2);
}

static void fill_basis(fitting *f)
{
    size_t n_smooth = f->p->n_nodes - f->p->n_free;
    double first = f->p->at[0], span = f->p->at[n_smooth - 1] - first;
    for (size_t j = 0; j < f->p->n_nodes; j++)
        for (size_t k = 0; k < f->n_params; k++) {
            double place =
                j < n_smooth ? (f->p->at[j] - first) / span * (SPLINES - 3) + 1 : 0; // 1 .. n - 2
            double value = j >= n_smooth ? k == SPLINES + (j - n_smooth)
                           : k < SPLINES ? spline(place - (double)k)
                                         : 0;
            f->basis[j * f->n_params + k] = value;
        }
}

// Computes weights and expected counts.
// Returns: the penalized log likelihood.
static double expect(fitting *f)
{
    size_t n_smooth = f->p->n_nodes - f->p->n_free;
    double sum = 0;
    for (size_t j = 0; j < f->p->n_nodes; j++) {
        double eta = 0;
        for (size_t k = 0; k < f->n_params; k++) eta += f->basis[j * f->n_params + k] * f->beta[k];
        f->weights[j] = f->total * (j < n_smooth ? f->p->widths[j] : 1) * exp(fmin(eta, 50));
    }
    for (size_t b = 0; b < f->p->n_bins; b++) {
        double mu = 1e-12;
        const double *row = f->p->response + b * f->p->n_nodes;
        for (size_t j = 0; j < f->p->n_nodes; j++) mu += row[j] * f->weights[j];
        f->mu[b] = mu;
        sum += f->p->counts[b] * log(mu) - mu;
    }
    for (size_t k = 0; k < f->n_params; k++)
        sum -= RIDGE / 2 * (f->beta[k] - f->start[k]) * (f->beta[k] - f->start[k]);
    for (size_t k = 1; k + 1 < SPLINES; k++) {
        double bend = f->beta[k - 1] - 2 * f->beta[k] + f->beta[k + 1];
        sum -= f->lambda / 2 * bend * bend;
    }
    return sum;
}

// Adds the penalty's matrix, and its product with beta to the negative gradient.
static void add_penalty(double *matrix, double *gradient, const fitting *f)
{
    static const double bend[3] = {1, -2, 1};
    for (size_t k = 0; k < f->n_params; k++) {
        matrix[k * f->n_params + k] += RIDGE;
        gradient[k] -= RIDGE * (f->beta[k] - f->start[k]);
    }
    for (size_t k = 1; k + 1 < SPLINES; k++) {
        double value = f->beta[k - 1] - 2 * f->beta[k] + f->beta[k + 1];
        for (size_t a = 0; a < 3; a++) {
            gradient[k - 1 + a] -= f->lambda * bend[a] * value;
            for (size_t b = 0; b < 3; b++)
                matrix[(k - 1 + a) * f->n_params + k - 1 + b] += f->lambda * bend[a] * bend[b];
        }
    }
}

// Computes the information and the gradient at beta.
static void derive(double *gradient, fitting *f)
{
    size_t n = f->n_params;
    memset(f->information, 0, sizeof f->information);
    memset(gradient, 0, n * sizeof *gradient);
    for (size_t b = 0; b < f->p->n_bins; b++) {
        double *d = f->design + b * n;
        const double *row = f->p->response + b * f->p->n_nodes;
        memset(d, 0, n * sizeof *d);
        for (size_t j = 0; j < f->p->n_nodes; j++) {
            double part = row[j] * f->weights[j];
            if (part < 1e-12) continue;
            for (size_t k = 0; k < n; k++) d[k] += part * f->basis[j * n + k];
        }
        for (size_t k = 0; k < n; k++) {
            gradient[k] += (f->p->counts[b] / f->mu[b] - 1) * d[k];
            for (size_t l = 0; l <= k; l++) f->information[k * n + l] += d[k] * d[l] / f->mu[b];
        }
    }
    for (size_t k = 0; k < n; k++)
        for (size_t l = k + 1; l < n; l++) f->information[k * n + l] = f->information[l * n + k];
}

static void solve(double *x, const double *factor, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        for (size_t l = 0; l < k; l++) x[k] -= factor[k * n + l] * x[l];
        x[k] /= factor[k * n + k];
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t l = k + 1; l < n; l++) x[k] -= factor[l * n + k] * x[l];
        x[k] /= factor[k * n + k];
    }
}

// Moves beta by up to one Fisher step.
// Returns: how much the penalized likelihood grew; 0 where no step makes it grow.
static double step(fitting *f, double now)
{
    double gradient[PARAMS_MAX], matrix[PARAMS_MAX * PARAMS_MAX], old[PARAMS_MAX];
    derive(gradient, f);
    memcpy(matrix, f->information, sizeof matrix);
    add_penalty(matrix, gradient, f);
    if (!agg_dense_cholesky(matrix, f->n_params)) return 0;
    solve(gradient, matrix, f->n_params);
    double longest = 0;
    for (size_t k = 0; k < f->n_params; k++) longest = fmax(longest, fabs(gradient[k]));
    memcpy(old, f->beta, sizeof old);
    for (double share = fmin(1, 3 / fmax(longest, 1e-300)); share > 1e-4; share /= 2) {
        for (size_t k = 0; k < f->n_params; k++) f->beta[k] = old[k] + share * gradient[k];
        double then = expect(f);
        if (then > now) return then - now;
    }
    memcpy(f->beta, old, sizeof old);
    expect(f);
    return 0;
}

// Fits beta for one lambda.
// Returns: the log of the marginal likelihood, up to a constant.
static double fit_lambda(fitting *f, double lambda, double *freedom)
{
    size_t n = f->n_params;
    double gradient[PARAMS_MAX], matrix[PARAMS_MAX * PARAMS_MAX], column[PARAMS_MAX];
    f->lambda = lambda;
    double value = expect(f), gain = 1;
    for (int i = 0; i < STEPS_MAX && gain > 1e-5; i++) value += gain = step(f, value);
    derive(gradient, f);
    memcpy(matrix, f->information, sizeof matrix);
    add_penalty(matrix, gradient, f);
    *freedom = 0;
    if (!agg_dense_cholesky(matrix, n)) return -HUGE_VAL;
    double log_volume = 0;
    for (size_t k = 0; k < n; k++) {
        log_volume += log(matrix[k * n + k]);
        for (size_t l = 0; l < n; l++) column[l] = f->information[l * n + k];
        solve(column, matrix, n);
        *freedom += column[k];
    }
    return value + (SPLINES - 2) / 2.0 * log(lambda) - log_volume;
}

// Returns: the p-value of the bins, neighbours being joined until they expect enough.
static double judge(const fitting *f, double freedom)
{
    double seen = 0, expected = 0, sum = 0, bins = 0;
    for (size_t b = 0; b < f->p->n_bins; b++) {
        seen += f->p->counts[b];
        expected += f->mu[b];
        if (expected < EXPECTED_LEAST) continue;
        sum += (seen - expected) * (seen - expected) / expected;
        bins++;
        seen = expected = 0;
    }
    double degrees = floor(bins - freedom);
    return degrees >= 1 ? agg_chi_square_tail(sum, degrees) : 1;
}

static void search(double *weights, agg_smooth_fit *fit, fitting *f)
{
    double best = -HUGE_VAL;
    for (unsigned i = 0; i < LAMBDAS; i++) { // from stiff to loose: each fit starts from the last
        double lambda = 3e4 / pow(5, i), freedom = 0;
        double value = fit_lambda(f, lambda, &freedom);
        if (!(value > best)) continue;
        best = value;
        *fit = (agg_smooth_fit){lambda, freedom, judge(f, freedom)};
        memcpy(weights, f->weights, f->p->n_nodes * sizeof *weights);
    }
    double sum = 0;
    for (size_t j = 0; j < f->p->n_nodes; j++) sum += weights[j];
    for (size_t j = 0; j < f->p->n_nodes; j++) weights[j] /= sum;
}

agg_err agg_smooth_prior(double *weights, agg_smooth_fit *fit, agg_error *error,
                         const agg_smooth_problem *problem)
{
    fitting f = {.p = problem, .n_params = SPLINES + problem->n_free};
    size_t n_bins = problem->n_bins, n_nodes = problem->n_nodes;
    *fit = (agg_smooth_fit){0, 0, 1};
    if (f.n_params > PARAMS_MAX || n_nodes < problem->n_free + 2)
        return agg_fail_core(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME);
    f.basis = agg_alloc(error, n_nodes, f.n_params * sizeof *f.basis);
    f.design = agg_alloc(error, n_bins, f.n_params * sizeof *f.design);
    f.mu = agg_alloc(error, n_bins, sizeof *f.mu);
    f.weights = agg_alloc(error, n_nodes, sizeof *f.weights);
    bool has_all = f.basis != NULL && f.design != NULL && f.mu != NULL && f.weights != NULL;
    if (has_all) {
        double width = 0;
        for (size_t b = 0; b < n_bins; b++) f.total += problem->counts[b];
        for (size_t j = 0; j + problem->n_free < n_nodes; j++) width += problem->widths[j];
        for (size_t k = 0; k < f.n_params; k++) {
            f.start[k] = k < SPLINES ? -log(2 * width) : log(0.1);
            f.beta[k] = f.start[k];
        }
        fill_basis(&f);
        search(weights, fit, &f);
    }
    free(f.basis);
    free(f.design);
    free(f.mu);
    free(f.weights);
    return has_all ? SHOAL_OK : AGG_ERR_MEMORY;
}
