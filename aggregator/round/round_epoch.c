// SPDX-License-Identifier: Apache-2.0
// The next epoch of a run; see round_work.h.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "next_epoch.h"
#include "recipe_write.h"
#include "round_work.h"

static agg_err check_epoch_options(agg_error *error, const round_options *o)
{
    bool is_any = o->field != NULL || o->tokens != NULL || o->mechanism != NULL || o->id != NULL ||
                  o->seed_hex != NULL || o->expires != NULL || o->refine > 0 ||
                  o->max_prefixes > 0 || o->version > 0 || o->step > 0;
    if (!is_any && !(o->cohort_epsilon > 0 || o->sample > 0 || o->threshold > 0)) return SHOAL_OK;
    return agg_fail(
        error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
        "%s: the next epoch is the same recipe with another round, so only --recipe and -o apply",
        o->recipe);
}

static void say_epoch(const agg_next_epoch *next, const agg_recipe *recipe)
{
    double n = (double)next->n;
    const char *decision = next->is_update
                               ? "this is an update, and the next reports carry its estimates"
                               : "no update";
    if (next->epoch > next->epochs) {
        round_say("these are the closing reports, with the estimates of epoch %u. The run is over; "
                  "shoal track prints it",
                  next->epochs);
        return;
    }
    round_say(
        "epoch %u of %u: %llu of %llu reports say yes, %.3f %%, and an update needs %.3f %%: %s",
        next->epoch, next->epochs, (unsigned long long)next->votes, (unsigned long long)next->n,
        100 * (double)next->votes / n, 100 * (double)next->needed / n, decision);
    if (next->n != recipe->recipe.users)
        round_say("the recipe states %u users: the threshold is that of the %llu reports",
                  recipe->recipe.users, (unsigned long long)next->n);
    if (next->is_over)
        round_say("it was the last epoch, and nothing is left to collect, so there is no next "
                  "recipe; shoal track prints the run");
    else
        round_say("next: epoch %u%s; its recipe is not signed yet (shoal recipe sign)",
                  next->epoch + 1,
                  next->epoch == next->epochs ? ", which collects the last estimates" : "");
}

static agg_err write_epoch(const round_work *w, agg_error *error, const agg_next_epoch *next)
{
    agg_recipe again;
    char *text = NULL;
    agg_err err = agg_next_epoch_text(&text, error, &w->recipe, next);
    if (err != SHOAL_OK) return err;
    err = agg_recipe_from_bytes(&again, error, "the next recipe", text, strlen(text));
    if (err == SHOAL_OK) {
        if (memcmp(again.recipe.run_hash, w->recipe.recipe.run_hash, 32) != 0)
            err = agg_fail(error, SHOAL_ERR_RECIPE_HASH, AGG_EXIT_RUNTIME,
                           "the next recipe is of another run");
        agg_recipe_release(&again);
    }
    if (err == SHOAL_OK) err = recipe_write(error, w->options->output, text, strlen(text));
    free(text);
    return err;
}

agg_err round_epoch(round_work *w, agg_error *error)
{
    agg_next_epoch next;
    agg_err err = check_epoch_options(error, w->options);
    if (err != SHOAL_OK) return err;
    err = agg_next_epoch_decide(&next, error, &w->recipe, &w->acc);
    if (err != SHOAL_OK) {
        agg_error_prefix(error, "%s", w->options->accumulator);
        return err;
    }
    say_epoch(&next, &w->recipe);
    return next.is_over ? SHOAL_OK : write_epoch(w, error, &next);
}
