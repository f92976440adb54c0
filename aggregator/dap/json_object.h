// SPDX-License-Identifier: Apache-2.0
// JSON objects of a fixed set of members, read strictly: each is taken once by its name, what is
// left over is refused.
//
// The first error is kept in `error` and every call behind it does nothing, so that a reader takes
// all members in a row and asks once, at the end. Errors name the member with the way to it
// ("vdaf.length").
#ifndef JSON_OBJECT_H
#define JSON_OBJECT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_OBJECT_MEMBERS_MAX 64

typedef struct agg_object {
    const cJSON *json;
    const char *prefix; // of the members' names in errors: "" or, say, "vdaf."
    uint64_t taken;     // one bit a member, in the object's order
    agg_error *error;
    agg_err err;
} agg_object;

// Begins with an object; anything else, two members of one name and more than
// AGG_OBJECT_MEMBERS_MAX are refused.
//   what: what an error calls a value that is no object
void agg_object_begin(agg_object *o, agg_error *error, const cJSON *json, const char *prefix,
                      const char *what);

// Returns: the member, or NULL where there is none or an error came before.
const cJSON *agg_object_take(agg_object *o, const char *name);

// Refuses a member. Returns: `code`, or the error that came before.
agg_err agg_object_refuse(agg_object *o, agg_err code, const char *name, const char *why);

enum { AGG_OPTIONAL = 0, AGG_REQUIRED = 1 };

// Returns: the member's text, which is not empty and lives as long as the JSON; NULL where it is
// absent or refused.
const char *agg_object_string(agg_object *o, const char *name, bool is_required);

// Returns: the index of the member's text in a list of words that ends with NULL; -1 where it is
// absent or refused.
int agg_object_word(agg_object *o, const char *name, const char *const *words, bool is_required);

// Reads a whole number of low .. high; high is at most 2^53.
// Returns: whether there is one; *number is as it was otherwise.
bool agg_object_whole(uint64_t *number, agg_object *o, const char *name, uint64_t low,
                      uint64_t high, bool is_required);

// Reads 2 * len lower-case hex digits. Returns: whether they are there.
bool agg_object_hex(uint8_t *bytes, agg_object *o, const char *name, size_t len, bool is_required);

// Ends: a member that was not taken is refused.
agg_err agg_object_end(agg_object *o) SHOAL_MUST_CHECK;

#endif
