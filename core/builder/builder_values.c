// SPDX-License-Identifier: Apache-2.0
// Sets and checks the list parameters.values; see builder_values.h.
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

// Checks that exactly one field states the list: values, size, or, if the value is "fields", the
// encoding.
static shoal_err check_list(shoal_recipe_builder *builder)
{
    static const char size[] = "parameters.size", *const values = path_of_values;
    const shoal_recipe *recipe = &builder->recipe;
    bool has_size = recipe->size != 0, has_values = recipe->n_values != 0;
    if (recipe->value == SHOAL_VALUE_FIELDS) {
        if (!has_size && !has_values) return SHOAL_OK;
        return shoal_builder_refuse(builder, has_size ? size : values, SHOAL_ERR_UNKNOWN_FIELD,
                                    "is not for fields: encoding says what is counted");
    }
    if (has_size && has_values)
        return shoal_builder_refuse(builder, size, SHOAL_ERR_DUPLICATE,
                                    "and values exclude each other");
    if (!has_size && !has_values)
        return shoal_builder_refuse(builder, values, SHOAL_ERR_MISSING_FIELD, "or size is needed");
    if (recipe->value == SHOAL_VALUE_NUMBER && has_values)
        return shoal_builder_refuse(builder, values, SHOAL_ERR_UNKNOWN_FIELD,
                                    "is not for numbers: their buckets are size, low and high");
    return SHOAL_OK;
}

shoal_err shoal_builder_check_value(shoal_recipe_builder *builder)
{
    uint32_t needs = builder->needs, domain = builder->domain;
    const shoal_recipe *recipe = &builder->recipe;
    if (needs & SHOAL_TAKES_POLY1 && recipe->hash != SHOAL_HASH_POLY1)
        return shoal_builder_refuse(builder, "hash", SHOAL_ERR_RANGE,
                                    "must be poly1 for open strings");
    if (needs & SHOAL_TAKES_AFFINE1 && recipe->hash != SHOAL_HASH_AFFINE1)
        return shoal_builder_refuse(builder, "hash", SHOAL_ERR_RANGE, "must be affine1 for a list");
    shoal_err err = needs & SHOAL_TAKES_LIST ? check_list(builder) : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    if (domain == SHOAL_DOMAIN_NUMBER && recipe->value != SHOAL_VALUE_NUMBER)
        return shoal_builder_refuse(builder, "value", SHOAL_ERR_RANGE,
                                    "must be number for this mechanism");
    if (recipe->value == SHOAL_VALUE_NUMBER && recipe->low_micro >= recipe->high_micro)
        return shoal_builder_refuse(builder, "parameters.low", SHOAL_ERR_RANGE,
                                    "must be below high");
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

const shoal_setter shoal_values_setter = {.add_text = add_text, .check = shoal_builder_check_value};
