// SPDX-License-Identifier: Apache-2.0
// Strict objects; see json_object.h.
#include "json_object.h"

#include <string.h>

#include "json_walk.h"
#include "nearest.h"
#include "recipe_json.h"

void agg_object_begin(agg_object *o, agg_error *error, const cJSON *json, const char *prefix,
                      const char *what)
{
    *o = (agg_object){.json = json, .prefix = prefix, .error = error, .err = SHOAL_OK};
    if (!cJSON_IsObject(json)) {
        o->err = agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "%s must be a JSON object", what);
        return;
    }
    int n = 0;
    for (const cJSON *item = json->child; item != NULL && o->err == SHOAL_OK;
         item = item->next, n++) {
        if (n == AGG_OBJECT_MEMBERS_MAX)
            o->err = agg_fail(error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_USAGE,
                              "%s has too many members", what);
        else if (agg_json_came_before(json, item))
            (void)agg_object_refuse(o, SHOAL_ERR_DUPLICATE, item->string, "is given twice");
    }
}

const cJSON *agg_object_take(agg_object *o, const char *name)
{
    if (o->err != SHOAL_OK) return NULL;
    unsigned i = 0;
    if (o->n_names < AGG_OBJECT_MEMBERS_MAX) o->names[o->n_names++] = name;
    for (const cJSON *item = o->json->child; item != NULL; item = item->next, i++) {
        if (strcmp(item->string, name) != 0) continue;
        o->taken |= (uint64_t)1 << i;
        return item;
    }
    return NULL;
}

agg_err agg_object_refuse(agg_object *o, agg_err code, const char *name, const char *why)
{
    if (o->err == SHOAL_OK)
        o->err = agg_fail(o->error, code, AGG_EXIT_USAGE, "%s%s %s", o->prefix, name, why);
    return o->err;
}

static const cJSON *take(agg_object *o, const char *name, bool is_required)
{
    const cJSON *item = agg_object_take(o, name);
    if (item == NULL && is_required)
        (void)agg_object_refuse(o, SHOAL_ERR_MISSING_FIELD, name, "is missing");
    return item;
}

const char *agg_object_string(agg_object *o, const char *name, bool is_required)
{
    const cJSON *item = take(o, name, is_required);
    if (item == NULL) return NULL;
    if (cJSON_IsString(item) && item->valuestring[0] != '\0') return item->valuestring;
    (void)agg_object_refuse(o, SHOAL_ERR_TYPE, name, "must be a string that is not empty");
    return NULL;
}

// Refuses with "must be a, b or c".
static void refuse_word(agg_object *o, const char *name, const char *const *words)
{
    char text[256] = "must be ";
    size_t len = strlen(text);
    for (int i = 0; words[i] != NULL; i++) {
        const char *separator = i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ";
        for (; *separator != '\0' && len + 1 < sizeof text; separator++) text[len++] = *separator;
        for (const char *at = words[i]; *at != '\0' && len + 1 < sizeof text; at++)
            text[len++] = *at;
    }
    text[len] = '\0';
    (void)agg_object_refuse(o, SHOAL_ERR_TYPE, name, text);
}

int agg_object_word(agg_object *o, const char *name, const char *const *words, bool is_required)
{
    const char *text = agg_object_string(o, name, is_required);
    if (text == NULL) return -1;
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], text) == 0) return i;
    refuse_word(o, name, words);
    return -1;
}

bool agg_object_whole(uint64_t *number, agg_object *o, const char *name, uint64_t low,
                      uint64_t high, bool is_required)
{
    const cJSON *item = take(o, name, is_required);
    if (item == NULL) return false;
    double x = cJSON_IsNumber(item) ? item->valuedouble : -1;
    if (x >= (double)low && x <= (double)high && (double)(uint64_t)x == x) {
        *number = (uint64_t)x;
        return true;
    }
    o->err = agg_fail(o->error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                      "%s%s must be a whole number of %llu to %llu", o->prefix, name,
                      (unsigned long long)low, (unsigned long long)high);
    return false;
}

bool agg_object_hex(uint8_t *bytes, agg_object *o, const char *name, size_t len, bool is_required)
{
    const char *text = agg_object_string(o, name, is_required);
    if (text == NULL) return false;
    if (agg_unhex(bytes, len, text)) return true;
    o->err = agg_fail(o->error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE,
                      "%s%s must be %zu lower-case hex digits", o->prefix, name, 2 * len);
    return false;
}

agg_err agg_object_end(agg_object *o)
{
    unsigned i = 0;
    if (o->err != SHOAL_OK) return o->err;
    for (const cJSON *item = o->json->child; item != NULL; item = item->next, i++) {
        if ((o->taken >> i & 1) != 0) continue;
        const char *nearest = agg_nearest(o->names, o->n_names, item->string);
        if (nearest == NULL)
            return agg_object_refuse(o, SHOAL_ERR_UNKNOWN_FIELD, item->string, "is not known");
        o->err = agg_fail(o->error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_USAGE,
                          "%s%s is not known; did you mean %s?", o->prefix, item->string, nearest);
        return o->err;
    }
    return SHOAL_OK;
}
