// SPDX-License-Identifier: Apache-2.0
// The walk from a recipe's JSON to the core's fields; see recipe_json.h.
#include "recipe_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "json_walk.h"

#define PATH_MAX_LEN 96 // bytes of a dotted path; the longest known one has 17
#define KEYS_MAX 64     // keys of one object; a recipe's largest has 13
#define DEPTH_MAX 4

static const char values_path[] = "parameters.values";

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

int agg_unhex(uint8_t *bytes, size_t len, const char *text)
{
    if (strlen(text) != 2 * len) return 0;
    for (size_t i = 0; i < len; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return 0;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return 1;
}

static shoal_err refuse(agg_error *error, shoal_err code, const char *path, const char *why)
{
    return agg_fail(error, code, AGG_EXIT_USAGE, "%s %s", path, why);
}

// Is epsilon, in range by itself, a claim about coins that other fields describe?
static int is_claim(const shoal_recipe *recipe)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(recipe->mechanism);
    return mechanism != NULL && mechanism->is_permanent && recipe->eps_micro != 0;
}

// What the core says of its last error, under the path that it was given.
static shoal_err core_said(agg_error *error, shoal_err err, const shoal_recipe *recipe, const char *path)
{
    if (err == SHOAL_OK) return SHOAL_OK;
    const char *field = recipe->error_field != NULL ? recipe->error_field : path;
    if (err == SHOAL_ERR_RANGE && strcmp(field, "parameters.epsilon") == 0 && is_claim(recipe))
        return refuse(error, err, field, "is below what one report of these p, q, f and hashes costs");
    return refuse(error, err, field, recipe->error_text != NULL ? recipe->error_text : shoal_err_text(err));
}

int agg_text_compare(agg_text a, agg_text b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter > 0 ? memcmp(a.bytes, b.bytes, shorter) : 0;
    if (order != 0) return order;
    return (a.len > b.len) - (a.len < b.len);
}

// Copies the list's strings behind one another and gives each to the core.
static shoal_err take_values(agg_recipe *own, agg_error *error, const cJSON *list)
{
    size_t bytes = 0, n = 0;
    // The core would not see an empty list, and take it in any recipe.
    if (list->child == NULL) return refuse(error, SHOAL_ERR_MISSING_FIELD, values_path, "holds no value");
    for (const cJSON *item = list->child; item != NULL; item = item->next, n++) {
        if (!cJSON_IsString(item)) return refuse(error, SHOAL_ERR_TYPE, values_path, "must hold strings only");
        bytes += strlen(item->valuestring);
    }
    free(own->pool);
    free(own->values);
    own->pool = agg_alloc(error, bytes, 1);
    own->values = agg_alloc(error, n, sizeof *own->values);
    if (own->pool == NULL || own->values == NULL) return AGG_ERR_MEMORY;
    own->n_values = 0;
    char *at = own->pool;
    for (const cJSON *item = list->child; item != NULL; item = item->next) {
        size_t len = strlen(item->valuestring);
        shoal_err err = shoal_recipe_add_value(&own->recipe, item->valuestring, len);
        if (err != SHOAL_OK) return core_said(error, err, &own->recipe, values_path);
        memcpy(at, item->valuestring, len);
        own->values[own->n_values++] = (agg_text){at, len};
        at += len;
    }
    return SHOAL_OK;
}

typedef struct sorted_value {
    agg_text text;
    uint32_t index;
} sorted_value;

static int compare_sorted(const void *a, const void *b)
{
    return agg_text_compare(((const sorted_value *)a)->text, ((const sorted_value *)b)->text);
}

static shoal_err sort_values(agg_recipe *own, agg_error *error)
{
    shoal_err err = SHOAL_OK;
    sorted_value *pairs = agg_alloc(error, own->n_values, sizeof *pairs);
    own->sorted = agg_alloc(error, own->n_values, sizeof *own->sorted);
    if (pairs == NULL || own->sorted == NULL) {
        free(pairs);
        return AGG_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < own->n_values; i++) pairs[i] = (sorted_value){own->values[i], i};
    qsort(pairs, own->n_values, sizeof *pairs, compare_sorted);
    for (uint32_t i = 0; i < own->n_values; i++) {
        own->sorted[i] = pairs[i].index;
        if (i == 0 || agg_text_compare(pairs[i].text, pairs[i - 1].text) != 0) continue;
        err = agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE, "%s holds one value twice (entries %u and %u)",
                       values_path, pairs[i - 1].index + 1, pairs[i].index + 1);
        break;
    }
    free(pairs);
    return err;
}

