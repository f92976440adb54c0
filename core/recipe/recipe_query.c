// SPDX-License-Identifier: Apache-2.0
// What makes a recipe a query: its encoding, rounds, split and place under a policy; see
// recipe_query.h and recipe.h.
//
// In the canonical bytes: field 42 holds, for each entry of the encoding, its name (length in 1
// byte), scheme (1), number of boundaries (u32), each boundary as 8 bytes, and its lists of values,
// prefixes and tokens, each as number (u32) and digest (32), and of characters the step (u32);
// field 43, for each entry of split_by, its name and list of values; field 44 the entries of
// `part`, each prefixed by its length (1). An absent one is left out.
#include "recipe_query.h"

#include "bytes.h"
#include "recipe_compound.h"
#include "recipe_variables.h"

#define TAG_ENCODING 42
#define TAG_SPLIT_BY 43
#define TAG_PART 44

// ---- the lists of a query ----

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

static shoal_split_field *split_at(shoal_recipe *recipe, uint32_t index)
{
    if (index > recipe->n_splits || index >= SHOAL_SPLIT_MAX) return NULL;
    if (index == recipe->n_splits) recipe->n_splits++;
    return &recipe->splits[index];
}

static shoal_err set_split_field(shoal_recipe *recipe, uint32_t index, const char *text, size_t len)
{
    const char *why = SHOAL_SENTENCE("is given twice");
    shoal_split_field *split = split_at(recipe, index);
    if (split == NULL)
        return shoal_recipe_refuse(recipe, "split_by", SHOAL_ERR_RANGE,
                                   "has more than 2 fields, or skips one");
    shoal_err err = split->field.len != 0 ? SHOAL_ERR_DUPLICATE
                                          : shoal_name_set(&split->field, text, len, &why);
    return err == SHOAL_OK ? SHOAL_OK : shoal_recipe_refuse(recipe, "split_by.N.field", err, why);
}

int shoal_query_set_string(shoal_recipe *recipe, const char *path, size_t path_len,
                           const char *text, size_t len, shoal_err *err)
{
    const char *rest, *why;
    size_t n;
    uint32_t index = shoal_path_entry("encoding", path, path_len, &rest, &n);
    if (index != UINT32_MAX && shoal_text_equal("field", rest, n)) {
        *err = shoal_encoding_set_field(&recipe->encoding, index, text, len, &why);
        if (*err != SHOAL_OK) shoal_recipe_refuse(recipe, "encoding.N.field", *err, why);
        return 1;
    }
    index = shoal_path_entry("split_by", path, path_len, &rest, &n);
    if (index == UINT32_MAX || !shoal_text_equal("field", rest, n)) return 0;
    *err = set_split_field(recipe, index, text, len);
    return 1;
}

#ifndef SHOAL_WITHOUT_COMPOUNDS
int shoal_query_set_number(shoal_recipe *recipe, const char *path, size_t path_len, int64_t micro,
                           shoal_err *err)
{
    const char *rest, *why = SHOAL_SENTENCE("must be from 1 to 4 characters");
    size_t n;
    uint32_t index = shoal_path_entry("encoding", path, path_len, &rest, &n);
    if (index == UINT32_MAX || !shoal_text_equal("step", rest, n)) return 0;
    int is_whole =
        micro >= 1000000 && micro <= 1000000 * (int64_t)SHOAL_STEP_MAX && micro % 1000000 == 0;
    *err = is_whole ? shoal_encoding_set_step(&recipe->encoding, index, (uint32_t)(micro / 1000000),
                                              &why)
                    : SHOAL_ERR_RANGE;
    if (*err != SHOAL_OK) shoal_recipe_refuse(recipe, "encoding.N.step", *err, why);
    return 1;
}
#endif

static shoal_err add_split_value(shoal_recipe *recipe, uint32_t index, const char *text, size_t len)
{
    shoal_name name; // a value is part of a key
    const char *why;
    shoal_split_field *split = split_at(recipe, index);
    if (split == NULL || split->values.count == SHOAL_SPLIT_VALUES_MAX)
        return shoal_recipe_refuse(recipe, "split_by", SHOAL_ERR_RANGE,
                                   "has more than 2 fields, or 31 values of one, or skips one");
    shoal_err err = shoal_name_set(&name, text, len, &why);
    if (err != SHOAL_OK) return shoal_recipe_refuse(recipe, "split_by.N.values", err, why);
    if (shoal_text_equal("other", text, len))
        return shoal_recipe_refuse(recipe, "split_by.N.values", SHOAL_ERR_DUPLICATE,
                                   "need not hold other: it is always there");
    shoal_list_add(&split->values, text, len);
    if (len > split->longest) split->longest = len;
    return SHOAL_OK;
}

