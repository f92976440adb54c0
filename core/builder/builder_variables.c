// SPDX-License-Identifier: Apache-2.0
// Sets the field `variables` of a joint recipe.
//
// The fields of one variable are set as if they were the recipe's own. When the next variable
// begins, or the recipe is finished, the builder checks the variable, makes it a part, hashes it,
// and clears its fields.
#include "builder_fields.h"
#include "builder_mechanism.h"
#include "builder_values.h"
#include "compound.h"
#include "recipe_canonical.h"

static const char path_of_variables[] = "variables";

// ---- the end of a variable ----

static shoal_err check_variable(shoal_recipe_builder *builder, uint32_t *domain)
{
    const shoal_recipe *recipe = &builder->recipe;
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(recipe->mechanism);
    if (recipe->value == 0)
        return shoal_builder_refuse(builder, "value", SHOAL_ERR_MISSING_FIELD, "is missing");
    if (recipe->value == SHOAL_VALUE_FIELDS)
        return shoal_builder_refuse(builder, "value", SHOAL_ERR_RANGE,
                                    "of a variable must not be fields");
    if (recipe->mechanism == SHOAL_MECHANISM_NONE)
        return shoal_builder_refuse(builder, "mechanism", SHOAL_ERR_MISSING_FIELD, "is missing");
    if (mechanism == NULL || mechanism->number.needs != 0)
        return shoal_builder_refuse(builder, "mechanism", SHOAL_ERR_MECHANISM,
                                    "is not one that a variable can have");
    *domain = shoal_builder_domain(recipe, mechanism);
    shoal_err err =
        shoal_builder_check_takes(builder, shoal_mechanism_takes(mechanism, *domain), *domain);
    return err == SHOAL_OK ? shoal_builder_check_value(builder) : err;
}

// Resets every field of a variable to its default.
static void clear_variable(shoal_recipe_builder *builder)
{
    shoal_recipe *recipe = &builder->recipe;
    for (size_t i = 0; i < shoal_recipe_n_rows; i++) {
        const shoal_recipe_row *row = &shoal_recipe_rows[i];
        if (!(row->flags & SHOAL_OF_VARIABLE)) continue;
        if (shoal_field_is_number(&row->f)) shoal_field_put(&row->f, recipe, row->f.initial);
        recipe->stated[i / 64] &= ~((uint64_t)1 << i % 64);
    }
    memset(recipe->seed, 0, sizeof recipe->seed);
    memset(recipe->values_digest, 0, sizeof recipe->values_digest);
    recipe->n_values = 0;
    shoal_sha256_init(&builder->values_sha);
}

static shoal_err take_variable(shoal_recipe_builder *builder, shoal_variable *variable,
                               shoal_part *part)
{
    const shoal_recipe *recipe = &builder->recipe;
    uint32_t domain = 0;
    shoal_err err = check_variable(builder, &domain);
    if (err == SHOAL_OK) err = shoal_builder_make_part(part, builder, domain, 0);
    if (err != SHOAL_OK) return err;
    shoal_builder_close_values(builder);
    shoal_recipe_hash_variable(variable->digest, recipe);
    variable->value = recipe->value;
    variable->size = recipe->size;
    variable->n_values = recipe->n_values;
    variable->low_micro = recipe->low_micro;
    variable->high_micro = recipe->high_micro;
    clear_variable(builder);
    return SHOAL_OK;
}

// Returns: whether an earlier part has the same key as part i. Parts that hash nothing have no key.
static bool has_seed_before(const shoal_recipe *recipe, uint32_t i)
{
    static const uint8_t none[32];
    const uint8_t *seed = recipe->parts[i].seed;
    if (memcmp(seed, none, sizeof none) == 0) return false;
    for (uint32_t j = 0; j < i; j++)
        if (memcmp(recipe->parts[j].seed, seed, sizeof none) == 0) return true;
    return false;
}

static shoal_err end_variable(shoal_recipe_builder *builder)
{
    shoal_recipe *recipe = &builder->recipe;
    uint32_t i = recipe->n_variables - 1;
    shoal_variable *variable = &recipe->variables[i];
    builder->at_variable = i + 1;
    if (variable->name.len == 0)
        return shoal_builder_refuse(builder, "name", SHOAL_ERR_MISSING_FIELD, "is missing");
    shoal_err err = take_variable(builder, variable, &recipe->parts[i]);
    if (err != SHOAL_OK) return err;
    if (has_seed_before(recipe, i))
        return shoal_builder_refuse(builder, "seed", SHOAL_ERR_DUPLICATE,
                                    "is that of another variable");
    return SHOAL_OK;
}

// ---- which variable a path is about ----

// Returns: whether every variable has the field. The lists of a query and of compounds belong to
// the recipe.
static bool is_own(const char *path, size_t len)
{
    static const char *const own[] = {"name", "value", "mechanism", "hash", "seed"};
    static const char head[] = "parameters.";
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (shoal_text_equal(own[i], path, len)) return true;
    if (len < sizeof head || memcmp(path, head, sizeof head - 1) != 0) return false;
    return !shoal_text_equal("parameters.alphabet", path, len) &&
           !shoal_text_equal("parameters.known", path, len);
}

