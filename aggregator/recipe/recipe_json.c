// SPDX-License-Identifier: Apache-2.0
// Hands the fields of a recipe's JSON to the core; see recipe_json.h.
#include "recipe_json.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "builder.h"
#include "front_coded.h"
#include "json_walk.h"
#include "track_law.h"

static const char values_path[] = "parameters.values", known_path[] = "parameters.known",
                  variables_path[] = "variables";

void agg_hex(char *out, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * len] = '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool agg_unhex(uint8_t *bytes, size_t len, const char *text)
{
    if (strlen(text) != 2 * len) return false;
    for (size_t i = 0; i < len; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static agg_err refuse(agg_error *error, agg_err code, const char *path, const char *why)
{
    return agg_fail(error, code, AGG_EXIT_USAGE, "%s %s", path, why);
}

// Returns: whether the recipe's epsilon only claims what other fields determine. Mechanisms with
// permanent coins are described by probabilities, and epsilon must agree with them.
static bool is_claim(const shoal_recipe *recipe)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(recipe->mechanism);
    return mechanism != NULL && mechanism->is_permanent && recipe->eps_micro != 0;
}

// A recipe that is being read.
typedef struct reading {
    agg_recipe *own; // receives the texts of lists; the builder receives everything else
    shoal_recipe_builder builder;
} reading;

// Fills the error with the core's sentence about its last error. The path is the file's own if the
// core's path leaves an entry's number open ("encoding.N.field"), and for fields of a variable,
// which the core names as if they were the recipe's.
static agg_err core_said(agg_error *error, agg_err err, const shoal_recipe_builder *builder,
                         const char *path)
{
    const shoal_recipe *recipe = &builder->recipe;
    char own[AGG_PATH_MAX];
    if (err == SHOAL_OK) return SHOAL_OK;
    const char *field = builder->error_field;
    if (field == NULL || strstr(field, ".N") != NULL) {
        field = path;
    } else if (builder->error_variable > 0 && strcmp(field, variables_path) != 0) {
        snprintf(own, sizeof own, "%s[%u].%s", variables_path, builder->error_variable - 1, field);
        field = own;
    }
    if (err == SHOAL_ERR_RANGE && strcmp(field, "parameters.epsilon") == 0 &&
        recipe->n_variables > 0)
        return refuse(error, err, variables_path, "cost more than an epsilon of 16 together");
    if (err == SHOAL_ERR_RANGE && strcmp(field, "parameters.epsilon") == 0 && is_claim(recipe))
        return refuse(error, err, field,
                      "is below what one report of these p, q, f and hashes costs");
    return refuse(error, err, field,
                  builder->error_text != NULL ? builder->error_text : shoal_err_text(err));
}

// Reads a path of the form "HEAD.N.NAME" with N below `n`. Returns: N, or n for any other path.
static unsigned entry_of(const char *head, unsigned n, const char *name, const char *path)
{
    size_t len = strlen(head);
    for (unsigned i = 0; i < n; i++)
        if (strncmp(path, head, len) == 0 && path[len] == '.' && path[len + 1] == (char)('0' + i) &&
            path[len + 2] == '.' && strcmp(path + len + 3, name) == 0)
            return i;
    return n;
}

// Returns: the list that keeps the strings of a path. NULL for `part`, which the core keeps, and
// for a path that the core will refuse.
static agg_list *place_of(agg_recipe *own, const char *path)
{
    static const char *const names[SHOAL_ENCODED_LISTS] = {"values", "prefixes", "tokens", "starts",
                                                           "characters"};
    if (strcmp(path, values_path) == 0) return &own->values;
    if (strcmp(path, known_path) == 0) return &own->known;
    for (unsigned i = 0; i < SHOAL_ENCODED_LISTS; i++) {
        unsigned field = entry_of("encoding", SHOAL_ENCODED_MAX, names[i], path);
        if (field < SHOAL_ENCODED_MAX) return &own->lists[field][i];
    }
    unsigned variable = entry_of(variables_path, SHOAL_VARIABLES_MAX, values_path, path);
    if (variable < SHOAL_VARIABLES_MAX) return &own->variables[variable];
    unsigned split = entry_of("split_by", SHOAL_SPLIT_MAX, "values", path);
    return split < SHOAL_SPLIT_MAX ? &own->splits[split] : NULL;
}

// Returns: whether the path is a list that may be written as one string (front_coded.h).
//   is_row: set to whether that string is a row of characters, not a front-coded list
static bool is_coded(const char *path, bool *is_row)
{
    *is_row = entry_of("encoding", SHOAL_ENCODED_MAX, "characters", path) < SHOAL_ENCODED_MAX;
    return *is_row || strcmp(path, known_path) == 0 ||
           entry_of("encoding", SHOAL_ENCODED_MAX, "starts", path) < SHOAL_ENCODED_MAX;
}

static agg_err take_coded(reading *r, agg_error *error, const agg_path *path, const char *text,
                          bool is_row)
{
    agg_texts texts;
    agg_text coded = {text, strlen(text)};
    size_t len = strlen(path->dotted);
    agg_err err = is_row ? agg_characters_split(&texts, error, path->shown, coded)
                         : agg_front_decode(&texts, error, path->shown, coded);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < texts.n && err == SHOAL_OK; i++)
        err = shoal_builder_add_text(&r->builder, path->dotted, len, texts.texts[i].bytes,
                                     texts.texts[i].len);
    err = core_said(error, err, &r->builder, path->shown);
    if (err == SHOAL_OK)
        err =
            agg_list_copy(place_of(r->own, path->dotted), error, path->shown, texts.texts, texts.n);
    agg_texts_release(&texts);
    return err;
}

