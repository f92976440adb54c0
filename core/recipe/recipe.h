// SPDX-License-Identifier: Apache-2.0
// The recipe: the contract of one collection, finished and read-only.
//
// A host parses the JSON with its own library and hands every scalar to a builder (builder.h),
// which checks the fields and makes the recipe. recipe_fields.def has one row a field: its name,
// type, range, default and its number in the canonical bytes.
//
// Canonical bytes: "shoal recipe 1\n", then every field that differs from its default, in the order
// of the rows: tag (u16), length (u32), value. All integers are big-endian; a number has 8 bytes in
// two's complement. A field at its default is left out, so that a field added later changes no
// hash of today. The list of values enters as its count and the SHA-256 of the values, each
// prefixed by its length (u32).
//
// A query is a recipe with `policy`, `version`, `round`, `split_by`, `aggregation` and, where
// `value` is "fields", an `encoding` (encoding.h). `split_by` makes a collection of each of its
// parts. The recipe of a part has one more field, `part`, with an entry for each split field. Its
// signed bytes leave `part` out; its hash is its own, and its key is "id/entry/...".
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
#include "shoal_err.h"
#include "url.h"

#define SHOAL_PARTS_MAX 8        // parts of one record
#define SHOAL_VALUE_MAX 256      // bytes of one value or string
#define SHOAL_CANONICAL_MAX 4096 // bytes of a recipe's canonical form

#define SHOAL_ALPHABET_MAX 128     // bytes
#define SHOAL_KNOWN_MAX (1u << 17) // words

#define SHOAL_VARIABLES_MAX SHOAL_PARTS_MAX
#define SHOAL_EPOCHS_MAX 65536 // of a run

#define SHOAL_SPLIT_MAX 2         // fields that a collection is split by
#define SHOAL_SPLIT_VALUES_MAX 31 // listed values of one of them

enum shoal_value_kind {
    SHOAL_VALUE_WORD = 1,
    SHOAL_VALUE_HOST,
    SHOAL_VALUE_SITE,
    SHOAL_VALUE_ITEM,
    SHOAL_VALUE_NUMBER,
    SHOAL_VALUE_FIELDS,   // fields of an event, by `encoding`
    SHOAL_VALUE_VARIABLES // one of each variable, by `variables`; no name that a recipe can state
};
enum shoal_text_form { SHOAL_FORM_NONE = 0, SHOAL_FORM_NFC = 1 };
enum shoal_text_case { SHOAL_CASE_KEEP = 0, SHOAL_CASE_LOWER = 1 };
enum shoal_fresh { SHOAL_FRESH_WAIT = 0, SHOAL_FRESH_ALLOW = 1 };
enum shoal_oracle { SHOAL_ORACLE_CMS = 0, SHOAL_ORACLE_OLH = 1 }; // what carries the parts of sfp
enum shoal_sampler {
    SHOAL_SAMPLER_RANDOM = 0,
    SHOAL_SAMPLER_GREEDY = 1
}; // of the words of a device, for trie
enum shoal_aggregation {
    SHOAL_AGGREGATION_REPORTS = 0, // records are kept until they are folded
    SHOAL_AGGREGATION_SUM = 1,     // only sums reach the aggregator's disk
    SHOAL_AGGREGATION_DAP =
        2 // two servers add up shares of reports, of which neither can read one (dap.h)
};

// A field whose value, approved as not sensitive, names the part of the collection that a report
// goes to.
typedef struct shoal_split_field {
    shoal_name field;
    shoal_list values; // of what other values are there is one more part, "other"
    size_t longest;    // characters of the longest of them
} shoal_split_field;

// One variable of a joint recipe; recipe.parts has its randomizer under the same index.
typedef struct shoal_variable {
    shoal_name name;
    uint32_t value;                // enum shoal_value_kind; neither fields nor variables
    uint32_t size, n_values;       // as the recipe states them; 0 where it does not
    int64_t low_micro, high_micro; // range of a number
    uint8_t digest[32];            // of what the recipe says of it but the name
} shoal_variable;

// The members of scalar fields, declared by the rows of recipe_fields.def. A number is 0 where the
// recipe does not state it and the row has no default; a choice is the enumerator of its name.
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

