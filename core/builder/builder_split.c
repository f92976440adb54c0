// SPDX-License-Identifier: Apache-2.0
// Sets and checks the fields that make a recipe a query: its round, its policy, `split_by` and
// `part`.
#include "builder_fields.h"

// ---- setting ----

static const char path_of_splits[] = "split_by", path_of_part[] = "part";

static shoal_split_field *split_at(shoal_recipe *recipe, uint32_t index)
{
    if (index > recipe->n_splits || index >= SHOAL_SPLIT_MAX) return NULL;
    if (index == recipe->n_splits) recipe->n_splits++;
    return &recipe->splits[index];
}

static shoal_err set_split_field(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                 const char *text, size_t len)
{
    const char *rest, *why = SHOAL_SENTENCE("is given twice");
    size_t n;
    uint32_t index = shoal_path_entry(path_of_splits, path, path_len, &rest, &n);
    if (index == UINT32_MAX || !shoal_text_equal("field", rest, n))
        return shoal_builder_scalar_string(builder, path, path_len, text, len);
    shoal_split_field *split = split_at(&builder->recipe, index);
    if (split == NULL)
        return shoal_builder_refuse(builder, path_of_splits, SHOAL_ERR_RANGE,
                                    "has more than 2 fields, or skips one");
    shoal_err err = split->field.len != 0 ? SHOAL_ERR_DUPLICATE
                                          : shoal_name_set(&split->field, text, len, &why);
    return shoal_builder_answer(builder, "split_by.N.field", err, why);
}

static shoal_err add_split_value(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                 const char *text, size_t len)
{
    static const char values[] = "split_by.N.values";
    shoal_name name; // only to check: a value is part of a key, so it must be a name
    const char *rest, *why;
    size_t n;
    uint32_t index = shoal_path_entry(path_of_splits, path, path_len, &rest, &n);
    if (index == UINT32_MAX || !shoal_text_equal("values", rest, n))
        return shoal_builder_refuse(builder, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                    "is not a list of a recipe");
    shoal_split_field *split = split_at(&builder->recipe, index);
    if (split == NULL || split->values.count == SHOAL_SPLIT_VALUES_MAX)
        return shoal_builder_refuse(builder, path_of_splits, SHOAL_ERR_RANGE,
                                    "has more than 2 fields, or 31 values of one, or skips one");
    shoal_err err = shoal_name_set(&name, text, len, &why);
    if (err != SHOAL_OK) return shoal_builder_refuse(builder, values, err, why);
    if (shoal_text_equal("other", text, len))
        return shoal_builder_refuse(builder, values, SHOAL_ERR_DUPLICATE,
                                    "need not hold other: it is always there");
    shoal_list_add(&split->values, text, len);
    if (len > split->longest) split->longest = len;
    return SHOAL_OK;
}

static shoal_err add_part(shoal_recipe_builder *builder, const char *path, size_t path_len,
                          const char *text, size_t len)
{
    shoal_recipe *recipe = &builder->recipe;
    const char *why;
    if (path_len != sizeof path_of_part - 1)
        return shoal_builder_refuse(builder, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                    "is not a list of a recipe");
    (void)path;
    if (recipe->n_part == SHOAL_SPLIT_MAX)
        return shoal_builder_refuse(builder, path_of_part, SHOAL_ERR_RANGE, "has too many entries");
    shoal_err err = shoal_name_set(&recipe->part[recipe->n_part], text, len, &why);
    if (err == SHOAL_OK) recipe->n_part++;
    return shoal_builder_answer(builder, path_of_part, err, why);
}

// ---- checks ----

static bool is_any(const uint8_t *bytes, size_t len)
{
    uint8_t any = 0;
    for (size_t i = 0; i < len; i++) any |= bytes[i];
    return any != 0;
}

