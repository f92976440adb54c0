// SPDX-License-Identifier: Apache-2.0
// RAPPOR of n-grams, the device's side (fanti-2016 section 4).
//
// A string is cut and padded with zero bytes to P n bytes, P = ceil(length / n): so it has an
// n-gram at each of P positions and its length shows nowhere. A device draws `grams` distinct
// positions, all sets alike, and sends the n-gram at each, in rising order, and the string itself,
// each as a RAPPOR record (rappor.h) of `bits` bits. Positions, which say nothing of the string,
// are sent in the clear with the cohort: part i's "cohort" is position * cohorts + the device's
// cohort.
//
//     parts 0 .. grams - 1   an n-gram: the fingerprint of its position (one byte) and its n bytes;
//     k = P cohorts part grams             the string, cut to `length` and not padded: its
//     fingerprint; k = cohorts; a seed of its own
//
// Privacy, replacement model, one report: (grams + 1) times the epsilon of one RAPPOR record; a
// stated epsilon is an upper bound on that. Of any number of reports about one string: P + 1 times
// the unlimited epsilon of one record, since positions are drawn afresh; f = 0 has none. Timing:
// depends on the number of bytes only. Draws, in order: for each position below(positions left)
// until all are chosen; then what each part draws. Parameters: n 1 .. 4, grams 2 .. 4 and at most
// P; bits, hashes, cohorts, p, q, f as of rappor, P cohorts <= 65536. `alphabet` is what the
// decoder makes candidates of; a device does not look at it. Record: the parts one after the other;
// text "cohort,<hex>;...".
#ifndef SHOAL_RAPPOR_NGRAM_H
#define SHOAL_RAPPOR_NGRAM_H

#include "compound.h"

#define SHOAL_NGRAM_PAD 0u // byte after a string's end

// Returns: the positions of a recipe's strings, at most 32.
static inline uint32_t shoal_ngram_positions(const shoal_recipe *recipe)
{
    return (recipe->length + recipe->n_gram - 1) / recipe->n_gram;
}

// Returns: the item of an n-gram at a position in a part of n-grams.
//   gram: recipe->n_gram bytes
uint64_t shoal_ngram_item(const shoal_recipe *recipe, uint32_t position, const uint8_t *gram);

// Returns: the item of a string in the last part.
uint64_t shoal_ngram_string_item(const shoal_recipe *recipe, const uint8_t *bytes, size_t len);

// Writes the n-gram of a string at a position, padded.
//   gram: recipe->n_gram bytes
void shoal_ngram_take(uint8_t *gram, const shoal_recipe *recipe, const uint8_t *bytes, size_t len,
                      uint32_t position);

#endif