typedef struct shoal_recipe {
#include "recipe_fields.def"
    // Fields of more than one number.
    uint64_t stated[2];        // one bit for each row of this build that the recipe states
    uint32_t n_values;         // entries of parameters.values
    uint8_t values_digest[32]; // SHA-256 of those entries
    shoal_encoding encoding;   // n_fields is 0 where the recipe has none
    uint32_t n_splits;
    shoal_split_field splits[SHOAL_SPLIT_MAX];
    uint32_t n_part; // entries of `part`: 0, or n_splits
    shoal_name part[SHOAL_SPLIT_MAX];
    uint8_t alphabet_len;
    uint8_t alphabet[SHOAL_ALPHABET_MAX]; // rappor-ngram: bytes of candidates, ascending
    shoal_list known;                     // trie: words that devices do not report
    uint32_t n_variables;                 // of a joint recipe: 2 .. 8; else 0
    shoal_variable variables[SHOAL_VARIABLES_MAX];
    shoal_url leader, helper; // base URLs of the two servers; else empty
    // What follows from the fields.
    uint32_t n_parts; // 0: the recipe is not finished
    shoal_part parts[SHOAL_PARTS_MAX];
    uint32_t value_part;  // the part whose items are whole values: strings, list entries, cells
    uint32_t cost_micro;  // stated epsilon of one report, all parts: what the ledger charges
    uint32_t record_size; // bytes of a binary record
    uint32_t text_size;   // characters of a text record
    uint8_t recipe_hash[32];
    uint8_t query_hash[32]; // hash of the bytes that are signed, which leave `part` out
    uint8_t run_hash[32];   // hash without `part` and `round`: the same for all epochs of a run
    shoal_name key; // name of the collection in reports: recipe, then "/" and each entry of part
} shoal_recipe;

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

// Returns: the part whose items are whole values.
static inline const shoal_part *shoal_recipe_value_part(const shoal_recipe *recipe)
{
    return &recipe->parts[recipe->value_part];
}

// Finds a parameter that a report states: the recipe's numbers under "parameters."; a list of
// values counts as "size", its length.
//   name: written, static, without "parameters."
//   micro: written, in micro-units
//   index: 0, 1, ... in the order of the rows
// Returns: whether there are more than `index` parameters.
bool shoal_recipe_parameter(const char **name, int64_t *micro, const shoal_recipe *recipe,
                            uint32_t index);

// Returns: whether devices need a permanent secret of their own for records of this recipe.
bool shoal_recipe_is_permanent(const shoal_recipe *recipe);

// Returns: the item of a number. In a closed domain it is the one of `size` equal buckets between
// low and high that holds the number, the first or the last for a number outside. In the number
// domain it is the fraction of the range, or an end for a number outside. Rounded down, exact.
//   micro: the number in micro-units; value must be "number"
// Timing: constant in micro.
uint64_t shoal_recipe_number_item(const shoal_recipe *recipe, int64_t micro);

// Returns: the same for variable i of a joint recipe.
uint64_t shoal_variable_number_item(const shoal_recipe *recipe, uint32_t i, int64_t micro);

// Copies what the recipe states into a part, by the column `part` of recipe_fields.def.
//   part: written; mechanism, hash and domain as the recipe of one mechanism has them (domain 0)
void shoal_recipe_fill_part(shoal_part *part, const shoal_recipe *recipe);

// Writes the canonical bytes of a finished recipe that are signed: all fields but `part`.
// Returns: SPACE where they do not fit into cap bytes; SHOAL_CANONICAL_MAX is always enough.
shoal_err shoal_recipe_signed(uint8_t *out, size_t cap, size_t *len,
                              const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Returns: SHOAL_ERR_EXPIRED when day is after the recipe's last, else SHOAL_OK.
//   day: days since 1970-01-01 UTC
shoal_err shoal_recipe_check_day(const shoal_recipe *recipe, uint32_t day) SHOAL_MUST_CHECK;

// Sums the epsilon of one report as really drawn over all parts, from the thresholds, rounded up.
//   eps_micro: written, in micro-units, at most cost_micro
shoal_err shoal_recipe_epsilon(uint32_t *eps_micro, const shoal_recipe *recipe) SHOAL_MUST_CHECK;

#endif
