// SPDX-License-Identifier: Apache-2.0
// Strict JSON on top of cJSON: exactly one value, valid UTF-8, and no NUL that would cut a string
// short. agg_json_walk hands the fields of a recipe or a policy to the core by dotted paths.
#ifndef JSON_WALK_H
#define JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include <cjson/cJSON.h>

// Parses exactly one JSON value. Release with cJSON_Delete.
// Returns: NULL with `error` filled (AGG_ERR_JSON, exit code 1) if the text is not one JSON value;
// with AGG_ERR_MEMORY if memory ended.
cJSON *agg_json_parse(agg_error *error, const char *text, size_t len);

// Returns: the code of what agg_json_parse filled; AGG_ERR_JSON for NULL.
agg_err agg_json_refusal(const agg_error *error);

// Converts a JSON number to millionths, round(x * 1e6).
// Returns: false if |x| > 9e12 or the millionths do not divide back to x exactly.
bool agg_json_micro(int64_t *micro, double x);

#define AGG_PATH_MAX 96 // bytes of a path with its NUL; the longest in use has 35

// The place of a value: as the core names it ("encoding.1.tokens") and as people write it
// ("encoding[1].tokens").
typedef struct agg_path {
    char dotted[AGG_PATH_MAX], shown[AGG_PATH_MAX];
} agg_path;

// The callbacks that receive the values of a walk, each with its path.
typedef struct agg_json_sink {
    const char *what; // the file's kind in errors: "a recipe"
    const char *skip; // a member of the root to leave out; may be NULL
    void *context;
    agg_err (*string)(void *context, agg_error *error, const agg_path *path, const char *text);
    agg_err (*number)(void *context, agg_error *error, const agg_path *path, int64_t micro);
    // Receives an array of at least one entry, all strings or all numbers.
    agg_err (*list)(void *context, agg_error *error, const agg_path *path, const cJSON *array);
} agg_json_sink;

// Walks an object. Members of objects make dotted paths; objects in an array are numbered from 0.
// Returns: an error that names the path for: two members of one name; a name that contains a point
// or begins with a digit, because an object could then pass for an array; an empty object or array;
// an array of mixed entries; true, false and null; a number that agg_json_micro refuses.
agg_err agg_json_walk(agg_error *error, const agg_json_sink *sink,
                      const cJSON *object) SHOAL_MUST_CHECK;

// Returns: whether an earlier member of the object has the same name. JavaScript sees only the last
// of them, and would so read another recipe from the same file.
bool agg_json_came_before(const cJSON *object, const cJSON *item);

// Returns: whether bytes[0..len) is well-formed UTF-8.
bool agg_utf8_is_valid(const char *bytes, size_t len);

#endif
