// SPDX-License-Identifier: Apache-2.0
// How a mechanism's records are split, in a table row of its own file (core/<stem>_split.c): the
// fields of its text and the law of its weight. Private to the core; split.h is the door. No
// randomizer is needed here, nor linked.
#ifndef SHOAL_SPLIT_KIND_H
#define SHOAL_SPLIT_KIND_H

#include "mechanism.h"
#include "split_weight.h"

// The fields of a record's text, which commas separate, by the shape (k, m) of its part. Without
// bits or a set they are one number, in mixed radix, and that is the entry which the record raises.
enum split_field {
    SPLIT_END = 0,
    SPLIT_ROW,    // a number below k
    SPLIT_COLUMN, // a number below m
    SPLIT_CELL,   // a number below k m
    SPLIT_BIT,    // 0 or 1
    SPLIT_BITS,   // m bits in hex
    SPLIT_SET     // k numbers below m, ascending
};
#define SPLIT_FIELDS 3

typedef struct shoal_split_kind {
    uint32_t id; // of mechanisms.def
    uint8_t fields[SPLIT_FIELDS];
    uint8_t is_signed; // the last field is 1 for +1 and 0 for -1
    uint8_t idle;      // entries before the first cell's
    // The most bits of a record that is sent; NULL where it is one number.
    //   refusal: the chance, in units of 2^-64 and rounded up, that an honest record has more
    uint32_t (*weight)(uint64_t *refusal, const shoal_part *part);
} shoal_split_kind;

#define SHOAL_MECHANISM(id, stem, name) extern const shoal_split_kind shoal_##stem##_split;
#include "mechanisms.def"
#undef SHOAL_MECHANISM

#endif
