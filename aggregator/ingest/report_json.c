// SPDX-License-Identifier: Apache-2.0
// JSON reports; see report_json.h.
#include "report_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json_walk.h"

static shoal_err refuse(agg_error *error, shoal_err code, const char *field, const char *why)
{
    return agg_fail(error, code, AGG_EXIT_RUNTIME, "%s %s", field, why);
}

// The parameters that a report states: those of the recipe, the list of values by its length. 0 where absent.
typedef struct parameter {
    const char *name;
    uint64_t micro;
} parameter;
#define N_PARAMETERS 4

static void list_parameters(parameter list[N_PARAMETERS], const agg_recipe *recipe)
{
    const shoal_recipe *r = &recipe->recipe;
    uint32_t size = r->size != 0 ? r->size : r->n_values;
    list[0] = (parameter){"epsilon", r->eps_micro};
    list[1] = (parameter){"k", (uint64_t)r->k * 1000000};
    list[2] = (parameter){"m", (uint64_t)r->m * 1000000};
    list[3] = (parameter){"size", (uint64_t)size * 1000000};
}

static shoal_err check_parameters(agg_error *error, const agg_recipe *recipe, const cJSON *object)
{
    parameter list[N_PARAMETERS];
    unsigned seen = 0;
    int64_t micro = 0;
    if (!cJSON_IsObject(object)) return refuse(error, SHOAL_ERR_TYPE, "parameters", "must be an object");
    list_parameters(list, recipe);
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        unsigned i = 0;
        while (i < N_PARAMETERS && (list[i].micro == 0 || strcmp(list[i].name, item->string) != 0)) i++;
        if (i == N_PARAMETERS)
            return refuse(error, SHOAL_ERR_UNKNOWN_FIELD, "parameters", "hold a field that the recipe does not have");
        if (seen >> i & 1) return refuse(error, SHOAL_ERR_DUPLICATE, list[i].name, "is given twice");
        seen |= 1u << i;
        if (!cJSON_IsNumber(item)) return refuse(error, SHOAL_ERR_TYPE, list[i].name, "must be a number");
        if (!agg_json_micro(&micro, item->valuedouble) || micro < 0 || (uint64_t)micro != list[i].micro)
            return refuse(error, SHOAL_ERR_RANGE, list[i].name, "is not the recipe's");
    }
    for (unsigned i = 0; i < N_PARAMETERS; i++)
        if (list[i].micro != 0 && !(seen >> i & 1))
            return refuse(error, SHOAL_ERR_MISSING_FIELD, list[i].name, "is missing");
    return SHOAL_OK;
}

static shoal_err check_text(agg_error *error, const cJSON *item, const char *field, const char *expected,
                            shoal_err otherwise)
{
    if (!cJSON_IsString(item)) return refuse(error, SHOAL_ERR_TYPE, field, "must be a string");
    if (strcmp(item->valuestring, expected) != 0) return refuse(error, otherwise, field, "is not the recipe's");
    return SHOAL_OK;
}

static shoal_err decode_record(uint8_t *record, agg_error *error, const agg_recipe *recipe, const cJSON *list)
{
    size_t position = 0;
    if (!cJSON_IsArray(list) || list->child == NULL || list->child->next != NULL || !cJSON_IsString(list->child))
        return refuse(error, SHOAL_ERR_TYPE, "records", "must be a list of one string");
    const char *text = list->child->valuestring;
    shoal_err err = shoal_record_from_text(record, &recipe->recipe, text, strlen(text), &position);
    if (err == SHOAL_OK) return SHOAL_OK;
    return agg_fail(error, err, AGG_EXIT_RUNTIME, "records: character %zu: %s", position + 1, shoal_err_text(err));
}

enum { KEY, HASH, PARAMETERS, RECORDS, N_FIELDS };

