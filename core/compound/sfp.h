// SPDX-License-Identifier: Apache-2.0
// Sequence Fragment Puzzle, the device's side (apple-2017, Algorithm 8).
//
// A string of at most `length` bytes is padded with zero bytes and has length/2 fragments. A
// fragment is the two bytes at an even offset, together with one byte that all fragments of the
// string share: a keyed hash of the whole string. A device draws a position. It sends a private
// record of that position's fragment and a private record of the whole string. The position says
// nothing about the string and is sent in the clear as the row.
//
// - part 0 is the fragment, an index of 24 bits: hash byte << 16 | first byte << 8 | second byte.
//   The oracle runs over affine1 with `k_fragment` rows for each position: rows [position
//   k_fragment, (position + 1) k_fragment)
// - part 1 is the string's fingerprint; the oracle runs over poly1 with k rows
//
// The oracle is cms or olh; for olh, m and m_fragment are g. A string that is empty or longer than
// `length` counts as "none": a random column in both parts.
// Privacy: epsilon_fragment + epsilon, replacement model: given the position, two independent
// records.
// Timing: depends on the number of bytes only.
// Draws, in order: below(positions), u64 (the fingerprint of "none"), the draws of part 0, the
// draws of part 1.
// Parameters: length 2 .. 32, even; both parts as their mechanism takes them, with k = positions
// k_fragment in the first.
// Record: the parts one after the other; text "j,...;j,...".
#ifndef SHOAL_SFP_H
#define SHOAL_SFP_H

#include "compound.h"
#include "recipe.h"

enum { SHOAL_SFP_FRAGMENT = 0, SHOAL_SFP_STRING = 1 }; // parts

#define SHOAL_SFP_PAD 0u // byte after a string's end

// Returns: the number of positions of a recipe's strings, at most 16.
static inline uint32_t shoal_sfp_positions(const shoal_recipe *recipe)
{
    return recipe->length / 2;
}

// Returns: the byte that all fragments of a string share.
uint32_t shoal_sfp_hash(const shoal_recipe *recipe, const uint8_t *bytes, size_t len);

// Returns: the fragment of a string at a position, below 2^24.
//   len: at most recipe->length
uint32_t shoal_sfp_fragment(const shoal_recipe *recipe, const uint8_t *bytes, size_t len,
                            uint32_t position);

#endif
