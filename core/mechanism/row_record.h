// SPDX-License-Identifier: Apache-2.0
// Records with a row (or cohort) of part->k and one bit for each of part->m columns. CMS and RAPPOR
// share this code. A record is the row (u32) and the bits; its text is "j,<hex>". Private to the
// core.
#ifndef SHOAL_ROW_RECORD_H
#define SHOAL_ROW_RECORD_H

#include "bits.h"
#include "bytes.h"
#include "field_text.h"
#include "mechanism.h"

// Sets the part's record and text sizes.
static inline void row_record_sizes(shoal_part *part)
{
    part->record_size = 4 + bits_size(part->m);
    part->text_size = shoal_decimal_width(part->k) + 1 + 2 * bits_size(part->m);
}

// The next three functions are the check, print and parse of shoal_mechanism.
static inline shoal_err row_record_check(const shoal_part *part, const uint8_t *record)
{
    if (load32_le(record) >= part->k) return SHOAL_ERR_RECORD;
    return shoal_bits_check(record + 4, part->m);
}

static inline void row_record_print(char *text, const shoal_part *part, const uint8_t *record)
{
    text = shoal_print_decimal(text, load32_le(record), shoal_decimal_width(part->k));
    *text++ = ',';
    shoal_print_hex(text, record + 4, bits_size(part->m));
}

static inline shoal_err row_record_parse(uint8_t *record, const shoal_part *part, const char *text,
                                         size_t *position)
{
    const char *at = text;
    uint32_t j = 0;
    shoal_err err = shoal_parse_decimal(&j, &at, shoal_decimal_width(part->k), part->k);
    if (err == SHOAL_OK) err = shoal_parse_char(',', &at);
    if (err == SHOAL_OK) err = shoal_parse_hex(record + 4, bits_size(part->m), &at);
    store32_le(record, j);
    *position = (size_t)(at - text);
    return err;
}

#endif
