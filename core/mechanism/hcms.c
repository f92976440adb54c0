// SPDX-License-Identifier: Apache-2.0
// Makes Hadamard Count Mean Sketch records; see hcms.h.
#include "hcms.h"

#include "affine1.h"
#include "bytes.h"
#include "column.h"
#include "field_text.h"
#include "probability.h"

static shoal_err prepare(shoal_part *part, const char **field)
{
    shoal_err err = shoal_column_check(part, field, "m", SHOAL_HCMS_K_MAX, SHOAL_HCMS_M_MAX);
    if (err != SHOAL_OK) return err;
    *field = "m";
    if ((part->m & (part->m - 1)) != 0) return SHOAL_ERR_RANGE;
    part->record_size = 8;
    part->text_size = shoal_decimal_width(part->k) + 1 + shoal_decimal_width(part->m) + 2;
    *field = "epsilon";
    return shoal_threshold(&part->threshold, part->eps_micro, 1);
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    (void)permanent;
    uint32_t j = part->first_row + (uint32_t)shoal_rng_below(rng, part->k);
    uint32_t l = (uint32_t)shoal_rng_below(rng, part->m);
    uint32_t negative = shoal_parity(l & shoal_column(part, j, item, rng));
    negative ^= shoal_rng_bernoulli(rng, part->threshold);
    store32_le(record, j);
    store32_le(record + 4, l << 1 | (negative ^ 1));
}

static shoal_err check(const shoal_part *part, const uint8_t *record)
{
    if (load32_le(record) >= part->k || load32_le(record + 4) >> 1 >= part->m)
        return SHOAL_ERR_RECORD;
    return SHOAL_OK;
}

static void print(char *text, const shoal_part *part, const uint8_t *record)
{
    uint32_t column_sign = load32_le(record + 4);
    text = shoal_print_decimal(text, load32_le(record), shoal_decimal_width(part->k));
    *text++ = ',';
    text = shoal_print_decimal(text, column_sign >> 1, shoal_decimal_width(part->m));
    *text++ = ',';
    shoal_print_decimal(text, column_sign & 1, 1);
}

static shoal_err parse(uint8_t *record, const shoal_part *part, const char *text, size_t *position)
{
    const char *at = text;
    uint32_t j = 0, l = 0, s = 0;
    shoal_err err = shoal_parse_decimal(&j, &at, shoal_decimal_width(part->k), part->k);
    if (err == SHOAL_OK) err = shoal_parse_char(',', &at);
    if (err == SHOAL_OK) err = shoal_parse_decimal(&l, &at, shoal_decimal_width(part->m), part->m);
    if (err == SHOAL_OK) err = shoal_parse_char(',', &at);
    if (err == SHOAL_OK) err = shoal_parse_decimal(&s, &at, 1, 2);
    store32_le(record, j);
    store32_le(record + 4, l << 1 | s);
    *position = (size_t)(at - text);
    return err;
}

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return shoal_threshold_epsilon(eps_micro, part->threshold, 1);
}

const shoal_mechanism shoal_hcms_mechanism = {
    .id = shoal_hcms_id,
    .name = "hcms",
    .open = {.needs = SHOAL_TAKES_SKETCH | SHOAL_TAKES_POLY1},
    .closed = {.needs = SHOAL_TAKES_SKETCH | SHOAL_TAKES_AFFINE1 | SHOAL_TAKES_LIST},
    .prepare = prepare,
    .randomize = randomize,
    .check = SHOAL_READS(check),
    .print = print,
    .parse = SHOAL_READS(parse),
    .epsilon = epsilon,
};