static shoal_err take_scalar(agg_recipe *own, agg_error *error, const char *path, const cJSON *item)
{
    shoal_recipe *recipe = &own->recipe;
    size_t len = strlen(path);
    int64_t micro = 0;
    if (cJSON_IsString(item))
        return core_said(error,
                         shoal_recipe_set_string(recipe, path, len, item->valuestring, strlen(item->valuestring)),
                         recipe, path);
    if (cJSON_IsNumber(item)) {
        if (!agg_json_micro(&micro, item->valuedouble))
            return refuse(error, SHOAL_ERR_RANGE, path, "must have at most six decimals and 15 digits");
        return core_said(error, shoal_recipe_set_number(recipe, path, len, micro), recipe, path);
    }
    if (cJSON_IsArray(item) && strcmp(path, values_path) == 0) return take_values(own, error, item);
    return refuse(error, SHOAL_ERR_TYPE, path, "must be a string or a number");
}

// Both of two equal keys would be seen here and only the last one in JavaScript: refused, so that both read the same recipe.
static int came_before(const cJSON *object, const cJSON *item)
{
    for (const cJSON *other = object->child; other != item; other = other->next)
        if (strcmp(other->string, item->string) == 0) return 1;
    return 0;
}

// One member of `signature`: hex digits for `len` bytes.
static shoal_err take_hex(uint8_t *bytes, size_t len, agg_error *error, const char *path, const cJSON *item)
{
    if (cJSON_IsString(item) && agg_unhex(bytes, len, item->valuestring)) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "%s must be %zu lower-case hex digits", path, 2 * len);
}

static shoal_err take_signature(agg_recipe *own, agg_error *error, const cJSON *object)
{
    int has_key = 0, has_signature = 0;
    if (!cJSON_IsObject(object)) return refuse(error, SHOAL_ERR_TYPE, "signature", "must hold key and ed25519");
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        shoal_err err;
        if (strcmp(item->string, "key") == 0 && !has_key++)
            err = take_hex(own->key, sizeof own->key, error, "signature.key", item);
        else if (strcmp(item->string, "ed25519") == 0 && !has_signature++)
            err = take_hex(own->signature, sizeof own->signature, error, "signature.ed25519", item);
        else if (came_before(object, item))
            err = agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE, "signature.%.64s is given twice", item->string);
        else
            err = agg_fail(error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_USAGE, "signature.%.64s is not part of a signature",
                           item->string);
        if (err != SHOAL_OK) return err;
    }
    if (!has_key) return refuse(error, SHOAL_ERR_MISSING_FIELD, "signature.key", "is missing");
    if (!has_signature) return refuse(error, SHOAL_ERR_MISSING_FIELD, "signature.ed25519", "is missing");
    own->has_signature = 1;
    return SHOAL_OK;
}

static shoal_err walk(agg_recipe *own, agg_error *error, const char *parent, const cJSON *object, int depth)
{
    char path[PATH_MAX_LEN];
    int n_keys = 0;
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        int len = snprintf(path, sizeof path, "%s%s%s", parent, *parent != '\0' ? "." : "", item->string);
        if (len < 0 || len >= PATH_MAX_LEN || strchr(item->string, '.') != NULL || ++n_keys > KEYS_MAX)
            return refuse(error, SHOAL_ERR_UNKNOWN_FIELD, path, "is not a field of a recipe");
        if (came_before(object, item)) return refuse(error, SHOAL_ERR_DUPLICATE, path, "is given twice");
        shoal_err err = SHOAL_OK;
        if (depth == 0 && strcmp(path, "signature") == 0)
            err = take_signature(own, error, item);
        else if (!cJSON_IsObject(item))
            err = take_scalar(own, error, path, item);
        else if (depth < DEPTH_MAX && item->child != NULL) // an empty object of any name would pass unseen
            err = walk(own, error, path, item, depth + 1);
        else
            err = refuse(error, SHOAL_ERR_UNKNOWN_FIELD, path, "is not a field of a recipe");
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

static shoal_err read_fields(agg_recipe *own, agg_error *error, const cJSON *json)
{
    shoal_recipe_init(&own->recipe);
    if (!cJSON_IsObject(json)) return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "a recipe is a JSON object");
    shoal_err err = walk(own, error, "", json, 0);
    if (err == SHOAL_OK) err = core_said(error, shoal_recipe_finish(&own->recipe), &own->recipe, "the recipe");
    if (err == SHOAL_OK) err = sort_values(own, error);
    if (err != SHOAL_OK) return err;
    memcpy(own->id, own->recipe.key.bytes, own->recipe.key.len);
    agg_hex(own->hash_hex, own->recipe.recipe_hash, 32);
    return SHOAL_OK;
}

