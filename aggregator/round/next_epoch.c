// SPDX-License-Identifier: Apache-2.0
// The next epoch; see next_epoch.h.
#include "next_epoch.h"

#include "compound.h"
#include "estimate.h"
#include "evolving.h"
#include "json_walk.h"
#include "next_recipe.h"
#include "recipe.h"
#include "recipe_epoch.h"

agg_err agg_next_epoch_decide(agg_next_epoch *next, agg_error *error, const agg_recipe *recipe,
                              const agg_accumulator *acc)
{
    const shoal_recipe *r = recipe->recipe;
    if (r->epochs == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s: is not a recipe of a run over epochs", recipe->id);
    agg_err err = agg_estimate_check(error, recipe, acc);
    if (err == SHOAL_OK && acc->n == 0)
        err = agg_fail(error, AGG_ERR_COHORT, AGG_EXIT_PRIVACY,
                       "%s: the accumulator has no reports", recipe->id);
    if (err != SHOAL_OK) return err;
    shoal_evolving_plan plan = shoal_evolving_stated(r);
    *next = (agg_next_epoch){.epoch = r->round_index, .epochs = r->epochs, .n = acc->n};
    next->votes = acc->parts[SHOAL_EVOLVING_VOTE].cells.ones[0];
    next->needed =
        shoal_evolving_update_votes(&plan, r->parts[SHOAL_EVOLVING_VOTE].threshold, acc->n);
    next->is_update = next->epoch <= next->epochs && next->votes >= next->needed;
    next->is_over = next->epoch > next->epochs || (next->epoch == next->epochs && !next->is_update);
    return SHOAL_OK;
}

agg_err agg_next_epoch_text(char **text, agg_error *error, const agg_recipe *recipe,
                            const agg_next_epoch *next)
{
    cJSON *root = agg_json_parse(error, recipe->json, recipe->json_len);
    if (root == NULL) return error->code;
    const agg_epoch epoch = {next->epoch + 1, recipe->recipe->query_hash, next->is_update};
    agg_err err = agg_epoch_put(root, error, &epoch);
    if (err == SHOAL_OK) err = agg_next_recipe_print(text, error, root);
    cJSON_Delete(root);
    return err;
}
