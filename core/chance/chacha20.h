// SPDX-License-Identifier: Apache-2.0
// ChaCha20 block function (RFC 8439 section 2.3), with the state words 12-15 given as the caller
// lays them out.
#ifndef SHOAL_CHACHA20_H
#define SHOAL_CHACHA20_H

#include <stdint.h>

// Writes one block.
//   tail: state words 12-15. RFC 8439: block counter, then the 96-bit nonce as three little-endian
//   words
void shoal_chacha20_block(uint8_t out[64], const uint32_t key[8], const uint32_t tail[4]);

// Writes n consecutive blocks, 64 n bytes, of the stream whose words 12-13 are a 64-bit counter; as
// many side by side as the machine can.
void shoal_chacha20_blocks(uint8_t *out, uint32_t n, const uint32_t key[8], uint64_t counter,
                           const uint32_t nonce[2]);

// Writes the block that derives a public key of a recipe: ChaCha20 under `seed`, counter j, nonce =
// 12 bytes of label.
void shoal_chacha20_derive(uint8_t out[64], const uint8_t seed[32], uint32_t j,
                           const char label[12]);

#endif
