// SPDX-License-Identifier: Apache-2.0
// Piecewise mean, the device's side: the hybrid of the Piecewise Mechanism and one bit (Wang, Xiao,
// Yang, Zhao, Hui, Shin, Shin, Yu, "Collecting and analyzing multidimensional data with local
// differential privacy", ICDE 2019, algorithms 2 and 3), on a grid of integers.
//
// A device rounds its fraction u/2^32 of the range to a position j of the grid (place.h). A public
// coin then chooses one of two answers.
//
//   a place   The answer is one of the G + W places, in the window of position j with probability
//             1 - T/2^64. T = ceil(2^64 / ((W/G) e^epsilon + 1)).
//   a bit     The bit of one_bit_mean.h: 1 with probability u/2^32, then flipped with probability
//             q = ceil(2^64 / (e^epsilon + 1)) / 2^64.
//
// W = G e^(-epsilon/2), rounded, at least 1: the width of the paper's window, in steps. The coin
// shows a bit with probability e^(-epsilon/2), rounded to a multiple of 2^-32. For epsilon <= 0.61
// the paper sends bits only, which lowers the error by about 1 %; one-bit-mean does that.
//
// Privacy: epsilon per record, replacement model. A place has the probability (1 - T/2^64)/W for
// positions whose window holds it and (T/2^64)/G for all others, which are odds of
// ((2^64 - T)/T) (G/W) <= e^epsilon. Rounding mixes two positions, and mixtures keep the bound. The
// bit has odds of at most (1 - q)/q <= e^epsilon. The coin does not depend on the number. The two
// ends of the range reach both odds. "No number" is the middle of the range, position G/2.
// Timing: constant in the item and in the coins: every answer is computed, and masks choose.
// Draws, in order: bernoulli (the coin); one u64 (its high 32 bits are r, or decide the bit);
// bernoulli (T); below(W); below(G); bernoulli (q).
// Parameters: low, high. Part: k = W, m = G + W + 2 answers; pqf_threshold holds the probabilities
// of a place and of the flip, times 2^64.
// Record: answer (u32): a place, or m - 2 for the bit 0 and m - 1 for the bit 1. Text: "vvv".
#ifndef SHOAL_PIECEWISE_H
#define SHOAL_PIECEWISE_H

#include "mechanism.h"
#include "place.h"

#define SHOAL_PIECEWISE_STEPS SHOAL_PLACE_STEPS       // G of every recipe
enum { SHOAL_PIECEWISE_PLACE, SHOAL_PIECEWISE_FLIP }; // of pqf_threshold

// Returns: the places of a part, G + W; the answers from there on are the bits.
static inline uint32_t shoal_piecewise_places(const shoal_part *part)
{
    return part->m - 2;
}

// Returns: the steps G of a part's grid.
static inline uint32_t shoal_piecewise_steps(const shoal_part *part)
{
    return part->m - 2 - part->k;
}

#endif
