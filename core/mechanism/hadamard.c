// SPDX-License-Identifier: Apache-2.0
// Makes Hadamard response records; see hadamard.h.
#include "hadamard.h"

#include "affine1.h"
#include "bytes.h"
#include "field_text.h"
#include "mask.h"
#include "probability.h"

// doubles[i] is the epsilon, in micro-units, from which 2 B blocks beat B = 2^i: ceil(10^6 ln(1 +
// 2^1.5 B)).
static const uint32_t doubles[] = {
    1342455,  1895648,  2510714,  3162408,  3834166,  4516445,  5204113,  5894510,
    6586279,  7278736,  7971538,  8664513,  9357574,  10050678, 10743803, 11436940,
    12130082, 12823226, 13516372, 14209518, 14902665, 15595812,
};

static uint32_t choose_blocks(uint32_t eps_micro, uint32_t size)
{
    uint32_t blocks = 1;
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++)
        if (eps_micro >= doubles[i] && blocks < size) blocks *= 2;
    return blocks;
}

static shoal_err prepare(shoal_part *part, const char **field)
{
    *field = "size";
    if (part->size < 2 || part->size > SHOAL_HADAMARD_SIZE_MAX) return SHOAL_ERR_RANGE;
    part->k = choose_blocks(part->eps_micro, part->size);
    part->m = 1;
    while (part->k * part->m < part->size) part->m *= 2;
    part->record_size = 4;
    part->text_size = shoal_decimal_width(part->k * part->m) + 2;
    *field = "epsilon";
    return shoal_threshold_odds(&part->threshold, part->eps_micro, 1, 2 * part->k - 1);
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    (void)permanent;
    uint32_t index = mask_listed_or_size(part, item), is_listed = mask_if_less(index, part->size),
             shift = 0;
    while (part->k >> shift > 1) shift++;
    uint32_t row = (uint32_t)shoal_rng_below(rng, part->m);
    uint32_t lies = 0 - shoal_rng_bernoulli(rng, part->threshold);
    uint32_t other = (uint32_t)shoal_rng_below(rng, 2 * part->k - 1);
    uint32_t any = (uint32_t)shoal_rng_below(rng, 2 * part->k);
    uint32_t truth = (index & (part->k - 1)) << 1 | (shoal_parity(row & index >> shift) ^ 1);
    other += 1 & ~mask_if_less(other, truth);
    uint32_t cell = mask_choose(is_listed, mask_choose(lies, other, truth), any);
    store32_le(record, ((cell >> 1) * part->m + row) << 1 | (cell & 1));
    wipe(&index, sizeof index);
}

static shoal_err check(const shoal_part *part, const uint8_t *record)
{
    return load32_le(record) >> 1 < part->k * part->m ? SHOAL_OK : SHOAL_ERR_RECORD;
}

static void print(char *text, const shoal_part *part, const uint8_t *record)
{
    uint32_t index_sign = load32_le(record);
    text = shoal_print_decimal(text, index_sign >> 1, shoal_decimal_width(part->k * part->m));
    *text++ = ',';
    shoal_print_decimal(text, index_sign & 1, 1);
}

static shoal_err parse(uint8_t *record, const shoal_part *part, const char *text, size_t *position)
{
    const char *at = text;
    uint32_t index = 0, sign = 0, count = part->k * part->m;
    shoal_err err = shoal_parse_decimal(&index, &at, shoal_decimal_width(count), count);
    if (err == SHOAL_OK) err = shoal_parse_char(',', &at);
    if (err == SHOAL_OK) err = shoal_parse_decimal(&sign, &at, 1, 2);
    store32_le(record, index << 1 | sign);
    *position = (size_t)(at - text);
    return err;
}

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return shoal_threshold_odds_epsilon(eps_micro, part->threshold, 1, 2 * part->k - 1);
}

const shoal_mechanism shoal_hadamard_mechanism = {
    .id = shoal_hadamard_id,
    .name = "hadamard",
    .closed = {.needs = SHOAL_TAKES_EPSILON | SHOAL_TAKES_LIST},
    .prepare = prepare,
    .randomize = randomize,
    .check = SHOAL_READS(check),
    .print = print,
    .parse = SHOAL_READS(parse),
    .epsilon = epsilon,
};
