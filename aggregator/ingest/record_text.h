// SPDX-License-Identifier: Apache-2.0
// Text records read at speed, where a record is good and of a kind that there is much of.
// Everything else, and every complaint, is the core's (core/compound/record.h): what is read here
// it would read as the same record.
#ifndef RECORD_TEXT_H
#define RECORD_TEXT_H

#include "hex_digits.h"
#include "recipe.h"

typedef struct agg_record_text {
    const shoal_recipe *recipe;
    agg_hex_digits hex; // NULL: the core reads these records
} agg_record_text;

// Prepares to read records of a finished recipe, which must outlive it.
//   cpu: as agg_cpu.h says
void agg_record_text_init(agg_record_text *reader, const shoal_recipe *recipe, agg_cpu cpu);

// Reads recipe->text_size characters.
//   record: recipe->record_size bytes; of any content where the text is no record
// Returns: whether it is one.
int agg_record_text_read(uint8_t *record, const agg_record_text *reader, const char *text);

#endif