static shoal_err add_part(shoal_recipe *recipe, const char *text, size_t len)
{
    const char *why;
    if (recipe->n_part == SHOAL_SPLIT_MAX)
        return shoal_recipe_refuse(recipe, "part", SHOAL_ERR_RANGE, "has too many entries");
    shoal_err err = shoal_name_set(&recipe->part[recipe->n_part], text, len, &why);
    if (err != SHOAL_OK) return shoal_recipe_refuse(recipe, "part", err, why);
    recipe->n_part++;
    return SHOAL_OK;
}

shoal_err shoal_recipe_add_text(shoal_recipe *recipe, const char *path, size_t path_len,
                                const char *text, size_t len)
{
    static const char *const names[] = {
        "values", "prefixes",   "tokens",
#ifndef SHOAL_WITHOUT_COMPOUNDS
        "starts", "characters",
#endif
    };
    static const char *const paths[] = {"encoding.N.values", "encoding.N.prefixes",
                                        "encoding.N.tokens", "encoding.N.starts",
                                        "encoding.N.characters"};
    const char *rest = path, *why;
    size_t n = 0;
#ifndef SHOAL_WITHOUT_COMPOUNDS
    shoal_err entered = shoal_variables_enter(recipe, &path, &path_len);
    if (entered != SHOAL_OK) return entered;
    if (recipe->at_variable > 0 && shoal_text_equal("parameters.values", path, path_len))
        return shoal_recipe_add_own_value(recipe, text, len);
#endif
    if (shoal_text_equal("part", path, path_len)) return add_part(recipe, text, len);
#ifndef SHOAL_WITHOUT_COMPOUNDS
    if (shoal_text_equal("parameters.known", path, path_len))
        return shoal_compound_add_known(recipe, text, len);
#endif
    uint32_t index = shoal_path_entry("encoding", path, path_len, &rest, &n);
    for (uint32_t i = 0; index != UINT32_MAX && i < sizeof names / sizeof names[0]; i++) {
        if (!shoal_text_equal(names[i], rest, n)) continue;
        shoal_err err = shoal_encoding_add_text(&recipe->encoding, index,
                                                (enum shoal_encoded_list)i, text, len, &why);
        return err == SHOAL_OK ? SHOAL_OK : shoal_recipe_refuse(recipe, paths[i], err, why);
    }
    index = shoal_path_entry("split_by", path, path_len, &rest, &n);
    if (index != UINT32_MAX && shoal_text_equal("values", rest, n))
        return add_split_value(recipe, index, text, len);
    return shoal_recipe_refuse(recipe, NULL, SHOAL_ERR_UNKNOWN_FIELD, "is not a list of a recipe");
}

shoal_err shoal_recipe_add_number(shoal_recipe *recipe, const char *path, size_t path_len,
                                  int64_t micro)
{
    const char *rest = path, *why;
    size_t n = 0;
    uint32_t index = shoal_path_entry("encoding", path, path_len, &rest, &n);
    if (index == UINT32_MAX || !shoal_text_equal("boundaries", rest, n))
        return shoal_recipe_refuse(recipe, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                   "is not a list of numbers");
    shoal_err err = shoal_encoding_add_boundary(&recipe->encoding, index, micro, &why);
    return err == SHOAL_OK ? SHOAL_OK
                           : shoal_recipe_refuse(recipe, "encoding.N.boundaries", err, why);
}

// ---- checks ----

static int is_any(const uint8_t *bytes, size_t len)
{
    uint8_t any = 0;
    for (size_t i = 0; i < len; i++) any |= bytes[i];
    return any != 0;
}

static shoal_err check_encoding(shoal_recipe *recipe, uint32_t *cells)
{
    const char *why = NULL;
    if ((recipe->value == SHOAL_VALUE_FIELDS) != (recipe->encoding.n_fields > 0))
        return shoal_recipe_refuse(recipe, "encoding", SHOAL_ERR_MISSING_FIELD,
                                   "and the value \"fields\" go together");
    shoal_err err = shoal_encoding_finish(&recipe->encoding, cells, &why);
    return err == SHOAL_OK ? SHOAL_OK : shoal_recipe_refuse(recipe, "encoding", err, why);
}

// What makes a recipe a query, and one of several rounds.
static shoal_err check_query(shoal_recipe *recipe)
{
    int is_query = is_any(recipe->policy, 32);
    if (is_query != (recipe->version != 0))
        return shoal_recipe_refuse(recipe, "version", SHOAL_ERR_MISSING_FIELD,
                                   "and policy go together");
    if (is_query && recipe->value != SHOAL_VALUE_FIELDS)
        return shoal_recipe_refuse(recipe, "value", SHOAL_ERR_RANGE,
                                   "must be fields for a query under a policy");
    if (is_query && recipe->cohort_eps_micro == 0)
        return shoal_recipe_refuse(recipe, "cohort.epsilon", SHOAL_ERR_MISSING_FIELD,
                                   "is needed by a query under a policy");
    if ((recipe->round_index > 1) != is_any(recipe->round_previous, 32))
        return shoal_recipe_refuse(recipe, "round.previous", SHOAL_ERR_MISSING_FIELD,
                                   "is stated from the second round on");
    return SHOAL_OK;
}

