// SPDX-License-Identifier: Apache-2.0
// Sets the field `encoding` of a recipe: encoding.N.field, its lists and its step.
#include "builder_fields.h"
#include "builder_step.h"
#include "carried_rows.h"
#include "encoding_characters.h"

static const char path_of_encoding[] = "encoding";

static shoal_err set_string(shoal_recipe_builder *builder, const char *path, size_t path_len,
                            const char *text, size_t len)
{
    const char *rest, *why;
    size_t n;
    uint32_t index = shoal_path_entry(path_of_encoding, path, path_len, &rest, &n);
    if (index == UINT32_MAX || !shoal_text_equal("field", rest, n))
        return shoal_builder_scalar_string(builder, path, path_len, text, len);
    shoal_err err = shoal_encoding_set_field(&builder->recipe.encoding, index, text, len, &why);
    return shoal_builder_answer(builder, "encoding.N.field", err, why);
}

// A list of an encoding, and the function that adds to it.
typedef struct list {
    const char *name, *path;
    enum shoal_encoded_list list;
    shoal_err (*add)(shoal_encoding *encoding, uint32_t index, enum shoal_encoded_list list,
                     const char *text, size_t len, const char **why);
} list;

static const list lists[] = {
    {"values", "encoding.N.values", SHOAL_LIST_VALUES, shoal_encoding_add_text},
    {"prefixes", "encoding.N.prefixes", SHOAL_LIST_PREFIXES, shoal_encoding_add_text},
    {"tokens", "encoding.N.tokens", SHOAL_LIST_TOKENS, shoal_encoding_add_text},
    SHOAL_CARRIED(
        all, {"starts", "encoding.N.starts", SHOAL_LIST_STARTS, shoal_encoding_add_characters}, )
        SHOAL_CARRIED(all,
                      {"characters", "encoding.N.characters", SHOAL_LIST_CHARACTERS,
                       shoal_encoding_add_characters}, )};

static shoal_err add_text(shoal_recipe_builder *builder, const char *path, size_t path_len,
                          const char *text, size_t len)
{
    const char *rest, *why;
    size_t n;
    uint32_t index = shoal_path_entry(path_of_encoding, path, path_len, &rest, &n);
    for (uint32_t i = 0; index != UINT32_MAX && i < sizeof lists / sizeof lists[0]; i++) {
        const list *l = &lists[i];
        if (!shoal_text_equal(l->name, rest, n)) continue;
        shoal_err err = l->add(&builder->recipe.encoding, index, l->list, text, len, &why);
        return shoal_builder_answer(builder, l->path, err, why);
    }
    return shoal_builder_refuse(builder, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                "is not a list of a recipe");
}

static shoal_err add_number(shoal_recipe_builder *builder, const char *path, size_t path_len,
                            int64_t micro)
{
    const char *rest, *why;
    size_t n;
    uint32_t index = shoal_path_entry(path_of_encoding, path, path_len, &rest, &n);
    if (index == UINT32_MAX || !shoal_text_equal("boundaries", rest, n))
        return shoal_builder_refuse(builder, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                    "is not a list of numbers");
    shoal_err err = shoal_encoding_add_boundary(&builder->recipe.encoding, index, micro, &why);
    return shoal_builder_answer(builder, "encoding.N.boundaries", err, why);
}

static shoal_err check(shoal_recipe_builder *builder)
{
    const char *why = NULL;
    shoal_recipe *recipe = &builder->recipe;
    if ((recipe->value == SHOAL_VALUE_FIELDS) != (recipe->encoding.n_fields > 0))
        return shoal_builder_refuse(builder, path_of_encoding, SHOAL_ERR_MISSING_FIELD,
                                    "and the value \"fields\" go together");
    shoal_err err = shoal_encoding_finish(&recipe->encoding, &builder->cells, &why);
    return shoal_builder_answer(builder, path_of_encoding, err, why);
}

const shoal_setter shoal_encoding_setter = {
    .set_string = set_string,
    SHOAL_CARRIED(all, .set_number = shoal_builder_set_step, ).add_text = add_text,
    .add_number = add_number,
    .check = check,
};
