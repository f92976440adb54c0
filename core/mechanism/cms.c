// SPDX-License-Identifier: Apache-2.0
// Makes Count Mean Sketch records; see cms.h.
#include "cms.h"

#include "column.h"
#include "probability.h"
#include "row_record.h"

static shoal_err prepare(shoal_part *part, const char **field)
{
    shoal_err err = shoal_column_check(part, field, "m", SHOAL_CMS_K_MAX, SHOAL_CMS_M_MAX);
    if (err != SHOAL_OK) return err;
    row_record_sizes(part);
    *field = "epsilon";
    return shoal_threshold(&part->threshold, part->eps_micro, 2);
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    (void)permanent;
    shoal_rng_expect_words(rng, (part->m + 63) / 64);
    uint32_t j = part->first_row + (uint32_t)shoal_rng_below(rng, part->k);
    uint32_t column = shoal_column(part, j, item, rng);
    store32_le(record, j);
    shoal_bits_onehot(record + 4, part->m, column, part->threshold, 1, 0, rng);
    wipe(&column, sizeof column);
}

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return shoal_threshold_epsilon(eps_micro, part->threshold, 2);
}

const shoal_mechanism shoal_cms_mechanism = {
    .id = shoal_cms_id,
    .name = "cms",
    .open = {.needs = SHOAL_TAKES_SKETCH | SHOAL_TAKES_POLY1},
    .closed = {.needs = SHOAL_TAKES_SKETCH | SHOAL_TAKES_AFFINE1 | SHOAL_TAKES_LIST},
    .prepare = prepare,
    .randomize = randomize,
    .check = SHOAL_READS(row_record_check),
    .print = row_record_print,
    .parse = SHOAL_READS(row_record_parse),
    .epsilon = epsilon,
};
