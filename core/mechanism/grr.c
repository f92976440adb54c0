// SPDX-License-Identifier: Apache-2.0
// Makes records of generalized randomized response; see grr.h.
#include "grr.h"

#include "bytes.h"
#include "field_text.h"
#include "mask.h"
#include "probability.h"

static shoal_err prepare(shoal_part *part, const char **field)
{
    *field = "size";
    if (part->size < 2 || part->size > SHOAL_GRR_SIZE_MAX) return SHOAL_ERR_RANGE;
    part->m = part->size + 1;
    part->record_size = 4;
    part->text_size = shoal_decimal_width(part->m);
    *field = "epsilon";
    return shoal_threshold_odds(&part->threshold, part->eps_micro, 1, part->m - 1);
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    (void)permanent;
    uint32_t truth = mask_listed_or_size(part, item);
    uint32_t lies = 0 - shoal_rng_bernoulli(rng, part->threshold);
    uint32_t other = (uint32_t)shoal_rng_below(rng, part->m - 1);
    other += 1 & ~mask_if_less(other, truth); // the other-th answer that is not the truth
    store32_le(record, mask_choose(lies, other, truth));
    wipe(&truth, sizeof truth);
}

static shoal_err check(const shoal_part *part, const uint8_t *record)
{
    return load32_le(record) < part->m ? SHOAL_OK : SHOAL_ERR_RECORD;
}

static void print(char *text, const shoal_part *part, const uint8_t *record)
{
    shoal_print_decimal(text, load32_le(record), shoal_decimal_width(part->m));
}

static shoal_err parse(uint8_t *record, const shoal_part *part, const char *text, size_t *position)
{
    const char *at = text;
    uint32_t answer = 0;
    shoal_err err = shoal_parse_decimal(&answer, &at, shoal_decimal_width(part->m), part->m);
    store32_le(record, answer);
    *position = (size_t)(at - text);
    return err;
}

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return shoal_threshold_odds_epsilon(eps_micro, part->threshold, 1, part->m - 1);
}

const shoal_mechanism shoal_grr_mechanism = {
    .id = shoal_grr_id,
    .name = "grr",
    .closed = {.needs = SHOAL_TAKES_EPSILON | SHOAL_TAKES_LIST},
    .prepare = prepare,
    .randomize = randomize,
    .check = SHOAL_READS(check),
    .print = print,
    .parse = SHOAL_READS(parse),
    .epsilon = epsilon,
};
