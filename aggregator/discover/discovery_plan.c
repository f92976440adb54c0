// SPDX-License-Identifier: Apache-2.0
// Compares the two ways; see discovery_plan.h.
#include "discovery_plan.h"

#include "compound.h"
#include "recipe_choices.h"

const char *const agg_discovery_ways[] = {"sfp", "trie", NULL};
const char *const agg_discovery_oracles[] = {"olh", "cms", NULL};
static const uint32_t oracle_ids[] = {SHOAL_ORACLE_OLH, SHOAL_ORACLE_CMS};

uint32_t agg_discovery_contribution_micro(const agg_discovery_plan *plan)
{
    return plan->wish.eps_micro / plan->wish.contributions;
}

// Returns: the detectable share of the least sensitive round.
static double worst_share(const agg_trie_plan *trie)
{
    double share = trie->n_rounds > 0 ? 0 : 1;
    for (uint32_t i = 0; i < trie->n_rounds; i++)
        if (trie->rounds[i].share > share) share = trie->rounds[i].share;
    return share < 1 ? share : 1;
}

// Returns: the detectable share of the rounds, each by the characters that it adds, for a plan
// where a length is wanted. What is long may be found from a larger share than sfp would find it
// from; that alone does not speak for sfp.
static double mean_share(const agg_trie_plan *trie)
{
    double sum = 0, steps = 0;
    for (uint32_t i = 0; i < trie->n_rounds; i++) {
        sum += trie->rounds[i].share * trie->rounds[i].step;
        steps += trie->rounds[i].step;
    }
    return steps > 0 ? sum / steps : 1;
}

agg_err agg_discovery_plan_run(agg_discovery_plan *plan, agg_error *error,
                               const agg_discovery_wish *wish)
{
    *plan = (agg_discovery_plan){.wish = *wish, .way = wish->way};
    const agg_trie_wish trie = {.devices = wish->devices,
                                .epsilon = agg_discovery_contribution_micro(plan) / 1e6,
                                .contributions = wish->contributions,
                                .depth = wish->depth,
                                .characters = wish->characters,
                                .max_prefixes = AGG_DISCOVERY_PREFIXES_MAX};
    agg_err err = agg_sfp_plan_run(&plan->sfp, error, oracle_ids[wish->oracle], wish->devices,
                                   wish->eps_micro, wish->length);
    if (err != SHOAL_OK) return err;
    agg_trie_plan_run(&plan->trie, &trie);
    double *share = plan->share;
    share[AGG_DISCOVERY_SFP] =
        plan->sfp.least < wish->devices ? plan->sfp.least / wish->devices : 1;
    share[AGG_DISCOVERY_TRIE] = worst_share(&plan->trie);
    plan->ngram_share = agg_ngram_plan_share_for(wish->eps_micro / 1e6, wish->length,
                                                 wish->characters, wish->devices);
    const bool wants_length = wish->depth < AGG_TRIE_DEPTH_OPEN;
    const double held = wants_length ? mean_share(&plan->trie) : share[AGG_DISCOVERY_TRIE];
    if (wish->way == AGG_DISCOVERY_ANY)
        plan->way = held < share[AGG_DISCOVERY_SFP] ? AGG_DISCOVERY_TRIE : AGG_DISCOVERY_SFP;
    if (plan->way == AGG_DISCOVERY_TRIE && plan->trie.n_rounds == 0)
        return agg_fail(
            error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
            "a record has no room for even one character out of so many: lower --characters");
    return SHOAL_OK;
}
