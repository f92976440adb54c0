// SPDX-License-Identifier: Apache-2.0
// Square wave, the device's side: for the distribution of a number (Li, Wang, Lopuhaä-Zwakenberg,
// Škorić, Li, "Estimating numerical distributions under local differential privacy", SIGMOD 2020,
// section 5), on a grid of integers.
//
// A device rounds its number to a position j of the grid of G = 256 steps (place.h) and sends one
// of the G + W places: one of the window j .. j + W - 1 with probability 1 - T/2^64, else one of
// the G others; either is uniform. T = ceil(2^64 / ((W/G) e^epsilon + 1)).
//
// W is the width of the paper's window in steps, rounded, at least 1. It is the width at which the
// mutual information of number and answer is largest (section 5.3):
//
//     W/G = 2b = (epsilon e^epsilon - e^epsilon + 1) / (e^epsilon (e^epsilon - 1 - epsilon))
//
// Privacy: epsilon per record, replacement model. A place has the probability (1 - T/2^64)/W for
// positions whose window holds it and (T/2^64)/G for all others, which are odds of
// ((2^64 - T)/T) (G/W) <= e^epsilon whatever W is. Rounding mixes two positions, and mixtures keep
// the bound. The two ends of the range reach it. "No number" is the middle of the range, position
// G/2.
// Timing: constant in the item and in the coins: every answer is computed, and masks choose.
// Draws, in order: one u64 (its high 32 bits round the number); bernoulli (T); below(W); below(G).
// Parameters: low, high. Part: k = W, m = G + W answers.
// Record: a place (u32). Text: "vvv".
#ifndef SHOAL_SQUARE_WAVE_H
#define SHOAL_SQUARE_WAVE_H

#include "mechanism.h"
#include "place.h"

// Returns: the steps G of a part's grid.
static inline uint32_t shoal_square_wave_steps(const shoal_part *part)
{
    return part->m - part->k;
}

#endif
