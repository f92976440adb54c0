// SPDX-License-Identifier: Apache-2.0
// cJSON, made strict: whole text, valid UTF-8, no NUL that would cut a string short. And the walk
// over a file of settings (a recipe, a policy) whose fields the core knows by dotted paths.
#ifndef JSON_WALK_H
#define JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include <cjson/cJSON.h>

// Parses exactly one JSON value. Release with cJSON_Delete.
// Returns: NULL with `error` filled (AGG_ERR_JSON, exit code 1) when the text is not one.
cJSON *agg_json_parse(agg_error *error, const char *text, size_t len);

// A JSON number in micro-units: round(x * 1e6), when |x| <= 9e12 and the result divides back to x
// exactly. Returns: 0 when the number has no such form.
bool agg_json_micro(int64_t *micro, double x);

#define AGG_PATH_MAX 96 // bytes of a path with its NUL; the longest known one has 35

// Where a value stands: as the core calls it ("encoding.1.tokens") and as people do
// ("encoding[1].tokens").
typedef struct agg_path {
    char dotted[AGG_PATH_MAX], shown[AGG_PATH_MAX];
} agg_path;

// What a walk hands over, each with its path.
typedef struct agg_json_sink {
    const char *what; // "a recipe"
    const char *skip; // a member of the root that is not walked; may be NULL
    void *context;
    agg_err (*string)(void *context, agg_error *error, const agg_path *path, const char *text);
    agg_err (*number)(void *context, agg_error *error, const agg_path *path, int64_t micro);
    // An array of strings alone or of numbers alone, one at least.
    agg_err (*list)(void *context, agg_error *error, const agg_path *path, const cJSON *array);
} agg_json_sink;

// Walks an object: members of objects make dotted paths, objects in an array take their index from
// 0. Refused, with the path: two members of one name, names with a point or that begin with a digit
// (an object could pass for an array), empty objects and arrays, arrays of mixed entries, true,
// false and null, numbers that agg_json_micro refuses.
agg_err agg_json_walk(agg_error *error, const agg_json_sink *sink,
                      const cJSON *object) SHOAL_MUST_CHECK;

// Returns: whether an equal name came before in the object. JavaScript would see the last one only,
// and so read another file.
bool agg_json_came_before(const cJSON *object, const cJSON *item);

// Returns: whether bytes[0..len) is well-formed UTF-8.
bool agg_utf8_is_valid(const char *bytes, size_t len);

#endif
