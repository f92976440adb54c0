// SPDX-License-Identifier: Apache-2.0
// Loading collections; see collection.h.
#include "collection.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_size.h"
#include "domain_dictionary.h"
#include "recipe.h"

#define DAY_S 86400u

// Makes room for one more dictionary.
// Returns: a zeroed slot, or NULL with `error` filled.
static serve_dictionary *next_dictionary(serve_collection *collection, agg_error *error)
{
    size_t cap = collection->n_dictionaries;
    if (agg_grow((void **)&collection->dictionaries, &cap, cap + 1,
                 sizeof *collection->dictionaries, error) != SHOAL_OK) {
        return NULL;
    }
    serve_dictionary *slot = &collection->dictionaries[collection->n_dictionaries];
    memset(slot, 0, sizeof *slot);
    return slot;
}

agg_err serve_dictionary_load(agg_dictionary *dictionary, uint32_t *variable, agg_error *error,
                              const agg_recipe *recipe, const serve_dictionary_path *path,
                              agg_log_fn log, void *log_context)
{
    uint32_t n = recipe->recipe->n_variables;
    *variable = 0;
    if (n == 0) return agg_dictionary_load(dictionary, error, recipe, path->path, log, log_context);
    *variable = agg_recipe_find_variable(recipe, path->name, strlen(path->name));
    if (*variable == n)
        return agg_fail(error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_USAGE,
                        "dictionaries.%s: the recipe has %u variables and none is called %s; name "
                        "them, as {\"%.*s\": FILE}",
                        recipe->id, n, path->name, (int)recipe->recipe->variables[0].name.len,
                        recipe->recipe->variables[0].name.bytes);
    agg_recipe *view = agg_recipe_of_variable(error, recipe, *variable);
    if (view == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_dictionary_load(dictionary, error, view, path->path, log, log_context);
    free(view);
    return err;
}

// Loads the values of variables, by which the collection's view of what hangs together names them.
static agg_err load_variables(serve_collection *collection, agg_error *error,
                              const serve_config *config, agg_log_fn log, void *log_context)
{
    agg_err err = SHOAL_OK;
    collection->categories =
        agg_alloc(error, collection->recipe.recipe->n_variables, sizeof *collection->categories);
    if (collection->categories == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; err == SHOAL_OK && i < config->n_dictionaries; i++) {
        agg_dictionary one;
        uint32_t v;
        if (strcmp(config->dictionaries[i].recipe, collection->recipe.id) != 0) continue;
        err = serve_dictionary_load(&one, &v, error, &collection->recipe, &config->dictionaries[i],
                                    log, log_context);
        if (err == SHOAL_OK) collection->categories[v] = one; // each name is there once
    }
    return err;
}

static agg_err load_dictionaries(serve_collection *collection, agg_error *error,
                                 const serve_config *config, agg_log_fn log, void *log_context)
{
    for (size_t i = 0; i < config->n_dictionaries; i++) {
        const serve_dictionary_path *one = &config->dictionaries[i];
        if (strcmp(one->recipe, collection->recipe.id) != 0) continue;
        serve_dictionary *slot = next_dictionary(collection, error);
        if (slot == NULL) return AGG_ERR_MEMORY;
        slot->name = one->name;
        agg_err err = agg_dictionary_load(&slot->dictionary, error, &collection->recipe, one->path,
                                          log, log_context);
        if (err != SHOAL_OK) return err;
        collection->n_dictionaries++;
    }
    if (collection->n_dictionaries > 0 || !agg_recipe_is_closed(&collection->recipe))
        return SHOAL_OK;
    serve_dictionary *slot = next_dictionary(collection, error);
    if (slot == NULL) return AGG_ERR_MEMORY;
    slot->name = "default";
    agg_err err = agg_dictionary_of_recipe(&slot->dictionary, error, &collection->recipe);
    if (err == SHOAL_OK) collection->n_dictionaries++;
    return err;
}

// Returns: the seconds between a collection's ticks: as its recipe says, or, where that is the
// default, as the configuration's `period` does.
static uint32_t tick_of(const shoal_recipe *recipe, agg_period_kind period)
{
    if (recipe->block_tick_s != DAY_S || period != AGG_PERIOD_WEEK) return recipe->block_tick_s;
    return 7 * DAY_S;
}

static agg_err load_one(serve_collections *collections, agg_error *error,
                        const serve_config *config, size_t i, agg_log_fn log, void *log_context)
{
    serve_collection *made = &collections->list[i];
    agg_err err = agg_recipe_from_file(&made->recipe, error, config->recipes[i]);
    if (err != SHOAL_OK) return err;
    made->honest = config->honest;
    made->growth_alarm = config->growth_alarm;
    bool is_repeated = serve_collection_by_id(collections, made->recipe.id) != NULL;
    collections->n++; // serve_collections_release releases it from here on
    if (is_repeated) {
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE, "%s: recipe %s is given twice",
                        config->recipes[i], made->recipe.id);
    }
    if (made->recipe.recipe->trial != 0 && !config->is_loopback)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "%s: recipe %s has \"trial\": 1, so it is served on loopback only, and "
                        "listen is %s; use a recipe without trial, or listen on 127.0.0.1",
                        config->recipes[i], made->recipe.id, config->listen);
    err = made->recipe.recipe->n_variables > 0
              ? load_variables(made, error, config, log, log_context)
              : load_dictionaries(made, error, config, log, log_context);
    made->tick_s = tick_of(made->recipe.recipe, config->period);
    return err;
}

