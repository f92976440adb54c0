// SPDX-License-Identifier: Apache-2.0
// Splits CMS records, a row and its bits (cms.h). Every bit is flipped with the same probability,
// and one of them starts as 1.
#include "split_kind.h"

static uint32_t weight(uint64_t *refusal, const shoal_part *part)
{
    return shoal_split_weight(refusal, part->m - 1, part->threshold, 0 - part->threshold);
}

const shoal_split_kind shoal_cms_split = {shoal_cms_id, {SPLIT_ROW, SPLIT_BITS}, 0, 0, weight};
