// SPDX-License-Identifier: Apache-2.0
// Strict parsing and walking of JSON; see json_walk.h.
#include "json_walk.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

bool agg_utf8_is_valid(const char *bytes, size_t len)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)bytes;
    utf8proc_int32_t point;
    while (len > 0) {
        utf8proc_ssize_t used =
            *at < 0x80 ? 1 : utf8proc_iterate(at, (utf8proc_ssize_t)len, &point);
        if (used <= 0) return false;
        at += used;
        len -= (size_t)used;
    }
    return true;
}

// Returns: whether the text contains a NUL, plain or escaped. An escaped NUL would end a C string
// early, and "a\u0000b" must not pass for "a".
static bool holds_nul(const char *text, size_t len)
{
    if (memchr(text, 0, len) != NULL) return true;
    for (size_t i = 0; i + 1 < len; i++) {
        if (text[i] != '\\') continue;
        if (len - i >= 6 && memcmp(text + i + 1, "u0000", 5) == 0) return true;
        i++;
    }
    return false;
}

static bool is_space(const char *text, const char *end)
{
    for (; text < end; text++)
        if (*text != ' ' && *text != '\n' && *text != '\r' && *text != '\t') return false;
    return true;
}

static size_t line_of(const char *text, const char *at)
{
    size_t line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

cJSON *agg_json_parse(agg_error *error, const char *text, size_t len)
{
    const char *end = text;
    errno = 0;
    if (!agg_utf8_is_valid(text, len)) {
        agg_fail(error, AGG_ERR_JSON, AGG_EXIT_RUNTIME, "is not UTF-8");
        return NULL;
    }
    if (holds_nul(text, len)) {
        agg_fail(error, AGG_ERR_JSON, AGG_EXIT_RUNTIME, "holds a NUL character");
        return NULL;
    }
    cJSON *json = cJSON_ParseWithLengthOpts(text, len, &end, 0);
    if (json != NULL && is_space(end, text + len)) return json;
    bool is_memory = json == NULL && errno == ENOMEM; // cJSON has no other way to say so
    cJSON_Delete(json);
    if (is_memory) {
        agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
        return NULL;
    }
    if (end < text || end > text + len) end = text;
    if (memchr(text, '\n', len) == NULL) // whoever reads lines one by one adds which one it is
        agg_fail(error, AGG_ERR_JSON, AGG_EXIT_RUNTIME, "is not JSON");
    else
        agg_fail(error, AGG_ERR_JSON, AGG_EXIT_RUNTIME, "line %zu: is not JSON",
                 line_of(text, end));
    return NULL;
}

agg_err agg_json_refusal(const agg_error *error)
{
    return error != NULL ? error->code : AGG_ERR_JSON;
}

bool agg_json_micro(int64_t *micro, double x)
{
    if (!(x >= -9e12 && x <= 9e12)) return false;
    double v = round(x * 1e6);
    if (v / 1e6 != x) return false;
    *micro = (int64_t)v;
    return true;
}

#define MEMBERS_MAX 64 // members of one object; the largest in a recipe has 19
#define DEPTH_MAX 4
#define OBJECTS_MAX 10 // objects in one array, so that an index has one digit

bool agg_json_came_before(const cJSON *object, const cJSON *item)
{
    for (const cJSON *other = object->child; other != item; other = other->next)
        if (strcmp(other->string, item->string) == 0) return true;
    return false;
}

static agg_err refuse(agg_error *error, agg_err code, const agg_path *path, const char *why)
{
    return agg_fail(error, code, AGG_EXIT_USAGE, "%s %s", path->shown, why);
}

static agg_err no_field(agg_error *error, const agg_json_sink *sink, const agg_path *path)
{
    return agg_fail(error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_USAGE, "%s is not a field of %s",
                    path->shown, sink->what);
}

// Appends a member's name to a path, which is cut short if it is too long.
// Returns: whether a field can have such a path.
static bool step_into(agg_path *path, const agg_path *parent, const char *name)
{
    const char *point = parent->dotted[0] != '\0' ? "." : "";
    int shown = snprintf(path->shown, sizeof path->shown, "%s%s%s", parent->shown, point, name);
    int dotted = snprintf(path->dotted, sizeof path->dotted, "%s%s%s", parent->dotted, point, name);
    bool fits = shown >= 0 && shown < AGG_PATH_MAX && dotted >= 0 && dotted < AGG_PATH_MAX;
    return fits && strchr(name, '.') == NULL && !(name[0] >= '0' && name[0] <= '9');
}

static bool step_to_entry(agg_path *path, const agg_path *parent, unsigned index)
{
    int shown = snprintf(path->shown, sizeof path->shown, "%s[%u]", parent->shown, index);
    int dotted = snprintf(path->dotted, sizeof path->dotted, "%s.%u", parent->dotted, index);
    return shown >= 0 && shown < AGG_PATH_MAX && dotted >= 0 && dotted < AGG_PATH_MAX;
}

static agg_err walk(agg_error *error, const agg_json_sink *sink, const agg_path *parent,
                    const cJSON *object, int depth);

static agg_err walk_entries(agg_error *error, const agg_json_sink *sink, const agg_path *parent,
                            const cJSON *array, int depth)
{
    unsigned index = 0;
    agg_path path;
    for (const cJSON *item = array->child; item != NULL; item = item->next, index++) {
        if (!cJSON_IsObject(item))
            return refuse(error, SHOAL_ERR_TYPE, parent, "must hold objects only");
        if (index == OBJECTS_MAX)
            return refuse(error, SHOAL_ERR_RANGE, parent, "has too many entries");
        if (!step_to_entry(&path, parent, index) || item->child == NULL || depth == DEPTH_MAX)
            return no_field(error, sink, &path);
        agg_err err = walk(error, sink, &path, item, depth + 1);
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

static agg_err take_array(agg_error *error, const agg_json_sink *sink, const agg_path *path,
                          const cJSON *array, int depth)
{
    const cJSON *first = array->child;
    // The core never sees an empty list, so it could not refuse one.
    if (first == NULL) return refuse(error, SHOAL_ERR_MISSING_FIELD, path, "holds no value");
    if (cJSON_IsObject(first)) return walk_entries(error, sink, path, array, depth);
    if (!cJSON_IsString(first) && !cJSON_IsNumber(first))
        return refuse(error, SHOAL_ERR_TYPE, path, "must hold strings or numbers");
    for (const cJSON *item = first; item != NULL; item = item->next) {
        if (cJSON_IsString(first) && !cJSON_IsString(item))
            return refuse(error, SHOAL_ERR_TYPE, path, "must hold strings only");
        if (cJSON_IsNumber(first) && !cJSON_IsNumber(item))
            return refuse(error, SHOAL_ERR_TYPE, path, "must hold numbers only");
    }
    return sink->list(sink->context, error, path, array);
}

static agg_err take_number(agg_error *error, const agg_json_sink *sink, const agg_path *path,
                           const cJSON *item)
{
    int64_t micro = 0;
    if (!agg_json_micro(&micro, item->valuedouble))
        return refuse(error, SHOAL_ERR_RANGE, path, "must have at most six decimals and 15 digits");
    return sink->number(sink->context, error, path, micro);
}

static agg_err take_member(agg_error *error, const agg_json_sink *sink, const agg_path *path,
                           const cJSON *item, int depth)
{
    if (cJSON_IsString(item)) return sink->string(sink->context, error, path, item->valuestring);
    if (cJSON_IsNumber(item)) return take_number(error, sink, path, item);
    if (cJSON_IsArray(item)) return take_array(error, sink, path, item, depth);
    if (!cJSON_IsObject(item))
        return refuse(error, SHOAL_ERR_TYPE, path, "must be a string or a number");
    // The core never sees an empty object, so it is refused here.
    return depth < DEPTH_MAX && item->child != NULL ? walk(error, sink, path, item, depth + 1)
                                                    : no_field(error, sink, path);
}

static agg_err walk(agg_error *error, const agg_json_sink *sink, const agg_path *parent,
                    const cJSON *object, int depth)
{
    agg_path path;
    int n_members = 0;
    for (const cJSON *item = object->child; item != NULL; item = item->next) {
        if (!step_into(&path, parent, item->string) || ++n_members > MEMBERS_MAX)
            return no_field(error, sink, &path);
        if (agg_json_came_before(object, item))
            return refuse(error, SHOAL_ERR_DUPLICATE, &path, "is given twice");
        if (depth == 0 && sink->skip != NULL && strcmp(path.dotted, sink->skip) == 0) continue;
        agg_err err = take_member(error, sink, &path, item, depth);
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

agg_err agg_json_walk(agg_error *error, const agg_json_sink *sink, const cJSON *object)
{
    agg_path root = {"", ""};
    return walk(error, sink, &root, object, 0);
}
