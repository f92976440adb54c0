// SPDX-License-Identifier: Apache-2.0
// Marks: properties of a record's text that an auditor can see without knowing the mechanism, such
// as a bit of a digit, the text of a field, or the order of two fields.
#ifndef AUDIT_MARKS_H
#define AUDIT_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "recipe_json.h"

typedef enum agg_mark_kind {
    AGG_MARK_BIT = 1, // bit position % 4 of character position / 4, a hex digit, is 1
    AGG_MARK_FIELD,   // field number `position` is `text`
    AGG_MARK_HAS,     // some field is `text`
    AGG_MARK_WHOLE,   // the whole text is `text`
    AGG_MARK_LENGTH,  // the text has `position` characters
    AGG_MARK_FALL     // field number `position` is larger than the next
} agg_mark_kind;

#define AGG_MARK_TEXT_MAX 24u // a longer field or text is seen as bits only

typedef struct agg_mark {
    uint32_t kind; // agg_mark_kind
    uint32_t position;
    uint32_t len;
    char text[AGG_MARK_TEXT_MAX]; // zeros beyond len
} agg_mark;

#define AGG_FIELDS_MAX 1024u // further fields are not examined one by one

// A record's text with its fields, which commas and semicolons separate.
typedef struct agg_marked {
    agg_text text;
    uint32_t n_fields;
    agg_text fields[AGG_FIELDS_MAX];
} agg_marked;

// Splits a text into its fields.
void agg_marked_read(agg_marked *marked, agg_text text);

// Returns: the value of a hex digit of either case; -1 for another character.
int agg_hex_digit(char c);

// Returns: whether the text has the mark.
bool agg_marked_has(const agg_marked *marked, const agg_mark *mark);

// Writes the i-th mark of the text, bits excepted. The same mark may be written for two values of
// i.
// Returns: 1 if it was written; 2 if there is no i-th mark but later ones may follow; 0 if there
// are no more.
int agg_marked_list(agg_mark *mark, const agg_marked *marked, uint32_t i);

// Describes the mark in words.
void agg_mark_describe(char *out, size_t cap, const agg_mark *mark);

#endif
