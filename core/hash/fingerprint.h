// SPDX-License-Identifier: Apache-2.0
// Keyed 64-bit fingerprint of a byte string: SipHash-2-4 (Aumasson and Bernstein 2012). It turns a
// string of an open domain into an item (mechanism.h).
#ifndef SHOAL_FINGERPRINT_H
#define SHOAL_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

// Computes the fingerprint of bytes[0..len).
//   key: 16 bytes
// Returns: SipHash-2-4 of the bytes under key, as the paper's little-endian integer.
// Timing: depends on len only.
uint64_t shoal_fingerprint(const uint8_t key[16], const uint8_t *bytes, size_t len);

#endif
