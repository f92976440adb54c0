// SPDX-License-Identifier: Apache-2.0
// EM for two noisy variables; see ngram_joint.h. It uses one thread, because callers run many
// pairs.
#include "ngram_joint.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

#define LONGER 1.3 // factor of a step's length after one that gained
#define LEAST                                                                                      \
    1e-120 // floor of a report's likelihood. A smaller one carries no information; with the floor
           // no step gains by making a report impossible

typedef struct em {
    const agg_joint_reports *reports;
    size_t n_cells;
    double total; // reports
    double *p, *slope,
        *trial;  // n_cells in turn: shares, each cell's gradient over the total, the shares of the
                 // next step
    double *row; // n_b: shares of the columns under one report's row
} em;

// Computes the likelihood of report k under p, and leaves each column's part of it in m->row.
static double mix(const em *m, const double *p, size_t k)
{
    const agg_joint_reports *r = m->reports;
    const float *a = r->a + k * r->n_a, *b = r->b + k * r->n_b;
    double sum = 0;
    for (uint32_t v = 0; v < r->n_b; v++) m->row[v] = 0;
    for (uint32_t u = 0; u < r->n_a; u++) {
        const double *of_u = p + (size_t)u * r->n_b;
        double weight = (double)a[u];
        for (uint32_t v = 0; v < r->n_b; v++) m->row[v] += weight * of_u[v];
    }
    for (uint32_t v = 0; v < r->n_b; v++) sum += m->row[v] * (double)b[v];
    return sum;
}

// Computes the E-step at p, into m->slope.
// Returns: the log-likelihood.
static double expect(em *m, const double *p)
{
    const agg_joint_reports *r = m->reports;
    double log_likelihood = 0;
    memset(m->slope, 0, m->n_cells * sizeof *m->slope);
    for (size_t k = 0; k < r->n; k++) {
        double s = mix(m, p, k), weight = r->weights[k];
        log_likelihood += weight * log(fmax(s, LEAST));
        if (!(s > LEAST)) continue;
        for (uint32_t v = 0; v < r->n_b; v++) m->row[v] = (double)r->b[k * r->n_b + v];
        for (uint32_t u = 0; u < r->n_a; u++) {
            double part = weight / (s * m->total) * (double)r->a[k * r->n_a + u];
            double *of_u = m->slope + (size_t)u * r->n_b;
            for (uint32_t v = 0; v < r->n_b; v++) of_u[v] += part * m->row[v];
        }
    }
    return log_likelihood;
}

// Makes the M-step of a given length; length 1 is EM's own step, p times slope.
// Returns: whether the result is usable. A long step may overflow.
static bool step(em *m, double length)
{
    double sum = 0;
    for (size_t i = 0; i < m->n_cells; i++) {
        m->trial[i] = m->p[i] * (length > 1 ? pow(m->slope[i], length) : m->slope[i]);
        sum += m->trial[i];
    }
    if (!(sum > 0 && sum < HUGE_VAL)) return false;
    for (size_t i = 0; i < m->n_cells; i++) m->trial[i] /= sum;
    return true;
}

static void swap(double **a, double **b)
{
    double *keep = *a;
    *a = *b;
    *b = keep;
}

static void maximize(em *m, double *spare, agg_joint_summary *summary)
{
    double length = 1, best = expect(m, m->p);
    for (summary->steps = 1; summary->steps < AGG_JOINT_STEPS; summary->steps++) {
        if (!step(m, length)) {
            if (length > 1) {
                length = 1;
                continue;
            }
            break; // no report carries information
        }
        memcpy(spare, m->slope, m->n_cells * sizeof *spare);
        double now = expect(m, m->trial);
        if (now < best && length > 1) { // too long: go back and make the ordinary step
            memcpy(m->slope, spare, m->n_cells * sizeof *spare);
            length = 1;
            continue;
        }
        double gain = now - best;
        swap(&m->p, &m->trial);
        best = now;
        // A step of twice the length gains about twice as much, so the remaining gain is judged by
        // that of the ordinary step.
        summary->has_converged = gain < AGG_JOINT_GAIN * length;
        if (summary->has_converged) break;
        length *= LONGER;
    }
    summary->log_likelihood = best;
}