static bool states_own(const shoal_recipe *recipe)
{
    for (size_t i = 0; i < shoal_recipe_n_rows; i++)
        if (shoal_recipe_rows[i].flags & SHOAL_OF_VARIABLE && shoal_recipe_states(recipe, i))
            return true;
    return false;
}

static shoal_err begin_variable(shoal_recipe_builder *builder)
{
    shoal_recipe *recipe = &builder->recipe;
    if (recipe->n_variables == SHOAL_VARIABLES_MAX)
        return shoal_builder_refuse(builder, path_of_variables, SHOAL_ERR_RANGE, "are more than 8");
    if (recipe->n_variables == 0 && states_own(recipe))
        return shoal_builder_refuse(
            builder, path_of_variables, SHOAL_ERR_UNKNOWN_FIELD,
            "and value, mechanism, parameters, hash or seed beside them exclude each other");
    shoal_err err = recipe->n_variables > 0
                        ? end_variable(builder)
                        : shoal_builder_state_list(builder, path_of_variables, true);
    if (err == SHOAL_OK) recipe->n_variables++;
    return err;
}

// Removes "variables.N." from a path, and makes N the variable whose fields are set.
static shoal_err enter(shoal_recipe_builder *builder, const char **path, size_t *path_len)
{
    const char *rest = NULL;
    size_t rest_len = 0;
    uint32_t n = builder->recipe.n_variables,
             index = shoal_path_entry(path_of_variables, *path, *path_len, &rest, &rest_len);
    if (index != UINT32_MAX && index != n && index + 1 != n)
        return shoal_builder_refuse(builder, path_of_variables, SHOAL_ERR_RANGE,
                                    "must come one after the other, at most 8");
    if (index == UINT32_MAX || !is_own(rest, rest_len))
        return shoal_builder_refuse(builder, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                    "is not a field of a variable");
    shoal_err err = index == n ? begin_variable(builder) : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    builder->at_variable = index + 1;
    *path = rest;
    *path_len = rest_len;
    return SHOAL_OK;
}

// ---- setting ----

static bool has_name_before(const shoal_recipe *recipe, const shoal_name *name)
{
    for (uint32_t i = 0; i + 1 < recipe->n_variables; i++)
        if (shoal_name_equal(&recipe->variables[i].name, name)) return true;
    return false;
}

static shoal_err set_name(shoal_recipe_builder *builder, const char *text, size_t len)
{
    const char *why = "is given twice";
    shoal_name *name = &builder->recipe.variables[builder->at_variable - 1].name;
    shoal_err err = name->len > 0 ? SHOAL_ERR_DUPLICATE : shoal_name_set(name, text, len, &why);
    if (err == SHOAL_OK && has_name_before(&builder->recipe, name)) {
        err = SHOAL_ERR_DUPLICATE;
        why = "is that of another variable";
    }
    return shoal_builder_answer(builder, "name", err, why);
}

static shoal_err set_string(shoal_recipe_builder *builder, const char *path, size_t path_len,
                            const char *text, size_t len)
{
    shoal_err err = enter(builder, &path, &path_len);
    if (err != SHOAL_OK) return err;
    if (shoal_text_equal("name", path, path_len)) return set_name(builder, text, len);
    return shoal_builder_scalar_string(builder, path, path_len, text, len);
}

static shoal_err set_number(shoal_recipe_builder *builder, const char *path, size_t path_len,
                            int64_t micro)
{
    shoal_err err = enter(builder, &path, &path_len);
    if (err != SHOAL_OK) return err;
    return shoal_builder_scalar_number(builder, path, path_len, micro);
}

static shoal_err add_text(shoal_recipe_builder *builder, const char *path, size_t path_len,
                          const char *text, size_t len)
{
    shoal_err err = enter(builder, &path, &path_len);
    if (err != SHOAL_OK) return err;
    if (shoal_text_equal("parameters.values", path, path_len))
        return shoal_builder_add_own_value(builder, text, len);
    return shoal_builder_refuse(builder, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                "is not a list of a recipe");
}

static shoal_err close(shoal_recipe_builder *builder)
{
    shoal_recipe *recipe = &builder->recipe;
    if (recipe->n_variables == 0) {
        if (recipe->mechanism != shoal_joint_id) return SHOAL_OK;
        return shoal_builder_refuse(builder, path_of_variables, SHOAL_ERR_MISSING_FIELD,
                                    "are what joint recipes have");
    }
    shoal_err err = end_variable(builder);
    builder->at_variable = 0;
    if (err != SHOAL_OK) return err;
    if (recipe->n_variables < 2)
        return shoal_builder_refuse(builder, path_of_variables, SHOAL_ERR_RANGE,
                                    "must be two or more");
    recipe->value = SHOAL_VALUE_VARIABLES;
    recipe->mechanism = shoal_joint_id;
    return SHOAL_OK;
}

const shoal_setter shoal_variables_setter = {
    .set_string = set_string, .set_number = set_number, .add_text = add_text, .close = close};
