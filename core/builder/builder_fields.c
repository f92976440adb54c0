// SPDX-License-Identifier: Apache-2.0
// Sets scalars by the rows of recipe_fields.def; see builder_fields.h.
#include "builder_fields.h"

#include "compound.h"

bool shoal_builder_is_misplaced(const shoal_recipe_builder *builder, size_t i)
{
    bool is_of_variable = (shoal_recipe_rows[i].flags & SHOAL_OF_VARIABLE) != 0;
    return builder->recipe.n_variables > 0 && is_of_variable != (builder->at_variable > 0);
}

shoal_err shoal_builder_state(const shoal_recipe_row **row, shoal_recipe_builder *builder,
                              const char *path, size_t path_len)
{
    for (size_t i = 0; i < shoal_recipe_n_rows; i++) {
        const char *own = shoal_recipe_rows[i].f.path;
        if (!shoal_text_equal(own, path, path_len)) continue;
        if (shoal_builder_is_misplaced(builder, i)) break;
        if (shoal_recipe_states(&builder->recipe, i))
            return shoal_builder_refuse(builder, own, SHOAL_ERR_DUPLICATE, "is given twice");
        builder->recipe.stated[i / 64] |= (uint64_t)1 << i % 64;
        *row = &shoal_recipe_rows[i];
        return SHOAL_OK;
    }
    return shoal_builder_refuse(builder, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                "is not a field of a recipe");
}

shoal_err shoal_builder_state_list(shoal_recipe_builder *builder, const char *path, bool is_first)
{
    const shoal_recipe_row *row;
    return is_first ? shoal_builder_state(&row, builder, path, text_len(path)) : SHOAL_OK;
}

shoal_err shoal_builder_scalar_number(shoal_recipe_builder *builder, const char *path,
                                      size_t path_len, int64_t micro)
{
    const char *why;
    const shoal_recipe_row *row;
    shoal_err err = shoal_builder_state(&row, builder, path, path_len);
    if (err != SHOAL_OK) return err;
    err = shoal_field_set_number(&row->f, &builder->recipe, micro, &why);
    return shoal_builder_answer(builder, row->f.path, err, why);
}

static shoal_err set_mechanism(shoal_recipe_builder *builder, const char *path, const char *text,
                               size_t len)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_name(text, len);
    const shoal_compound *compound = shoal_compound_by_name(text, len);
    if (mechanism == NULL && compound == NULL)
        return shoal_builder_refuse(builder, path, SHOAL_ERR_MECHANISM,
                                    "is unknown or not part of this build");
    builder->recipe.mechanism = mechanism != NULL ? mechanism->id : compound->id;
    return SHOAL_OK;
}

shoal_err shoal_builder_scalar_string(shoal_recipe_builder *builder, const char *path,
                                      size_t path_len, const char *text, size_t len)
{
    const char *why;
    const shoal_recipe_row *row;
    shoal_err err = shoal_builder_state(&row, builder, path, path_len);
    if (err != SHOAL_OK) return err;
    if (row->f.kind == FIELD_OTHER) return set_mechanism(builder, row->f.path, text, len);
    err = shoal_field_set_string(&row->f, &builder->recipe, text, len, &why);
    return shoal_builder_answer(builder, row->f.path, err, why);
}

shoal_err shoal_builder_refuse_number(shoal_recipe_builder *builder, const char *path,
                                      size_t path_len, int64_t micro)
{
    const shoal_recipe_row *row;
    shoal_err err = shoal_builder_state(&row, builder, path, path_len);
    (void)micro;
    if (err != SHOAL_OK) return err;
    return shoal_builder_refuse(builder, row->f.path, SHOAL_ERR_TYPE, "must be a string");
}

uint32_t shoal_path_entry(const char *head, const char *path, size_t len, const char **rest,
                          size_t *rest_len)
{
    size_t n = text_len(head);
    if (len < n + 4 || memcmp(path, head, n) != 0 || path[n] != '.' || path[n + 2] != '.')
        return UINT32_MAX;
    uint32_t index = (uint32_t)(uint8_t)path[n + 1] - '0';
    *rest = path + n + 3;
    *rest_len = len - n - 3;
    return index <= 9 ? index : UINT32_MAX;
}