// Refuses a dictionary of a recipe that is not served: it is probably a typing error.
static agg_err check_names(const serve_collections *collections, agg_error *error,
                           const serve_config *config)
{
    for (size_t i = 0; i < config->n_dictionaries; i++) {
        if (serve_collection_by_id(collections, config->dictionaries[i].recipe) != NULL) continue;
        return agg_fail(error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_USAGE,
                        "dictionaries: no recipe is called %s", config->dictionaries[i].recipe);
    }
    return SHOAL_OK;
}

agg_err serve_collections_load(serve_collections *collections, agg_error *error,
                               const serve_config *config, agg_log_fn log, void *log_context)
{
    *collections =
        (serve_collections){agg_alloc(error, config->n_recipes, sizeof *collections->list), 0};
    agg_err err = collections->list == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < config->n_recipes; i++) {
        err = load_one(collections, error, config, i, log, log_context);
    }
    if (err == SHOAL_OK) err = check_names(collections, error, config);
    if (err != SHOAL_OK) serve_collections_release(collections);
    return err;
}

agg_err serve_collections_enter(serve_collections *collections, agg_error *error, agg_store *store)
{
    int32_t today = (int32_t)(time(NULL) / 86400);
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < collections->n; i++) {
        serve_collection *one = &collections->list[i];
        err = agg_store_collection(store, &one->number, error, one->recipe.recipe, today);
        if (err == SHOAL_OK)
            err = agg_store_count_copies(store, error, one->number, one->recipe.recipe);
    }
    return err;
}

void serve_collections_release(serve_collections *collections)
{
    for (size_t i = 0; i < collections->n; i++) {
        serve_collection *one = &collections->list[i];
        for (size_t d = 0; d < one->n_dictionaries; d++)
            agg_dictionary_release(&one->dictionaries[d].dictionary);
        free(one->dictionaries);
        for (uint32_t v = 0; one->categories != NULL && v < one->recipe.recipe->n_variables; v++)
            agg_dictionary_release(&one->categories[v]);
        free(one->categories);
        free(atomic_load(&one->guarantee));
        agg_recipe_release(&one->recipe);
    }
    free(collections->list);
    *collections = (serve_collections){0};
}

serve_collection *serve_collection_by_id(const serve_collections *collections, const char *id)
{
    for (size_t i = 0; i < collections->n; i++) {
        if (strcmp(collections->list[i].recipe.id, id) == 0) return &collections->list[i];
    }
    return NULL;
}

serve_collection *serve_collection_by_hash(const serve_collections *collections,
                                           const uint8_t hash[32])
{
    for (size_t i = 0; i < collections->n; i++) {
        if (memcmp(collections->list[i].recipe.recipe->recipe_hash, hash, 32) == 0)
            return &collections->list[i];
    }
    return NULL;
}

void serve_collection_say_too_few(agg_error *error, const serve_collection *collection,
                                  int64_t now_s)
{
    char tick[AGG_MOMENT_SIZE];
    agg_moment_print(tick, agg_tick_after(now_s, collection->tick_s));
    agg_fail(error, AGG_ERR_COHORT, AGG_EXIT_PRIVACY,
             "closed blocks hold fewer reports than the recipe's minimum cohort of %u; the next "
             "tick is at %s",
             collection->recipe.recipe->cohort_minimum, tick);
}

const serve_dictionary *serve_dictionary_of(const serve_collection *collection, const char *name)
{
    for (size_t i = 0; i < collection->n_dictionaries; i++) {
        if (name == NULL || strcmp(collection->dictionaries[i].name, name) == 0)
            return &collection->dictionaries[i];
    }
    return NULL;
}
