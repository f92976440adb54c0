// SPDX-License-Identifier: Apache-2.0
// ChaCha20 block function (RFC 8439 section 2.3). The caller lays out state words 12-15.
#ifndef SHOAL_CHACHA20_H
#define SHOAL_CHACHA20_H

#include <stdint.h>

// Writes one block.
//   tail: state words 12-15; in RFC 8439 the block counter, then the 96-bit nonce as three
//   little-endian words
void shoal_chacha20_block(uint8_t out[64], const uint32_t key[8], const uint32_t tail[4]);

// Writes n consecutive blocks (64 n bytes) of the stream whose state words 12-13 are a 64-bit
// counter. The function computes as many blocks side by side as the machine can.
void shoal_chacha20_blocks(uint8_t *out, uint32_t n, const uint32_t key[8], uint64_t counter,
                           const uint32_t nonce[2]);

// Writes the block from which a recipe's public key is derived: ChaCha20 under `seed` with counter
// j and the 12 bytes of `label` as nonce.
void shoal_chacha20_derive(uint8_t out[64], const uint8_t seed[32], uint32_t j,
                           const char label[12]);

#endif