static shoal_err check_splits(shoal_recipe *recipe)
{
    for (uint32_t i = 0; i < recipe->n_splits; i++)
        if (recipe->splits[i].field.len == 0 || recipe->splits[i].values.count == 0)
            return shoal_recipe_refuse(recipe, "split_by", SHOAL_ERR_MISSING_FIELD,
                                       "needs a field and its values in each entry");
    if (recipe->n_splits == 2 &&
        shoal_name_equal(&recipe->splits[0].field, &recipe->splits[1].field))
        return shoal_recipe_refuse(recipe, "split_by", SHOAL_ERR_DUPLICATE,
                                   "holds one field twice");
    if (recipe->n_part != 0 && recipe->n_part != recipe->n_splits)
        return shoal_recipe_refuse(recipe, "part", SHOAL_ERR_RANGE,
                                   "has one entry for each field of split_by");
    return SHOAL_OK;
}

static const char long_key[] = "makes a key of more than 64 characters";

// A part without a key could not send, when its devices have paid.
static shoal_err check_keys(shoal_recipe *recipe)
{
    size_t len = recipe->recipe.len;
    for (uint32_t i = 0; i < recipe->n_splits; i++) {
        size_t longest = recipe->splits[i].longest, other = sizeof "other" - 1;
        len += 1 + (longest > other ? longest : other);
    }
    return len <= SHOAL_NAME_MAX
               ? SHOAL_OK
               : shoal_recipe_refuse(recipe, "split_by", SHOAL_ERR_RANGE, long_key);
}

static int add_to_key(shoal_name *key, const char *bytes, size_t len)
{
    if (len > (size_t)(SHOAL_NAME_MAX - key->len)) return 0;
    memcpy(key->bytes + key->len, bytes, len);
    key->len = (uint8_t)(key->len + len);
    return 1;
}

static shoal_err make_key(shoal_recipe *recipe)
{
    recipe->key = recipe->recipe;
    for (uint32_t i = 0; i < recipe->n_part; i++)
        if (!add_to_key(&recipe->key, "/", 1) ||
            !add_to_key(&recipe->key, recipe->part[i].bytes, recipe->part[i].len))
            return shoal_recipe_refuse(recipe, "part", SHOAL_ERR_RANGE, long_key);
    return SHOAL_OK;
}

shoal_err shoal_query_finish(shoal_recipe *recipe, uint32_t *cells)
{
    shoal_err err = check_encoding(recipe, cells);
    if (err == SHOAL_OK) err = check_query(recipe);
    if (err == SHOAL_OK) err = check_splits(recipe);
    if (err == SHOAL_OK) err = check_keys(recipe);
    return err == SHOAL_OK ? make_key(recipe) : err;
}

// ---- canonical bytes ----

static void put_encoded(shoal_canonical *w, const shoal_encoded *e)
{
    uint8_t scheme = (uint8_t)e->scheme, bytes[8];
    shoal_canonical_name(w, &e->field);
    shoal_canonical_put(w, &scheme, 1);
    shoal_canonical_number(w, e->n_boundaries);
    for (uint32_t i = 0; i < e->n_boundaries; i++) {
        store64_be(bytes, (uint64_t)e->boundaries[i]);
        shoal_canonical_put(w, bytes, sizeof bytes);
    }
    shoal_canonical_list(w, &e->values);
    shoal_canonical_list(w, &e->prefixes);
    shoal_canonical_list(w, &e->tokens);
#ifndef SHOAL_WITHOUT_COMPOUNDS
    if (e->scheme == SHOAL_SCHEME_CHARACTERS) shoal_canonical_number(w, e->step > 0 ? e->step : 1);
#endif
}

void shoal_query_put(shoal_canonical *w, const shoal_recipe *recipe, int with_part)
{
    size_t start;
    if (recipe->encoding.n_fields > 0) {
        start = shoal_canonical_open(w, TAG_ENCODING);
        for (uint32_t i = 0; i < recipe->encoding.n_fields; i++)
            put_encoded(w, &recipe->encoding.fields[i]);
        shoal_canonical_close(w, start);
    }
    if (recipe->n_splits > 0) {
        start = shoal_canonical_open(w, TAG_SPLIT_BY);
        for (uint32_t i = 0; i < recipe->n_splits; i++) {
            shoal_canonical_name(w, &recipe->splits[i].field);
            shoal_canonical_list(w, &recipe->splits[i].values);
        }
        shoal_canonical_close(w, start);
    }
    if (recipe->n_part > 0 && with_part) {
        start = shoal_canonical_open(w, TAG_PART);
        for (uint32_t i = 0; i < recipe->n_part; i++) shoal_canonical_name(w, &recipe->part[i]);
        shoal_canonical_close(w, start);
    }
}
