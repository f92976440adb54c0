// SPDX-License-Identifier: Apache-2.0
// The next round's recipe; see next_recipe.h.
#include "next_recipe.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front_coded.h"
#include "json_walk.h"
#include "mechanism.h"

static agg_err no_memory(agg_error *error)
{
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
}

// Replaces a member in its place, or appends it. Takes ownership of `value`; NULL means out of
// memory.
static agg_err put(cJSON *object, agg_error *error, const char *name, cJSON *value)
{
    bool is_there = cJSON_GetObjectItemCaseSensitive(object, name) != NULL, is_put = false;
    if (value != NULL)
        is_put = is_there ? cJSON_ReplaceItemInObjectCaseSensitive(object, name, value)
                          : cJSON_AddItemToObject(object, name, value);
    if (is_put) return SHOAL_OK;
    cJSON_Delete(value);
    return no_memory(error);
}

static agg_err put_text(cJSON *object, agg_error *error, const char *name, const char *text)
{
    return put(object, error, name, cJSON_CreateString(text));
}

static agg_err put_texts(cJSON *object, agg_error *error, const char *name, const agg_text *texts,
                         size_t n)
{
    char text[SHOAL_TOKEN_TEXT_MAX + 1];
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < n && array != NULL; i++) {
        snprintf(text, sizeof text, "%.*s", (int)texts[i].len, texts[i].bytes);
        if (cJSON_AddItemToArray(array, cJSON_CreateString(text))) continue;
        cJSON_Delete(array);
        array = NULL;
    }
    return put(object, error, name, array);
}

// Prints millionths as a decimal from integers, since printing a double could show rounding errors.
static cJSON *create_micro(int64_t micro)
{
    char text[AGG_MICRO_MAX];
    agg_micro_print(text, micro);
    return cJSON_CreateRaw(text);
}

static agg_err put_boundaries(cJSON *object, agg_error *error, const int64_t *boundaries, size_t n)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < n && array != NULL; i++) {
        if (cJSON_AddItemToArray(array, create_micro(boundaries[i]))) continue;
        cJSON_Delete(array);
        array = NULL;
    }
    return put(object, error, "boundaries", array);
}

// Returns: whether a reader that parses the decimal as a double gets the same millionths. Above
// 9 * 10^9 some are lost.
static bool is_exact(int64_t micro)
{
    char text[AGG_MICRO_MAX];
    int64_t again = 0;
    agg_micro_print(text, micro);
    return agg_json_micro(&again, strtod(text, NULL)) && again == micro;
}

static agg_err check_boundaries(agg_error *error, const agg_next_recipe *next)
{
    char text[AGG_MICRO_MAX];
    for (size_t i = 0; i < next->n_boundaries; i++) {
        if (is_exact(next->boundaries[i])) continue;
        agg_micro_print(text, next->boundaries[i]);
        return agg_fail(
            error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
            "the boundary %s has more digits than a JSON number holds: ask for fewer buckets",
            text);
    }
    return SHOAL_OK;
}

// ---- a trie's ----

static agg_err put_coded(cJSON *object, agg_error *error, const char *name, const agg_text *texts,
                         size_t n)
{
    char *coded = NULL;
    size_t len = 0;
    agg_err err = agg_front_encode(&coded, &len, error, texts, n);
    if (err == SHOAL_OK) err = put_text(object, error, name, coded);
    free(coded);
    return err;
}

static agg_err put_sample(cJSON *root, agg_error *error, double sample)
{
    cJSON *send = cJSON_GetObjectItemCaseSensitive(root, "send");
    if (send == NULL) send = cJSON_AddObjectToObject(root, "send");
    if (send == NULL) return no_memory(error);
    return put(send, error, "sample", create_micro((int64_t)(sample * 1e6 + 0.5)));
}

