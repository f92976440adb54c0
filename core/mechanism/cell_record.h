// SPDX-License-Identifier: Apache-2.0
// The record of a mechanism that sends the number of a row and one of m answers: 32 bits with
// row m + answer; as text both in zero-padded decimals, `row,answer`. Private to the core's
// mechanisms.
#ifndef SHOAL_CELL_RECORD_H
#define SHOAL_CELL_RECORD_H

#include "bytes.h"
#include "field_text.h"
#include "mechanism.h"

// Sets the part's record and text sizes.
static inline void cell_record_sizes(shoal_part *part)
{
    part->record_size = 4;
    part->text_size = shoal_decimal_width(part->k) + 1 + shoal_decimal_width(part->m);
}

// The next three functions are the check, print and parse of shoal_mechanism.
static inline shoal_err cell_record_check(const shoal_part *part, const uint8_t *record)
{
    return load32_le(record) < part->k * part->m ? SHOAL_OK : SHOAL_ERR_RECORD;
}

static inline void cell_record_print(char *text, const shoal_part *part, const uint8_t *record)
{
    uint32_t cell = load32_le(record);
    text = shoal_print_decimal(text, cell / part->m, shoal_decimal_width(part->k));
    *text++ = ',';
    shoal_print_decimal(text, cell % part->m, shoal_decimal_width(part->m));
}

static inline shoal_err cell_record_parse(uint8_t *record, const shoal_part *part, const char *text,
                                          size_t *position)
{
    const char *at = text;
    uint32_t j = 0, y = 0;
    shoal_err err = shoal_parse_decimal(&j, &at, shoal_decimal_width(part->k), part->k);
    if (err == SHOAL_OK) err = shoal_parse_char(',', &at);
    if (err == SHOAL_OK) err = shoal_parse_decimal(&y, &at, shoal_decimal_width(part->m), part->m);
    store32_le(record, j * part->m + y);
    *position = (size_t)(at - text);
    return err;
}

#endif
