// SPDX-License-Identifier: Apache-2.0
// Writes recipes of plans; see plan_recipe.h.
#include "plan_recipe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "amplification.h"
#include "part_recipe.h"
#include "recipe_json.h"
#include "recipe_judge.h"
#include "recipe_new.h"
#include "recipe_write.h"

#define EXPIRES_DAYS 180

// Writes the day on which a recipe that is written today expires.
static agg_err last_day(char date[16], agg_error *error)
{
    time_t last = time(NULL) + (time_t)86400 * EXPIRES_DAYS;
    struct tm day;
    if (gmtime_r(&last, &day) != NULL && strftime(date, 16, "%Y-%m-%d", &day) > 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "the system gives no date");
}

static agg_err print_text(char **text, size_t *len, agg_error *error, const agg_plan *plan,
                          const agg_recipe_frame *frame)
{
    FILE *memory = open_memstream(text, len);
    if (memory == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    agg_part_recipe_print(memory, &plan->candidates[0].part, frame);
    return fclose(memory) == 0 ? SHOAL_OK
                               : agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
}

// Drafts the recipe, as text and as it is read.
//   text: to free
static agg_err draft(agg_recipe *recipe, char **text, size_t *len, agg_error *error,
                     const agg_plan *plan, const agg_plan_wish *w, const agg_text *values,
                     const char *expires)
{
    char seed_hex[65], date[16] = "";
    const char *send = !w->is_uniform ? NULL : w->is_visit ? AGG_SEND_VISIT : AGG_SEND_DAY;
    agg_err err = recipe_fresh_seed(seed_hex, error);
    if (err == SHOAL_OK) err = last_day(date, error);
    if (err != SHOAL_OK) return err;
    const agg_recipe_frame frame = {.id = w->id,
                                    .analysis = w->id,
                                    .stream = "events",
                                    .value = w->low != NULL ? "number"
                                             : w->size > 0  ? "item"
                                                            : "word",
                                    .seed_hex = seed_hex,
                                    .low = w->low,
                                    .high = w->high,
                                    .expires = expires != NULL ? expires : date,
                                    .per_day = (uint32_t)w->per_day,
                                    .send = send,
                                    .block_minimum = w->block > AGG_PLAN_COHORT ? w->block : 0,
                                    .values = values};
    err = print_text(text, len, error, plan, &frame);
    // The text holds options as they were typed, so the reader refuses one that makes no valid
    // recipe.
    return err == SHOAL_OK ? agg_recipe_from_bytes(recipe, error, "the planned recipe", *text, *len)
                           : err;
}

agg_err agg_plan_recipe_write(agg_error *error, const char *path, const agg_plan *plan,
                              const agg_plan_wish *wish, const agg_text *values,
                              const char *expires)
{
    char *text = NULL;
    size_t len = 0;
    agg_recipe recipe;
    agg_err err = draft(&recipe, &text, &len, error, plan, wish, values, expires);
    if (err == SHOAL_OK) {
        err = recipe_judge_day(error, &recipe);
        agg_recipe_release(&recipe);
    }
    if (err == SHOAL_OK) err = recipe_write(error, path, text, len);
    free(text);
    return err;
}

const char *agg_plan_recipe_doubt(const agg_plan *plan, const agg_plan_wish *wish)
{
    if (plan->is_nothing) return "nothing can be seen: no recipe was written";
    if (plan->n < AGG_PLAN_COHORT)
        return "fewer reports than the recipe's minimum cohort of 1000: nothing will be shown";
    return plan->n < wish->block ? "fewer reports than the smallest block: nothing will be shown"
                                 : NULL;
}

// ---- the crowd ----

static agg_err block_for(uint32_t *block, agg_error *error, const agg_plan *plan,
                         const agg_plan_crowd *crowd)
{
    agg_pair_law law;
    agg_pair_law_of_part(&law, &plan->candidates[0].part);
    const agg_crowd asked = {.local_epsilon = plan->epsilon,
                             .delta = AGG_DELTA_UNSTATED,
                             .contributions = 1,
                             .pair = &law};
    agg_bound bound = law.n > 0 ? AGG_BOUND_BLANKET : AGG_BOUND_STRONGER;
    double n = 1, finest = 1 - 5e-4; // the bound on epsilon is found to 2e-4 of it
    agg_err err = crowd->central < plan->epsilon
                      ? agg_crowd_find_reports(&n, error, &asked, bound, finest * crowd->central)
                      : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    double reports = ceil(n / crowd->honest);
    if (!(reports <= AGG_PLAN_BLOCK_MAX))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--central: no block of up to %u reports gives a central epsilon of %g",
                        AGG_PLAN_BLOCK_MAX, crowd->central);
    *block = (uint32_t)reports;
    return SHOAL_OK;
}

agg_err agg_plan_crowd_run(agg_guarantee *guarantee, agg_plan_wish *wish, agg_error *error,
                           const agg_plan *plan, const agg_plan_crowd *crowd)
{
    agg_recipe recipe;
    char *text = NULL;
    size_t len = 0;
    agg_err err = SHOAL_OK;
    wish->block =
        (uint32_t)fmin(floor(agg_plan_reports(wish) / wish->days / 2), AGG_PLAN_BLOCK_MAX);
    if (crowd->block > 0) wish->block = crowd->block;
    if (crowd->central > 0) err = block_for(&wish->block, error, plan, crowd);
    if (wish->block < AGG_PLAN_COHORT) wish->block = AGG_PLAN_COHORT;
    // The list's values do not matter to the guarantee.
    if (err == SHOAL_OK) err = draft(&recipe, &text, &len, error, plan, wish, NULL, NULL);
    free(text);
    if (err != SHOAL_OK) return err;
    const agg_release release = {wish->block, crowd->honest, (uint32_t)wish->days};
    err = agg_guarantee_run(guarantee, error, recipe.recipe, wish->block, &release);
    agg_recipe_release(&recipe);
    return err;
}