static agg_err put_trie(cJSON *root, agg_error *error, const agg_next_recipe *next)
{
    cJSON *field =
        cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "encoding"), (int)next->field);
    cJSON *parameters = cJSON_GetObjectItemCaseSensitive(root, "parameters");
    agg_err err = put_coded(field, error, "starts", next->starts, next->n_starts);
    if (err == SHOAL_OK) err = put(field, error, "step", cJSON_CreateNumber(next->step));
    if (err == SHOAL_OK && next->n_known > 0)
        err = put_coded(parameters, error, "known", next->known, next->n_known);
    if (err == SHOAL_OK &&
        (next->pass > 1 || cJSON_GetObjectItemCaseSensitive(parameters, "pass") != NULL))
        err = put(parameters, error, "pass", cJSON_CreateNumber(next->pass));
    return err == SHOAL_OK ? put_sample(root, error, next->sample) : err;
}

static agg_err put_field(cJSON *root, agg_error *error, const agg_next_recipe *next)
{
    cJSON *fields = cJSON_GetObjectItemCaseSensitive(root, "encoding");
    cJSON *field = cJSON_GetArrayItem(fields, (int)next->field);
    agg_err err = check_boundaries(error, next);
    if (err == SHOAL_OK && next->n_prefixes > 0)
        err = put_texts(field, error, "prefixes", next->prefixes, next->n_prefixes);
    if (err == SHOAL_OK && next->tokens != NULL)
        err = put_texts(field, error, "tokens", next->tokens, next->n_tokens);
    if (err == SHOAL_OK && next->n_boundaries > 0)
        err = put_boundaries(field, error, next->boundaries, next->n_boundaries);
    if (err == SHOAL_OK && next->n_starts > 0) err = put_trie(root, error, next);
    return err;
}

// Counts the id up: "ngrams-1" of round 1 gives "ngrams-2"; any other id gets "-2" appended.
static agg_err put_id(cJSON *root, agg_error *error, const agg_recipe *recipe,
                      const agg_next_recipe *next)
{
    const shoal_name *id = &recipe->recipe.recipe;
    uint32_t round = recipe->recipe.round_index;
    char end[16], text[SHOAL_NAME_MAX + sizeof end];
    size_t len = id->len, end_len = (size_t)snprintf(end, sizeof end, "-%u", round);
    if (next->id != NULL) return put_text(root, error, "recipe", next->id);
    if (len > end_len && memcmp(id->bytes + len - end_len, end, end_len) == 0) len -= end_len;
    snprintf(text, sizeof text, "%.*s-%u", (int)len, id->bytes, round + 1);
    return put_text(root, error, "recipe", text);
}

static agg_err put_round(cJSON *root, agg_error *error, const agg_recipe *recipe)
{
    char previous[65];
    cJSON *round = cJSON_CreateObject();
    agg_hex(previous, recipe->recipe.query_hash, 32);
    agg_err err = round == NULL ? no_memory(error)
                                : put(round, error, "index",
                                      cJSON_CreateNumber(recipe->recipe.round_index + 1));
    if (err == SHOAL_OK && recipe->recipe.round_index > 0)
        err = put_text(round, error, "previous", previous);
    if (err == SHOAL_OK) return put(root, error, "round", round);
    cJSON_Delete(round);
    return err;
}

static agg_err put_mechanism(cJSON *root, agg_error *error, const agg_recipe *recipe,
                             const char *name)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_name(name, strlen(name));
    if (mechanism == NULL || mechanism->closed.needs != (SHOAL_TAKES_EPSILON | SHOAL_TAKES_LIST))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--mechanism must be one whose only parameter is epsilon: "
                        "onehot-asymmetric, onehot-symmetric, grr, subset or hadamard");
    cJSON *parameters = cJSON_CreateObject();
    agg_err err = parameters == NULL ? no_memory(error)
                                     : put(parameters, error, "epsilon",
                                           create_micro((int64_t)recipe->recipe.cost_micro));
    if (err != SHOAL_OK) {
        cJSON_Delete(parameters);
        return err;
    }
    cJSON_DeleteItemFromObjectCaseSensitive(root, "hash");
    cJSON_DeleteItemFromObjectCaseSensitive(root, "seed");
    err = put_text(root, error, "mechanism", name);
    if (err == SHOAL_OK) return put(root, error, "parameters", parameters);
    cJSON_Delete(parameters);
    return err;
}

