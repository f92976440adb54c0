// SPDX-License-Identifier: Apache-2.0
// Makes records of square waves; see square_wave.h.
#include "square_wave.h"

#include "bytes.h"
#include "exponential.h"
#include "field_text.h"
#include "probability.h"

#define SCALE_BITS 33 // binary digits of the fixed-point numbers of the width

// Returns: the width of the window in steps. With E = e^epsilon the paper's width is
// (epsilon - 1 + 1/E)/(E - 1 - epsilon). E 2^33 is below 2^57, so the products fit. The errors of
// the fixed point are a few units of 2^-33, against at least 5 10^-5 above and below the bar. They
// do not bear on the bound of epsilon.
static uint32_t width_of(uint32_t eps_micro)
{
    uint64_t e = shoal_exponential(eps_micro) >> (SHOAL_EXPONENTIAL_BITS - SCALE_BITS);
    uint64_t one = (uint64_t)1 << SCALE_BITS, eps = eps_micro * one / 1000000;
    uint64_t inverse = ((uint64_t)1 << 63) / (e >> (2 * SCALE_BITS - 63));
    uint64_t part = eps + inverse - one, whole = e - one - eps;
    uint64_t width = (2 * part * SHOAL_PLACE_STEPS + whole) / (2 * whole);
    return width > 0 ? (uint32_t)width : 1;
}

static shoal_err prepare(shoal_part *part, const char **field)
{
    *field = "epsilon";
    if (part->eps_micro < SHOAL_EPS_MICRO_MIN || part->eps_micro > SHOAL_EPS_MICRO_MAX)
        return SHOAL_ERR_RANGE;
    part->k = width_of(part->eps_micro);
    part->m = SHOAL_PLACE_STEPS + part->k;
    part->record_size = 4;
    part->text_size = shoal_decimal_width(part->m);
    return shoal_threshold_odds(&part->threshold, part->eps_micro, part->k, SHOAL_PLACE_STEPS);
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    (void)permanent;
    uint64_t fraction = shoal_place_fraction(item), draw = shoal_rng_u64(rng) >> 32;
    store32_le(record, shoal_place_draw(part, shoal_square_wave_steps(part), fraction, draw, rng));
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
    uint32_t place = 0;
    shoal_err err = shoal_parse_decimal(&place, &at, part->text_size, part->m);
    store32_le(record, place);
    *position = (size_t)(at - text);
    return err;
}

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return shoal_threshold_odds_epsilon(eps_micro, part->threshold, part->k,
                                        shoal_square_wave_steps(part));
}

const shoal_mechanism shoal_square_wave_mechanism = {
    .id = shoal_square_wave_id,
    .name = "square-wave",
    .number = {.needs = SHOAL_TAKES_EPSILON | SHOAL_TAKES_RANGE},
    .prepare = prepare,
    .randomize = randomize,
    .check = SHOAL_READS(check),
    .print = print,
    .parse = SHOAL_READS(parse),
    .epsilon = epsilon,
};
