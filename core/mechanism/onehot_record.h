// SPDX-License-Identifier: Apache-2.0
// Records with one bit for each entry, part->m bits in all. The one-hot encodings share this code.
// Private to the core.
#ifndef SHOAL_ONEHOT_RECORD_H
#define SHOAL_ONEHOT_RECORD_H

#include "bits.h"
#include "field_text.h"
#include "mechanism.h"

// Sets the part's sizes, or refuses its "size" with SHOAL_ERR_RANGE.
static inline shoal_err onehot_prepare(shoal_part *part, const char **field)
{
    *field = "size";
    part->m = part->size;
    if (part->m < 2 || part->m > SHOAL_ONEHOT_SIZE_MAX) return SHOAL_ERR_RANGE;
    part->record_size = bits_size(part->m);
    part->text_size = 2 * bits_size(part->m);
    return SHOAL_OK;
}

// The next three functions are the check, print and parse of shoal_mechanism.
static inline shoal_err onehot_check(const shoal_part *part, const uint8_t *record)
{
    return shoal_bits_check(record, part->m);
}

static inline void onehot_print(char *text, const shoal_part *part, const uint8_t *record)
{
    shoal_print_hex(text, record, bits_size(part->m));
}

static inline shoal_err onehot_parse(uint8_t *record, const shoal_part *part, const char *text,
                                     size_t *position)
{
    const char *at = text;
    shoal_err err = shoal_parse_hex(record, bits_size(part->m), &at);
    *position = (size_t)(at - text);
    return err;
}

#endif
