// SPDX-License-Identifier: Apache-2.0
// JSON objects with a fixed set of members, read strictly: a reader takes each member by its name,
// and agg_object_end refuses the members that were not taken.
//
// The first error is kept in `error`, and later calls do nothing. So a reader takes all members in
// a row and checks once, at the end. Errors name the member with its path ("vdaf.length").
#ifndef JSON_OBJECT_H
#define JSON_OBJECT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_OBJECT_MEMBERS_MAX 64

typedef struct agg_object {
    const cJSON *json;
    const char *prefix; // path before the members' names in errors: "", or "vdaf."
    uint64_t taken;     // one bit for each member, in the object's order
    const char *names[AGG_OBJECT_MEMBERS_MAX]; // asked for so far; constants
    size_t n_names;
    agg_error *error;
    agg_err err;
} agg_object;

// Begins to read. Refuses a value that is not an object, two members of one name, and more than
// AGG_OBJECT_MEMBERS_MAX members.
//   what: how errors call the whole value
void agg_object_begin(agg_object *o, agg_error *error, const cJSON *json, const char *prefix,
                      const char *what);

// Takes a member.
//   name: outlives the reading
// Returns: the member, or NULL when it is absent or an error came before.
const cJSON *agg_object_take(agg_object *o, const char *name);

// Refuses a member.
// Returns: `code`, or the error that came before.
agg_err agg_object_refuse(agg_object *o, agg_err code, const char *name, const char *why);

enum { AGG_OPTIONAL = 0, AGG_REQUIRED = 1 };

// Takes a string that is not empty.
// Returns: the string, which lives as long as the JSON; NULL when it is absent or refused.
const char *agg_object_string(agg_object *o, const char *name, bool is_required);

// Takes a string from a list of words.
//   words: ends with NULL
// Returns: the word's index, or -1 when the member is absent or refused.
int agg_object_word(agg_object *o, const char *name, const char *const *words, bool is_required);

// Takes a whole number of low .. high, where high is at most 2^53.
// Returns: whether it is there; *number is unchanged otherwise.
bool agg_object_whole(uint64_t *number, agg_object *o, const char *name, uint64_t low,
                      uint64_t high, bool is_required);

// Takes 2 * len lower-case hex digits.
// Returns: whether they are there.
bool agg_object_hex(uint8_t *bytes, agg_object *o, const char *name, size_t len, bool is_required);

// Ends the reading: refuses a member that was not taken.
// Returns: the first error.
agg_err agg_object_end(agg_object *o) SHOAL_MUST_CHECK;

#endif
