// SPDX-License-Identifier: Apache-2.0
// Counts by LASSO and least squares, and a test of every candidate; see rappor_decode.h.
#include "rappor_decode.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "lasso.h"
#include "least_squares.h"
#include "normal_law.h"

#define CHOSEN_MAX 1000 // candidates in one model, whose factor then takes 8 MB
#define PATH_STEPS 20   // penalties from the largest down to the final one
#define PASSES 2        // fits; each gives the variances and weights of the next

typedef struct decoder {
    const agg_rappor_counts *counts;
    const agg_bit_design *design;
    double n, gap;   // reports; q* - p*
    size_t n_usable; // rows whose cohort has reports
    double *y, *variances, *weights;
    double tau2, third;
    size_t *chosen; // n_columns
    size_t n_chosen;
    bool *is_twin; // n_columns: another candidate has the same bits in every cohort
    agg_least_squares fit;
} decoder;

static double clamp_share(double x)
{
    if (!(x > 0)) return 0;
    return x > 1 ? 1 : x;
}

static agg_err check(decoder *d, agg_error *error)
{
    const agg_rappor_counts *c = d->counts;
    bool is_ok = c->p_star >= 0 && c->q_star <= 1 && d->gap > 0 &&
                 d->design->n_rows == (size_t)c->n_cohorts * c->n_bits;
    for (uint32_t j = 0; j < c->n_cohorts && is_ok; j++) {
        d->n += c->reports[j];
        if (c->reports[j] > 0) d->n_usable += c->n_bits;
        for (uint32_t b = 0; b < c->n_bits; b++)
            is_ok = is_ok && c->ones[(size_t)j * c->n_bits + b] <= c->reports[j];
    }
    if (is_ok && d->n > 0) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME, "these bit counts cannot be decoded");
}

// Returns: V, the variance of y if a given share of the cohort's devices has the bit.
static double variance_of(const decoder *d, double reports, double share)
{
    double ones = clamp_share(share) * d->gap + d->counts->p_star,
           scale = d->n / (reports * d->gap);
    double coin = ones * (1 - ones);
    return reports * (coin > 0 ? coin : 1 / d->n) * scale * scale;
}

// Computes the responses, with variances as if all bits of a cohort were equally frequent. A
// variance from a bit's own count would correlate with its noise.
static void set_response(decoder *d)
{
    const agg_rappor_counts *c = d->counts;
    for (uint32_t j = 0; j < c->n_cohorts; j++) {
        double reports = c->reports[j], sum = 0;
        double *y = d->y + (size_t)j * c->n_bits, *variances = d->variances + (size_t)j * c->n_bits;
        if (c->reports[j] == 0) continue; // the row stays zero, with weight 0
        for (uint32_t b = 0; b < c->n_bits; b++) {
            y[b] = (c->ones[(size_t)j * c->n_bits + b] - c->p_star * reports) / d->gap *
                   (d->n / reports);
            sum += y[b];
        }
        for (uint32_t b = 0; b < c->n_bits; b++)
            variances[b] = variance_of(d, reports, sum / c->n_bits / d->n);
    }
}

static void set_weights(decoder *d)
{
    for (size_t i = 0; i < d->design->n_rows; i++)
        d->weights[i] = d->variances[i] > 0 ? 1 / (d->variances[i] + d->tau2) : 0;
}

// Returns: kappa, the penalty in standard errors. It is at least one, because below that a
// candidate is noise as likely as not. It is higher for a long list, so that at most one candidate
// that nobody sent is expected to pass for each hundred rows, which prevents overfitting. All that
// `bh` can detect passes: its bound on p, alpha R/M for R detections among M, is below rows/(100 M)
// as long as R is below a fifth of the rows.
static double penalty(const decoder *d)
{
    double pass = (double)d->n_usable / (100 * (double)d->design->n_columns),
           one = 0.5 * erfc(sqrt(0.5));
    return pass < one ? -agg_normal_quantile(pass) : 1;
}

// Returns: the sum of weight times residual^2 with the weights that a tau^2 gives.
static double scaled_square(const decoder *d, double tau2)
{
    double sum = 0;
    for (size_t i = 0; i < d->design->n_rows; i++)
        if (d->variances[i] > 0)
            sum += d->fit.residuals[i] * d->fit.residuals[i] / (d->variances[i] + tau2);
    return sum;
}

// Returns: the degrees of freedom of the residuals. A candidate that nobody sent, and that was
// chosen because its noise exceeds kappa, takes more than one: E(Z^2 | Z > kappa) = 1 + kappa
// phi(kappa) / P(Z > kappa). So M candidates take M kappa phi(kappa) more than the number of the
// chosen.
static double free_rows_of(const decoder *d)
{
    double kappa = penalty(d), density = exp(-kappa * kappa / 2) * 0.3989422804014327;
    return (double)d->fit.n_free - (double)d->design->n_columns * kappa * density;
}

