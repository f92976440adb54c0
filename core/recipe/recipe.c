// SPDX-License-Identifier: Apache-2.0
// Reads properties of a finished recipe; see recipe.h.
#include "recipe.h"

#include <stdbool.h>

#include "bytes.h"
#include "number_item.h"
#include "recipe_fields.h"

const shoal_part *shoal_recipe_part(const shoal_recipe *recipe, uint32_t i)
{
    return &recipe->parts[i];
}

const shoal_part *shoal_recipe_value_part(const shoal_recipe *recipe)
{
    return &recipe->parts[recipe->value_part];
}

shoal_err shoal_recipe_check_day(const shoal_recipe *recipe, uint32_t day)
{
    return day > recipe->expires_day ? SHOAL_ERR_EXPIRED : SHOAL_OK;
}

shoal_err shoal_recipe_epsilon(uint32_t *eps_micro, const shoal_recipe *recipe)
{
    uint32_t sum = 0, one = 0;
    if (recipe->n_parts == 0) return SHOAL_ERR_ARGUMENT;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        shoal_err err = shoal_mechanism_by_id(part->mechanism)->epsilon(&one, part);
        if (err != SHOAL_OK) return err;
        sum += one;
    }
    *eps_micro = sum;
    return SHOAL_OK;
}

shoal_err shoal_recipe_charge(uint32_t *eps_micro, const shoal_recipe *recipe)
{
    if (recipe->epochs == 0) return shoal_recipe_epsilon(eps_micro, recipe);
    *eps_micro = recipe->cost_micro;
    return SHOAL_OK;
}

bool shoal_recipe_is_permanent(const shoal_recipe *recipe)
{
    bool is_permanent = false;
    for (uint32_t i = 0; i < recipe->n_parts; i++)
        is_permanent |= shoal_mechanism_by_id(recipe->parts[i].mechanism)->is_permanent != 0;
    return is_permanent;
}

// ---- parameters ----

static bool get_parameter(int64_t *micro, const shoal_recipe *recipe, size_t i)
{
    const shoal_field *f = &shoal_recipe_rows[i].f;
    if (!shoal_recipe_states(recipe, i) || f->kind == FIELD_CHOICE || f->kind == FIELD_DELTA)
        return false; // these kinds are texts
    if (f->kind != FIELD_LIST)
        *micro = (int64_t)shoal_field_get(f, recipe) * (f->kind == FIELD_INTEGER ? 1000000 : 1);
    else if (shoal_recipe_rows[i].put == shoal_put_values)
        *micro = (int64_t)recipe->n_values * 1000000;
    else
        return false;
    return true;
}

bool shoal_recipe_parameter(const char **name, int64_t *micro, const shoal_recipe *recipe,
                            uint32_t index)
{
    if (recipe->n_variables > 0) { // variables have parameters of their own
        *name = "epsilon";
        *micro = recipe->cost_micro;
        return index == 0;
    }
    for (size_t i = 0; i < shoal_recipe_n_rows; i++) {
        const char *own = shoal_recipe_parameter_name(&shoal_recipe_rows[i]);
        if (own == NULL || !get_parameter(micro, recipe, i) || index-- > 0) continue;
        *name = shoal_recipe_rows[i].f.kind == FIELD_LIST ? "size" : own;
        return true;
    }
    return false;
}

void shoal_recipe_fill_part(shoal_part *part, const shoal_recipe *recipe)
{
    memset(part, 0, sizeof *part);
    part->mechanism = recipe->mechanism;
    part->k = 1;
    part->size = recipe->n_values;
    for (size_t i = 0; i < shoal_recipe_n_rows; i++) {
        const shoal_recipe_row *row = &shoal_recipe_rows[i];
        const uint8_t *from = (const uint8_t *)recipe + row->f.offset;
        if (row->part == SHOAL_NO_PART_OFFSET) continue;
        if (row->f.kind == FIELD_BYTES)
            memcpy((uint8_t *)part + row->part, from, 32);
        else if (shoal_field_get(&row->f, recipe) != 0)
            memcpy((uint8_t *)part + row->part, from, 4);
    }
}

// ---- numbers ----

uint64_t shoal_recipe_number_item(const shoal_recipe *recipe, int64_t micro)
{
    const shoal_part *part = &recipe->parts[0];
    bool is_bucket = part->domain == SHOAL_DOMAIN_CLOSED;
    uint64_t count = is_bucket ? part->size : SHOAL_NUMBER_ONE;
    uint64_t item = shoal_number_scale(micro, recipe->low_micro, recipe->high_micro, count);
    return item - ((uint64_t)is_bucket &
                   (uint64_t)(item == count)); // the upper end belongs to the last bucket
}

uint64_t shoal_variable_number_item(const shoal_recipe *recipe, uint32_t i, int64_t micro)
{
    const shoal_variable *v = &recipe->variables[i];
    uint64_t size = recipe->parts[i].size,
             item = shoal_number_scale(micro, v->low_micro, v->high_micro, size);
    return item - (uint64_t)(item == size); // the upper end belongs to the last bucket
}
