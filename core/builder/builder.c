// SPDX-License-Identifier: Apache-2.0
// Sets fields by their path, and finishes the recipe; see builder.h.
#include "builder.h"

#include "builder_mechanism.h"
#include "builder_setters.h"
#include "compound.h"
#include "probability.h"
#include "recipe_canonical.h"

void shoal_builder_init(shoal_recipe_builder *builder)
{
    memset(builder, 0, sizeof *builder);
    for (size_t i = 0; i < shoal_recipe_n_rows; i++) {
        const shoal_field *f = &shoal_recipe_rows[i].f;
        if (shoal_field_is_number(f)) shoal_field_put(f, &builder->recipe, f->initial);
    }
    shoal_sha256_init(&builder->values_sha);
}

// ---- setting ----

shoal_err shoal_builder_set_number(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                   int64_t micro)
{
    const shoal_setter *setter = shoal_setter_of(path, path_len);
    builder->at_variable = 0;
    if (setter == NULL || setter->set_number == NULL)
        return shoal_builder_scalar_number(builder, path, path_len, micro);
    return setter->set_number(builder, path, path_len, micro);
}

shoal_err shoal_builder_set_string(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                   const char *text, size_t len)
{
    const shoal_setter *setter = shoal_setter_of(path, path_len);
    builder->at_variable = 0;
    if (setter == NULL || setter->set_string == NULL)
        return shoal_builder_scalar_string(builder, path, path_len, text, len);
    return setter->set_string(builder, path, path_len, text, len);
}

shoal_err shoal_builder_add_text(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                 const char *text, size_t len)
{
    const shoal_setter *setter = shoal_setter_of(path, path_len);
    builder->at_variable = 0;
    if (setter == NULL || setter->add_text == NULL)
        return shoal_builder_refuse(builder, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                    "is not a list of a recipe");
    return setter->add_text(builder, path, path_len, text, len);
}

shoal_err shoal_builder_add_number(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                   int64_t micro)
{
    const shoal_setter *setter = shoal_setter_of(path, path_len);
    builder->at_variable = 0;
    if (setter == NULL || setter->add_number == NULL)
        return shoal_builder_refuse(builder, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                    "is not a list of numbers");
    return setter->add_number(builder, path, path_len, micro);
}

shoal_err shoal_builder_add_value(shoal_recipe_builder *builder, const char *text, size_t len)
{
    static const char path[] = "parameters.values";
    return shoal_builder_add_text(builder, path, sizeof path - 1, text, len);
}

bool shoal_builder_range(int64_t *min_micro, int64_t *max_micro, const char *path, size_t path_len)
{
    for (size_t i = 0; i < shoal_recipe_n_rows; i++) {
        const shoal_field *f = &shoal_recipe_rows[i].f;
        if (!shoal_text_equal(f->path, path, path_len)) continue;
        if (f->kind != FIELD_MICRO && f->kind != FIELD_INTEGER && f->kind != FIELD_COUNT)
            return false;
        uint64_t max = f->kind == FIELD_COUNT ? FIELD_COUNT_MAX : f->max,
                 unit = f->kind == FIELD_MICRO ? 1 : 1000000;
        *min_micro = (int64_t)(f->min * unit);
        *max_micro = (int64_t)(max * unit);
        return true;
    }
    return false;
}

// ---- finishing ----

static shoal_err check_required(shoal_recipe_builder *builder)
{
    for (size_t i = 0; i < shoal_recipe_n_rows; i++)
        if (shoal_recipe_rows[i].f.is_always && !shoal_recipe_states(&builder->recipe, i) &&
            !shoal_builder_is_misplaced(builder, i))
            return shoal_builder_refuse(builder, shoal_recipe_rows[i].f.path,
                                        SHOAL_ERR_MISSING_FIELD, "is missing");
    return SHOAL_OK;
}

