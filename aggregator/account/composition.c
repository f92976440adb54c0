// SPDX-License-Identifier: Apache-2.0
// Composition of central guarantees; see composition.h.
#include "composition.h"

#include <math.h>

double agg_advanced_composition(const double *epsilon, const double *count, size_t n, double slack)
{
    double plain = 0, drift = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        plain += count[i] * epsilon[i];
        drift += count[i] * epsilon[i] * tanh(epsilon[i] / 2); // (e^x - 1)/(e^x + 1) x
        squares += count[i] * epsilon[i] * epsilon[i];
    }
    double first = drift + sqrt(2 * squares * log(exp(1) + sqrt(squares) / slack));
    double second = drift + sqrt(2 * squares * log(1 / slack));
    return fmin(plain, fmin(first, second));
}

// Each kind's epsilon at `delta`, the local one where the crowd adds nothing.
static shoal_err each_epsilon(double *epsilon, agg_error *error, const agg_query *queries, size_t n, double delta)
{
    for (size_t i = 0; i < n; i++) {
        const agg_crowd crowd = {queries[i].local_epsilon, queries[i].n, delta, 1};
        agg_central central;
        shoal_err err = agg_crowd_epsilon(&central, error, &crowd, AGG_BOUND_STRONGER, 0);
        if (err != SHOAL_OK) return err;
        epsilon[i] = isnan(central.upper) ? crowd.local_epsilon : central.upper;
    }
    return SHOAL_OK;
}

static double compose_renyi(const agg_query *queries, size_t n, double delta)
{
    agg_renyi_curve sum = {{0}, {0}}, one;
    const agg_query *fewest = queries;
    for (size_t i = 0; i < n; i++) {
        if (!(queries[i].bit_epsilon > 0)) return NAN;
        if (queries[i].n < fewest->n) fewest = &queries[i];
    }
    agg_renyi_orders(&sum, fewest->bit_epsilon, fewest->n);
    for (size_t i = 0; i < n; i++) {
        one = sum;
        agg_renyi_one_hot(&one, queries[i].bit_epsilon, queries[i].n);
        for (int j = 0; j < AGG_RENYI_ORDERS; j++) sum.rho[j] += queries[i].count * one.rho[j];
    }
    return agg_renyi_epsilon(&sum, delta);
}

static double better(double epsilon, double local)
{
    return epsilon < local ? epsilon : NAN;
}

shoal_err agg_compose(agg_composition *total, agg_error *error, const agg_query *queries, size_t n_queries,
                      double delta)
{
    double epsilon[AGG_SCHEDULE_MAX], count[AGG_SCHEDULE_MAX], basic = 0;
    agg_composition t = {0, 0, 0, 0, 0};
    for (size_t i = 0; i < n_queries; i++) {
        count[i] = queries[i].count;
        t.queries += count[i];
        t.local += count[i] * queries[i].local_epsilon;
    }
    shoal_err err = each_epsilon(epsilon, error, queries, n_queries, delta / t.queries);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < n_queries; i++) basic += count[i] * epsilon[i];
    err = each_epsilon(epsilon, error, queries, n_queries, delta / (2 * t.queries));
    if (err != SHOAL_OK) return err;
    t.basic = better(basic, t.local);
    t.advanced = better(agg_advanced_composition(epsilon, count, n_queries, delta / 2), t.local);
    t.renyi = better(compose_renyi(queries, n_queries, delta), t.local);
    *total = t;
    return SHOAL_OK;
}
