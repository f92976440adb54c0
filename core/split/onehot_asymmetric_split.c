// SPDX-License-Identifier: Apache-2.0
// Splits asymmetric one-hot records (onehot_asymmetric.h), in which one bit is a fair coin.
#include "split_kind.h"

static uint32_t weight(uint64_t *refusal, const shoal_part *part)
{
    return shoal_split_weight(refusal, part->m - 1, part->threshold, (uint64_t)1 << 63);
}

const shoal_split_kind shoal_onehot_asymmetric_split = {
    shoal_onehot_asymmetric_id, {SPLIT_BITS}, 0, 0, weight};