typedef struct margins {
    double *a, *b; // shares of the categories
} margins;

static void sum_margins(const margins *out, const em *m)
{
    const agg_joint_reports *r = m->reports;
    for (uint32_t u = 0; u < r->n_a; u++)
        for (uint32_t v = 0; v < r->n_b; v++) {
            out->a[u] += m->p[(size_t)u * r->n_b + v];
            out->b[v] += m->p[(size_t)u * r->n_b + v];
        }
}

// Computes score and information of every cell's move. The score goes to m->slope and the
// information to m->trial, which are free by now.
static void inform(em *m, const margins *mean)
{
    const agg_joint_reports *r = m->reports;
    memset(m->slope, 0, m->n_cells * sizeof *m->slope);
    memset(m->trial, 0, m->n_cells * sizeof *m->trial);
    for (size_t k = 0; k < r->n; k++) {
        const float *a = r->a + k * r->n_a, *b = r->b + k * r->n_b;
        double s = mix(m, m->p, k), weight = r->weights[k], a_mean = 0, b_mean = 0;
        if (!(s > LEAST)) continue;
        for (uint32_t u = 0; u < r->n_a; u++) a_mean += mean->a[u] * (double)a[u];
        for (uint32_t v = 0; v < r->n_b; v++) b_mean += mean->b[v] * (double)b[v];
        for (uint32_t v = 0; v < r->n_b; v++) m->row[v] = (double)b[v] - b_mean;
        for (uint32_t u = 0; u < r->n_a; u++) {
            double *score = m->slope + (size_t)u * r->n_b,
                   *information = m->trial + (size_t)u * r->n_b;
            double part = ((double)a[u] - a_mean) / s;
            for (uint32_t v = 0; v < r->n_b; v++) {
                double d = part * m->row[v];
                score[v] += weight * d;
                information[v] += weight * d * d;
            }
        }
    }
}

static void write_cells(agg_joint_cell *cells, const em *m, const margins *mean)
{
    uint32_t n_b = m->reports->n_b;
    for (size_t i = 0; i < m->n_cells; i++) {
        double move = (1 - mean->a[i / n_b]) * (1 - mean->b[i % n_b]), information = m->trial[i];
        bool is_told = information > 0 && move > 0;
        cells[i] = (agg_joint_cell){m->p[i],
                                    is_told ? m->p[i] + move * m->slope[i] / information : m->p[i],
                                    is_told ? move / sqrt(information) : HUGE_VAL};
    }
}

agg_err agg_ngram_joint(agg_joint_cell *cells, agg_joint_summary *summary, agg_error *error,
                        const agg_joint_reports *reports)
{
    agg_joint_summary own = {0, 0, 0};
    size_t n_cells = 0, work_len = 0;
    if (!agg_size_multiply(&n_cells, reports->n_a, reports->n_b) ||
        !agg_size_multiply(&work_len, n_cells, 4))
        return agg_fail_core(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME);
    double *work = agg_alloc(error, work_len, sizeof *work);
    double *row = agg_alloc(error, (size_t)reports->n_a + 2 * (size_t)reports->n_b, sizeof *row);
    agg_err err = work == NULL || row == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) {
        em m = {reports, n_cells, 0, work, work + n_cells, work + 2 * n_cells, row};
        const margins mean = {row + reports->n_b, row + reports->n_b + reports->n_a};
        for (size_t k = 0; k < reports->n; k++) m.total += reports->weights[k];
        for (size_t i = 0; i < n_cells; i++) m.p[i] = 1 / (double)n_cells;
        if (m.total > 0) maximize(&m, work + 3 * n_cells, &own);
        sum_margins(&mean, &m);
        inform(&m, &mean);
        write_cells(cells, &m, &mean);
        if (summary != NULL) *summary = own;
    }
    free(work);
    free(row);
    return err;
}
