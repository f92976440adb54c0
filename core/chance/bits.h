// SPDX-License-Identifier: Apache-2.0
// Packed bit vectors of records: coordinate l is bit l % 8 of byte l / 8. Private to the core.
#ifndef SHOAL_BITS_H
#define SHOAL_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "rng.h"
#include "shoal_err.h"

// Returns: the number of bytes that hold m coordinates.
static inline uint32_t bits_size(uint32_t m)
{
    return (m + 7) / 8;
}

// Checks that no bit beyond the m-th is set.
// Returns: SHOAL_ERR_RECORD if one is.
shoal_err shoal_bits_check(const uint8_t *bits, uint32_t m) SHOAL_MUST_CHECK;

// Writes m coordinates, each an independent coin of probability threshold/2^64. The coordinate
// `item` is the exception: flip = 1 writes the complement of its coin, flip = 0 writes `fair`, a
// fair coin.
//   item: a coordinate in [0, m); any other value makes a vector without an exception
//   fair: 0 or 1
// Timing: constant in item and fair.
void shoal_bits_onehot(uint8_t *bits, uint32_t m, uint64_t item, uint64_t threshold, int flip,
                       uint64_t fair, shoal_rng *rng);

#endif
