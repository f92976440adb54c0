// SPDX-License-Identifier: Apache-2.0
// Adds the bits of a piecewise mean to the law of its places: a bit is worth (bit - q)/(1 - 2q).
#include "piecewise_law.h"

#include "piecewise.h"

void agg_piecewise_law_of(agg_place_law *law, const shoal_part *part)
{
    double q = (double)part->pqf_threshold[SHOAL_PIECEWISE_FLIP] * 0x1p-64;
    agg_place_law_of(law, part, shoal_piecewise_steps(part));
    law->place = (double)part->pqf_threshold[SHOAL_PIECEWISE_PLACE] * 0x1p-64;
    law->flip = q;
    law->one = (1 - q) / (1 - 2 * q);
    law->zero = -q / (1 - 2 * q);
}