// Checks fields that belong together, and fills in the default that another field states.
static shoal_err check_pairs(shoal_recipe_builder *builder)
{
    shoal_recipe *recipe = &builder->recipe;
    if (recipe->block_minimum == 0) recipe->block_minimum = recipe->cohort_minimum;
    if (recipe->block_minimum < recipe->cohort_minimum)
        return shoal_builder_refuse(builder, "block.minimum", SHOAL_ERR_RANGE,
                                    "is below cohort.minimum");
    if (recipe->text_min > recipe->text_max)
        return shoal_builder_refuse(builder, "text.min", SHOAL_ERR_RANGE, "is above text.max");
    if ((recipe->cohort_eps_micro == 0) != (recipe->cohort_delta_exp == 0))
        return shoal_builder_refuse(builder, "cohort.delta", SHOAL_ERR_MISSING_FIELD,
                                    "and cohort.epsilon go together");
    return SHOAL_OK;
}

// Checks that the locale is the code of a language, and that something is made lower case by it.
static shoal_err check_locale(shoal_recipe_builder *builder)
{
    static const char path[] = "text.locale";
    const shoal_recipe *recipe = &builder->recipe;
    const shoal_name *locale = &recipe->text_locale;
    if (locale->len == 0) return SHOAL_OK;
    if (recipe->text_case != SHOAL_CASE_LOWER)
        return shoal_builder_refuse(builder, path, SHOAL_ERR_RANGE, "needs text.case lower");
    bool is_language = locale->len == 2 || locale->len == 3;
    for (uint32_t i = 0; i < locale->len; i++)
        is_language &= locale->bytes[i] >= 'a' && locale->bytes[i] <= 'z';
    return is_language ? SHOAL_OK
                       : shoal_builder_refuse(builder, path, SHOAL_ERR_TYPE,
                                              "must be two or three letters, such as tr");
}

// Checks the window that reports answer for. Queries and runs choose what they report by
// themselves, and a stable answer of permanent coins costs less than an answer for each window.
static shoal_err check_window(shoal_recipe_builder *builder)
{
    const shoal_recipe *recipe = &builder->recipe;
    bool is_uniform = recipe->pick == SHOAL_PICK_UNIFORM;
    if (is_uniform != (recipe->window != SHOAL_WINDOW_NONE))
        return shoal_builder_refuse(builder, "send.window", SHOAL_ERR_MISSING_FIELD,
                                    "and send.pick uniform go together");
    if (!is_uniform) return SHOAL_OK;
    if (recipe->window == SHOAL_WINDOW_VISIT && recipe->delay_s != 0)
        return shoal_builder_refuse(builder, "send.delay_s", SHOAL_ERR_RANGE,
                                    "must be 0 in a visit, which is sent as it ends");
    if (recipe->value == SHOAL_VALUE_FIELDS || recipe->round_index != 0 || recipe->epochs != 0)
        return shoal_builder_refuse(builder, "send.pick", SHOAL_ERR_RANGE,
                                    "cannot be uniform in queries and runs");
    if (shoal_recipe_is_permanent(recipe))
        return shoal_builder_refuse(builder, "send.pick", SHOAL_ERR_RANGE,
                                    "cannot be uniform with permanent coins");
    return SHOAL_OK;
}

// Checks that the compound fits the recipe's value. Compounds of open strings take words, hosts,
// sites or items; those of a list take cells.
static shoal_err check_compound(shoal_recipe_builder *builder, const shoal_compound *compound)
{
    uint32_t value = builder->recipe.value;
    bool is_fields = value == SHOAL_VALUE_FIELDS;
    if (compound->domain == SHOAL_DOMAIN_CLOSED && !is_fields)
        return shoal_builder_refuse(builder, "value", SHOAL_ERR_RANGE,
                                    "must be fields for this mechanism");
    if (compound->domain == SHOAL_DOMAIN_OPEN && (is_fields || value == SHOAL_VALUE_NUMBER))
        return shoal_builder_refuse(builder, "value", SHOAL_ERR_RANGE,
                                    "must be of strings for this mechanism");
    return SHOAL_OK;
}

