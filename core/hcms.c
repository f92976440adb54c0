// SPDX-License-Identifier: Apache-2.0
// Hadamard Count Mean Sketch records; see hcms.h.
#include "hcms.h"

#include "bytes.h"
#include "cms.h"
#include "field_text.h"
#include "poly1.h"
#include "probability.h"

static shoal_err prepare(shoal_part *part, const char **field)
{
    *field = "k";
    if (part->k < 1 || part->k > SHOAL_HCMS_K_MAX) return SHOAL_ERR_RANGE;
    *field = "m";
    if (part->m < 2 || part->m > SHOAL_HCMS_M_MAX || (part->m & (part->m - 1)) != 0) return SHOAL_ERR_RANGE;
    if ((uint64_t)part->k * part->m > SHOAL_SKETCH_CELLS_MAX) return SHOAL_ERR_RANGE;
    part->record_size = 8;
    part->text_size = shoal_decimal_width(part->k) + 1 + shoal_decimal_width(part->m) + 2;
    *field = "epsilon";
    return shoal_threshold(&part->threshold, part->eps_micro, 1);
}

// Parity of the bits of x, without a branch.
static inline uint32_t parity(uint32_t x)
{
    x ^= x >> 16;
    x ^= x >> 8;
    x ^= x >> 4;
    x ^= x >> 2;
    x ^= x >> 1;
    return x & 1;
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item, shoal_rng *rng)
{
    shoal_poly1 row;
    uint32_t j = (uint32_t)shoal_rng_below(rng, part->k);
    uint32_t l = (uint32_t)shoal_rng_below(rng, part->m);
    shoal_poly1_row(&row, part->seed, j);
    uint32_t negative = parity(l & shoal_poly1_hash(&row, shoal_poly1_point(item), part->m));
    negative ^= shoal_rng_bernoulli(rng, part->threshold);
    store32_le(record, j);
    store32_le(record + 4, l << 1 | (negative ^ 1));
}

static shoal_err check(const shoal_part *part, const uint8_t *record)
{
    if (load32_le(record) >= part->k || load32_le(record + 4) >> 1 >= part->m) return SHOAL_ERR_RECORD;
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
    shoal_hcms_id, "hcms", SHOAL_DOMAIN_OPEN, prepare, randomize, check, print, parse, epsilon,
};
