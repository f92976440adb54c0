// SPDX-License-Identifier: Apache-2.0
// Permanent randomness: coins that are the same every time for one device, one collection and one
// item. They are derived from a secret that the device keeps and never sends, so no draw has to be
// stored. Fresh randomness has a type of its own, shoal_rng.
// Source: the permanent randomized response of RAPPOR (fanti-2016 section 2; papers' notes on
// deriving it).
#ifndef SHOAL_PERMANENT_H
#define SHOAL_PERMANENT_H

#include <stdint.h>

#include "rng.h"

typedef struct shoal_permanent {
    uint8_t secret[32]; // uniformly random, drawn once by the device, used for nothing else
} shoal_permanent;

// Identifies a permanent answer: two answers about one item with equal keys are the same answer.
// `shape` must hold every parameter that the answer depends on. If answers of different shapes
// shared coins, comparing them would cancel or bracket the noise of both.
typedef struct shoal_permanent_key {
    const uint8_t *seed; // 32 bytes, the recipe's
    uint32_t shape[4];
    const char *label; // 12 characters that name the draw
} shoal_permanent_key;

// Starts the generator of permanent coins for (device, key, item). Recipes with the same seed and
// shape share their answers, so averaging the answers gains nothing. Otherwise the answers are
// independent and their privacy costs add up.
// How: ChaCha20 under SHA-256 of a title, the secret, the seed, the shape, the label and the item
// (little-endian).
// Timing: constant in secret and item.
void shoal_permanent_rng(shoal_rng *rng, const shoal_permanent *permanent,
                         const shoal_permanent_key *key, uint64_t item);

#endif