static agg_err take_string(void *context, agg_error *error, const agg_path *path, const char *text)
{
    reading *r = context;
    bool is_row = false;
    if (is_coded(path->dotted, &is_row)) return take_coded(r, error, path, text, is_row);
    agg_err err = shoal_builder_set_string(&r->builder, path->dotted, strlen(path->dotted), text,
                                           strlen(text));
    return core_said(error, err, &r->builder, path->shown);
}

// Returns: the path of a variable's field without "variables.N.", since its range is that of the
// recipe's own field of that name.
static const char *own_name(const char *path)
{
    size_t head = sizeof variables_path - 1;
    return strncmp(path, variables_path, head) == 0 && strlen(path) > head + 3 ? path + head + 3
                                                                               : path;
}

static agg_err take_number(void *context, agg_error *error, const agg_path *path, int64_t micro)
{
    reading *r = context;
    size_t len = strlen(path->dotted);
    int64_t low = 0, high = 0;
    agg_err err = shoal_builder_set_number(&r->builder, path->dotted, len, micro);
    const char *name = own_name(path->dotted);
    if (err == SHOAL_ERR_RANGE && shoal_builder_range(&low, &high, name, strlen(name)))
        return agg_fail(error, err, AGG_EXIT_USAGE, "%s must be from %.15g to %.15g", path->shown,
                        (double)low / 1e6, (double)high / 1e6);
    return core_said(error, err, &r->builder, path->shown);
}

static agg_err add_number(shoal_recipe_builder *builder, const agg_path *path, agg_error *error,
                          double x)
{
    int64_t micro = 0;
    if (!agg_json_micro(&micro, x))
        return refuse(error, SHOAL_ERR_RANGE, path->shown,
                      "must hold numbers of at most six decimals and 15 digits");
    return core_said(error,
                     shoal_builder_add_number(builder, path->dotted, strlen(path->dotted), micro),
                     builder, path->shown);
}

static agg_err take_list(void *context, agg_error *error, const agg_path *path, const cJSON *array)
{
    reading *r = context;
    agg_list *kept = place_of(r->own, path->dotted);
    agg_err err = SHOAL_OK;
    if (kept != NULL && cJSON_IsNumber(array->child))
        return refuse(error, SHOAL_ERR_TYPE, path->shown, "must hold strings only");
    for (const cJSON *item = array->child; item != NULL && err == SHOAL_OK; item = item->next) {
        if (cJSON_IsNumber(item))
            err = add_number(&r->builder, path, error, item->valuedouble);
        else
            err = core_said(error,
                            shoal_builder_add_text(&r->builder, path->dotted, strlen(path->dotted),
                                                   item->valuestring, strlen(item->valuestring)),
                            &r->builder, path->shown);
    }
    return err == SHOAL_OK && kept != NULL ? agg_list_take(kept, error, path->shown, array) : err;
}

