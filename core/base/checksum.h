// SPDX-License-Identifier: Apache-2.0
// Checksum of stored and shipped bytes: XXH64 (Yann Collet's specification). Finds damage, not
// forgery.
#ifndef SHOAL_CHECKSUM_H
#define SHOAL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct shoal_checksum {
    uint64_t lane[4];
    uint64_t total;
    uint8_t tail[32];
    uint32_t tail_len;
} shoal_checksum;

void shoal_checksum_init(shoal_checksum *sum);
void shoal_checksum_update(shoal_checksum *sum, const uint8_t *bytes, size_t len);

// Returns: XXH64 with seed 0 of everything updated so far; `sum` may be updated further.
uint64_t shoal_checksum_value(const shoal_checksum *sum);

// Returns: the same for one run of bytes.
uint64_t shoal_checksum_of(const uint8_t *bytes, size_t len);

#endif
