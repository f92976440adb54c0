// SPDX-License-Identifier: Apache-2.0
// Defaults of a trie's first round: the number of characters that it asks for, and the share of
// devices that answers it (trie_plan.h).
#include "compound_draft.h"
#include "draft_numbers.h"
#include "encoding.h"
#include "trie_plan.h"

static agg_err fill(compound_defaults *out, agg_error *error, const recipe_options *o)
{
    agg_trie_plan plan;
    agg_trie_wish wish = {.characters = sizeof COMPOUND_LETTERS - 1};
    uint64_t depth = 0, contributions = 0, prefixes = 0, step = 0;
    agg_err err = draft_read_micro(&wish.epsilon, error, o, "epsilon");
    if (err == SHOAL_OK) err = draft_read_devices(&wish.devices, error, o->devices);
    if (err == SHOAL_OK) err = draft_read_parameter(&depth, error, o, "depth");
    if (err == SHOAL_OK) err = draft_read_parameter(&contributions, error, o, "contributions");
    if (err == SHOAL_OK) err = draft_read_parameter(&prefixes, error, o, "max_prefixes");
    if (err == SHOAL_OK)
        err = draft_read_whole(&step, error, "step", o->step, 0, 1, SHOAL_STEP_MAX);
    if (err != SHOAL_OK) return err;
    wish.depth = (uint32_t)depth;
    wish.contributions = (double)contributions;
    wish.max_prefixes = (double)prefixes;
    wish.step = (uint32_t)step;
    agg_trie_plan_run(&plan, &wish);
    out->step = step > 0 ? (uint32_t)step : plan.n_rounds > 0 ? plan.rounds[0].step : 1;
    out->sample = plan.n_rounds > 0 ? plan.rounds[0].devices / wish.devices : 1;
    return SHOAL_OK;
}

const compound_draft agg_trie_draft = {
    .id = shoal_trie_id,
    .fill = fill,
};
