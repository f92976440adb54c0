// SPDX-License-Identifier: Apache-2.0
// The interface of every randomizer: a part of a record, and the functions that make, check and
// print it.
//
// A record is one or more parts in recipe order. A part has a binary form of fixed width:
// little-endian integers, then packed bits. Coordinate l is bit l % 8 of byte l / 8; unused high
// bits of the last byte are zero. A part also has a text form of fixed length: decimal fields
// zero-padded to the width of their largest value, and bits as lower-case hex in byte order.
#ifndef SHOAL_MECHANISM_H
#define SHOAL_MECHANISM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "permanent.h"
#include "rng.h"
#include "shoal_err.h"

// An item is the input of a randomizer. It is the fingerprint of a string (open domain), an index
// in [0, size) (closed domain), or a fraction of a range in units of 2^-32, from 0 to 2^32
// (number). In the last two domains SHOAL_ITEM_NONE stands for "none of the list" or "no number".
// It costs no more than any other item and, in expectation, adds nothing to any value's count. A
// mean, however, it pulls towards the middle of the range.
#define SHOAL_ITEM_NONE UINT64_MAX
#define SHOAL_NUMBER_ONE ((uint64_t)1 << 32) // the item of a range's upper end

#define SHOAL_SKETCH_CELLS_MAX ((uint64_t)1 << 28) // rows times columns of a sketch
#define SHOAL_ONEHOT_SIZE_MAX 65536u               // bits of a one-hot record

enum { SHOAL_MECHANISM_NONE = 0 };
#define SHOAL_MECHANISM(id, stem, name) enum { shoal_##stem##_id = id };
#include "mechanisms.def"
#undef SHOAL_MECHANISM

typedef enum shoal_domain {
    SHOAL_DOMAIN_OPEN = 1,   // any string; items are fingerprints
    SHOAL_DOMAIN_CLOSED = 2, // items are indices of a known list
    SHOAL_DOMAIN_NUMBER = 3  // items are fractions of a range
} shoal_domain;

enum shoal_hash_family { SHOAL_HASH_NONE = 0, SHOAL_HASH_POLY1 = 1, SHOAL_HASH_AFFINE1 = 2 };

// Recipe fields that only some mechanisms have. SHOAL_TAKES_LIST is `size` or `values`.
enum {
    SHOAL_TAKES_EPSILON = 1 << 0,
    SHOAL_TAKES_K = 1 << 1,
    SHOAL_TAKES_M = 1 << 2,
    SHOAL_TAKES_G = 1 << 3,
    SHOAL_TAKES_LIST = 1 << 4,
    SHOAL_TAKES_SEED = 1 << 5,
    SHOAL_TAKES_BITS = 1 << 6,
    SHOAL_TAKES_HASHES = 1 << 7,
    SHOAL_TAKES_COHORTS = 1 << 8,
    SHOAL_TAKES_PQF = 1 << 9,
    SHOAL_TAKES_RANGE = 1 << 10, // low and high; recipes whose `value` is "number" always have them
    SHOAL_TAKES_POLY1 = 1 << 11, // `hash` must be this family
    SHOAL_TAKES_AFFINE1 = 1 << 12,
    // The remaining fields belong to compounds.
    SHOAL_TAKES_FRAGMENTS = 1 << 13, // epsilon_fragment, k_fragment, m_fragment
    SHOAL_TAKES_ORACLE = 1 << 14,
    SHOAL_TAKES_LENGTH = 1 << 15,
    SHOAL_TAKES_NGRAM = 1 << 16, // n and alphabet
    SHOAL_TAKES_GRAMS = 1 << 17,
    SHOAL_TAKES_TRIE = 1 << 18,        // contributions, depth, max_prefixes
    SHOAL_TAKES_TRIE_PASSES = 1 << 19, // sampler, passes, pass, known
    SHOAL_TAKES_THRESH = 1 << 20,      // users, epochs, samples, smallest_group, groups, delta
    SHOAL_TAKES_ESTIMATE = 1 << 21,    // epsilon_estimate
    SHOAL_TAKES_PROJECTION = 1 << 22,
    SHOAL_TAKES_UPDATE = 1 << 23,  // round.update
    SHOAL_TAKES_RECORDS = 1 << 24, // records.keep_days
    SHOAL_TAKES_VARIABLES = 1 << 25,
    SHOAL_TAKES_PERMANENT = 1 << 26 // epsilon_permanent; of a plain mechanism
};

// Fields that a mechanism's recipes must state in one domain (`needs`) and may also state (`may`).
// needs == 0: the mechanism has no such domain.
typedef struct shoal_takes {
    uint32_t needs, may;
} shoal_takes;

