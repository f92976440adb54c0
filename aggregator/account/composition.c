// SPDX-License-Identifier: Apache-2.0
// Composition of central guarantees; see composition.h.
#include "composition.h"

#include <math.h>
#include <stdbool.h>

#include "privacy_loss.h"

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

// Computes the epsilon of each kind for a person's contributions at `delta`. The local epsilon
// stands where the crowd adds nothing.
static agg_err each_epsilon(double *epsilon, agg_error *error, const agg_query *queries, size_t n,
                            double delta, double contributions)
{
    for (size_t i = 0; i < n; i++) {
        const agg_query *q = &queries[i];
        const agg_crowd crowd = {q->local_epsilon, q->n, delta, contributions, q->pair};
        agg_central central;
        agg_bound bound =
            q->pair != NULL && q->pair->n > 0 ? AGG_BOUND_BLANKET : AGG_BOUND_STRONGER;
        agg_err err = agg_crowd_epsilon(&central, error, &crowd, bound, false);
        if (err != SHOAL_OK) return err;
        epsilon[i] = isnan(central.upper) ? contributions * crowd.local_epsilon : central.upper;
    }
    return SHOAL_OK;
}

// Adds up the Renyi curves of one report in each query.
// Returns: whether all queries use the symmetric encoding.
static bool compose_renyi(agg_renyi_curve *sum, const agg_query *queries, size_t n)
{
    const agg_query *fewest = queries;
    for (size_t i = 0; i < n; i++) {
        if (!(queries[i].bit_epsilon > 0)) return false;
        if (queries[i].n < fewest->n) fewest = &queries[i];
    }
    *sum = (agg_renyi_curve){{0}, {0}};
    agg_renyi_orders(sum, fewest->bit_epsilon, fewest->n);
    for (size_t i = 0; i < n; i++) {
        agg_renyi_curve one = *sum;
        agg_renyi_one_hot(&one, queries[i].bit_epsilon, queries[i].n);
        for (int j = 0; j < AGG_RENYI_ORDERS; j++) sum->rho[j] += queries[i].count * one.rho[j];
    }
    return true;
}

static double better(double epsilon, double local)
{
    return epsilon < local ? epsilon : NAN;
}

// Fills all totals but `renyi`.
static agg_err compose(agg_totals *totals, agg_error *error, const agg_query *queries, size_t n,
                       double delta, double contributions)
{
    double epsilon[AGG_SCHEDULE_MAX], count[AGG_SCHEDULE_MAX], all = 0, basic = 0;
    agg_totals t = {.renyi = NAN, .numeric = NAN};
    for (size_t i = 0; i < n; i++) {
        count[i] = queries[i].count;
        all += count[i];
        t.local += contributions * count[i] * queries[i].local_epsilon;
    }
    agg_err err = each_epsilon(epsilon, error, queries, n, delta / all, contributions);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < n; i++) basic += count[i] * epsilon[i];
    err = each_epsilon(epsilon, error, queries, n, delta / (2 * all), contributions);
    if (err != SHOAL_OK) return err;
    t.basic = better(basic, t.local);
    t.advanced = better(agg_advanced_composition(epsilon, count, n, delta / 2), t.local);
    *totals = t;
    return SHOAL_OK;
}

// Fills `numeric` of both totals.
static agg_err compose_numeric(agg_composition *t, agg_error *error, const agg_query *queries,
                               size_t n, double delta)
{
    agg_loss_kind kinds[AGG_SCHEDULE_MAX];
    for (size_t i = 0; i < n; i++)
        kinds[i] = (agg_loss_kind){queries[i].local_epsilon, queries[i].n, queries[i].count,
                                   queries[i].pair};
    agg_err err = agg_loss_epsilon(&t->item.numeric, error, kinds, n, delta, 1);
    t->user.numeric = t->item.numeric;
    if (err == SHOAL_OK && t->contributions > 1)
        err = agg_loss_epsilon(&t->user.numeric, error, kinds, n, delta, t->contributions);
    return err;
}

agg_err agg_compose(agg_composition *total, agg_error *error, const agg_query *queries,
                    size_t n_queries, double delta, double contributions)
{
    agg_composition t = {.contributions = contributions};
    agg_renyi_curve curve;
    for (size_t i = 0; i < n_queries; i++) t.queries += queries[i].count;
    agg_err err = compose(&t.item, error, queries, n_queries, delta, 1);
    t.user = t.item;
    if (err == SHOAL_OK && contributions > 1)
        err = compose(&t.user, error, queries, n_queries, delta, contributions);
    if (err == SHOAL_OK) err = compose_numeric(&t, error, queries, n_queries, delta);
    if (err != SHOAL_OK) return err;
    if (compose_renyi(&curve, queries, n_queries)) {
        t.item.renyi = better(agg_renyi_epsilon(&curve, delta), t.item.local);
        t.user.renyi = better(agg_renyi_group_epsilon(&curve, delta, contributions), t.user.local);
    }
    *total = t;
    return SHOAL_OK;
}