static shoal_err check_fields(shoal_recipe_builder *builder, const shoal_compound *compound,
                              const shoal_takes *takes, uint32_t domain)
{
    shoal_err err = shoal_builder_check_takes(builder, takes, domain);
    if (err == SHOAL_OK && compound != NULL) err = check_compound(builder, compound);
    if (err == SHOAL_OK) err = check_pairs(builder);
    if (err == SHOAL_OK) err = check_locale(builder);
    builder->recipe.key = builder->recipe.recipe;
    return err == SHOAL_OK ? shoal_setters_check(builder) : err;
}

// Adds up the sizes and the cost of all parts.
static void sum_parts(shoal_recipe *recipe)
{
    recipe->record_size = recipe->text_size = recipe->cost_micro = 0;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        recipe->record_size += recipe->parts[i].record_size;
        recipe->text_size += recipe->parts[i].text_size + (i > 0); // plus the ';' before the part
        recipe->cost_micro += recipe->parts[i].eps_micro;
    }
}

static shoal_err expand(shoal_recipe_builder *builder, const shoal_compound *compound)
{
    shoal_recipe *recipe = &builder->recipe;
    const char *name = "mechanism";
    shoal_err err = compound->expand(recipe, builder->cells, &name);
    if (err != SHOAL_OK) return shoal_builder_refuse_parameter(builder, name, err);
    sum_parts(recipe);
    if (compound->takes.needs & SHOAL_TAKES_THRESH)
        recipe->cost_micro = recipe->eps_micro; // covers all reports of a run
    if (recipe->cost_micro <= SHOAL_EPS_MICRO_MAX) return SHOAL_OK;
    return shoal_builder_refuse_parameter(builder, "epsilon", SHOAL_ERR_RANGE);
}

static shoal_err make_parts(shoal_recipe_builder *builder)
{
    shoal_recipe *recipe = &builder->recipe;
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(recipe->mechanism);
    const shoal_compound *compound =
        mechanism == NULL ? shoal_compound_by_id(recipe->mechanism) : NULL;
    uint32_t domain = compound != NULL ? compound->domain : shoal_builder_domain(recipe, mechanism);
    const shoal_takes *takes =
        compound != NULL ? &compound->takes : shoal_mechanism_takes(mechanism, domain);
    shoal_err err = check_fields(builder, compound, takes, domain);
    if (err != SHOAL_OK) return err;
    if (compound != NULL) return expand(builder, compound);
    err = shoal_builder_make_part(&recipe->parts[0], builder, domain, builder->cells);
    if (err != SHOAL_OK) return err;
    recipe->n_parts = 1;
    sum_parts(recipe);
    return SHOAL_OK;
}

shoal_err shoal_builder_finish(shoal_recipe *recipe, shoal_recipe_builder *builder)
{
    shoal_recipe *own = &builder->recipe;
    if (builder->is_refused) return SHOAL_ERR_ARGUMENT;
    builder->at_variable = 0;
    shoal_err err = shoal_setters_close(builder);
    if (err == SHOAL_OK) err = check_required(builder);
    if (err == SHOAL_OK) err = make_parts(builder);
    if (err == SHOAL_OK) err = check_window(builder);
    if (err != SHOAL_OK) return err;
    shoal_builder_close_values(builder);
    err = shoal_recipe_hash(own->run_hash, own, SHOAL_WITHOUT_ROUND);
    if (err == SHOAL_OK) err = shoal_recipe_hash(own->query_hash, own, SHOAL_WITHOUT_PART);
    if (err == SHOAL_OK) err = shoal_recipe_hash(own->recipe_hash, own, SHOAL_WHOLE);
    if (err == SHOAL_OK && recipe != own) *recipe = *own;
    return err;
}
