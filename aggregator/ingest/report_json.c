// SPDX-License-Identifier: Apache-2.0
// JSON reports; see report_json.h.
#include "report_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json_walk.h"
#include "recipe.h"

static agg_err refuse(agg_error *error, agg_err code, const char *field, const char *why)
{
    return agg_fail(error, code, AGG_EXIT_RUNTIME, "%s %s", field, why);
}

// Returns: the position of a parameter in the recipe's list, or -1.
static int find_parameter(int64_t *micro, const shoal_recipe *recipe, const char *name)
{
    const char *own = NULL;
    for (uint32_t i = 0; shoal_recipe_parameter(&own, micro, recipe, i); i++)
        if (strcmp(own, name) == 0) return (int)i;
    return -1;
}

static agg_err check_parameters(agg_error *error, const agg_recipe *recipe, const cJSON *object)
{
    const char *name = NULL;
    unsigned seen = 0;
    int64_t micro = 0, own = 0;
    if (!cJSON_IsObject(object))
        return refuse(error, SHOAL_ERR_TYPE, "parameters", "must be an object");
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        int i = find_parameter(&own, recipe->recipe, item->string);
        if (i < 0)
            return refuse(error, SHOAL_ERR_UNKNOWN_FIELD, "parameters",
                          "hold a field that the recipe does not have");
        if (seen >> i & 1)
            return refuse(error, SHOAL_ERR_DUPLICATE, item->string, "is given twice");
        seen |= 1u << i;
        if (!cJSON_IsNumber(item))
            return refuse(error, SHOAL_ERR_TYPE, item->string, "must be a number");
        if (!agg_json_micro(&micro, item->valuedouble) || micro != own)
            return refuse(error, SHOAL_ERR_RANGE, item->string, "is not the recipe's");
    }
    for (uint32_t i = 0; shoal_recipe_parameter(&name, &own, recipe->recipe, i); i++)
        if (!(seen >> i & 1)) return refuse(error, SHOAL_ERR_MISSING_FIELD, name, "is missing");
    return SHOAL_OK;
}

static agg_err check_text(agg_error *error, const cJSON *item, const char *field,
                          const char *expected, agg_err otherwise)
{
    if (!cJSON_IsString(item)) return refuse(error, SHOAL_ERR_TYPE, field, "must be a string");
    if (strcmp(item->valuestring, expected) != 0)
        return refuse(error, otherwise, field, "is not the recipe's");
    return SHOAL_OK;
}

static agg_err decode_record(uint8_t *record, agg_error *error, const agg_recipe *recipe,
                             const cJSON *list)
{
    size_t position = 0;
    if (!cJSON_IsArray(list) || list->child == NULL || list->child->next != NULL ||
        !cJSON_IsString(list->child))
        return refuse(error, SHOAL_ERR_TYPE, "records", "must be a list of one string");
    const char *text = list->child->valuestring;
    agg_err err = shoal_record_from_text(record, recipe->recipe, text, strlen(text), &position);
    if (err == SHOAL_OK) return SHOAL_OK;
    return agg_fail(error, err, AGG_EXIT_RUNTIME, "records: character %zu: %s", position + 1,
                    shoal_err_text(err));
}

enum { KEY, HASH, PARAMETERS, RECORDS, N_FIELDS };

static agg_err take_fields(const cJSON *fields[N_FIELDS], agg_error *error, const cJSON *json)
{
    static const char *const names[N_FIELDS] = {"key", "recipe_hash", "parameters", "records"};
    if (!cJSON_IsObject(json))
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME, "a report is a JSON object");
    for (const cJSON *item = json->child; item != NULL; item = item->next) {
        unsigned i = 0;
        while (i < N_FIELDS && strcmp(names[i], item->string) != 0) i++;
        if (i == N_FIELDS)
            return agg_fail(error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_RUNTIME, "unknown field");
        if (fields[i] != NULL)
            return refuse(error, SHOAL_ERR_DUPLICATE, names[i], "is given twice");
        fields[i] = item;
    }
    for (unsigned i = 0; i < N_FIELDS; i++)
        if (fields[i] == NULL)
            return refuse(error, SHOAL_ERR_MISSING_FIELD, names[i], "is missing");
    return SHOAL_OK;
}

