// SPDX-License-Identifier: Apache-2.0
// Makes local hashing records; see olh.h.
#include "olh.h"

#include "bytes.h"
#include "cell_record.h"
#include "column.h"
#include "mask.h"
#include "probability.h"

static shoal_err prepare(shoal_part *part, const char **field)
{
    shoal_err err = shoal_column_check(part, field, "g", SHOAL_OLH_K_MAX, SHOAL_OLH_G_MAX);
    if (err != SHOAL_OK) return err;
    *field = "g";
    if ((part->m & (part->m - 1)) != 0) return SHOAL_ERR_RANGE;
    cell_record_sizes(part);
    *field = "epsilon";
    return shoal_threshold_odds(&part->threshold, part->eps_micro, 1, part->m - 1);
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    (void)permanent;
    uint32_t j = part->first_row + (uint32_t)shoal_rng_below(rng, part->k);
    uint32_t truth = shoal_column(part, j, item, rng);
    uint32_t lies = 0 - shoal_rng_bernoulli(rng, part->threshold);
    uint32_t other = (truth + 1 + (uint32_t)shoal_rng_below(rng, part->m - 1)) & (part->m - 1);
    store32_le(record, j * part->m + mask_choose(lies, other, truth));
    wipe(&truth, sizeof truth);
}

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return shoal_threshold_odds_epsilon(eps_micro, part->threshold, 1, part->m - 1);
}

#define LOCAL_HASH (SHOAL_TAKES_EPSILON | SHOAL_TAKES_K | SHOAL_TAKES_G | SHOAL_TAKES_SEED)

const shoal_mechanism shoal_olh_mechanism = {
    .id = shoal_olh_id,
    .name = "olh",
    .open = {.needs = LOCAL_HASH | SHOAL_TAKES_POLY1},
    .closed = {.needs = LOCAL_HASH | SHOAL_TAKES_AFFINE1 | SHOAL_TAKES_LIST},
    .prepare = prepare,
    .randomize = randomize,
    .check = SHOAL_READS(cell_record_check),
    .print = cell_record_print,
    .parse = SHOAL_READS(cell_record_parse),
    .epsilon = epsilon,
};
