// SPDX-License-Identifier: Apache-2.0
// Tests of independence; see joint_wald.h.
#include "joint_wald.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "chi_square.h"
#include "dense.h"

#define UNIFORM 0.01 // share of the uniform table in the reference, which bounds the scores

// The centred scores of one variable.
typedef struct scores {
    const agg_joint_data *data;
    uint32_t variable;
    size_t n,
        width;         // categories; and scores that are kept, because the sum of pi s is 1
    size_t left_out;   // the most likely category, whose score is left out
    double *reference; // n
    double *rows;      // n_rows * width
    double *covariance, *inverse; // width * width
    size_t rank;
} scores;

static void scores_release(scores *s)
{
    free(s->reference);
    free(s->rows);
    free(s->covariance);
    free(s->inverse);
}

static agg_err allocate_scores(scores *s, agg_error *error)
{
    const agg_joint_variable *v = &s->data->variables[s->variable];
    s->n = v->n;
    s->width = v->n - 1;
    s->reference = agg_alloc(error, s->n, sizeof *s->reference);
    s->rows = agg_alloc(error, v->n_rows, s->n * sizeof *s->rows);
    s->covariance = agg_alloc(error, s->n, s->n * sizeof *s->covariance);
    s->inverse = agg_alloc(error, s->n, s->n * sizeof *s->inverse);
    bool is_full =
        s->reference != NULL && s->rows != NULL && s->covariance != NULL && s->inverse != NULL;
    return is_full ? SHOAL_OK : AGG_ERR_MEMORY;
}

static void refer(scores *s, const double *p)
{
    size_t stride = agg_joint_stride(s->data, s->variable);
    for (size_t c = 0; c < s->data->n_cells; c++) s->reference[c / stride % s->n] += p[c];
    for (size_t i = 0; i < s->n; i++) {
        s->reference[i] = (1 - UNIFORM) * s->reference[i] + UNIFORM / (double)s->n;
        if (s->reference[i] > s->reference[s->left_out]) s->left_out = i;
    }
}

static void score_rows(scores *s)
{
    const agg_joint_variable *v = &s->data->variables[s->variable];
    for (size_t r = 0; r < v->n_rows; r++) {
        const double *likelihood = v->rows + r * s->n;
        double chance = 0, *to = s->rows + r * s->width;
        for (size_t i = 0; i < s->n; i++) chance += s->reference[i] * likelihood[i];
        for (size_t i = 0; i < s->n; i++)
            if (i != s->left_out) *to++ = likelihood[i] / chance;
    }
}

// Subtracts the mean over all reports from the scores, and computes their covariance.
//   counts: n_rows, reports with each row
//   mean: width
static void centre_rows(scores *s, double *mean, const double *counts)
{
    size_t n_rows = s->data->variables[s->variable].n_rows, w = s->width;
    double n = (double)s->data->n;
    for (size_t r = 0; r < n_rows; r++)
        for (size_t i = 0; i < w; i++) mean[i] += counts[r] / n * s->rows[r * w + i];
    for (size_t r = 0; r < n_rows; r++) {
        double *row = s->rows + r * w;
        for (size_t i = 0; i < w; i++) row[i] -= mean[i];
        for (size_t i = 0; i < w; i++)
            for (size_t j = 0; j <= i; j++)
                s->covariance[i * w + j] += counts[r] / n * row[i] * row[j];
    }
    for (size_t i = 0; i < w; i++)
        for (size_t j = 0; j < i; j++) s->covariance[j * w + i] = s->covariance[i * w + j];
}

static agg_err make_scores(scores *s, agg_error *error, const double *p)
{
    agg_err err = allocate_scores(s, error);
    if (err != SHOAL_OK) return err;
    refer(s, p);
    score_rows(s);
    double *counts = agg_alloc(error, s->data->variables[s->variable].n_rows, sizeof *counts),
           *mean = agg_alloc(error, s->n, sizeof *mean);
    err = counts != NULL && mean != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
    if (err == SHOAL_OK) {
        for (size_t t = 0; t < s->data->n_tuples; t++)
            counts[s->data->tuples[t * s->data->n_variables + s->variable]] += s->data->counts[t];
        centre_rows(s, mean, counts);
        err = agg_dense_pseudo_inverse(s->inverse, NULL, &s->rank, error, s->covariance, s->width);
    }
    free(counts);
    free(mean);
    return err;
}

// Adds row' x sum to D, and clears the sum.
static void flush(double *d, double *sum, const double *row, size_t m, size_t n)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) d[i * n + j] += row[i] * sum[j];
    memset(sum, 0, n * sizeof *sum);
}

// Computes D = mean over reports of (s - mean s)(t - mean t)'. The t of tuples in a run with one
// row of the first variable are summed first.
//   sum: n numbers, zeros
static void cross(double *d, double *sum, const scores *s, const scores *t)
{
    const agg_joint_data *data = s->data;
    const double *last = NULL;
    double n = (double)data->n;
    for (size_t k = 0; k < data->n_tuples; k++) {
        const uint32_t *tuple = data->tuples + k * data->n_variables;
        const double *row = s->rows + tuple[s->variable] * s->width,
                     *other = t->rows + tuple[t->variable] * t->width;
        if (row != last && last != NULL) flush(d, sum, last, s->width, t->width);
        last = row;
        for (size_t j = 0; j < t->width; j++) sum[j] += data->counts[k] / n * other[j];
    }
    if (last != NULL) flush(d, sum, last, s->width, t->width);
}

