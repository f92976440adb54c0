// SPDX-License-Identifier: Apache-2.0
// The recipe: the contract of one collection, as a struct, with its checks, its canonical bytes and
// its hash.
//
// Hosts parse the JSON with their own library and hand every scalar to `shoal_recipe_set_*` under
// its dotted path
// ("parameters.epsilon"); the field table here is the only place that knows names, types, ranges
// and defaults. Numbers arrive in micro-units (4 is 4,000,000) so that no float enters the core: a
// host converts a JSON number x by v = round(x * 1e6), and refuses x unless |x| <= 9e12 and
// (double)v / 1e6 == x.
//
// Canonical bytes: "shoal recipe 1\n", then for every field that differs from its default, in table
// order: tag (u16), length (u32), value; all integers big-endian, numbers as 8 bytes two's
// complement. A field at its default is left out, so a field added later changes no hash of today.
// Value lists enter as their count and the SHA-256 of the values, each prefixed by its length
// (u32).
//
// A query is a recipe with `policy`, `version`, `round`, `split_by`, `aggregation` and, for `value:
// "fields"`, an `encoding` (encoding.h). `split_by` makes a collection of each of its parts: the
// same recipe with the field `part`, one entry a split field, has the same signed bytes (they leave
// `part` out), a hash of its own and the key "id/entry/...".
//
// With `aggregation.protocol` "dap" two servers, `aggregation.leader` and `aggregation.helper`, add
// up what devices share among them (dap.h).
//
// A joint recipe (joint.h) has `variables`, each with a name and a mechanism, in place of one
// `value`, `mechanism`, `parameters`, `hash` and `seed`.
#ifndef SHOAL_RECIPE_H
#define SHOAL_RECIPE_H

#include <stddef.h>
#include <stdint.h>

#include "encoding.h"
#include "mechanism.h"
#include "name.h"
#include "sha256.h"
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

