// SPDX-License-Identifier: Apache-2.0
// Steps as the variables of a joint analysis; see funnel.h.
#include "funnel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "recipe.h"
#include "window_picks.h"

static agg_err find_reached(uint32_t *category, agg_error *error, const agg_recipe *recipe,
                            const agg_joint_choice *choice)
{
    const size_t len = sizeof AGG_FUNNEL_REACHED - 1;
    const shoal_name *name = &recipe->recipe->variables[choice->variable].name;
    for (uint32_t i = 0; i < choice->n; i++)
        if (choice->labels[i].len == len &&
            memcmp(choice->labels[i].bytes, AGG_FUNNEL_REACHED, len) == 0) {
            *category = i;
            return SHOAL_OK;
        }
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "recipe %s holds no funnel: variable %.*s has no value \"" AGG_FUNNEL_REACHED
                    "\", which says that its step was reached",
                    recipe->id, name->len, name->bytes);
}

static agg_err choose(agg_funnel *funnel, agg_error *error, const agg_recipe *recipe,
                      const agg_accumulator *acc, double confidence, unsigned n_threads)
{
    for (uint32_t v = 0; v < recipe->recipe->n_variables; v++) {
        // A window in which nothing happened has no value of any step.
        const agg_joint_wish wish = {.variable = v,
                                     .with_none = agg_picks_windows(recipe->recipe),
                                     .confidence = confidence,
                                     .n_threads = n_threads > 0 ? n_threads : 1};
        agg_joint_chosen *chosen = &funnel->chosen[v];
        if (!agg_recipe_variable_is_closed(recipe, v))
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                            "recipe %s holds no funnel: variable %.*s takes any string", recipe->id,
                            recipe->recipe->variables[v].name.len,
                            recipe->recipe->variables[v].name.bytes);
        agg_err err = agg_joint_chosen_make(chosen, error, recipe, acc, &wish);
        if (err != SHOAL_OK) return err;
        funnel->n_chosen++;
        err = find_reached(&funnel->chain[v], error, recipe, &chosen->choice);
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

agg_err agg_funnel_choose(agg_funnel *funnel, agg_error *error, const agg_recipe *recipe,
                          const agg_accumulator *acc, double confidence, unsigned n_threads)
{
    memset(funnel, 0, sizeof *funnel);
    agg_err err = agg_joint_may_run(error, recipe, acc);
    if (err == SHOAL_OK) err = choose(funnel, error, recipe, acc, confidence, n_threads);
    if (err != SHOAL_OK) agg_funnel_release(funnel);
    return err;
}

static void list_choices(agg_joint_choice *choices, const agg_funnel *funnel)
{
    for (uint32_t v = 0; v < funnel->n_chosen; v++) choices[v] = funnel->chosen[v].choice;
}

uint64_t agg_funnel_memory(const agg_funnel *funnel, const agg_recipe *recipe,
                           const agg_accumulator *acc)
{
    agg_joint_choice choices[SHOAL_VARIABLES_MAX];
    list_choices(choices, funnel);
    return agg_joint_memory(recipe, acc, choices, funnel->n_chosen);
}

agg_err agg_funnel_run(agg_funnel *funnel, agg_error *error, const agg_recipe *recipe,
                       const agg_accumulator *acc, double confidence, unsigned n_threads)
{
    agg_joint_choice choices[SHOAL_VARIABLES_MAX];
    const agg_joint_analysis_options options = {.confidence = confidence,
                                                .n_threads = n_threads > 0 ? n_threads : 1,
                                                .chain = funnel->chain};
    list_choices(choices, funnel);
    funnel->analysis = agg_alloc(error, 1, sizeof *funnel->analysis);
    if (funnel->analysis == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_joint_analyse(funnel->analysis, error, recipe, acc, choices, funnel->n_chosen,
                                    &options);
    if (err == SHOAL_OK) return SHOAL_OK;
    free(funnel->analysis);
    funnel->analysis = NULL;
    return err;
}

void agg_funnel_release(agg_funnel *funnel)
{
    if (funnel->analysis != NULL) agg_joint_analysis_release(funnel->analysis);
    free(funnel->analysis);
    for (uint32_t v = 0; v < funnel->n_chosen; v++) agg_joint_chosen_release(&funnel->chosen[v]);
    memset(funnel, 0, sizeof *funnel);
}

bool agg_funnel_is_released(const agg_joint_result *r, const agg_joint_share *share)
{
    return isfinite(share->stderr_) &&
           share->p * (double)r->n >= (double)r->recipe->recipe->release_threshold;
}

bool agg_funnel_has_step(const agg_joint_result *r, uint32_t step)
{
    return agg_funnel_is_released(r, &r->reached[step]);
}

bool agg_funnel_has_rate(const agg_joint_result *r, uint32_t step)
{
    return step > 0 && agg_funnel_has_step(r, step - 1) && agg_funnel_has_step(r, step) &&
           isfinite(r->onward[step - 1].stderr_);
}