// Finds the tau^2 for which the residuals are as large as V + tau^2 predicts (Paule and Mandel
// 1982). Their weighted sum falls as tau^2 grows.
static double estimate_tau2(const decoder *d)
{
    double low = 0, high = 1, free_rows = free_rows_of(d);
    if (free_rows <= 0 || scaled_square(d, 0) <= free_rows) return 0;
    while (scaled_square(d, high) > free_rows) high *= 4;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (scaled_square(d, middle) > free_rows)
            low = middle;
        else
            high = middle;
    }
    return high;
}

// Updates variances and weights from the fitted frequencies of bits and the residuals.
static void learn_from_fit(decoder *d)
{
    const agg_rappor_counts *c = d->counts;
    for (size_t i = 0; i < d->design->n_rows; i++) {
        double reports = c->reports[i / c->n_bits];
        if (reports > 0)
            d->variances[i] = variance_of(d, reports, (d->y[i] - d->fit.residuals[i]) / d->n);
    }
    d->tau2 = estimate_tau2(d);
    set_weights(d);
}

typedef struct signature {
    const agg_bit_design *design;
    size_t column;
} signature;

static int compare_signatures(const void *a, const void *b)
{
    const signature *x = a, *y = b;
    const agg_bit_design *d = x->design;
    size_t x_len = d->start[x->column + 1] - d->start[x->column],
           y_len = d->start[y->column + 1] - d->start[y->column];
    if (x_len != y_len) return x_len < y_len ? -1 : 1;
    return memcmp(d->rows + d->start[x->column], d->rows + d->start[y->column],
                  x_len * sizeof *d->rows);
}

static agg_err mark_twins(decoder *d, agg_error *error)
{
    size_t n = d->design->n_columns;
    signature *order = agg_alloc(error, n, sizeof *order);
    if (order == NULL) return AGG_ERR_MEMORY;
    for (size_t j = 0; j < n; j++) order[j] = (signature){d->design, j};
    qsort(order, n, sizeof *order, compare_signatures);
    for (size_t j = 1; j < n; j++)
        if (compare_signatures(&order[j - 1], &order[j]) == 0)
            d->is_twin[order[j - 1].column] = d->is_twin[order[j].column] = true;
    free(order);
    return SHOAL_OK;
}

static agg_err choose(decoder *d, agg_error *error)
{
    static const agg_lasso_options options = {1, 1, 1, 1e-10, 2000};
    size_t most = d->n_usable / 2 < CHOSEN_MAX ? d->n_usable / 2 : CHOSEN_MAX;
    double total = 0;
    agg_lasso lasso;
    agg_err err = agg_lasso_init(&lasso, error, d->design, d->weights, d->y, &options);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < d->design->n_rows; i++) total += d->weights[i];
    // If the weights 1/V sum to 1 and columns have unit deviation, the standard error of a slope is
    // 1/sqrt(sum of 1/V).
    double lambda = agg_lasso_largest(&lasso), goal = penalty(d) / sqrt(total);
    double step = lambda > goal ? pow(goal / lambda, 1.0 / PATH_STEPS) : 1;
    for (int i = 1; i <= PATH_STEPS && lambda > goal; i++) {
        agg_lasso_solve(&lasso, i < PATH_STEPS ? lambda * pow(step, i) : goal);
        if (lasso.n_active > most) break; // keeps the last model that is small enough
        d->n_chosen = 0;
        for (size_t j = 0; j < d->design->n_columns; j++)
            if (lasso.coefficients[j] > 0) d->chosen[d->n_chosen++] = j;
    }
    agg_lasso_release(&lasso);
    return SHOAL_OK;
}

static agg_err choose_and_fit(decoder *d, agg_error *error)
{
    agg_err err = choose(d, error);
    agg_least_squares_release(&d->fit);
    if (err != SHOAL_OK) return err;
    return agg_least_squares_fit(&d->fit, error, d->design, d->chosen, d->n_chosen, d->weights,
                                 d->y);
}

// Returns: the third central moment of the part of strings outside the list; noise has none. A row
// counts by the precision of its residual.
static double estimate_third(const decoder *d)
{
    double sum = 0, total = 0;
    for (size_t i = 0; i < d->design->n_rows; i++) {
        double w = d->weights[i] * d->weights[i] * d->weights[i], r = d->fit.residuals[i];
        sum += w * r * r * r;
        total += w;
    }
    return d->tau2 > 0 && sum > 0 ? sum / total : 0;
}

// Returns: the skewness of candidate j's count, from the third moments of its own rows, weighted as
// the count weights them.
static double skewness_of(const decoder *d, size_t j, double third, double variance)
{
    double weight = agg_bit_design_sum(d->design, j, d->weights), cubes = 0;
    for (size_t e = d->design->start[j]; e < d->design->start[j + 1]; e++) {
        double share = d->weights[d->design->rows[e]] / weight;
        cubes += share * share * share;
    }
    return third * cubes / (variance * sqrt(variance));
}

