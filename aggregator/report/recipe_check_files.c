// SPDX-License-Identifier: Apache-2.0
// Checks files of recipes and sets, and prints their hashes; see recipe_check_files.h.
#include "recipe_check_files.h"

#include <stdio.h>

#include "call_streams.h"
#include "encoding.h"
#include "log.h"
#include "print_text.h"
#include "recipe.h"
#include "recipe_check.h"
#include "recipe_facts.h"
#include "recipe_json.h"
#include "recipe_policy.h"
#include "recipe_signer.h"
#include "set_check.h"

static int fail_check(const recipe_checking *c, const char *path, const agg_error *error)
{
    if (c->is_json) recipe_facts_print_error(path, error);
    return agg_log_error("recipe", error);
}

static int check_set(const recipe_checking *c, const char *path)
{
    agg_set set;
    agg_error error;
    if (agg_set_from_file(&set, &error, path) != SHOAL_OK) return fail_check(c, path, &error);
    bool is_within = c->is_json ? recipe_set_facts_print(path, &set, c->today)
                                : set_check_print(&set, path, c->today);
    return is_within ? AGG_EXIT_OK : AGG_EXIT_RUNTIME;
}

static int print_check(const recipe_checking *c, const char *path, const agg_recipe *recipe)
{
    if (c->is_json) return recipe_facts_print(path, recipe, c->policy, c->today);
    recipe_check_print(recipe, c->today);
    if (c->policy == NULL && c->set->set.days == 0) set_check_print_uncapped();
    return c->policy != NULL ? recipe_policy_print(recipe, c->policy, c->today)
                             : recipe_signer_print(recipe);
}

static int check_file(const char *path, const recipe_checking *c)
{
    agg_error error;
    agg_recipe recipe;
    if (c->policy == NULL && agg_set_is_one(path)) {
        if (c->set->set.days == 0) return check_set(c, path);
        agg_fail(&error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                 "%s: --budget is for recipes, and this is a set, which states its own", path);
        return fail_check(c, path, &error);
    }
    if (agg_recipe_from_file(&recipe, &error, path) != SHOAL_OK) return fail_check(c, path, &error);
    int code = print_check(c, path, &recipe);
    if (c->set->set.days > 0 && agg_set_add(c->set, &error, path, &recipe) != SHOAL_OK)
        code = agg_log_error("recipe", &error);
    agg_recipe_release(&recipe);
    return code;
}

int recipe_check_files(const recipe_checking *c, const char *const *paths, size_t n)
{
    int last = AGG_EXIT_OK;
    if (c->is_json) fputs("{\"schema\":1,\"checked\":[", agg_out());
    for (size_t i = 0; i < n; i++) {
        if (c->is_json) fputs(i > 0 ? ",\n" : "\n", agg_out());
        int code = check_file(paths[i], c);
        if (code != AGG_EXIT_OK) last = code;
    }
    if (last == AGG_EXIT_OK && c->set->set.days > 0) {
        if (c->is_json) fputs(",\n", agg_out());
        bool is_within = c->is_json ? recipe_set_facts_print(NULL, c->set, c->today)
                                    : set_check_print(c->set, NULL, c->today);
        if (!is_within) last = AGG_EXIT_RUNTIME;
    }
    if (c->is_json) fputs("\n]}\n", agg_out());
    return last;
}

static int hash_set(const char *path)
{
    agg_set set;
    agg_error error;
    if (agg_set_from_file(&set, &error, path) != SHOAL_OK) return agg_log_error("recipe", &error);
    agg_print("%s\n", set.hash_hex);
    return AGG_EXIT_OK;
}

int recipe_hash_print(const char *path, bool is_query)
{
    char hex[65];
    agg_error error;
    agg_recipe recipe;
    if (!is_query && agg_set_is_one(path)) return hash_set(path);
    if (agg_recipe_from_file(&recipe, &error, path) != SHOAL_OK)
        return agg_log_error("recipe", &error);
    agg_hex(hex, is_query ? recipe.recipe->query_hash : recipe.recipe->recipe_hash, 32);
    agg_print("%s\n", hex);
    agg_recipe_release(&recipe);
    return AGG_EXIT_OK;
}
