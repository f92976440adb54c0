// SPDX-License-Identifier: Apache-2.0
// Count Mean Sketch records; see cms.h.
#include "cms.h"

#include "bits.h"
#include "bytes.h"
#include "column.h"
#include "field_text.h"
#include "probability.h"

static shoal_err prepare(shoal_part *part, const char **field)
{
    *field = "k";
    if (part->k < 1 || part->k > SHOAL_CMS_K_MAX) return SHOAL_ERR_RANGE;
    *field = "m";
    if (part->m < 2 || part->m > SHOAL_CMS_M_MAX) return SHOAL_ERR_RANGE;
    if ((uint64_t)part->k * part->m > SHOAL_SKETCH_CELLS_MAX) return SHOAL_ERR_RANGE;
    shoal_err err = shoal_column_check(part, field, "m");
    if (err != SHOAL_OK) return err;
    part->record_size = 4 + bits_size(part->m);
    part->text_size = shoal_decimal_width(part->k) + 1 + 2 * bits_size(part->m);
    *field = "epsilon";
    return shoal_threshold(&part->threshold, part->eps_micro, 2);
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item, const shoal_permanent *permanent,
                      shoal_rng *rng)
{
    (void)permanent;
    uint32_t j = (uint32_t)shoal_rng_below(rng, part->k);
    uint32_t column = shoal_column(part, j, item, rng);
    store32_le(record, j);
    shoal_bits_onehot(record + 4, part->m, column, part->threshold, 1, 0, rng);
    wipe(&column, sizeof column);
}

static shoal_err check(const shoal_part *part, const uint8_t *record)
{
    if (load32_le(record) >= part->k) return SHOAL_ERR_RECORD;
    return shoal_bits_check(record + 4, part->m);
}

static void print(char *text, const shoal_part *part, const uint8_t *record)
{
    text = shoal_print_decimal(text, load32_le(record), shoal_decimal_width(part->k));
    *text++ = ',';
    shoal_print_hex(text, record + 4, bits_size(part->m));
}

static shoal_err parse(uint8_t *record, const shoal_part *part, const char *text, size_t *position)
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

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return shoal_threshold_epsilon(eps_micro, part->threshold, 2);
}

#define SKETCH (SHOAL_TAKES_EPSILON | SHOAL_TAKES_K | SHOAL_TAKES_M | SHOAL_TAKES_SEED)

const shoal_mechanism shoal_cms_mechanism = {
    shoal_cms_id,
    "cms",
    {SKETCH | SHOAL_TAKES_POLY1, 0},
    {SKETCH | SHOAL_TAKES_AFFINE1 | SHOAL_TAKES_LIST, 0},
    {0, 0},
    0,
    prepare,
    randomize,
    check,
    print,
    parse,
    epsilon,
};
