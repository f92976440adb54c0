// SPDX-License-Identifier: Apache-2.0
// Describes how a mechanism's records are split: the fields of its text and the law of its weight.
// Each mechanism has one row of this table in its own file (core/split/<stem>_split.c). This code
// neither needs nor links a randomizer. Private to the core; other code uses split.h.
#ifndef SHOAL_SPLIT_KIND_H
#define SHOAL_SPLIT_KIND_H

#include <stdbool.h>

#include "mechanism.h"
#include "split_weight.h"

// Kinds of field in a record's text, separated by commas, for a part of shape (k, m). Fields
// without bits or a set form one number in mixed radix, which is the entry that the record raises.
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
    uint32_t id; // id of mechanisms.def
    uint8_t fields[SPLIT_FIELDS];
    bool is_signed; // the last field is 1 for +1 and 0 for -1
    uint8_t idle;   // entries before the first cell
    // Returns the most bits of a record that is sent. The pointer is NULL if the record is one
    // number.
    //   refusal: probability that an honest record has more bits, in units of 2^-64, rounded up
    uint32_t (*weight)(uint64_t *refusal, const shoal_part *part);
} shoal_split_kind;

#define SHOAL_MECHANISM(id, stem, name) extern const shoal_split_kind shoal_##stem##_split;
#include "mechanisms.def"
#undef SHOAL_MECHANISM

#endif
