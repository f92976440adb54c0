// SPDX-License-Identifier: Apache-2.0
// Checks fields against the mechanism's needs; see builder_mechanism.h.
#include "builder_mechanism.h"

#include "builder_fields.h"

uint32_t shoal_builder_domain(const shoal_recipe *recipe, const shoal_mechanism *mechanism)
{
    if (recipe->value == SHOAL_VALUE_FIELDS) return SHOAL_DOMAIN_CLOSED;
    bool has_list =
        recipe->size != 0 || recipe->n_values != 0 || recipe->hash == SHOAL_HASH_AFFINE1;
    if (mechanism->number.needs != 0) return SHOAL_DOMAIN_NUMBER;
    if (recipe->value == SHOAL_VALUE_NUMBER || mechanism->open.needs == 0)
        return SHOAL_DOMAIN_CLOSED;
    return has_list && recipe->hash != SHOAL_HASH_POLY1 ? SHOAL_DOMAIN_CLOSED : SHOAL_DOMAIN_OPEN;
}

// Returns: whether this build carries rows for everything that a mechanism needs. Each module
// carries some way to state a list.
static bool are_carried(uint32_t needs)
{
    uint32_t carried = SHOAL_TAKES_LIST;
    for (size_t i = 0; i < shoal_recipe_n_rows; i++) carried |= shoal_recipe_rows[i].takes;
    return (needs & ~carried) == 0;
}

static shoal_err check_rows(shoal_recipe_builder *builder, uint32_t needs, uint32_t may)
{
    for (size_t i = 0; i < shoal_recipe_n_rows; i++) {
        const shoal_recipe_row *row = &shoal_recipe_rows[i];
        bool is_stated = shoal_recipe_states(&builder->recipe, i);
        if (row->takes == 0 || shoal_builder_is_misplaced(builder, i)) continue;
        if (is_stated && !(row->takes & (needs | may)))
            return shoal_builder_refuse(builder, row->f.path, SHOAL_ERR_UNKNOWN_FIELD,
                                        "is not a field of this mechanism");
        if (!is_stated && row->takes & needs && row->takes != SHOAL_TAKES_LIST)
            return shoal_builder_refuse(builder, row->f.path, SHOAL_ERR_MISSING_FIELD,
                                        "is missing");
    }
    return SHOAL_OK;
}

shoal_err shoal_builder_check_takes(shoal_recipe_builder *builder, const shoal_takes *takes,
                                    uint32_t domain)
{
    static const char mechanism[] = "mechanism";
    if (takes->needs == 0)
        return shoal_builder_refuse(builder, mechanism, SHOAL_ERR_RANGE, "does not take a list");
    if (!are_carried(takes->needs))
        return shoal_builder_refuse(builder, mechanism, SHOAL_ERR_MECHANISM,
                                    "needs fields that are not part of this build");
    uint32_t needs =
        takes->needs | (builder->recipe.value == SHOAL_VALUE_NUMBER ? SHOAL_TAKES_RANGE : 0u);
    builder->needs = needs;
    builder->domain = domain;
    return check_rows(builder, needs, takes->may);
}

// Returns: the path of the field that a mechanism refused.
static const char *path_of(const shoal_recipe *recipe, const char *name)
{
    if (recipe->encoding.n_fields > 0 && shoal_text_equal("size", name, text_len(name)))
        return "encoding"; // the size is the encoding's number of cells
    for (size_t i = 0; i < shoal_recipe_n_rows; i++) {
        const char *own = shoal_recipe_parameter_name(&shoal_recipe_rows[i]);
        if (own != NULL && shoal_text_equal(own, name, text_len(name)))
            return shoal_recipe_rows[i].f.path;
    }
    return "mechanism";
}

shoal_err shoal_builder_refuse_parameter(shoal_recipe_builder *builder, const char *name,
                                         shoal_err err)
{
    return shoal_builder_refuse(builder, path_of(&builder->recipe, name), err,
                                "is outside what the mechanism takes");
}

shoal_err shoal_builder_make_part(shoal_part *part, shoal_recipe_builder *builder, uint32_t domain,
                                  uint32_t cells)
{
    const char *name = "mechanism";
    shoal_recipe_fill_part(part, &builder->recipe);
    part->domain = domain;
    if (builder->recipe.encoding.n_fields > 0) part->size = cells;
    shoal_err err = shoal_part_prepare(part, &name);
    return err == SHOAL_OK ? SHOAL_OK : shoal_builder_refuse_parameter(builder, name, err);
}

void shoal_builder_close_values(shoal_recipe_builder *builder)
{
    if (builder->recipe.n_values > 0)
        shoal_sha256_final(builder->recipe.values_digest, &builder->values_sha);
}
