// SPDX-License-Identifier: Apache-2.0
// Records of a row and its bits, whose text is "j,<hex>": the row is read digit by digit, the bits
// 64 digits at a time. See record_text.h.
#include "record_text.h"

#include "bytes.h"
#include "field_text.h"
#include "recipe.h"
#include "record.h"
#include "sketch.h"

#define ROW_BYTES 4u

static bool is_row_of_bits(const shoal_part *part)
{
    const agg_sketch_kind *kind = agg_sketch_kind_of(part->mechanism);
    return kind != NULL && kind->is_rows_of_bits && part->record_size > ROW_BYTES &&
           part->text_size ==
               shoal_decimal_width(part->k) + 1 + 2 * (part->record_size - ROW_BYTES);
}

void agg_record_text_init(agg_record_text *reader, const shoal_recipe *recipe, agg_cpu cpu)
{
    bool are_all = recipe->n_parts >= 1;
    for (uint32_t i = 0; i < recipe->n_parts; i++)
        if (!is_row_of_bits(&recipe->parts[i])) are_all = false;
    *reader = (agg_record_text){recipe, are_all ? agg_hex_digits_of(cpu) : NULL};
}

static bool read_row(uint8_t *record, const shoal_part *part, const char *text, agg_hex_digits hex)
{
    uint32_t row = 0;
    if (shoal_parse_decimal(&row, &text, shoal_decimal_width(part->k), part->k) != SHOAL_OK ||
        *text != ',')
        return false;
    store32_le(record, row);
    return hex(record + ROW_BYTES, part->record_size - ROW_BYTES, text + 1);
}

bool agg_record_text_read(uint8_t *record, const agg_record_text *reader, const char *text)
{
    const shoal_recipe *recipe = reader->recipe;
    uint8_t *to = record;
    if (reader->hex == NULL)
        return shoal_record_from_text(record, recipe, text, recipe->text_size, NULL) == SHOAL_OK;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        if (i > 0 && *text++ != ';') return false;
        if (!read_row(to, part, text, reader->hex)) return false;
        text += part->text_size;
        to += part->record_size;
    }
    return shoal_record_check(recipe, record) == SHOAL_OK;
}
