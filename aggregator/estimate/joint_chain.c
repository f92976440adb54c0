// SPDX-License-Identifier: Apache-2.0
// Sums of cells along a chain of events; see joint_chain.h.
#include "joint_chain.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "agg_size.h"
#include "normal_law.h"

// The numbers of two sets of cells.
typedef struct two_sums {
    double a, b, aa, ab, bb;
    double unknown; // the larger one of their squares along unknown directions
} two_sums;

static bool has_wanted(const agg_joint_data *data, size_t cell, uint32_t variable,
                       const uint32_t *wanted)
{
    size_t category = cell / agg_joint_stride(data, variable) % data->variables[variable].n;
    return category == wanted[variable];
}

// Marks the cells of event k, counted from 1.
static void mark_event(bool *in, const agg_joint_covariance *c, uint32_t k, const uint32_t *wanted)
{
    for (size_t cell = 0; cell < c->n_cells; cell++) {
        in[cell] = true;
        for (uint32_t v = 0; v < k; v++) in[cell] &= has_wanted(c->data, cell, v, wanted);
    }
}

static void mark_astray(bool *in, const agg_joint_covariance *c, const uint32_t *wanted)
{
    for (size_t cell = 0; cell < c->n_cells; cell++) {
        in[cell] = false;
        for (uint32_t v = 1; v < c->data->n_variables; v++)
            in[cell] |=
                has_wanted(c->data, cell, v, wanted) && !has_wanted(c->data, cell, v - 1, wanted);
    }
}

static double unknown_of(const agg_joint_covariance *c, const bool *in)
{
    double unknown = 0;
    for (size_t u = 0; u < c->n_free - c->rank; u++) {
        double sum = 0;
        for (size_t cell = 0; cell < c->n_cells; cell++)
            if (in[cell]) sum += c->unknown[u * c->n_cells + cell];
        unknown += sum * sum;
    }
    return unknown;
}

static double covariance_of(const agg_joint_covariance *c, const bool *a, const bool *b)
{
    double sum = 0;
    for (size_t i = 0; i < c->n_cells; i++)
        for (size_t j = 0; a[i] && j < c->n_cells; j++)
            if (b[j]) sum += c->matrix[i * c->n_cells + j];
    return sum;
}

static two_sums sum_up(const agg_joint_covariance *c, const bool *a, const bool *b)
{
    two_sums s = {.aa = covariance_of(c, a, a),
                  .ab = covariance_of(c, a, b),
                  .bb = covariance_of(c, b, b),
                  .unknown = fmax(unknown_of(c, a), unknown_of(c, b))};
    for (size_t i = 0; i < c->n_cells; i++) {
        if (a[i]) s.a += c->p[i];
        if (b[i]) s.b += c->p[i];
    }
    return s;
}

agg_err agg_joint_chain(agg_joint_share *reached, agg_joint_share *onward, agg_joint_share *astray,
                        agg_error *error, const agg_joint_covariance *covariance,
                        const uint32_t *wanted, double confidence)
{
    double z = -agg_normal_quantile((1 - confidence) / 2);
    uint32_t n = covariance->data->n_variables;
    bool *marks = agg_alloc(error, 2 * (size_t)covariance->n_cells, sizeof *marks);
    if (marks == NULL) return AGG_ERR_MEMORY;
    bool *event = marks, *before = marks + covariance->n_cells;
    for (uint32_t k = 1; k <= n; k++) {
        mark_event(event, covariance, k, wanted);
        mark_event(before, covariance, k - 1, wanted);
        two_sums s = sum_up(covariance, event, before);
        reached[k - 1] = agg_joint_share_of(s.a, s.aa, unknown_of(covariance, event), z);
        if (k > 1) onward[k - 2] = agg_joint_rate_of(s.a, s.b, s.aa, s.ab, s.bb, s.unknown, z);
    }
    mark_astray(event, covariance, wanted);
    two_sums s = sum_up(covariance, event, event);
    *astray = agg_joint_share_of(s.a, s.aa, s.unknown, z);
    free(marks);
    return SHOAL_OK;
}