static shoal_err take_fields(const cJSON *fields[N_FIELDS], agg_error *error, const cJSON *json)
{
    static const char *const names[N_FIELDS] = {"key", "recipe_hash", "parameters", "records"};
    if (!cJSON_IsObject(json)) return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME, "a report is a JSON object");
    for (const cJSON *item = json->child; item != NULL; item = item->next) {
        unsigned i = 0;
        while (i < N_FIELDS && strcmp(names[i], item->string) != 0) i++;
        if (i == N_FIELDS) return agg_fail(error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_RUNTIME, "unknown field");
        if (fields[i] != NULL) return refuse(error, SHOAL_ERR_DUPLICATE, names[i], "is given twice");
        fields[i] = item;
    }
    for (unsigned i = 0; i < N_FIELDS; i++)
        if (fields[i] == NULL) return refuse(error, SHOAL_ERR_MISSING_FIELD, names[i], "is missing");
    return SHOAL_OK;
}

static shoal_err take_report(uint8_t *record, agg_error *error, const agg_recipe *recipe, const cJSON *json)
{
    const cJSON *fields[N_FIELDS] = {NULL, NULL, NULL, NULL};
    shoal_err err = take_fields(fields, error, json);
    if (err == SHOAL_OK) err = check_text(error, fields[HASH], "recipe_hash", recipe->hash_hex, SHOAL_ERR_RECIPE_HASH);
    if (err == SHOAL_OK) err = check_text(error, fields[KEY], "key", recipe->id, SHOAL_ERR_RECIPE_HASH);
    if (err == SHOAL_OK) err = check_parameters(error, recipe, fields[PARAMETERS]);
    if (err == SHOAL_OK) err = decode_record(record, error, recipe, fields[RECORDS]);
    return err;
}

shoal_err agg_report_parse(uint8_t *record, agg_error *error, const agg_recipe *recipe, const char *json, size_t len)
{
    cJSON *parsed = agg_json_parse(error, json, len);
    if (parsed == NULL) return AGG_ERR_JSON;
    shoal_err err = take_report(record, error, recipe, parsed);
    cJSON_Delete(parsed);
    return err;
}

// A micro-unit number in the form that JSON writers give it: no trailing zeros, no point when whole.
static int print_micro(char *out, size_t cap, uint64_t micro)
{
    int len = snprintf(out, cap, "%" PRIu64 ".%06u", micro / 1000000, (unsigned)(micro % 1000000));
    while (len > 0 && out[len - 1] == '0') len--;
    if (len > 0 && out[len - 1] == '.') len--;
    return len;
}

#define HEAD_MAX 512 // a key of 64, a hash of 64, four parameters of 24, and their names

// Everything before the record's text.
static size_t print_head(char out[HEAD_MAX], const agg_recipe *recipe)
{
    parameter list[N_PARAMETERS];
    int len = snprintf(out, HEAD_MAX, "{\"key\":\"%s\",\"recipe_hash\":\"%s\",\"parameters\":{", recipe->id,
                       recipe->hash_hex);
    list_parameters(list, recipe);
    for (unsigned i = 0; i < N_PARAMETERS; i++) {
        if (list[i].micro == 0) continue;
        len += snprintf(out + len, HEAD_MAX - (size_t)len, "%s\"%s\":", i > 0 ? "," : "", list[i].name);
        len += print_micro(out + len, HEAD_MAX - (size_t)len, list[i].micro);
    }
    len += snprintf(out + len, HEAD_MAX - (size_t)len, "},\"records\":[\"");
    return (size_t)len;
}

static const char tail[] = "\"]}";

size_t agg_report_size(const agg_recipe *recipe)
{
    char head[HEAD_MAX];
    return print_head(head, recipe) + recipe->recipe.text_size + sizeof tail - 1;
}

shoal_err agg_report_print(char *out, size_t cap, const agg_recipe *recipe, const uint8_t *record)
{
    char head[HEAD_MAX];
    size_t len = print_head(head, recipe);
    if (cap < len + recipe->recipe.text_size + sizeof tail - 1) return SHOAL_ERR_SPACE;
    memcpy(out, head, len);
    shoal_err err = shoal_record_to_text(out + len, recipe->recipe.text_size, &recipe->recipe, record);
    memcpy(out + len + recipe->recipe.text_size, tail, sizeof tail - 1);
    return err;
}
