// SPDX-License-Identifier: Apache-2.0
// A fast reader of valid text records of the commonest kind, a row and its bits. All other records,
// and every error message, are left to the core (core/compound/record.h), which reads the same
// record from the same text.
#ifndef RECORD_TEXT_H
#define RECORD_TEXT_H

#include <stdbool.h>

#include "hex_digits.h"
#include "recipe_ref.h"

typedef struct agg_record_text {
    const shoal_recipe *recipe;
    agg_hex_digits hex; // NULL: the core reads these records
} agg_record_text;

// Prepares to read records of a finished recipe, which must outlive it.
//   cpu: as agg_cpu.h says
void agg_record_text_init(agg_record_text *reader, const shoal_recipe *recipe, agg_cpu cpu);

// Reads recipe->text_size characters.
//   record: recipe->record_size bytes; of any content where the result is false
// Returns: whether the text is a valid record.
bool agg_record_text_read(uint8_t *record, const agg_record_text *reader, const char *text);

#endif
