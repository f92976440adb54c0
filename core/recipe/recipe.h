// SPDX-License-Identifier: Apache-2.0
// A recipe is the contract of one collection; once finished it is read-only.
//
// A host parses the recipe's JSON with its own library and passes every scalar to a builder
// (builder.h), which checks the fields and makes the recipe. recipe_fields.def has one row per
// field: its name, type, range, default, and its tag in the canonical bytes.
//
// The canonical bytes are "shoal recipe 1\n" and then every field that differs from its default, in
// the order of the rows: tag (u16), length (u32), value. All integers are big-endian, and a number
// takes 8 bytes in two's complement. Fields at their default are left out, so that a field added
// later does not change the hash of an older recipe. The list of values enters as its count and the
// SHA-256 of the values, each prefixed by its length (u32).
//
// A query is a recipe with `policy`, `version`, `round`, `split_by`, `aggregation` and, where
// `value` is "fields", an `encoding` (encoding.h). `split_by` divides a collection into parts. The
// recipe of a part has one more field, `part`, with an entry for each split field. The signed bytes
// leave `part` out. The part's hash covers it, and the part's key is "id/entry/...".
//
// Where `aggregation.protocol` is "dap", two servers, `aggregation.leader` and
// `aggregation.helper`, add up shares of the devices' reports (dap.h).
//
// A joint recipe (joint.h) has `variables`, each with a name and a mechanism, in place of one
// `value`, `mechanism`, `parameters`, `hash` and `seed`.
#ifndef SHOAL_RECIPE_H
#define SHOAL_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encoding.h"
#include "mechanism.h"
#include "name.h"
#include "recipe_choices.h"
#include "recipe_ref.h"
#include "shoal_err.h"
#include "url.h"

// A field that splits the collection. It is approved as not sensitive, and its value names the part
// of the collection that a report goes to.
typedef struct shoal_split_field {
    shoal_name field;
    shoal_list values; // any other value belongs to one more part, "other"
    size_t longest;    // characters of the longest listed value
} shoal_split_field;

// One variable of a joint recipe; recipe.parts has its randomizer under the same index.
typedef struct shoal_variable {
    shoal_name name;
    uint32_t value;                // enum shoal_value_kind, except FIELDS and VARIABLES
    uint32_t size, n_values;       // as the recipe states them; 0 if it does not
    int64_t low_micro, high_micro; // range of a number
    uint8_t digest[32];            // SHA-256 of all the variable's fields but its name
} shoal_variable;

// Members of the scalar fields, declared from the rows of recipe_fields.def. A number is 0 if the
// recipe does not state it and its row has no default. A choice holds the enumerator of its name.
#define SHOAL_MEMBER_NAME(member) shoal_name member;
#define SHOAL_MEMBER_BYTES(member) uint8_t member[32];
#define SHOAL_MEMBER_OTHER(member) uint32_t member;
#define SHOAL_MEMBER_CHOICE(member) uint32_t member;
#define SHOAL_MEMBER_DAY(member) uint32_t member;
#define SHOAL_MEMBER_DELTA(member) uint32_t member;
#define SHOAL_MEMBER_INTEGER(member) uint32_t member;
#define SHOAL_MEMBER_MICRO(member) uint32_t member;
#define SHOAL_MEMBER_COUNT(member) uint64_t member;
#define SHOAL_MEMBER_SIGNED(member) int64_t member;
#define SHOAL_FIELD(tag, modules, path, kind, member, ...) SHOAL_MEMBER_##kind(member)
#define SHOAL_OWN(...)

struct shoal_recipe {
#include "recipe_fields.def"
    // The fields that are not single numbers.
    uint64_t stated[2];        // one bit per row of this build, set if the recipe states the field
    uint32_t n_values;         // entries of parameters.values
    uint8_t values_digest[32]; // SHA-256 of those entries
    shoal_encoding encoding;   // n_fields is 0 if the recipe has no encoding
    uint32_t n_splits;
    shoal_split_field splits[SHOAL_SPLIT_MAX];
    uint32_t n_part; // entries of `part`: 0 or n_splits
    shoal_name part[SHOAL_SPLIT_MAX];
    uint8_t alphabet_len;
    uint8_t alphabet[SHOAL_ALPHABET_MAX]; // rappor-ngram: bytes of candidates, ascending
    shoal_list known;                     // trie: words that devices do not report
    uint32_t n_variables;                 // 2 .. 8 in a joint recipe, else 0
    shoal_variable variables[SHOAL_VARIABLES_MAX];
    shoal_url leader, helper; // base URLs of the two servers, empty without dap
    shoal_url token;          // base URL of the issuer of tokens; empty if reports need none
    // Members that the builder derives from the fields.
    uint32_t n_parts; // 0 until the recipe is finished
    shoal_part parts[SHOAL_PARTS_MAX];
    uint32_t value_part;  // the part whose items are whole values: strings, list entries or cells
    uint32_t cost_micro;  // stated epsilon of one report over all parts, which the ledger charges
    uint32_t record_size; // bytes of a binary record
    uint32_t text_size;   // characters of a text record
    uint8_t recipe_hash[32];
    uint8_t query_hash[32]; // hash of the signed bytes, which leave `part` out
    uint8_t run_hash[32];   // hash without `part` and `round`, the same in all epochs of a run
    shoal_name key; // name of the collection in reports: the recipe's name, then "/" and each entry
                    // of `part`
};

#undef SHOAL_FIELD
#undef SHOAL_OWN
#undef SHOAL_MEMBER_NAME
#undef SHOAL_MEMBER_BYTES
#undef SHOAL_MEMBER_OTHER
#undef SHOAL_MEMBER_CHOICE
#undef SHOAL_MEMBER_DAY
#undef SHOAL_MEMBER_DELTA
#undef SHOAL_MEMBER_INTEGER
#undef SHOAL_MEMBER_MICRO
#undef SHOAL_MEMBER_COUNT
#undef SHOAL_MEMBER_SIGNED

// Copies the recipe's fields into a part, as the column `part` of recipe_fields.def states.
//   part: written; its mechanism, hash and domain (0) are those of a recipe with one mechanism
void shoal_recipe_fill_part(shoal_part *part, const shoal_recipe *recipe);

#endif