// Parameters of one part; read-only once prepared.
typedef struct shoal_part {
    uint32_t mechanism; // id of mechanisms.def
    uint32_t domain;    // shoal_domain
    uint32_t hash;      // shoal_hash_family
    uint32_t eps_micro; // stated epsilon of this part, replacement model; if 0,
                        // prepare derives it (rappor)
    uint32_t k;         // rows (cms, hcms, olh, loloha), cohorts (rappor), subset size d, blocks
                        // (hadamard), places of a window (piecewise); else 1
    uint32_t m; // columns (cms, hcms), g (olh, loloha), bits (rappor, onehot), outputs (grr,
                // subset, piecewise), columns of a block (hadamard)
    uint32_t first_row; // first of the part's k rows in its sketch; 0 except while a
                        // compound randomizes
    uint32_t size;      // listed values of a closed domain; 0 in the others
    uint32_t hashes;    // rappor: bits that one value sets
    union {
        uint32_t pqf_micro[3];        // rappor: p, q, f
        uint32_t eps_permanent_micro; // loloha: epsilon of any number of reports of one value
    };
    uint8_t seed[32];     // source of the keys of hash rows and fingerprint
    uint8_t item_key[16]; // SipHash key of strings; derived from seed
    uint64_t threshold;   // probability * 2^64 of the coin that lies, as the mechanism defines it
    uint64_t pqf_threshold[3]; // of those; of piecewise: a place, the flip of a bit; of loloha:
                               // the permanent coin
    uint32_t record_size;      // bytes of the binary form
    uint32_t text_size;        // characters of the text form
} shoal_part;

// SHOAL_READS leaves the functions that read records out of builds that only make them. After gzip
// that saves 485 bytes of shoal-plain.wasm and 312 of shoal-query.wasm. The linker cannot leave
// them out, since the descriptors point to them.
#ifdef SHOAL_WITHOUT_READING
#define SHOAL_READS(function) (1 ? NULL : (function))
#else
#define SHOAL_READS(function) (function)
#endif

typedef struct shoal_mechanism {
    uint32_t id;
    const char *name;
    shoal_takes open, closed, number; // fields of its recipes, by domain
    bool is_permanent;                // randomize reads `permanent`
    // Checks the part's parameters and writes threshold, sizes and derived fields.
    //   field: names the refused field as the recipe spells it after "parameters." ("epsilon", "k",
    //   "size")
    // Returns: SHOAL_ERR_RANGE if a parameter is out of range.
    shoal_err (*prepare)(shoal_part *part, const char **field);
    // Writes a record of record_size bytes.
    //   permanent: the device's own secret; NULL unless is_permanent
    // Privacy: part->eps_micro, for any two items.
    // Timing: constant in the item.
    void (*randomize)(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng);
    // Returns SHOAL_ERR_RECORD unless the randomizer could have written these record_size bytes.
    shoal_err (*check)(const shoal_part *part, const uint8_t *record);
    // Writes text_size characters without a terminator.
    void (*print)(char *text, const shoal_part *part, const uint8_t *record);
    // Reads exactly text_size characters; on error *position is where reading stopped.
    shoal_err (*parse)(uint8_t *record, const shoal_part *part, const char *text, size_t *position);
    // Computes the epsilon really drawn from the thresholds, rounded up to micro-units.
    shoal_err (*epsilon)(uint32_t *eps_micro, const shoal_part *part);
    // Computes the epsilon of any number of reports of one value. NULL unless is_permanent.
    // Returns: SHOAL_ERR_RANGE if there is no bound.
    shoal_err (*unlimited)(uint32_t *eps_micro, const shoal_part *part);
} shoal_mechanism;

#define SHOAL_MECHANISM(id, stem, name) extern const shoal_mechanism shoal_##stem##_mechanism;
#include "mechanisms.def"
#undef SHOAL_MECHANISM

// Returns: the mechanism with that id or name, or NULL if this build does not have it.
const shoal_mechanism *shoal_mechanism_by_id(uint32_t id);
const shoal_mechanism *shoal_mechanism_by_name(const char *name, size_t len);

// Derives item_key from part->seed and calls the mechanism's prepare.
//   part: in, everything that a recipe states (k, m, size 0 if it does not); the rest is written on
//   OK
//   field: names the refused field, as in prepare
shoal_err shoal_part_prepare(shoal_part *part, const char **field) SHOAL_MUST_CHECK;

// Returns: the mechanism's `open`, `closed` or `number`.
//   domain: a shoal_domain
const shoal_takes *shoal_mechanism_takes(const shoal_mechanism *mechanism, uint32_t domain);

// Returns: whether the part's randomizer takes the item.
bool shoal_part_has_item(const shoal_part *part, uint64_t item);

// Returns: the item of a string in an open domain, which is its keyed fingerprint.
uint64_t shoal_part_item(const shoal_part *part, const uint8_t *bytes, size_t len);

#endif
