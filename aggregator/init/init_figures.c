// SPDX-License-Identifier: Apache-2.0
// Plans a new installation; see init_figures.h.
#include "init_figures.h"

#include <math.h>
#include <string.h>

#include "recipe_choices.h"

#define WORDS_ASKED 10000.0 // strings that are asked about together
#define SITES_ASKED 1000.0
#define ZIPF 1.2
#define SKETCH_BYTES 64e6 // of the aggregator's memory, for one block
#define COHORT 1000u      // the usual minimums of a recipe
#define BATCH 500u
#define COHORT_LEAST 100u
#define BATCH_LEAST 50u
#define NORMAL_95 1.959964 // standard errors on each side of a 95 % interval

static double asked_of(const init_answers *a)
{
    return a->what == INIT_SITES ? SITES_ASKED : WORDS_ASKED;
}

static void count_reports(init_figures *f, const init_answers *a)
{
    double most = AGG_PLAN_REPORTS_MAX;
    f->devices = fmax(1, floor((double)a->visitors * a->taking_part));
    f->days = fmax(1, fmin(a->days, floor(most / f->devices)));
    f->reports = f->devices * f->days;
}

static agg_plan_wish wish_of(const init_figures *f, const init_answers *a)
{
    bool is_number = a->what == INIT_NUMBERS;
    agg_plan_wish w = {.devices = f->devices,
                       .per_day = 1,
                       .days = f->days,
                       .eps_micro = a->eps_micro,
                       .size = a->what == INIT_CHOICES ? a->values.n : a->buckets,
                       .is_mean = is_number && a->buckets == 0,
                       .law_name = "",
                       .confidence = 0.95,
                       .multiple = AGG_BONFERRONI,
                       .memory = SKETCH_BYTES,
                       .active = a->active,
                       .is_visit = a->is_one_page,
                       .id = a->id,
                       .low = is_number ? a->low : NULL,
                       .high = is_number ? a->high : NULL};
    w.asked = w.size > 0 ? w.size : asked_of(a);
    return w;
}

static void choose_pick(init_figures *f, agg_plan_wish *w)
{
    const agg_pick_wish pick = agg_plan_pick_wish(w);
    f->is_uniform = w->is_uniform = agg_pick_is_uniform(agg_pick_advise(&pick));
}

static agg_err plan(init_figures *f, agg_error *error, const init_answers *a)
{
    agg_plan_wish w = wish_of(f, a);
    choose_pick(f, &w);
    if (!w.is_mean) w.law = agg_value_law_zipf(ZIPF, w.asked);
    agg_err err = agg_plan_run(&f->plan, error, &w);
    agg_value_law_release(&w.law);
    if (err != SHOAL_OK) return err;
    f->reports = f->plan.n;
    f->is_nothing = f->plan.is_nothing;
    f->why = f->plan.why;
    f->needed_visitors = ceil(f->plan.needed_devices / a->taking_part);
    if (f->plan.n_candidates == 0) return SHOAL_OK;
    const agg_plan_candidate *best = &f->plan.candidates[0];
    f->share = best->sure;
    f->share_half = best->smallest;
    f->mean_error =
        w.is_mean ? NORMAL_95 * best->error * (double)(a->high_micro - a->low_micro) / 1e6 : 0;
    return SHOAL_OK;
}

// Returns: the share of the reports that a word needs, to be found as often as not.
static agg_err find_share(double *share, agg_sfp_plan *sfp, agg_error *error, const init_answers *a,
                          double reports)
{
    agg_err err =
        agg_sfp_plan_run(sfp, error, SHOAL_ORACLE_OLH, fmin(reports, AGG_PLAN_REPORTS_MAX),
                         a->eps_micro, INIT_NEW_WORD_BYTES);
    if (err == SHOAL_OK) *share = sfp->least / reports;
    return err;
}

static agg_err plan_new_words(init_figures *f, agg_error *error, const init_answers *a)
{
    agg_value_law law = agg_value_law_zipf(ZIPF, WORDS_ASKED);
    double commonest = agg_value_law_share(&law, 0), share = 1, reports = f->reports;
    agg_sfp_plan other;
    agg_value_law_release(&law);
    agg_err err = find_share(&f->share_half, &f->sfp, error, a, f->reports);
    f->share = f->share_half;
    f->is_nothing = err == SHOAL_OK && f->share_half > commonest;
    if (!f->is_nothing) return err;
    f->why = "not even the commonest word can be found";
    while (err == SHOAL_OK && reports < AGG_PLAN_REPORTS_MAX) {
        reports *= 1.1;
        err = find_share(&share, &other, error, a, reports);
        if (share > commonest) continue;
        f->needed_visitors = ceil(reports / f->days / a->taking_part);
        break;
    }
    return err;
}

// Chooses minimums that the expected reports reach: the usual ones where at least two blocks close
// within the plan's days, else half of the reports.
static void choose_minimums(init_figures *f)
{
    double half = floor(f->reports / 2 / 50) * 50, daily = floor(f->devices / 2);
    f->cohort = half >= COHORT ? COHORT : half <= COHORT_LEAST ? COHORT_LEAST : (uint32_t)half;
    f->batch = daily >= BATCH ? BATCH : daily <= BATCH_LEAST ? BATCH_LEAST : (uint32_t)daily;
    if (f->batch > f->cohort / 2) f->batch = f->cohort / 2;
}

agg_err init_figures_make(init_figures *figures, agg_error *error, const init_answers *answers)
{
    memset(figures, 0, sizeof *figures);
    count_reports(figures, answers);
    agg_err err = answers->what == INIT_NEW_WORDS ? plan_new_words(figures, error, answers)
                                                  : plan(figures, error, answers);
    choose_minimums(figures);
    return err;
}