// Takes one member of `signature`, which must be hex digits of `len` bytes.
static agg_err take_hex(uint8_t *bytes, size_t len, agg_error *error, const char *path,
                        const cJSON *item)
{
    if (cJSON_IsString(item) && agg_unhex(bytes, len, item->valuestring)) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "%s must be %zu lower-case hex digits",
                    path, 2 * len);
}

static agg_err take_signature(agg_recipe *own, agg_error *error, const cJSON *object)
{
    uint32_t n_keys = 0, n_signatures = 0;
    if (!cJSON_IsObject(object))
        return refuse(error, SHOAL_ERR_TYPE, "signature", "must hold key and ed25519");
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        agg_err err;
        if (strcmp(item->string, "key") == 0 && n_keys++ == 0)
            err = take_hex(own->key, sizeof own->key, error, "signature.key", item);
        else if (strcmp(item->string, "ed25519") == 0 && n_signatures++ == 0)
            err = take_hex(own->signature, sizeof own->signature, error, "signature.ed25519", item);
        else if (agg_json_came_before(object, item))
            err = agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                           "signature.%.64s is given twice", item->string);
        else
            err = agg_fail(error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_USAGE,
                           "signature.%.64s is not part of a signature", item->string);
        if (err != SHOAL_OK) return err;
    }
    if (n_keys == 0) return refuse(error, SHOAL_ERR_MISSING_FIELD, "signature.key", "is missing");
    if (n_signatures == 0)
        return refuse(error, SHOAL_ERR_MISSING_FIELD, "signature.ed25519", "is missing");
    own->has_signature = true;
    return SHOAL_OK;
}

// Refuses a part that no device sends to: one with a value that its split field does not list.
static agg_err check_part(const agg_recipe *own, agg_error *error)
{
    const shoal_recipe *r = own->recipe;
    for (uint32_t i = 0; i < r->n_part; i++) {
        agg_text entry = {r->part[i].bytes, r->part[i].len};
        if (agg_list_find(&own->splits[i], entry) != AGG_NOT_LISTED) continue;
        if (entry.len == 5 && memcmp(entry.bytes, "other", 5) == 0) continue;
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "part[%u] is neither a value that split_by[%u] lists nor \"other\"", i, i);
    }
    return SHOAL_OK;
}

// Explains why a run over epochs is impossible. The core only names the field; this adds the
// smallest numbers that would do.
static agg_err say_why_not(agg_error *error, const shoal_recipe *recipe)
{
    char why[AGG_TRACK_WHY_MAX];
    agg_track_law law;
    shoal_evolving_plan plan = shoal_evolving_stated(recipe);
    agg_track_law_of(&law, &plan);
    if (law.fault == AGG_TRACK_RUNS || law.fault == AGG_TRACK_OTHER) return SHOAL_ERR_RANGE;
    agg_track_why_not(why, &law);
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "%s", why);
}

static agg_err finish(reading *r, agg_error *error)
{
    shoal_recipe *recipe = agg_alloc(error, 1, sizeof *recipe);
    if (recipe == NULL) return AGG_ERR_MEMORY;
    r->own->recipe = recipe;
    return core_said(error, shoal_builder_finish(recipe, &r->builder), &r->builder, "the recipe");
}

static agg_err read_fields(agg_recipe *own, agg_error *error, const cJSON *json)
{
    reading r = {.own = own};
    const agg_json_sink sink = {"a recipe", "signature", &r, take_string, take_number, take_list};
    shoal_builder_init(&r.builder);
    if (!cJSON_IsObject(json))
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "a recipe is a JSON object");
    const cJSON *signature = cJSON_GetObjectItemCaseSensitive(json, "signature");
    agg_err err = agg_json_walk(error, &sink, json);
    if (err == SHOAL_OK && signature != NULL) err = take_signature(own, error, signature);
    if (err == SHOAL_OK) err = finish(&r, error);
    if (err == SHOAL_ERR_RANGE && r.builder.recipe.epochs > 0)
        err = say_why_not(error, &r.builder.recipe);
    if (err == SHOAL_OK) err = check_part(own, error);
    if (err != SHOAL_OK) return err;
    memcpy(own->id, own->recipe->key.bytes, own->recipe->key.len);
    agg_hex(own->hash_hex, own->recipe->recipe_hash, 32);
    return SHOAL_OK;
}

