// SPDX-License-Identifier: Apache-2.0
// Makes records of piecewise means; see piecewise.h.
#include "piecewise.h"

#include "bytes.h"
#include "field_text.h"
#include "place.h"
#include "probability.h"

// Sets the window's width and the probability of a place. e^(-epsilon/2) is taken as a multiple of
// 2^-32 from the coin whose odds are e^(epsilon/2). Neither number bears on the bound of epsilon.
static shoal_err choose_width(shoal_part *part)
{
    uint64_t coin;
    shoal_err err = shoal_threshold(&coin, part->eps_micro, 2);
    if (err != SHOAL_OK) return err;
    uint64_t share = (coin >> 32 << 32) / ((0 - coin) >> 32); // below 2^32
    uint64_t width = (share * SHOAL_PIECEWISE_STEPS + ((uint64_t)1 << 31)) >> 32;
    part->k = width > 0 ? (uint32_t)width : 1;
    part->m = SHOAL_PIECEWISE_STEPS + part->k + 2;
    part->pqf_threshold[SHOAL_PIECEWISE_PLACE] = 0 - (share << 32);
    return SHOAL_OK;
}

static shoal_err prepare(shoal_part *part, const char **field)
{
    *field = "epsilon";
    shoal_err err = choose_width(part);
    if (err == SHOAL_OK)
        err =
            shoal_threshold_odds(&part->threshold, part->eps_micro, part->k, SHOAL_PIECEWISE_STEPS);
    if (err == SHOAL_OK)
        err = shoal_threshold(&part->pqf_threshold[SHOAL_PIECEWISE_FLIP], part->eps_micro, 1);
    part->record_size = 4;
    part->text_size = shoal_decimal_width(part->m);
    return err;
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    (void)permanent;
    uint64_t fraction = shoal_place_fraction(item);
    uint32_t is_place = 0 - shoal_rng_bernoulli(rng, part->pqf_threshold[SHOAL_PIECEWISE_PLACE]);
    uint64_t draw = shoal_rng_u64(rng) >> 32;
    uint32_t place = shoal_place_draw(part, shoal_piecewise_steps(part), fraction, draw, rng);
    uint32_t bit = (uint32_t)((draw - fraction) >> 63); // both are at most 2^32
    bit ^= shoal_rng_bernoulli(rng, part->pqf_threshold[SHOAL_PIECEWISE_FLIP]);
    store32_le(record, mask_choose(is_place, place, shoal_piecewise_places(part) + bit));
    wipe(&fraction, sizeof fraction);
}

static shoal_err check(const shoal_part *part, const uint8_t *record)
{
    return load32_le(record) < part->m ? SHOAL_OK : SHOAL_ERR_RECORD;
}

static void print(char *text, const shoal_part *part, const uint8_t *record)
{
    shoal_print_decimal(text, load32_le(record), part->text_size);
}

static shoal_err parse(uint8_t *record, const shoal_part *part, const char *text, size_t *position)
{
    const char *at = text;
    uint32_t answer = 0;
    shoal_err err = shoal_parse_decimal(&answer, &at, part->text_size, part->m);
    store32_le(record, answer);
    *position = (size_t)(at - text);
    return err;
}

// The claim is the larger of the two answers'.
static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    uint32_t bit = 0, place = 0;
    shoal_err err = shoal_threshold_epsilon(&bit, part->pqf_threshold[SHOAL_PIECEWISE_FLIP], 1);
    if (err == SHOAL_OK)
        err = shoal_threshold_odds_epsilon(&place, part->threshold, part->k,
                                           shoal_piecewise_steps(part));
    if (err == SHOAL_OK) *eps_micro = place > bit ? place : bit;
    return err;
}

const shoal_mechanism shoal_piecewise_mechanism = {
    .id = shoal_piecewise_id,
    .name = "piecewise",
    .number = {.needs = SHOAL_TAKES_EPSILON | SHOAL_TAKES_RANGE},
    .prepare = prepare,
    .randomize = randomize,
    .check = SHOAL_READS(check),
    .print = print,
    .parse = SHOAL_READS(parse),
    .epsilon = epsilon,
};
