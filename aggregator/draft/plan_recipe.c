// SPDX-License-Identifier: Apache-2.0
// Writes recipes of plans; see plan_recipe.h.
#include "plan_recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "part_recipe.h"
#include "recipe_json.h"
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

agg_err agg_plan_recipe_write(agg_error *error, const char *path, const agg_plan *plan,
                              const agg_plan_wish *wish, const agg_text *values,
                              const char *expires)
{
    const agg_plan_wish *w = wish;
    char seed_hex[65], date[16] = "", *text = NULL;
    size_t len = 0;
    agg_recipe recipe;
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
                                    .values = values};
    err = print_text(&text, &len, error, plan, &frame);
    // The text holds options as they were typed, so the reader refuses one that makes no valid
    // recipe.
    if (err == SHOAL_OK)
        err = agg_recipe_from_bytes(&recipe, error, "the planned recipe", text, len);
    if (err == SHOAL_OK) {
        agg_recipe_release(&recipe);
        err = recipe_write(error, path, text, len);
    }
    free(text);
    return err;
}
