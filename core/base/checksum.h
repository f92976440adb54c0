// SPDX-License-Identifier: Apache-2.0
// XXH64 checksum of stored and sent bytes (Yann Collet's specification). It detects damage, not
// forgery.
#ifndef SHOAL_CHECKSUM_H
#define SHOAL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct shoal_checksum {
    uint64_t lane[4];  // the four XXH64 accumulators
    uint64_t total;    // bytes so far
    uint8_t tail[32];  // bytes that do not fill a block yet
    uint32_t tail_len; // 0 .. 31
} shoal_checksum;

// Starts a checksum of no bytes.
void shoal_checksum_init(shoal_checksum *sum);
// Appends len bytes; the split into calls does not change the result.
void shoal_checksum_update(shoal_checksum *sum, const uint8_t *bytes, size_t len);

// Returns: XXH64 with seed 0 of all bytes so far. `sum` may be updated further.
uint64_t shoal_checksum_value(const shoal_checksum *sum);

// Returns: XXH64 with seed 0 of bytes[0..len), in one call.
uint64_t shoal_checksum_of(const uint8_t *bytes, size_t len);

#endif