typedef struct shoal_recipe {
    shoal_name recipe, analysis, stream;
    uint32_t value;                 // enum shoal_value_kind
    uint32_t text_form, text_case;  // enums; defaults NFC, lower
    uint32_t text_min, text_max;    // Unicode code points after form and case; defaults 1, 32
    uint32_t mechanism;             // id of mechanisms.def or compounds.def
    uint32_t eps_micro, k, m, size; // parameters; 0 where absent
    uint32_t g, bits, hashes, cohorts;
    uint32_t pqf_micro[3];         // rappor's p, q, f
    int64_t low_micro, high_micro; // range of a number
    uint32_t hash;                 // enum shoal_hash_family
    uint8_t seed[32];
    uint32_t per_day;           // reports a day, 1 .. 1,000,000
    uint32_t sample_micro;      // 1 .. 1,000,000; default 1,000,000
    uint32_t delay_s;           // 0 .. 604800; default 86400
    uint32_t fresh;             // enum shoal_fresh; default wait
    uint32_t batch_minimum;     // 1 .. 1,000,000; default 500
    uint32_t batch_max_age_s;   // 1 .. 2,592,000; default 86400
    uint32_t cohort_minimum;    // 1 .. 10^9; default 1000
    uint32_t cohort_eps_micro;  // 0 (no central claim) or 1 .. 16,000,000
    uint32_t cohort_delta_exp;  // K of 1e-K; 0 (absent) or 3 .. 15
    uint64_t release_threshold; // reports; 0 .. 10^12; default 0
    uint32_t expires_day;       // last valid day, days since 1970-01-01 UTC
    shoal_encoding encoding;    // n_fields 0 where there is none
    uint8_t policy[32];   // hash of the policy that a query is under; zeros where there is none
    uint32_t version;     // of a query: the analysis counts it up; 0 (absent) or 1 .. 1,000,000
    uint32_t round_index; // 0 (absent) or 1 .. 1000
    uint8_t round_previous[32]; // query_hash of the round before; from round 2 on
    uint32_t n_splits;
    shoal_split_field splits[SHOAL_SPLIT_MAX];
    uint32_t n_part; // entries of `part`: 0, or n_splits
    shoal_name part[SHOAL_SPLIT_MAX];
    uint32_t aggregation; // enum shoal_aggregation; default reports
    // of compounds (compound.h); 0 where absent
    uint32_t eps_fragment_micro, k_fragment, m_fragment; // sfp
    uint32_t oracle;                                     // enum shoal_oracle; default cms
    uint32_t length;                                     // bytes of a string: sfp, rappor-ngram
    uint32_t n_gram, grams; // rappor-ngram: bytes of one, how many are sent (default 2)
    uint8_t alphabet_len;
    uint8_t
        alphabet[SHOAL_ALPHABET_MAX]; // rappor-ngram: bytes that candidates are made of, ascending
    uint32_t contributions;           // trie: reports of one device
    uint32_t sampler;                 // enum shoal_sampler; default random
    uint32_t depth,
        max_prefixes;      // trie: characters of a word at most; prefixes that a round may keep
    uint32_t passes, pass; // trie: tries to build, the one this round is of; default 1
    shoal_list known;      // trie: words that are not reported
    uint32_t users, epochs,
        samples; // thresh, heavythresh: devices, epochs of a run, samples of a device in an epoch
    uint32_t smallest_group, groups; // devices of the smallest group that changes alone; groups
    uint32_t delta_exp;              // K of 1e-K: the chance that the run's accuracy fails
    uint32_t projection;             // heavythresh: coordinates; default 2048
    uint32_t eps_estimate_micro;     // heavythresh: epsilon of one estimate
    uint32_t round_update;           // 1: devices send their estimates of the epoch before this one
    uint32_t keep_days;              // days that records are kept beyond their period; default 30
    uint32_t n_variables;            // of a joint recipe: 2 .. 8; else 0
    shoal_variable variables[SHOAL_VARIABLES_MAX];
    // below: written by shoal_recipe_finish
    uint32_t n_parts;
    shoal_part parts[SHOAL_PARTS_MAX];
    uint32_t
        value_part; // the part whose items are whole values: strings, entries of the list, cells
    uint32_t
        cost_micro; // stated epsilon of one report, all parts: what the ledger and people are told
    uint32_t record_size; // bytes of a binary record
    uint32_t text_size;   // characters of a text record
    uint8_t recipe_hash[32];
    uint8_t query_hash[32]; // the same without `part`: of the bytes that are signed
    uint8_t run_hash[32];   // the same without `part` and `round`: of all epochs of a run
    shoal_name key; // what reports and accumulators call the collection: recipe, then "/" and each
                    // entry of part
    // below: private to recipe.c
    uint64_t seen[2]; // one bit a field
    uint32_t
        at_variable; // 1 + index of the variable whose fields are being set; 0 for the recipe's own
    uint32_t n_values;
    uint8_t values_digest[32];
    shoal_sha256 values_sha;
    const char *error_field; // static path of the field the last error is about, or NULL
    const char *error_text;  // static sentence, or NULL
    uint32_t error_variable; // 1 + index of the variable that the error is about; 0 where it is
                             // about none
    // of dap (stated like the fields above; they stand here so that others keep short offsets)
    shoal_url leader, helper; // base URLs of the two servers; else empty
    uint32_t
        time_precision_s; // reports state their time in units of this; 60 .. 604800, default 86400
} shoal_recipe;

// Starts an empty recipe with every default in place.
void shoal_recipe_init(shoal_recipe *recipe);

// What a joint recipe says of variable N, counted from 0 in order, is set under "variables.N.":
// name, value, mechanism, parameters.*, hash, seed. All of one comes before the first of the next.
//
// Sets one field. On error `recipe->error_field` and `error_text` say what and where, and the
// recipe is unusable.
//   path: dotted JSON path, not NUL-terminated
//   micro: the number in micro-units
// Returns: UNKNOWN_FIELD, DUPLICATE, TYPE (a string where a number belongs, a broken id, date or
// hex), RANGE.
shoal_err shoal_recipe_set_number(shoal_recipe *recipe, const char *path, size_t path_len,
                                  int64_t micro) SHOAL_MUST_CHECK;
