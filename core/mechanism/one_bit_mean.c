// SPDX-License-Identifier: Apache-2.0
// Makes records of one-bit means; see one_bit_mean.h.
#include "one_bit_mean.h"

#include "bytes.h"
#include "field_text.h"
#include "probability.h"

static shoal_err prepare(shoal_part *part, const char **field)
{
    *field = "k";
    if (part->k == 0) part->k = 1;
    if (part->k > SHOAL_ONE_BIT_MEAN_K_MAX) return SHOAL_ERR_RANGE;
    part->m = part->k == 1 ? 1 : 2;
    part->record_size = shoal_one_bit_mean_bit(part) + 1;
    part->text_size = part->k == 1 ? 1 : shoal_decimal_width(part->k) + 2;
    *field = "epsilon";
    return shoal_threshold(&part->threshold, part->eps_micro, 1);
}

void shoal_one_bit_mean_draw(uint8_t *bit, const shoal_part *part, uint64_t item, shoal_rng *rng)
{
    uint64_t is_none = 0 - (item >> 63); // no other item reaches bit 63
    uint64_t fraction = (item & ~is_none) | (SHOAL_ONE_BIT_MEAN_NONE & is_none);
    uint64_t draw = shoal_rng_u64(rng) >> 32;
    uint64_t is_below = (draw - fraction) >> 63; // both are at most 2^32
    *bit = (uint8_t)(is_below ^ shoal_rng_bernoulli(rng, part->threshold));
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    (void)permanent;
    if (part->k > 1) {
        store32_le(record, (uint32_t)shoal_rng_below(rng, part->k));
        record += 4;
    }
    shoal_one_bit_mean_draw(record, part, item, rng);
}

static shoal_err check(const shoal_part *part, const uint8_t *record)
{
    if (part->k > 1 && load32_le(record) >= part->k) return SHOAL_ERR_RECORD;
    return record[shoal_one_bit_mean_bit(part)] <= 1 ? SHOAL_OK : SHOAL_ERR_RECORD;
}

static void print(char *text, const shoal_part *part, const uint8_t *record)
{
    if (part->k > 1) {
        text = shoal_print_decimal(text, load32_le(record), shoal_decimal_width(part->k));
        *text++ = ',';
    }
    shoal_print_decimal(text, record[shoal_one_bit_mean_bit(part)], 1);
}

static shoal_err parse(uint8_t *record, const shoal_part *part, const char *text, size_t *position)
{
    const char *at = text;
    uint32_t row = 0, bit = 0;
    shoal_err err = SHOAL_OK;
    if (part->k > 1) {
        err = shoal_parse_decimal(&row, &at, shoal_decimal_width(part->k), part->k);
        if (err == SHOAL_OK) err = shoal_parse_char(',', &at);
    }
    if (err == SHOAL_OK) err = shoal_parse_decimal(&bit, &at, 1, 2);
    *position = (size_t)(at - text);
    if (err != SHOAL_OK) return err;
    if (part->k > 1) store32_le(record, row);
    record[shoal_one_bit_mean_bit(part)] = (uint8_t)bit;
    return SHOAL_OK;
}

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return shoal_threshold_epsilon(eps_micro, part->threshold, 1);
}

const shoal_mechanism shoal_one_bit_mean_mechanism = {
    .id = shoal_one_bit_mean_id,
    .name = "one-bit-mean",
    .number = {.needs = SHOAL_TAKES_EPSILON | SHOAL_TAKES_RANGE},
    .prepare = prepare,
    .randomize = randomize,
    .check = SHOAL_READS(check),
    .print = print,
    .parse = SHOAL_READS(parse),
    .epsilon = epsilon,
};
