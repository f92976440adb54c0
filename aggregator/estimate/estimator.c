// SPDX-License-Identifier: Apache-2.0
// The table of estimators and what they share; see estimator.h.
#include "estimator.h"

static const agg_estimator *const table[] = {
#define SHOAL_MECHANISM(id, stem, name) &agg_##stem##_estimator,
#include "mechanisms.def"
#undef SHOAL_MECHANISM
};

const agg_estimator *agg_estimator_of(uint32_t mechanism)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i]->id == mechanism) return table[i];
    return NULL;
}

double agg_rare_probability(const shoal_part *part)
{
    return (double)part->threshold * 0x1p-64;
}

double agg_flip_correction(const shoal_part *part)
{
    // 2^63 - T is exact before it is rounded once, so that 1 - 2q keeps its digits near epsilon 0.
    return 0x1p63 / (double)(((uint64_t)1 << 63) - part->threshold);
}
