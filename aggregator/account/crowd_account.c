// SPDX-License-Identifier: Apache-2.0
// Answers questions about the central epsilon of a crowd; see crowd_account.h.
#include "crowd_account.h"

#include <math.h>

#include "guarantee.h"
#include "renyi.h"
#include "variation_ratio.h"

static double replacement_of(const agg_crowd_account *t, double epsilon)
{
    return t->is_deletion ? 2 * epsilon : epsilon;
}

// Two inputs of a one-hot record differ in two bits, so each bit has half the replacement epsilon.
static double bit_epsilon_of(const agg_crowd_account *t, double replacement)
{
    return t->is_one_hot ? replacement / 2 : 0;
}

static double better(double epsilon, double local)
{
    return epsilon < local ? epsilon : NAN;
}

static agg_err answer_one(agg_crowd_account *t, agg_error *error)
{
    agg_crowd item = t->crowd;
    agg_err err = SHOAL_OK;
    item.contributions = 1;
    for (int b = 0; b < AGG_BOUNDS && err == SHOAL_OK; b++) {
        err = agg_crowd_epsilon(&t->item[b], error, &item, (agg_bound)b, true);
        t->user[b] = t->item[b];
        if (err == SHOAL_OK && t->contributions > 1)
            err = agg_crowd_epsilon(&t->user[b], error, &t->crowd, (agg_bound)b, false);
    }
    t->item_renyi = t->user_renyi = t->variation_ratio = NAN;
    if (err == SHOAL_OK && t->pair != NULL && t->pair->n > 0) {
        const agg_three_classes classes =
            agg_variation_classes(item.local_epsilon, agg_pair_variation(t->pair));
        t->variation_ratio = agg_three_classes_epsilon(&classes, &item).upper;
    }
    if (t->is_one_hot) {
        agg_renyi_curve curve;
        double bit = bit_epsilon_of(t, item.local_epsilon), local = item.local_epsilon;
        agg_renyi_orders(&curve, bit, item.n);
        agg_renyi_one_hot(&curve, bit, item.n);
        t->item_renyi = better(agg_renyi_epsilon(&curve, t->delta), local);
        t->user_renyi = better(agg_renyi_group_epsilon(&curve, t->delta, t->contributions),
                               local * t->contributions);
    }
    return err;
}

// Converts honest reports to the question's count, which is of all reports.
static double reports_asked(const agg_crowd_account *t, double honest)
{
    return ceil(honest / t->honest * (1 - 1e-15));
}

static double epsilon_asked(const agg_crowd_account *t, double replacement)
{
    return fmin(t->is_deletion ? replacement / 2 : replacement, AGG_LOCAL_EPSILON_MAX);
}

static void find_by_renyi(agg_crowd_account *t, bool is_reports)
{
    const agg_renyi_question question = {t->central_epsilon, t->delta, t->contributions};
    double most = replacement_of(t, AGG_LOCAL_EPSILON_MAX);
    if (!t->is_one_hot)
        t->found_renyi = NAN;
    else if (is_reports)
        t->found_renyi = reports_asked(
            t, agg_renyi_find_reports(&question, bit_epsilon_of(t, t->crowd.local_epsilon)));
    else
        t->found_renyi =
            epsilon_asked(t, 2 * agg_renyi_find_bit_epsilon(&question, t->crowd.n, most / 2));
}

static agg_err answer_inverse(agg_crowd_account *t, agg_error *error)
{
    bool is_reports = t->find == AGG_FIND_REPORTS;
    agg_err err = SHOAL_OK;
    for (int b = 0; b < AGG_BOUNDS && err == SHOAL_OK; b++) {
        if (is_reports) {
            err = agg_crowd_find_reports(&t->found[b], error, &t->crowd, (agg_bound)b,
                                         t->central_epsilon);
            t->found[b] = reports_asked(t, t->found[b]);
        } else {
            err = agg_crowd_find_local_epsilon(&t->found[b], error, &t->crowd, (agg_bound)b,
                                               t->central_epsilon);
            t->found[b] = epsilon_asked(t, t->found[b]);
        }
    }
    find_by_renyi(t, is_reports);
    return err;
}

static agg_err check_contributions(const agg_crowd_account *t, agg_error *error, double n)
{
    if (t->contributions <= n) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "one person's contributions are more than all honest reports");
}

// Converts the queries of the schedule to the replacement model and to honest reports.
static agg_err convert_schedule(agg_crowd_account *t, agg_error *error)
{
    double fewest = INFINITY;
    for (agg_query *q = t->schedule; q < t->schedule + t->n_schedule; q++) {
        q->local_epsilon = replacement_of(t, q->local_epsilon);
        q->n = agg_honest_reports(q->n, t->honest);
        q->bit_epsilon = bit_epsilon_of(t, q->local_epsilon);
        q->pair = t->pair;
        fewest = fmin(fewest, q->n);
    }
    return check_contributions(t, error, fewest);
}

agg_err agg_account_run(agg_crowd_account *account, agg_error *error)
{
    agg_crowd_account *t = account;
    t->crowd =
        (agg_crowd){replacement_of(t, t->local_epsilon), agg_honest_reports(t->reports, t->honest),
                    t->delta, t->contributions, t->pair};
    agg_err err = t->reports > 0 ? check_contributions(t, error, t->crowd.n) : SHOAL_OK;
    if (err == SHOAL_OK) err = convert_schedule(t, error);
    if (err == SHOAL_OK && t->find != AGG_FIND_CENTRAL_EPSILON)
        err = answer_inverse(t, error);
    else if (err == SHOAL_OK && !t->has_schedule_only)
        err = answer_one(t, error);
    if (err == SHOAL_OK && t->n_schedule > 0)
        err = agg_compose(&t->composition, error, t->schedule, t->n_schedule, t->delta,
                          t->contributions);
    return err;
}
