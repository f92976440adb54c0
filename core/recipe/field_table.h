// SPDX-License-Identifier: Apache-2.0
// A table of scalar fields states where each field lives and which values it takes. Recipes and
// policies each have one. The functions set a field from a JSON string or number. The header is
// private to the core.
#ifndef SHOAL_FIELD_TABLE_H
#define SHOAL_FIELD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shoal_err.h"

#define FIELD_COUNT_MAX 1000000000000u

enum field_kind {
    FIELD_LIST,    // a list, which the table's owner sets
    FIELD_NAME,    // shoal_name
    FIELD_BYTES,   // 32 bytes, 64 hex digits, not all zero
    FIELD_OTHER,   // uint32_t, from a string that the table's owner reads; this kind and all below
                   // hold a number
    FIELD_CHOICE,  // uint32_t, one of `choices`
    FIELD_DAY,     // uint32_t, "YYYY-MM-DD", as days since 1970-01-01
    FIELD_DELTA,   // uint32_t K of "1e-K"
    FIELD_INTEGER, // uint32_t, a whole number; this kind and all below are set from a number
    FIELD_MICRO,   // uint32_t, micro-units
    FIELD_COUNT,   // uint64_t, a whole number up to FIELD_COUNT_MAX
    FIELD_SIGNED   // int64_t, micro-units, may be negative
};

typedef struct shoal_choice {
    const char *name; // NULL in the last entry
    uint32_t number;
} shoal_choice;

typedef struct shoal_field {
    const char *path;
    const shoal_choice *choices;
    uint32_t min, max, initial; // range of INTEGER, MICRO and DELTA; default of all numbers
    uint16_t offset;            // offset in the struct that each function here takes as `at`
    uint8_t kind;               // enum field_kind
    bool is_always;             // the field must be stated
} shoal_field;

static inline bool shoal_field_is_number(const shoal_field *f)
{
    return f->kind >= FIELD_OTHER;
}

// Reads or writes the value of a field that holds a number.
uint64_t shoal_field_get(const shoal_field *f, const void *at);
void shoal_field_put(const shoal_field *f, void *at, uint64_t number);

// Returns: the choice whose name is the text, or NULL.
const shoal_choice *shoal_find_choice(const shoal_choice *choices, const char *text, size_t len);

// Sets a field from a number in micro-units, or from a string. Neither function sets a LIST, and a
// string does not set an OTHER.
//   why: static sentence, written on error
// Returns: TYPE, RANGE.
shoal_err shoal_field_set_number(const shoal_field *f, void *at, int64_t micro,
                                 const char **why) SHOAL_MUST_CHECK;
shoal_err shoal_field_set_string(const shoal_field *f, void *at, const char *text, size_t len,
                                 const char **why) SHOAL_MUST_CHECK;

// Reads 64 hex digits, not all zero.
shoal_err shoal_parse_bytes(uint8_t bytes[32], const char *text, size_t len,
                            const char **why) SHOAL_MUST_CHECK;

#endif
