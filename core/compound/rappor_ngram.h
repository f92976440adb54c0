// SPDX-License-Identifier: Apache-2.0
// RAPPOR of n-grams, the device's side (fanti-2016 section 4).
//
// A string is cut and padded with zero bytes to P n bytes, P = ceil(length / n). It then has an
// n-gram at each of P positions, and its length does not show. A device draws a uniform set of
// `grams` distinct positions. It sends the n-gram at each, in rising order, and the whole string,
// each as a RAPPOR record (rappor.h) of `bits` bits. Positions say nothing about the string, so
// they are sent in the clear with the cohort: part i's "cohort" is position * cohorts + the
// device's cohort.
//
// - parts 0 .. grams - 1 are n-grams: the fingerprint of the position (one byte) and the n bytes; k
//   = P cohorts
// - part grams is the string, cut to `length` and not padded: its fingerprint; k = cohorts; a seed
//   of its own
//
// Privacy, replacement model, one report: (grams + 1) times the epsilon of one RAPPOR record; a
// stated epsilon is an upper bound on that. Any number of reports about one string: P + 1 times the
// unlimited epsilon of one record, since each report draws its positions afresh; f = 0 has no such
// bound.
// Timing: depends on the number of bytes only.
// Draws, in order: below(positions left) for each position until all are chosen, then the draws of
// each part.
// Parameters: n 1 .. 4; grams 2 .. 4 and at most P; bits, hashes, cohorts, p, q, f as for rappor; P
// cohorts <= 65536. The decoder makes candidates from `alphabet`; a device does not read it.
// Record: the parts one after the other; text "cohort,<hex>;...".
#ifndef SHOAL_RAPPOR_NGRAM_H
#define SHOAL_RAPPOR_NGRAM_H

#include "compound.h"
#include "recipe.h"

#define SHOAL_NGRAM_PAD 0u // byte after a string's end

// Returns: the number of positions of a recipe's strings, at most 32.
static inline uint32_t shoal_ngram_positions(const shoal_recipe *recipe)
{
    return (recipe->length + recipe->n_gram - 1) / recipe->n_gram;
}

// Returns: the item of the n-gram at a position, for a part of n-grams.
//   gram: recipe->n_gram bytes
uint64_t shoal_ngram_item(const shoal_recipe *recipe, uint32_t position, const uint8_t *gram);

// Returns: the item of a string, for the last part.
uint64_t shoal_ngram_string_item(const shoal_recipe *recipe, const uint8_t *bytes, size_t len);

// Writes the n-gram at a position of a string, padded.
//   gram: recipe->n_gram bytes
void shoal_ngram_take(uint8_t *gram, const shoal_recipe *recipe, const uint8_t *bytes, size_t len,
                      uint32_t position);

#endif
