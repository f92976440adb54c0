// SPDX-License-Identifier: Apache-2.0
// The variables of joint recipes; see joint.h and recipe_variables.h.
#include "joint.h"

#include "bytes.h"
#include "number_item.h"
#include "recipe_query.h"
#include "recipe_variables.h"

#define TAG_VARIABLES 60

static const char variables_path[] = "variables";

// ---- which variable a path is about ----

// Is it a field that each variable has? A list of a query is none, nor is what only compounds take.
static int is_own(const char *path, size_t len)
{
    static const char *const own[] = {"name", "value", "mechanism", "hash", "seed"};
    static const char head[] = "parameters.";
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (shoal_text_equal(own[i], path, len)) return 1;
    if (len < sizeof head || memcmp(path, head, sizeof head - 1) != 0) return 0;
    return !shoal_text_equal("parameters.alphabet", path, len) &&
           !shoal_text_equal("parameters.known", path, len);
}

static int has_name_before(const shoal_recipe *recipe, const shoal_name *name)
{
    for (uint32_t i = 0; i + 1 < recipe->n_variables; i++)
        if (shoal_name_equal(&recipe->variables[i].name, name)) return 1;
    return 0;
}

// Part i has a key of its own; lists that are answered without hashing have none.
static int has_seed_before(const shoal_recipe *recipe, uint32_t i)
{
    static const uint8_t none[32];
    const uint8_t *seed = recipe->parts[i].seed;
    if (memcmp(seed, none, sizeof none) == 0) return 0;
    for (uint32_t j = 0; j < i; j++)
        if (memcmp(recipe->parts[j].seed, seed, sizeof none) == 0) return 1;
    return 0;
}

// Ends the variable that was being set.
static shoal_err end_variable(shoal_recipe *recipe)
{
    uint32_t i = recipe->n_variables - 1;
    shoal_variable *variable = &recipe->variables[i];
    recipe->at_variable = i + 1;
    if (variable->name.len == 0)
        return shoal_recipe_refuse(recipe, "name", SHOAL_ERR_MISSING_FIELD, "is missing");
    shoal_err err = shoal_recipe_take_variable(recipe, variable, &recipe->parts[i]);
    if (err != SHOAL_OK) return err;
    if (has_seed_before(recipe, i))
        return shoal_recipe_refuse(recipe, "seed", SHOAL_ERR_DUPLICATE,
                                   "is that of another variable");
    return SHOAL_OK;
}

static shoal_err begin_variable(shoal_recipe *recipe)
{
    if (recipe->n_variables == SHOAL_VARIABLES_MAX)
        return shoal_recipe_refuse(recipe, variables_path, SHOAL_ERR_RANGE, "are more than 8");
    if (recipe->n_variables > 0) {
        shoal_err err = end_variable(recipe);
        if (err != SHOAL_OK) return err;
    } else if (shoal_recipe_has_own(recipe)) {
        return shoal_recipe_refuse(
            recipe, variables_path, SHOAL_ERR_UNKNOWN_FIELD,
            "and value, mechanism, parameters, hash or seed beside them exclude each other");
    }
    recipe->n_variables++;
    return SHOAL_OK;
}

shoal_err shoal_variables_enter(shoal_recipe *recipe, const char **path, size_t *path_len)
{
    const char *rest = NULL;
    size_t rest_len = 0;
    uint32_t index = shoal_path_entry(variables_path, *path, *path_len, &rest, &rest_len);
    recipe->at_variable = 0;
    if (index == UINT32_MAX) return SHOAL_OK;
    if (index != recipe->n_variables && index + 1 != recipe->n_variables)
        return shoal_recipe_refuse(recipe, variables_path, SHOAL_ERR_RANGE,
                                   "must come one after the other, at most 8");
    if (!is_own(rest, rest_len))
        return shoal_recipe_refuse(recipe, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                   "is not a field of a variable");
    shoal_err err = index == recipe->n_variables ? begin_variable(recipe) : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    recipe->at_variable = index + 1;
    *path = rest;
    *path_len = rest_len;
    return SHOAL_OK;
}

int shoal_variables_set_name(shoal_recipe *recipe, const char *path, size_t path_len,
                             const char *text, size_t len, shoal_err *err)
{
    const char *why = "is given twice";
    if (recipe->at_variable == 0 || !shoal_text_equal("name", path, path_len)) return 0;
    shoal_name *name = &recipe->variables[recipe->at_variable - 1].name;
    *err = name->len > 0 ? SHOAL_ERR_DUPLICATE : shoal_name_set(name, text, len, &why);
    if (*err == SHOAL_OK && has_name_before(recipe, name)) {
        *err = SHOAL_ERR_DUPLICATE;
        why = "is that of another variable";
    }
    if (*err != SHOAL_OK) *err = shoal_recipe_refuse(recipe, "name", *err, why);
    return 1;
}

// ---- the whole recipe ----

shoal_err shoal_variables_finish(shoal_recipe *recipe)
{
    if (recipe->n_variables == 0) {
        recipe->at_variable = 0;
        if (recipe->mechanism != shoal_joint_id) return SHOAL_OK;
        return shoal_recipe_refuse(recipe, variables_path, SHOAL_ERR_MISSING_FIELD,
                                   "are what joint recipes have");
    }
    shoal_err err = end_variable(recipe);
    recipe->at_variable = 0;
    if (err != SHOAL_OK) return err;
    if (recipe->n_variables < 2)
        return shoal_recipe_refuse(recipe, variables_path, SHOAL_ERR_RANGE, "must be two or more");
    shoal_recipe_state_joint(recipe, shoal_joint_id);
    return SHOAL_OK;
}

void shoal_variables_put(shoal_canonical *w, const shoal_recipe *recipe)
{
    if (recipe->n_variables == 0) return;
    size_t start = shoal_canonical_open(w, TAG_VARIABLES);
    for (uint32_t i = 0; i < recipe->n_variables; i++) {
        shoal_canonical_name(w, &recipe->variables[i].name);
        shoal_canonical_put(w, recipe->variables[i].digest, sizeof recipe->variables[i].digest);
    }
    shoal_canonical_close(w, start);
}

uint64_t shoal_variable_number_item(const shoal_recipe *recipe, uint32_t i, int64_t micro)
{
    const shoal_variable *v = &recipe->variables[i];
    uint64_t size = recipe->parts[i].size,
             item = shoal_number_scale(micro, v->low_micro, v->high_micro, size);
    return item - (uint64_t)(item == size); // the upper end belongs to the last bucket
}

// Parts were made one by one.
static shoal_err expand(shoal_recipe *recipe, uint32_t cells, const char **field)
{
    (void)cells;
    *field = "mechanism";
    if (recipe->n_variables < 2) return SHOAL_ERR_RANGE;
    recipe->n_parts = recipe->n_variables;
    recipe->value_part = 0;
    return SHOAL_OK;
}

const shoal_compound shoal_joint_compound = {
    shoal_joint_id,
    "joint",
    SHOAL_DOMAIN_OPEN,
    {SHOAL_TAKES_VARIABLES, SHOAL_TAKES_RECORDS},
    1,
    0, // its parts may be; shoal_recipe_is_permanent asks them
    expand,
    NULL,
};
