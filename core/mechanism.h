// SPDX-License-Identifier: Apache-2.0
// What every randomizer looks like from outside: a part of a record, and the functions that make, check and print it.
//
// A record is one or more parts in recipe order. A part has a fixed-width binary form (little-endian integers, then
// packed bits: coordinate l is bit l % 8 of byte l / 8, unused high bits of the last byte zero) and a text form of fixed
// length (decimal fields zero-padded to the width of their largest value, bits as lower-case hex in byte order).
#ifndef SHOAL_MECHANISM_H
#define SHOAL_MECHANISM_H

#include <stddef.h>
#include <stdint.h>

#include "rng.h"
#include "shoal_err.h"

// An item is what a randomizer takes: the fingerprint of a string (open domain) or an index in [0, m) (closed domain).
// In a closed domain this item stands for "none of the listed values": it costs no more than any listed one and, in
// expectation, adds nothing to any of them.
#define SHOAL_ITEM_NONE UINT64_MAX

enum { SHOAL_MECHANISM_NONE = 0 };
#define SHOAL_MECHANISM(id, stem, name) enum { shoal_##stem##_id = id };
#include "mechanisms.def"
#undef SHOAL_MECHANISM

typedef enum shoal_domain {
    SHOAL_DOMAIN_OPEN = 1,  // any string; items are fingerprints
    SHOAL_DOMAIN_CLOSED = 2 // items are indices of a known list
} shoal_domain;

// One part's parameters, prepared once and then only read.
typedef struct shoal_part {
    uint32_t mechanism;   // id of mechanisms.def
    uint32_t eps_micro;   // stated epsilon of this part, replacement model
    uint32_t k;           // rows; 1 where the mechanism has none
    uint32_t m;           // columns, or the size of a closed domain
    uint8_t seed[32];     // keys of hash rows and fingerprint come from here
    uint8_t item_key[16]; // SipHash key of strings; derived from seed
    uint64_t threshold;   // the rare side's probability * 2^64
    uint32_t record_size; // bytes of the binary form
    uint32_t text_size;   // characters of the text form
} shoal_part;

typedef struct shoal_mechanism {
    uint32_t id;
    const char *name;
    shoal_domain domain;
    // Checks eps_micro, k, m; writes threshold and sizes. SHOAL_ERR_RANGE names the field in *field ("epsilon", "k", "m", "size").
    shoal_err (*prepare)(shoal_part *part, const char **field);
    // Writes record_size bytes. Privacy: part->eps_micro, for any two items. Timing: constant in the item.
    void (*randomize)(uint8_t *record, const shoal_part *part, uint64_t item, shoal_rng *rng);
    // SHOAL_ERR_RECORD unless the randomizer could have written these record_size bytes.
    shoal_err (*check)(const shoal_part *part, const uint8_t *record);
    // Writes text_size characters, no terminator.
    void (*print)(char *text, const shoal_part *part, const uint8_t *record);
    // Reads exactly text_size characters; *position is where reading stopped on error.
    shoal_err (*parse)(uint8_t *record, const shoal_part *part, const char *text, size_t *position);
    // The epsilon of what is really drawn, from the threshold, rounded up to micro-units.
    shoal_err (*epsilon)(uint32_t *eps_micro, const shoal_part *part);
} shoal_mechanism;

#define SHOAL_MECHANISM(id, stem, name) extern const shoal_mechanism shoal_##stem##_mechanism;
#include "mechanisms.def"
#undef SHOAL_MECHANISM

// Returns: the mechanism of that id or name, or NULL where this build does not carry it.
const shoal_mechanism *shoal_mechanism_by_id(uint32_t id);
const shoal_mechanism *shoal_mechanism_by_name(const char *name, size_t len);

// Derives item_key from part->seed and calls the mechanism's prepare.
//   part: mechanism, eps_micro, k, m, seed set; the rest written on OK
shoal_err shoal_part_prepare(shoal_part *part, const char **field) SHOAL_MUST_CHECK;

// Returns: the item of a string in an open domain, its keyed fingerprint.
uint64_t shoal_part_item(const shoal_part *part, const uint8_t *bytes, size_t len);

#endif
