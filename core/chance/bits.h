// SPDX-License-Identifier: Apache-2.0
// Packed bit vectors of records: coordinate l is bit l % 8 of byte l / 8. Private to the core.
#ifndef SHOAL_BITS_H
#define SHOAL_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "rng.h"
#include "shoal_err.h"

// Returns: bytes of m coordinates.
static inline uint32_t bits_size(uint32_t m)
{
    return (m + 7) / 8;
}

// SHOAL_ERR_RECORD when a bit beyond the m-th is set.
shoal_err shoal_bits_check(const uint8_t *bits, uint32_t m) SHOAL_MUST_CHECK;

// Writes m coordinates: independent coins of probability threshold/2^64, but where the one-hot
// vector of `item` is 1 the coin is replaced: by its complement (flip = 1) or by a fair coin's
// `fair` (flip = 0).
//   item: a coordinate in [0, m), or anything else for a vector of zeros
//   fair: 0 or 1
// Timing: constant in item and fair.
void shoal_bits_onehot(uint8_t *bits, uint32_t m, uint64_t item, uint64_t threshold, int flip,
                       uint64_t fair, shoal_rng *rng);

#endif
