// SPDX-License-Identifier: Apache-2.0
// Records of a row and its bits, whose text is "j,<hex>", digit by digit and 64 digits at a time;
// see record_text.h. Others by the core.
#include "record_text.h"

#include "bytes.h"
#include "field_text.h"
#include "record.h"
#include "sketch.h"

#define ROW_BYTES 4u

static int is_row_of_bits(const shoal_part *part)
{
    const agg_sketch_kind *kind = agg_sketch_kind_of(part->mechanism);
    return kind != NULL && kind->is_rows_of_bits && part->record_size > ROW_BYTES &&
           part->text_size ==
               shoal_decimal_width(part->k) + 1 + 2 * (part->record_size - ROW_BYTES);
}

void agg_record_text_init(agg_record_text *reader, const shoal_recipe *recipe, agg_cpu cpu)
{
    int are_all = recipe->n_parts >= 1;
    for (uint32_t i = 0; i < recipe->n_parts; i++) are_all &= is_row_of_bits(&recipe->parts[i]);
    *reader = (agg_record_text){recipe, are_all ? agg_hex_digits_of(cpu) : NULL};
}

static int read_row(uint8_t *record, const shoal_part *part, const char *text, agg_hex_digits hex)
{
    uint32_t row = 0;
    if (shoal_parse_decimal(&row, &text, shoal_decimal_width(part->k), part->k) != SHOAL_OK ||
        *text != ',')
        return 0;
    store32_le(record, row);
    return hex(record + ROW_BYTES, part->record_size - ROW_BYTES, text + 1);
}

int agg_record_text_read(uint8_t *record, const agg_record_text *reader, const char *text)
{
    const shoal_recipe *recipe = reader->recipe;
    uint8_t *to = record;
    if (reader->hex == NULL)
        return shoal_record_from_text(record, recipe, text, recipe->text_size, NULL) == SHOAL_OK;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        if (i > 0 && *text++ != ';') return 0;
        if (!read_row(to, part, text, reader->hex)) return 0;
        text += part->text_size;
        to += part->record_size;
    }
    return shoal_record_check(recipe, record) == SHOAL_OK;
}