// Returns: vec(D)' (A x B) vec(D) = sum over i, k of A_ik (D B D')_ik.
//   scratch: n
static double kronecker_form(const double *d, const double *a, const double *b, double *scratch,
                             size_t m, size_t n)
{
    double total = 0;
    for (size_t i = 0; i < m; i++) {
        memset(scratch, 0, n * sizeof *scratch);
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < n; k++) scratch[k] += d[i * n + j] * b[j * n + k];
        for (size_t k = 0; k < m; k++) {
            double sum = 0;
            for (size_t j = 0; j < n; j++) sum += scratch[j] * d[k * n + j];
            total += a[i * m + k] * sum;
        }
    }
    return total;
}

static void conclude(agg_joint_wald *wald, double statistic, size_t df)
{
    wald->df = df;
    wald->statistic = df > 0 ? fmax(statistic, 0) : 0;
    wald->p_value = df > 0 ? agg_chi_square_tail(wald->statistic, (double)df) : NAN;
}

static agg_err compare(agg_joint_wald *wald, agg_error *error, const scores *s, const scores *t)
{
    double *d = agg_alloc(error, s->n, t->n * sizeof *d),
           *scratch = agg_alloc(error, t->n, sizeof *scratch);
    agg_err err = d != NULL && scratch != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
    if (err == SHOAL_OK) {
        cross(d, scratch, s, t);
        double form = kronecker_form(d, s->inverse, t->inverse, scratch, s->width, t->width);
        *wald = (agg_joint_wald){.rank_first = s->rank, .rank_second = t->rank};
        conclude(wald, (double)(s->data->n - 1) * form, s->rank * t->rank);
    }
    free(d);
    free(scratch);
    return err;
}

agg_err agg_joint_wald_linear(agg_joint_wald *wald, agg_error *error, const agg_joint_data *data,
                              const double *p, uint32_t first, uint32_t second)
{
    scores s = {.data = data, .variable = first}, t = {.data = data, .variable = second};
    if (data->n < 2)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "a test of independence needs two reports or more");
    agg_err err = make_scores(&s, error, p);
    if (err == SHOAL_OK) err = make_scores(&t, error, p);
    if (err == SHOAL_OK) err = compare(wald, error, &s, &t);
    scores_release(&s);
    scores_release(&t);
    return err;
}

// Computes the table of two variables, summed over all others, and its covariance.
//   p: n shares; covariance: n * n; n = m1 m2
static void sum_others(double *p, double *matrix, const agg_joint_covariance *c, uint32_t first,
                       uint32_t second)
{
    size_t m = c->data->variables[first].n, n = c->data->variables[second].n,
           first_stride = agg_joint_stride(c->data, first),
           second_stride = agg_joint_stride(c->data, second);
    for (size_t i = 0; i < c->n_cells; i++) {
        size_t to = i / first_stride % m * n + i / second_stride % n;
        p[to] += c->p[i];
        for (size_t j = 0; j < c->n_cells; j++)
            matrix[to * m * n + j / first_stride % m * n + j / second_stride % n] +=
                c->matrix[i * c->n_cells + j];
    }
}

// Replaces the table by p - mu.
//   scratch: m + n numbers, zeros
static void take_product(double *p, double *scratch, size_t m, size_t n)
{
    for (size_t i = 0; i < m * n; i++) {
        scratch[i / n] += p[i];
        scratch[m + i % n] += p[i];
    }
    for (size_t i = 0; i < m * n; i++) p[i] -= scratch[i / n] * scratch[m + i % n];
}

static agg_err em_form(agg_joint_wald *wald, agg_error *error, const agg_joint_covariance *c,
                       uint32_t first, uint32_t second, double *p, double *matrix, double *inverse)
{
    size_t m = c->data->variables[first].n, n = c->data->variables[second].n, w = m * n - 1,
           rank = 0;
    sum_others(p, matrix, c, first, second);
    memset(inverse, 0, (m + n) * sizeof *inverse);
    take_product(p, inverse, m, n);
    // The last cell is minus the sum of the others. Without it the matrix has full rank, and the
    // statistic is the same.
    for (size_t i = 1; i < w; i++)
        memmove(matrix + i * w, matrix + i * (w + 1), w * sizeof *matrix);
    agg_err err = agg_dense_pseudo_inverse(inverse, NULL, &rank, error, matrix, w);
    if (err != SHOAL_OK) return err;
    size_t df = (m - 1) * (n - 1);
    *wald = (agg_joint_wald){.rank_first = m - 1, .rank_second = n - 1};
    conclude(wald, agg_dense_form(p, inverse, p, w), df < rank ? df : rank);
    return SHOAL_OK;
}

agg_err agg_joint_wald_em(agg_joint_wald *wald, agg_error *error,
                          const agg_joint_covariance *covariance, uint32_t first, uint32_t second)
{
    const agg_joint_variable *v = covariance->data->variables;
    size_t cells = (size_t)v[first].n * v[second].n; // at most n_cells
    double *p = agg_alloc(error, cells, sizeof *p),
           *matrix = agg_alloc(error, cells, cells * sizeof *matrix),
           *inverse = agg_alloc(error, cells + 2, cells * sizeof *inverse);
    agg_err err = p != NULL && matrix != NULL && inverse != NULL
                      ? em_form(wald, error, covariance, first, second, p, matrix, inverse)
                      : AGG_ERR_MEMORY;
    free(p);
    free(matrix);
    free(inverse);
    return err;
}
