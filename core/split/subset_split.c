// SPDX-License-Identifier: Apache-2.0
// Splits subset selection records, sets of exactly k indices (subset.h).
#include "split_kind.h"

static uint32_t weight(uint64_t *refusal, const shoal_part *part)
{
    *refusal = 0;
    return part->k;
}

const shoal_split_kind shoal_subset_split = {shoal_subset_id, {SPLIT_SET}, 0, 0, weight};
