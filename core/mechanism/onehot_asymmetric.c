// SPDX-License-Identifier: Apache-2.0
// Makes asymmetric one-hot records; see onehot_asymmetric.h.
#include "onehot_asymmetric.h"

#include "onehot_record.h"
#include "probability.h"

static shoal_err prepare(shoal_part *part, const char **field)
{
    shoal_err err = onehot_prepare(part, field);
    if (err != SHOAL_OK) return err;
    *field = "epsilon";
    return shoal_threshold(&part->threshold, part->eps_micro, 1);
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    (void)permanent;
    uint64_t fair = shoal_rng_u64(rng) & 1;
    shoal_bits_onehot(record, part->m, item, part->threshold, 0, fair, rng);
}

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return shoal_threshold_epsilon(eps_micro, part->threshold, 1);
}

const shoal_mechanism shoal_onehot_asymmetric_mechanism = {
    .id = shoal_onehot_asymmetric_id,
    .name = "onehot-asymmetric",
    .closed = {.needs = SHOAL_TAKES_EPSILON | SHOAL_TAKES_LIST},
    .prepare = prepare,
    .randomize = randomize,
    .check = SHOAL_READS(onehot_check),
    .print = onehot_print,
    .parse = SHOAL_READS(onehot_parse),
    .epsilon = epsilon,
};