agg_err agg_recipe_from_bytes(agg_recipe *recipe, agg_error *error, const char *name,
                              const char *bytes, size_t len)
{
    memset(recipe, 0, sizeof *recipe);
    if (len > AGG_RECIPE_FILE_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "%s: a recipe has at most 1 MiB",
                        name);
    recipe->json = agg_alloc(error, len + 1, 1);
    if (recipe->json == NULL) return AGG_ERR_MEMORY;
    memcpy(recipe->json, bytes, len);
    recipe->json_len = len;
    cJSON *json = agg_json_parse(error, recipe->json, len);
    agg_err err = json != NULL ? read_fields(recipe, error, json) : agg_json_refusal(error);
    cJSON_Delete(json);
    if (err == SHOAL_OK) return SHOAL_OK;
    if (error != NULL && err == AGG_ERR_JSON) error->exit_code = AGG_EXIT_USAGE;
    agg_error_prefix(error, "%s", name);
    agg_recipe_release(recipe);
    return err;
}

agg_err agg_recipe_from_file(agg_recipe *recipe, agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, AGG_RECIPE_FILE_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_recipe_from_bytes(recipe, error, path, (const char *)bytes.data, bytes.len);
    free(bytes.data);
    return err;
}

void agg_recipe_release(agg_recipe *recipe)
{
    free((void *)recipe->recipe);
    free(recipe->json);
    agg_list_release(&recipe->values);
    for (size_t i = 0; i < SHOAL_ENCODED_MAX; i++)
        for (size_t j = 0; j < SHOAL_ENCODED_LISTS; j++) agg_list_release(&recipe->lists[i][j]);
    for (size_t i = 0; i < SHOAL_SPLIT_MAX; i++) agg_list_release(&recipe->splits[i]);
    agg_list_release(&recipe->known);
    for (size_t i = 0; i < SHOAL_VARIABLES_MAX; i++) agg_list_release(&recipe->variables[i]);
    memset(recipe, 0, sizeof *recipe);
}

// Returns: whether the recipe's means are those of projected strings (heavythresh), not of numbers.
static bool is_projected(const shoal_recipe *recipe)
{
    return recipe->n_variables == 0 && recipe->value != SHOAL_VALUE_NUMBER &&
           shoal_recipe_value_part(recipe)->domain == SHOAL_DOMAIN_NUMBER;
}

bool agg_recipe_is_closed(const agg_recipe *recipe)
{
    const shoal_recipe *r = recipe->recipe;
    if (r->value == SHOAL_VALUE_VARIABLES) return false; // variables have lists of their own
    return shoal_recipe_value_part(r)->domain != SHOAL_DOMAIN_OPEN && !is_projected(r);
}

static bool find_value(uint64_t *item, const agg_list *values, agg_text text)
{
    uint32_t index = agg_list_find(values, text);
    *item = index;
    return index != AGG_NOT_LISTED;
}

static bool find_index(uint64_t *item, uint32_t size, const char *bytes, size_t len)
{
    uint64_t number = 0;
    if (len < 1 || len > 9 || (len > 1 && bytes[0] == '0')) return false;
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] < '0' || bytes[i] > '9') return false;
        number = number * 10 + (uint64_t)(bytes[i] - '0');
    }
    *item = number;
    return number < size;
}

