// SPDX-License-Identifier: Apache-2.0
// One-bit means; see one_bit_mean.h.
#include "one_bit_mean.h"

#include "field_text.h"
#include "probability.h"

static shoal_err prepare(shoal_part *part, const char **field)
{
    part->k = 1;
    part->m = 1;
    part->record_size = 1;
    part->text_size = 1;
    *field = "epsilon";
    return shoal_threshold(&part->threshold, part->eps_micro, 1);
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item, const shoal_permanent *permanent,
                      shoal_rng *rng)
{
    (void)permanent;
    uint64_t is_none = 0 - (item >> 63); // no other item reaches bit 63
    uint64_t fraction = (item & ~is_none) | (SHOAL_ONE_BIT_MEAN_NONE & is_none);
    uint64_t draw = shoal_rng_u64(rng) >> 32;
    uint64_t is_below = (draw - fraction) >> 63; // both are at most 2^32
    record[0] = (uint8_t)(is_below ^ shoal_rng_bernoulli(rng, part->threshold));
}

static shoal_err check(const shoal_part *part, const uint8_t *record)
{
    (void)part;
    return record[0] <= 1 ? SHOAL_OK : SHOAL_ERR_RECORD;
}

static void print(char *text, const shoal_part *part, const uint8_t *record)
{
    (void)part;
    shoal_print_decimal(text, record[0], 1);
}

static shoal_err parse(uint8_t *record, const shoal_part *part, const char *text, size_t *position)
{
    const char *at = text;
    uint32_t bit = 0;
    (void)part;
    shoal_err err = shoal_parse_decimal(&bit, &at, 1, 2);
    *position = (size_t)(at - text);
    if (err == SHOAL_OK) record[0] = (uint8_t)bit;
    return err;
}

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return shoal_threshold_epsilon(eps_micro, part->threshold, 1);
}

const shoal_mechanism shoal_one_bit_mean_mechanism = {
    shoal_one_bit_mean_id,
    "one-bit-mean",
    {0, 0},
    {0, 0},
    {SHOAL_TAKES_EPSILON | SHOAL_TAKES_RANGE, 0},
    0,
    prepare,
    randomize,
    SHOAL_READS(check),
    print,
    SHOAL_READS(parse),
    epsilon,
};