shoal_err shoal_recipe_set_string(shoal_recipe *recipe, const char *path, size_t path_len,
                                  const char *text, size_t len) SHOAL_MUST_CHECK;

// The range of a field that shoal_recipe_set_number sets, for a host that says what was refused.
// Mechanisms may take less.
//   min_micro, max_micro: both ends, in micro-units; written where there is a range
// Returns: whether `path` is such a field and its range is its own, which it is not of
// parameters.low and .high.
int shoal_recipe_range(int64_t *min_micro, int64_t *max_micro, const char *path, size_t path_len);

// Adds the next entry of the list `parameters.values`, in order. The host refuses doubles (it has
// the memory to see them).
shoal_err shoal_recipe_add_value(shoal_recipe *recipe, const char *text,
                                 size_t len) SHOAL_MUST_CHECK;

// Adds the next entry of any list but `parameters.values`: encoding.N.boundaries (numbers);
// encoding.N.values, encoding.N.prefixes, encoding.N.tokens, encoding.N.starts,
// encoding.N.characters, split_by.N.values, part, parameters.known, variables.N.parameters.values
// (texts). N counts from 0 in order. The host refuses doubles, and a `part` that split_by.N.values
// does not hold and that is not "other".
shoal_err shoal_recipe_add_text(shoal_recipe *recipe, const char *path, size_t path_len,
                                const char *text, size_t len) SHOAL_MUST_CHECK;
shoal_err shoal_recipe_add_number(shoal_recipe *recipe, const char *path, size_t path_len,
                                  int64_t micro) SHOAL_MUST_CHECK;

// Returns: the part whose items are whole values.
static inline const shoal_part *shoal_recipe_value_part(const shoal_recipe *recipe)
{
    return &recipe->parts[recipe->value_part];
}

// Returns: the name of the recipe's mechanism, also where that is a compound (compound.h); NULL
// before it is set.
const char *shoal_recipe_mechanism_name(const shoal_recipe *recipe);

// What a report says about the mechanism: the recipe's stated numbers under "parameters.", a list
// of values by its length as "size".
//   index: 0, 1, ... in the field table's order
//   name: static, without "parameters."
// Returns: whether there is an index-th.
int shoal_recipe_parameter(const char **name, int64_t *micro, const shoal_recipe *recipe,
                           uint32_t index);

// Returns: whether devices need a permanent secret of their own for this finished recipe's records.
int shoal_recipe_is_permanent(const shoal_recipe *recipe);

// Returns: the item of a number: of `size` equal buckets between low and high the one it lies in
// (closed domain; outside: the first or the last), or its fraction of the range (number domain;
// outside: an end). Rounded down, exact.
//   micro: the number in micro-units; value must be "number"
// Timing: constant in micro.
uint64_t shoal_recipe_number_item(const shoal_recipe *recipe, int64_t micro);

// The same of variable i of a joint recipe.
uint64_t shoal_variable_number_item(const shoal_recipe *recipe, uint32_t i, int64_t micro);

// Checks the whole recipe, prepares its parts and computes its hash. Must succeed before any other
// use.
shoal_err shoal_recipe_finish(shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Writes the canonical bytes of a finished recipe, or those that are signed: without `part`.
shoal_err shoal_recipe_canonical(uint8_t *out, size_t cap, size_t *len,
                                 const shoal_recipe *recipe) SHOAL_MUST_CHECK;
shoal_err shoal_recipe_signed(uint8_t *out, size_t cap, size_t *len,
                              const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Returns: SHOAL_ERR_EXPIRED when day is after the recipe's last, else SHOAL_OK.
//   day: days since 1970-01-01 UTC
shoal_err shoal_recipe_check_day(const shoal_recipe *recipe, uint32_t day) SHOAL_MUST_CHECK;

// The epsilon of one report as really drawn, at most cost_micro: sum over parts, from the
// thresholds, rounded up. Micro-units.
shoal_err shoal_recipe_epsilon(uint32_t *eps_micro, const shoal_recipe *recipe) SHOAL_MUST_CHECK;

#endif