static agg_err take_report(uint8_t *record, agg_error *error, const agg_recipe *recipe,
                           const cJSON *json)
{
    const cJSON *fields[N_FIELDS] = {NULL, NULL, NULL, NULL};
    agg_err err = take_fields(fields, error, json);
    if (err == SHOAL_OK)
        err =
            check_text(error, fields[HASH], "recipe_hash", recipe->hash_hex, SHOAL_ERR_RECIPE_HASH);
    if (err == SHOAL_OK)
        err = check_text(error, fields[KEY], "key", recipe->id, SHOAL_ERR_RECIPE_HASH);
    if (err == SHOAL_OK) err = check_parameters(error, recipe, fields[PARAMETERS]);
    if (err == SHOAL_OK) err = decode_record(record, error, recipe, fields[RECORDS]);
    return err;
}

agg_err agg_report_parse(uint8_t *record, agg_error *error, const agg_recipe *recipe,
                         const char *json, size_t len)
{
    cJSON *parsed = agg_json_parse(error, json, len);
    if (parsed == NULL) return agg_json_refusal(error);
    agg_err err = take_report(record, error, recipe, parsed);
    cJSON_Delete(parsed);
    return err;
}

// Prints a number of micro-units as JSON writers do: without trailing zeros, and without a point
// when it is whole.
static int print_micro(char *out, size_t cap, int64_t micro)
{
    uint64_t size = micro < 0 ? 0 - (uint64_t)micro : (uint64_t)micro;
    int len = snprintf(out, cap, "%s%" PRIu64 ".%06u", micro < 0 ? "-" : "", size / 1000000,
                       (unsigned)(size % 1000000));
    while (len > 0 && out[len - 1] == '0') len--;
    if (len > 0 && out[len - 1] == '.') len--;
    return len;
}

// Prints everything before the record's text.
static size_t print_head(char out[AGG_REPORT_HEAD_MAX], const agg_recipe *recipe)
{
    const char *name = NULL;
    int64_t micro = 0;
    int len = snprintf(out, AGG_REPORT_HEAD_MAX,
                       "{\"key\":\"%s\",\"recipe_hash\":\"%s\",\"parameters\":{", recipe->id,
                       recipe->hash_hex);
    for (uint32_t i = 0; shoal_recipe_parameter(&name, &micro, recipe->recipe, i); i++) {
        len += snprintf(out + len, AGG_REPORT_HEAD_MAX - (size_t)len, "%s\"%s\":", i > 0 ? "," : "",
                        name);
        len += print_micro(out + len, AGG_REPORT_HEAD_MAX - (size_t)len, micro);
    }
    len += snprintf(out + len, AGG_REPORT_HEAD_MAX - (size_t)len, "},\"records\":[\"");
    return (size_t)len;
}

static const char tail[] = "\"]}";

size_t agg_report_size(const agg_recipe *recipe)
{
    char head[AGG_REPORT_HEAD_MAX];
    return print_head(head, recipe) + recipe->recipe->text_size + sizeof tail - 1;
}

agg_err agg_report_print(char *out, size_t cap, const agg_recipe *recipe, const uint8_t *record)
{
    char head[AGG_REPORT_HEAD_MAX];
    size_t len = print_head(head, recipe);
    if (cap < len + recipe->recipe->text_size + sizeof tail - 1) return SHOAL_ERR_SPACE;
    memcpy(out, head, len);
    agg_err err =
        shoal_record_to_text(out + len, recipe->recipe->text_size, recipe->recipe, record);
    memcpy(out + len + recipe->recipe->text_size, tail, sizeof tail - 1);
    return err;
}

void agg_report_frame_init(agg_report_frame *frame, const agg_recipe *recipe, agg_cpu cpu)
{
    agg_record_text_init(&frame->text, recipe->recipe, cpu);
    frame->head_len = print_head(frame->head, recipe);
    frame->size = frame->head_len + recipe->recipe->text_size + sizeof tail - 1;
}

bool agg_report_read(uint8_t *record, const agg_report_frame *frame, const char *json)
{
    const char *text = json + frame->head_len, *end = text + frame->text.recipe->text_size;
    return memcmp(json, frame->head, frame->head_len) == 0 &&
           memcmp(end, tail, sizeof tail - 1) == 0 &&
           agg_record_text_read(record, &frame->text, text);
}
