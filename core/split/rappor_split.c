// SPDX-License-Identifier: Apache-2.0
// Splits RAPPOR records, a cohort and its bits (rappor.h). The number of set bits depends on the
// string and on the device's permanent answer. Any bound below m would therefore silence some
// devices for good.
#include "split_kind.h"

static uint32_t weight(uint64_t *refusal, const shoal_part *part)
{
    *refusal = 0;
    return part->m;
}

const shoal_split_kind shoal_rappor_split = {
    shoal_rappor_id, {SPLIT_ROW, SPLIT_BITS}, 0, 0, weight};
