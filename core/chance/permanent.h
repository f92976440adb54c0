// SPDX-License-Identifier: Apache-2.0
// Permanent randomness: the same answer every time for one device, one collection and one item. It
// is made of a secret that the device keeps and never sends; nothing that was drawn has to be
// stored. Fresh randomness is a shoal_rng of its own. Source: the permanent randomized response of
// RAPPOR (fanti-2016 section 2; papers' notes on deriving it).
#ifndef SHOAL_PERMANENT_H
#define SHOAL_PERMANENT_H

#include <stdint.h>

#include "rng.h"

typedef struct shoal_permanent {
    uint8_t secret[32]; // uniformly random, drawn once by the device, used for nothing else
} shoal_permanent;

// What makes two permanent answers about one item the same answer. `shape` must hold every
// parameter that the answer depends on: coins shared by two answers of different shapes would
// cancel, or bracket, the noise of both.
typedef struct shoal_permanent_key {
    const uint8_t *seed; // 32 bytes, the recipe's
    uint32_t shape[4];
    const char *label; // 12 characters, what is drawn
} shoal_permanent_key;

// Starts the generator of all that is permanent about (device, key, item). Recipes of one seed and
// one shape share their answers, so that averaging them wins nothing; else answers are independent,
// and their costs add up. How: ChaCha20 under SHA-256 of a title, the secret, the seed, the shape,
// the label and the item (little-endian). Timing: constant in secret and item.
void shoal_permanent_rng(shoal_rng *rng, const shoal_permanent *permanent,
                         const shoal_permanent_key *key, uint64_t item);

#endif