bool agg_decimal_micro(int64_t *micro, const char *bytes, size_t len)
{
    size_t i = len > 0 && bytes[0] == '-', n_whole = 0, n_fraction = 0;
    int64_t number = 0;
    for (; i < len && bytes[i] >= '0' && bytes[i] <= '9' && n_whole <= 12; i++, n_whole++)
        number = number * 10 + (bytes[i] - '0');
    if (i < len && bytes[i] == '.')
        for (i++; i < len && bytes[i] >= '0' && bytes[i] <= '9' && n_fraction < 6;
             i++, n_fraction++)
            number = number * 10 + (bytes[i] - '0');
    if (i != len || n_whole < 1 || n_whole > 12 || bytes[len - 1] == '.') return false;
    for (; n_fraction < 6; n_fraction++) number *= 10;
    *micro = bytes[0] == '-' ? -number : number;
    return true;
}

int agg_micro_print(char out[AGG_MICRO_MAX], int64_t micro)
{
    uint64_t size = micro < 0 ? 0 - (uint64_t)micro : (uint64_t)micro;
    int len = snprintf(out, AGG_MICRO_MAX, "%s%llu.%06llu", micro < 0 ? "-" : "",
                       (unsigned long long)(size / 1000000), (unsigned long long)(size % 1000000));
    while (out[len - 1] == '0') len--;
    if (out[len - 1] == '.') len--;
    out[len] = '\0';
    return len;
}

// Finds the item of a text in a part. `values` lists the texts that the part takes; it is empty for
// an open part and for a list of indices.
static bool find_item(uint64_t *item, const shoal_part *part, const agg_list *values,
                      const char *bytes, size_t len)
{
    if (part->domain == SHOAL_DOMAIN_OPEN) {
        *item = shoal_part_item(part, (const uint8_t *)bytes, len);
        return true;
    }
    if (values->n > 0) return find_value(item, values, (agg_text){bytes, len});
    return find_index(item, part->size, bytes, len);
}

bool agg_recipe_item(uint64_t *item, const agg_recipe *recipe, const char *bytes, size_t len)
{
    const shoal_recipe *r = recipe->recipe;
    int64_t micro = 0;
    if (r->n_variables > 0)
        return agg_recipe_variable_item(item, recipe, r->value_part, bytes, len);
    if (is_projected(r)) {
        *item = shoal_part_item(shoal_recipe_value_part(r), (const uint8_t *)bytes, len);
        return true;
    }
    if (r->value != SHOAL_VALUE_NUMBER)
        return find_item(item, shoal_recipe_value_part(r), &recipe->values, bytes, len);
    if (!agg_decimal_micro(&micro, bytes, len)) return false;
    *item = shoal_recipe_number_item(r, micro);
    return true;
}

uint32_t agg_recipe_find_variable(const agg_recipe *recipe, const char *name, size_t len)
{
    const shoal_recipe *r = recipe->recipe;
    uint32_t i = 0;
    while (i < r->n_variables &&
           (r->variables[i].name.len != len || memcmp(r->variables[i].name.bytes, name, len) != 0))
        i++;
    return i;
}

bool agg_recipe_variable_item(uint64_t *item, const agg_recipe *recipe, uint32_t i,
                              const char *bytes, size_t len)
{
    const shoal_recipe *r = recipe->recipe;
    int64_t micro = 0;
    if (r->variables[i].value != SHOAL_VALUE_NUMBER)
        return find_item(item, &r->parts[i], &recipe->variables[i], bytes, len);
    if (!agg_decimal_micro(&micro, bytes, len)) return false;
    *item = shoal_variable_number_item(r, i, micro);
    return true;
}

agg_recipe *agg_recipe_of_variable(agg_error *error, const agg_recipe *recipe, uint32_t i)
{
    typedef struct view {
        agg_recipe recipe; // first, so that free of the one releases both
        shoal_recipe own;
    } view;
    const shoal_variable *variable = &recipe->recipe->variables[i];
    view *v = agg_alloc(error, 1, sizeof *v);
    if (v == NULL) return NULL;
    v->own = *recipe->recipe;
    v->own.value = variable->value;
    v->own.low_micro = variable->low_micro;
    v->own.high_micro = variable->high_micro;
    v->own.value_part = i;
    v->recipe = *recipe;
    v->recipe.recipe = &v->own;
    v->recipe.values = recipe->variables[i];
    return &v->recipe;
}
