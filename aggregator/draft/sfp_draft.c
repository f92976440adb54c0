// SPDX-License-Identifier: Apache-2.0
// Defaults of sfp: the planner's split of epsilon between string and fragment, and its rows
// (sfp_plan.h). With --epsilon-fragment, --epsilon is the string's, and the planner gets their sum.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compound_draft.h"
#include "draft_numbers.h"
#include "options.h"
#include "probability.h"
#include "recipe_choices.h"
#include "sfp_plan.h"

typedef struct wish {
    double devices, epsilon, fragment; // fragment: 0 if it is not stated
    uint64_t length;
} wish;

static agg_err read_wish(wish *w, agg_error *error, const recipe_options *o)
{
    agg_err err = draft_read_micro(&w->epsilon, error, o, "epsilon");
    if (err == SHOAL_OK) err = draft_read_devices(&w->devices, error, o->devices);
    if (err == SHOAL_OK) err = draft_read_parameter(&w->length, error, o, "length");
    if (err == SHOAL_OK) err = draft_read_micro(&w->fragment, error, o, "epsilon_fragment");
    if (err != SHOAL_OK) return err;
    if (w->length % 2 != 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--length of sfp must be even");
    if (w->epsilon + w->fragment < 0.1 || w->epsilon + w->fragment > 16)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--epsilon of both parts of sfp is from 0.1 to 16");
    return SHOAL_OK;
}

static agg_err fill(compound_defaults *out, agg_error *error, const recipe_options *o)
{
    agg_sfp_plan plan;
    wish w = {.fragment = 0};
    const char *named = recipe_option(o, "oracle");
    uint32_t oracle =
        named == NULL || strcmp(named, "cms") != 0 ? SHOAL_ORACLE_OLH : SHOAL_ORACLE_CMS;
    agg_err err = read_wish(&w, error, o);
    if (err == SHOAL_OK)
        err =
            agg_sfp_plan_run(&plan, error, oracle, w.devices,
                             (uint32_t)lround((w.epsilon + w.fragment) * 1e6), (uint32_t)w.length);
    if (err != SHOAL_OK) return err;
    draft_put_micro(out->epsilon,
                    w.fragment > 0 ? (uint32_t)lround(w.epsilon * 1e6) : plan.eps_micro);
    draft_put_micro(out->epsilon_fragment, plan.eps_fragment_micro);
    draft_put_whole(out->k, plan.k);
    draft_put_whole(out->m, plan.m);
    draft_put_whole(out->k_fragment, plan.k_fragment);
    draft_put_whole(out->m_fragment, plan.m_fragment);
    snprintf(out->oracle, sizeof out->oracle, "olh");
    return SHOAL_OK;
}

const compound_draft agg_sfp_draft = {
    .id = shoal_sfp_id,
    .fill = fill,
};
