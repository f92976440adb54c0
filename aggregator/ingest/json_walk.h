// SPDX-License-Identifier: Apache-2.0
// cJSON, made strict: whole text, valid UTF-8, no NUL that would cut a string short. Private to ingest/.
#ifndef JSON_WALK_H
#define JSON_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include <cjson/cJSON.h>

// Parses exactly one JSON value. Release with cJSON_Delete.
// Returns: NULL with `error` filled (AGG_ERR_JSON, exit code 1) when the text is not one.
cJSON *agg_json_parse(agg_error *error, const char *text, size_t len);

// A JSON number in micro-units: round(x * 1e6), when |x| <= 9e12 and the result divides back to x exactly.
// Returns: 0 when the number has no such form.
int agg_json_micro(int64_t *micro, double x);

// Returns: whether bytes[0..len) is well-formed UTF-8.
int agg_utf8_is_valid(const char *bytes, size_t len);

#endif