static agg_err put_asked(cJSON *root, agg_error *error, const agg_recipe *recipe,
                         const agg_next_recipe *next)
{
    agg_err err =
        next->mechanism != NULL ? put_mechanism(root, error, recipe, next->mechanism) : SHOAL_OK;
    cJSON *cohort = cJSON_GetObjectItemCaseSensitive(root, "cohort");
    if (err == SHOAL_OK && cJSON_GetObjectItemCaseSensitive(root, "seed") != NULL)
        err = put_text(root, error, "seed", next->seed_hex);
    if (err == SHOAL_OK && next->version > 0)
        err = put(root, error, "version", cJSON_CreateNumber(next->version));
    if (err == SHOAL_OK && next->expires != NULL)
        err = put_text(root, error, "expires", next->expires);
    if (err != SHOAL_OK || !(next->cohort_epsilon > 0)) return err;
    if (cohort == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--cohort-epsilon: the recipe makes no central claim");
    return put(cohort, error, "epsilon", cJSON_CreateNumber(next->cohort_epsilon));
}

static agg_err change(cJSON *root, agg_error *error, const agg_recipe *recipe,
                      const agg_next_recipe *next)
{
    cJSON_DeleteItemFromObjectCaseSensitive(root, "signature");
    cJSON_DeleteItemFromObjectCaseSensitive(root, "part");
    agg_err err = put_id(root, error, recipe, next);
    if (err == SHOAL_OK) err = put_field(root, error, next);
    if (err == SHOAL_OK) err = put_round(root, error, recipe);
    return err == SHOAL_OK ? put_asked(root, error, recipe, next) : err;
}

// ---- printing: a line for each member, and for each field of the encoding ----

static bool print_value(FILE *stream, const cJSON *value)
{
    char *text = cJSON_PrintUnformatted(value);
    if (text == NULL) return false;
    fputs(text, stream);
    free(text);
    return true;
}

static bool print_rows(FILE *stream, const cJSON *array)
{
    const char *separator = "[\n    ";
    const cJSON *item;
    cJSON_ArrayForEach(item, array)
    {
        fputs(separator, stream);
        if (!print_value(stream, item)) return false;
        separator = ",\n    ";
    }
    fputs("\n  ]", stream);
    return true;
}

static bool print_root(FILE *stream, const cJSON *root)
{
    const char *separator = "{\n  ";
    const cJSON *item;
    cJSON_ArrayForEach(item, root)
    {
        fprintf(stream, "%s\"%s\": ", separator,
                item->string); // the names come from the core's table and need no escapes
        if (!(strcmp(item->string, "encoding") == 0 ? print_rows(stream, item)
                                                    : print_value(stream, item)))
            return false;
        separator = ",\n  ";
    }
    fputs("\n}\n", stream);
    return true;
}

agg_err agg_next_recipe_print(char **text, agg_error *error, const cJSON *root)
{
    size_t len = 0;
    FILE *stream = open_memstream(text, &len);
    if (stream == NULL) return no_memory(error);
    bool is_printed = print_root(stream, root);
    if (fclose(stream) == 0 && is_printed) return SHOAL_OK;
    free(*text);
    return no_memory(error);
}

agg_err agg_next_recipe_text(char **text, agg_error *error, const agg_recipe *recipe,
                             const agg_next_recipe *next)
{
    cJSON *root = agg_json_parse(error, recipe->json, recipe->json_len);
    if (root == NULL) return error->code;
    agg_err err = change(root, error, recipe, next);
    if (err == SHOAL_OK) err = agg_next_recipe_print(text, error, root);
    cJSON_Delete(root);
    return err;
}
