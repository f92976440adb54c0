// SPDX-License-Identifier: Apache-2.0
// Recipes of the library; see shoal_aggregate.h.
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "library_call.h"
#include "mechanism.h"
#include "recipe.h"
#include "report_json.h"

// Opens a recipe from bytes, or from a file where `json` is NULL.
static agg_err open_recipe(shoal_agg_recipe **out, agg_error *error, const char *name,
                           const char *json, size_t len)
{
    library_call call;
    shoal_agg_recipe *recipe = agg_alloc(error, 1, sizeof *recipe);
    if (recipe == NULL) return AGG_ERR_MEMORY;
    agg_err err = library_enter(&call, error);
    if (err == SHOAL_OK) {
        err = json != NULL ? agg_recipe_from_bytes(&recipe->recipe, error, name, json, len)
                           : agg_recipe_from_file(&recipe->recipe, error, name);
        library_leave(&call);
    }
    if (err != SHOAL_OK) {
        free(recipe);
        return err;
    }
    atomic_init(&recipe->n_users, 1);
    *out = recipe;
    return SHOAL_OK;
}

shoal_agg_code shoal_agg_recipe_from_json(shoal_agg_recipe **recipe, const char *name,
                                          const char *json, size_t len, shoal_agg_error *error)
{
    agg_error inner;
    if (recipe == NULL || json == NULL)
        return library_refuse(error, "a recipe and its text are needed");
    if (len > AGG_RECIPE_FILE_MAX)
        return library_fail(error,
                            agg_fail(&inner, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                                     "%.64s: a recipe has at most %zu bytes",
                                     name != NULL ? name : "recipe", AGG_RECIPE_FILE_MAX),
                            &inner);
    agg_err err = open_recipe(recipe, &inner, name != NULL ? name : "recipe", json, len);
    return library_fail(error, err, &inner);
}

shoal_agg_code shoal_agg_recipe_from_file(shoal_agg_recipe **recipe, const char *path,
                                          shoal_agg_error *error)
{
    agg_error inner;
    if (recipe == NULL || path == NULL)
        return library_refuse(error, "a recipe and its path are needed");
    return library_fail(error, open_recipe(recipe, &inner, path, NULL, 0), &inner);
}

void shoal_agg_recipe_free(shoal_agg_recipe *recipe)
{
    if (recipe == NULL || atomic_fetch_sub(&recipe->n_users, 1) > 1) return;
    agg_recipe_release(&recipe->recipe);
    free(recipe);
}

const char *shoal_agg_recipe_id(const shoal_agg_recipe *recipe)
{
    return recipe != NULL ? recipe->recipe.id : "";
}

const char *shoal_agg_recipe_hash(const shoal_agg_recipe *recipe)
{
    return recipe != NULL ? recipe->recipe.hash_hex : "";
}

const char *shoal_agg_recipe_mechanism(const shoal_agg_recipe *recipe)
{
    if (recipe == NULL) return "";
    const shoal_part *part = &recipe->recipe.recipe->parts[recipe->recipe.recipe->value_part];
    return shoal_mechanism_by_id(part->mechanism)->name;
}

const char *shoal_agg_recipe_json(const shoal_agg_recipe *recipe)
{
    return recipe != NULL ? recipe->recipe.json : "";
}

shoal_agg_code shoal_agg_recipe_facts_of(shoal_agg_recipe_facts *facts,
                                         const shoal_agg_recipe *recipe, shoal_agg_error *error)
{
    if (facts == NULL || recipe == NULL || facts->size != sizeof *facts)
        return library_refuse(error, "facts with their size, and a recipe, are needed");
    const agg_recipe *r = &recipe->recipe;
    const shoal_part *part = shoal_recipe_value_part(r->recipe);
    bool is_mean = r->recipe->n_variables == 0 && part->domain == SHOAL_DOMAIN_NUMBER;
    *facts = (shoal_agg_recipe_facts){
        .size = sizeof *facts,
        .epsilon = r->recipe->cost_micro / 1e6,
        .n_values = agg_recipe_is_closed(r) && !is_mean ? part->size : 0,
        .record_size = r->recipe->record_size,
        .report_size = (uint32_t)agg_report_size(r),
        .cohort_minimum = r->recipe->cohort_minimum,
        .release_threshold = r->recipe->release_threshold,
        .n_variables = r->recipe->n_variables,
        .is_mean = is_mean,
    };
    return SHOAL_AGG_OK;
}

const char *shoal_agg_recipe_value(const shoal_agg_recipe *recipe, uint64_t i, size_t *len)
{
    if (recipe == NULL || len == NULL || i >= recipe->recipe.values.n) return NULL;
    *len = recipe->recipe.values.texts[i].len;
    return recipe->recipe.values.texts[i].bytes;
}