shoal_err agg_recipe_from_bytes(agg_recipe *recipe, agg_error *error, const char *name, const char *bytes, size_t len)
{
    memset(recipe, 0, sizeof *recipe);
    if (len > AGG_RECIPE_FILE_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "%s: a recipe has at most 1 MiB", name);
    recipe->json = agg_alloc(error, len + 1, 1);
    if (recipe->json == NULL) return AGG_ERR_MEMORY;
    memcpy(recipe->json, bytes, len);
    recipe->json_len = len;
    cJSON *json = agg_json_parse(error, recipe->json, len);
    shoal_err err = json != NULL ? read_fields(recipe, error, json) : AGG_ERR_JSON;
    cJSON_Delete(json);
    if (err == SHOAL_OK) return SHOAL_OK;
    if (error != NULL && err == AGG_ERR_JSON) error->exit_code = AGG_EXIT_USAGE;
    agg_error_prefix(error, "%s", name);
    agg_recipe_release(recipe);
    return err;
}

shoal_err agg_recipe_from_file(agg_recipe *recipe, agg_error *error, const char *path)
{
    agg_bytes bytes;
    shoal_err err = agg_file_read(&bytes, error, path, AGG_RECIPE_FILE_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_recipe_from_bytes(recipe, error, path, (const char *)bytes.data, bytes.len);
    free(bytes.data);
    return err;
}

void agg_recipe_release(agg_recipe *recipe)
{
    free(recipe->json);
    free(recipe->values);
    free(recipe->sorted);
    free(recipe->pool);
    memset(recipe, 0, sizeof *recipe);
}

int agg_recipe_is_closed(const agg_recipe *recipe)
{
    return recipe->recipe.parts[0].domain != SHOAL_DOMAIN_OPEN;
}

static int find_value(uint64_t *item, const agg_recipe *recipe, agg_text text)
{
    uint32_t low = 0, high = recipe->n_values;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = agg_text_compare(recipe->values[recipe->sorted[middle]], text);
        if (order == 0) {
            *item = recipe->sorted[middle];
            return 1;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

static int find_index(uint64_t *item, uint32_t size, const char *bytes, size_t len)
{
    uint64_t number = 0;
    if (len < 1 || len > 9 || (len > 1 && bytes[0] == '0')) return 0;
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] < '0' || bytes[i] > '9') return 0;
        number = number * 10 + (uint64_t)(bytes[i] - '0');
    }
    *item = number;
    return number < size;
}

int agg_decimal_micro(int64_t *micro, const char *bytes, size_t len)
{
    size_t i = len > 0 && bytes[0] == '-', n_whole = 0, n_fraction = 0;
    int64_t number = 0;
    for (; i < len && bytes[i] >= '0' && bytes[i] <= '9' && n_whole <= 12; i++, n_whole++)
        number = number * 10 + (bytes[i] - '0');
    if (i < len && bytes[i] == '.')
        for (i++; i < len && bytes[i] >= '0' && bytes[i] <= '9' && n_fraction < 6; i++, n_fraction++)
            number = number * 10 + (bytes[i] - '0');
    if (i != len || n_whole < 1 || n_whole > 12 || bytes[len - 1] == '.') return 0;
    for (; n_fraction < 6; n_fraction++) number *= 10;
    *micro = bytes[0] == '-' ? -number : number;
    return 1;
}

int agg_recipe_item(uint64_t *item, const agg_recipe *recipe, const char *bytes, size_t len)
{
    const shoal_part *part = &recipe->recipe.parts[0];
    int64_t micro = 0;
    if (recipe->recipe.value == SHOAL_VALUE_NUMBER) {
        if (!agg_decimal_micro(&micro, bytes, len)) return 0;
        *item = shoal_recipe_number_item(&recipe->recipe, micro);
        return 1;
    }
    if (!agg_recipe_is_closed(recipe)) {
        *item = shoal_part_item(part, (const uint8_t *)bytes, len);
        return 1;
    }
    if (recipe->n_values > 0) return find_value(item, recipe, (agg_text){bytes, len});
    return find_index(item, part->size, bytes, len);
}
