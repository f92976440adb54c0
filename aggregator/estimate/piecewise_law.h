// SPDX-License-Identifier: Apache-2.0
// The law of the answers of a piecewise mean (piecewise.h). Pure; doubles.
#ifndef PIECEWISE_LAW_H
#define PIECEWISE_LAW_H

#include "mechanism.h"
#include "place_law.h"

// Sets the law of a prepared part. In expectation an answer is worth the device's fraction,
// whichever of the two answers the coin chooses.
void agg_piecewise_law_of(agg_place_law *law, const shoal_part *part);

#endif
