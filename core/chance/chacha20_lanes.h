// SPDX-License-Identifier: Apache-2.0
// ChaCha20 blocks in vectors, one function for each instruction set. shoal_chacha20_portable
// computes one block in plain C and is the reference: all of them give the same bytes. Private to
// chacha20*.c.
#ifndef SHOAL_CHACHA20_LANES_H
#define SHOAL_CHACHA20_LANES_H

#include <stdint.h>

// SHOAL_CHACHA20_V128 is defined where every machine of this build has vectors of 16 bytes.
#if (defined(__SSE2__) || defined(__ARM_NEON) || defined(__wasm_simd128__)) &&                     \
    (defined(__clang__) || __GNUC__ >= 12) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SHOAL_CHACHA20_V128
#endif

// Writes one block in plain C.
void shoal_chacha20_portable(uint8_t out[64], const uint32_t state[16]);

// Writes one block with each row of the state in one vector.
//   state: the block's; words 12 and 13 are the 64-bit counter
void shoal_chacha20_v128_row(uint8_t out[64], const uint32_t state[16]);
// Writes four consecutive blocks, one block in each lane.
//   state: the first block's
void shoal_chacha20_v128(uint8_t out[4 * 64], const uint32_t state[16]);

// Write eight or sixteen consecutive blocks. They need AVX2, or AVX-512 (F and VL), and exist only
// where SHOAL_X86 is defined.
//   state: the first block's
void shoal_chacha20_avx2(uint8_t out[8 * 64], const uint32_t state[16]);
void shoal_chacha20_avx512(uint8_t out[8 * 64], const uint32_t state[16]);
void shoal_chacha20_avx512_16(uint8_t out[16 * 64], const uint32_t state[16]);

#endif