static shoal_err check_query(shoal_recipe_builder *builder)
{
    const shoal_recipe *recipe = &builder->recipe;
    bool is_query = is_any(recipe->policy, 32);
    if (is_query != (recipe->version != 0))
        return shoal_builder_refuse(builder, "version", SHOAL_ERR_MISSING_FIELD,
                                    "and policy go together");
    if (is_query && recipe->value != SHOAL_VALUE_FIELDS)
        return shoal_builder_refuse(builder, "value", SHOAL_ERR_RANGE,
                                    "must be fields for a query under a policy");
    if (is_query && recipe->cohort_eps_micro == 0)
        return shoal_builder_refuse(builder, "cohort.epsilon", SHOAL_ERR_MISSING_FIELD,
                                    "is needed by a query under a policy");
    if ((recipe->round_index > 1) != is_any(recipe->round_previous, 32))
        return shoal_builder_refuse(builder, "round.previous", SHOAL_ERR_MISSING_FIELD,
                                    "is stated from the second round on");
    // A trial is of what the page itself pins; queries and runs reach devices by other ways.
    if (recipe->trial != 0 &&
        (recipe->value == SHOAL_VALUE_FIELDS || recipe->round_index != 0 || recipe->epochs != 0))
        return shoal_builder_refuse(builder, "trial", SHOAL_ERR_RANGE,
                                    "must be 0 in queries and runs");
    return SHOAL_OK;
}

static shoal_err check_splits(shoal_recipe_builder *builder)
{
    const shoal_recipe *recipe = &builder->recipe;
    for (uint32_t i = 0; i < recipe->n_splits; i++)
        if (recipe->splits[i].field.len == 0 || recipe->splits[i].values.count == 0)
            return shoal_builder_refuse(builder, path_of_splits, SHOAL_ERR_MISSING_FIELD,
                                        "needs a field and its values in each entry");
    if (recipe->n_splits == 2 &&
        shoal_name_equal(&recipe->splits[0].field, &recipe->splits[1].field))
        return shoal_builder_refuse(builder, path_of_splits, SHOAL_ERR_DUPLICATE,
                                    "holds one field twice");
    if (recipe->n_part != 0 && recipe->n_part != recipe->n_splits)
        return shoal_builder_refuse(builder, path_of_part, SHOAL_ERR_RANGE,
                                    "has one entry for each field of split_by");
    return SHOAL_OK;
}

static const char long_key[] = "makes a key of more than 64 characters";

// Checks that the longest key of a part fits. Otherwise that part could not send reports after its
// devices have paid for them.
static shoal_err check_keys(shoal_recipe_builder *builder)
{
    const shoal_recipe *recipe = &builder->recipe;
    size_t len = recipe->recipe.len;
    for (uint32_t i = 0; i < recipe->n_splits; i++) {
        size_t longest = recipe->splits[i].longest, other = sizeof "other" - 1;
        len += 1 + (longest > other ? longest : other);
    }
    return shoal_builder_answer(builder, path_of_splits,
                                len <= SHOAL_NAME_MAX ? SHOAL_OK : SHOAL_ERR_RANGE, long_key);
}

static shoal_err check(shoal_recipe_builder *builder)
{
    shoal_err err = check_query(builder);
    if (err == SHOAL_OK) err = check_splits(builder);
    return err == SHOAL_OK ? check_keys(builder) : err;
}

static bool add_to_key(shoal_name *key, const char *bytes, size_t len)
{
    if (len > (size_t)(SHOAL_NAME_MAX - key->len)) return false;
    memcpy(key->bytes + key->len, bytes, len);
    key->len = (uint8_t)(key->len + len);
    return true;
}

static shoal_err make_key(shoal_recipe_builder *builder)
{
    shoal_recipe *recipe = &builder->recipe;
    for (uint32_t i = 0; i < recipe->n_part; i++)
        if (!add_to_key(&recipe->key, "/", 1) ||
            !add_to_key(&recipe->key, recipe->part[i].bytes, recipe->part[i].len))
            return shoal_builder_refuse(builder, path_of_part, SHOAL_ERR_RANGE, long_key);
    return SHOAL_OK;
}

const shoal_setter shoal_split_by_setter = {
    .set_string = set_split_field, .add_text = add_split_value, .check = check};
const shoal_setter shoal_part_setter = {.add_text = add_part, .check = make_key};