// Returns: the cube root by Newton's method, with additions and divisions only, so that every build
// gives the same digits. The cbrt of different libraries differ in the last digit.
static double cube_root(double x)
{
    int exponent;
    double part = frexp(x, &exponent), root = 1;
    for (; exponent % 3 != 0; exponent++) part /= 2; // moves part to [1/8, 1)
    for (int i = 0; i < 9; i++) root -= (root - part / (root * root)) / 3;
    return ldexp(root, exponent / 3);
}

// Returns: the normal deviate with the same tail probability as z under a law of mean 0, variance 1
// and this skewness: the gamma law, by its cube root (Wilson and Hilferty 1931).
static double normal_deviate(double z, double skewness)
{
    if (skewness < 1e-6) return z;
    double base = 1 + skewness * z / 2;
    return base > 0 ? 6 / skewness * (cube_root(base) - 1) + skewness / 6 : -HUGE_VAL;
}

static agg_rappor_row make_row(const decoder *d, size_t j, double count, double variance)
{
    double error = sqrt(variance);
    return (agg_rappor_row){
        count, error, normal_deviate(count / error, skewness_of(d, j, d->third, variance)), 0};
}

static void make_rows(decoder *d, agg_rappor_row *rows)
{
    const agg_rappor_row tied = {0, d->n, 0, 1};
    size_t next = 0;
    for (size_t j = 0; j < d->design->n_columns; j++) {
        if (next < d->n_chosen && d->chosen[next] == j) {
            next++;
            continue;
        }
        agg_least_squares_entry entry = agg_least_squares_enter(&d->fit, j);
        rows[j] = entry.is_tied || d->is_twin[j]
                      ? tied
                      : make_row(d, j, entry.coefficient, entry.variance);
    }
    // The chosen come last, because testing the others may mark a chosen one as tied.
    for (size_t c = 0; c < d->n_chosen; c++) {
        size_t j = d->chosen[c];
        double variance = agg_least_squares_covariance(&d->fit, c, c);
        rows[j] = d->fit.is_tied[c] || d->is_twin[j]
                      ? tied
                      : make_row(d, j, d->fit.coefficients[c], variance);
    }
}

static agg_err allocate(decoder *d, agg_error *error)
{
    d->y = agg_alloc(error, d->design->n_rows, sizeof *d->y);
    d->variances = agg_alloc(error, d->design->n_rows, sizeof *d->variances);
    d->weights = agg_alloc(error, d->design->n_rows, sizeof *d->weights);
    d->chosen = agg_alloc(error, d->design->n_columns, sizeof *d->chosen);
    d->is_twin = agg_alloc(error, d->design->n_columns, sizeof *d->is_twin);
    bool is_full = d->y != NULL && d->variances != NULL && d->weights != NULL &&
                   d->chosen != NULL && d->is_twin != NULL;
    return is_full ? SHOAL_OK : AGG_ERR_MEMORY;
}

static agg_err decode(decoder *d, agg_rappor_row *rows, agg_rappor_summary *summary,
                      agg_error *error)
{
    agg_err err = check(d, error);
    if (err == SHOAL_OK) err = allocate(d, error);
    if (err == SHOAL_OK) err = mark_twins(d, error);
    if (err != SHOAL_OK) return err;
    set_response(d);
    set_weights(d);
    err = choose_and_fit(d, error);
    for (int pass = 0; pass < PASSES && err == SHOAL_OK; pass++) {
        learn_from_fit(d);
        err = choose_and_fit(d, error);
    }
    if (err != SHOAL_OK) return err;
    d->third = estimate_third(d);
    make_rows(d, rows);
    *summary = (agg_rappor_summary){d->n, sqrt(d->tau2), d->n_chosen, 0};
    for (size_t j = 0; j < d->design->n_columns; j++) summary->n_tied += rows[j].is_tied;
    return SHOAL_OK;
}

agg_err agg_rappor_decode(agg_rappor_row *rows, agg_rappor_summary *summary, agg_error *error,
                          const agg_rappor_counts *counts, const agg_bit_design *design)
{
    agg_rappor_summary unread;
    decoder d = {.counts = counts, .design = design, .gap = counts->q_star - counts->p_star};
    agg_err err = decode(&d, rows, summary == NULL ? &unread : summary, error);
    agg_least_squares_release(&d.fit);
    free(d.y);
    free(d.variances);
    free(d.weights);
    free(d.chosen);
    free(d.is_twin);
    return err;
}

uint64_t agg_rappor_decode_memory(size_t n_rows, size_t n_columns, size_t per_column)
{
    uint64_t chosen = n_rows / 2 < CHOSEN_MAX ? n_rows / 2 : CHOSEN_MAX;
    if (n_columns < chosen) chosen = n_columns;
    uint64_t of_row = 6 * sizeof(double),
             of_column = sizeof(size_t) + 1 + 4 * sizeof(double); // including the LASSO's
    uint64_t fit = 2 * chosen * chosen * sizeof(double) + chosen * per_column * sizeof(uint32_t);
    return n_rows * of_row + n_columns * of_column + fit;
}
