// SPDX-License-Identifier: Apache-2.0
// One-bit mean, the device's side: the bit of Duchi, Jordan and Wainwright ("Local privacy and
// statistical minimax rates", FOCS 2013; "Minimax optimal procedures for locally private
// estimation", JASA 2018, section 3) in the form of 1BitMean (Ding, Kulkarni, Yekhanin, "Collecting
// telemetry data privately", NIPS 2017, section 3).
//
// A device whose number is the fraction u/2^32 of the range draws a bit that is 1 with exactly that
// probability. It then flips the bit with probability q = threshold/2^64 >= 1/(e^epsilon + 1):
//
//     P(1) = (u/2^32)(1 - q) + (1 - u/2^32) q
//
// Privacy: epsilon per record, replacement model. P(1) lies in [q, 1 - q] for every number, and the
// two ends of the range reach the odds (1 - q)/q <= e^epsilon. The epsilon really drawn falls short
// of the stated one by the amount in probability.h. "No number" is the middle of the range, where
// both answers are equally likely, so it costs less than any other item.
// Draws, in order: below(k) if there are rows; one u64 for the fraction (its high 32 bits); one u64
// for the flip.
// Parameters: low, high.
// Record: one byte, 0 or 1. Text: "0" or "1".
//
// A compound may ask for one of k means, k > 1 (heavythresh.h). The row is drawn uniformly and sent
// in the clear; it reveals nothing about the number. Record: the row (u32), then the byte. Text:
// "jjjj,s". The sums have two columns a row, which count the zeros and the ones.
#ifndef SHOAL_ONE_BIT_MEAN_H
#define SHOAL_ONE_BIT_MEAN_H

#include "mechanism.h"

#define SHOAL_ONE_BIT_MEAN_NONE ((uint64_t)1 << 31) // the fraction that stands for SHOAL_ITEM_NONE
#define SHOAL_ONE_BIT_MEAN_K_MAX 65536u             // rows

// Returns: the offset of the bit in a record of the part.
static inline uint32_t shoal_one_bit_mean_bit(const shoal_part *part)
{
    return part->k > 1 ? 4 : 0;
}

// Writes the bit alone, for callers that draw the row themselves; their number may depend on the
// row. Privacy, timing and draws are as above.
void shoal_one_bit_mean_draw(uint8_t *bit, const shoal_part *part, uint64_t item, shoal_rng *rng);

#endif
