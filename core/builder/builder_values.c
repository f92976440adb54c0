// SPDX-License-Identifier: Apache-2.0
// The list parameters.values; see builder_values.h.
#include "builder_values.h"

#include "builder_fields.h"

static const char path_of_values[] = "parameters.values";

shoal_err shoal_builder_add_own_value(shoal_recipe_builder *builder, const char *text, size_t len)
{
    shoal_recipe *recipe = &builder->recipe;
    uint8_t prefix[4];
    shoal_err err = shoal_builder_state_list(builder, path_of_values, recipe->n_values == 0);
    if (err != SHOAL_OK) return err;
    if (len < 1 || len > SHOAL_VALUE_MAX)
        return shoal_builder_refuse(builder, path_of_values, SHOAL_ERR_RANGE,
                                    "holds a value that is empty or over 256 bytes");
    if (recipe->n_values == (1u << 24))
        return shoal_builder_refuse(builder, path_of_values, SHOAL_ERR_RANGE,
                                    "has too many values");
    store32_be(prefix, (uint32_t)len);
    shoal_sha256_update(&builder->values_sha, prefix, sizeof prefix);
    shoal_sha256_update(&builder->values_sha, (const uint8_t *)text, len);
    recipe->n_values++;
    return SHOAL_OK;
}

static shoal_err add_text(shoal_recipe_builder *builder, const char *path, size_t path_len,
                          const char *text, size_t len)
{
    (void)path;
    (void)path_len;
    if (builder->recipe.n_variables > 0)
        return shoal_builder_refuse(builder, path_of_values, SHOAL_ERR_UNKNOWN_FIELD,
                                    "is not for a joint recipe");
    return shoal_builder_add_own_value(builder, text, len);
}

const shoal_setter shoal_values_setter = {.add_text = add_text};
