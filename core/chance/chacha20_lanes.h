// SPDX-License-Identifier: Apache-2.0
// ChaCha20 blocks in vectors, for instruction sets that have them. Private to chacha20*.c. The
// reference is shoal_chacha20_portable, block by block in plain C; all give the same bytes.
#ifndef SHOAL_CHACHA20_LANES_H
#define SHOAL_CHACHA20_LANES_H

#include <stdint.h>

// Vectors of 16 bytes that every machine of this build has.
#if (defined(__SSE2__) || defined(__ARM_NEON) || defined(__wasm_simd128__)) &&                     \
    (defined(__clang__) || __GNUC__ >= 12) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SHOAL_CHACHA20_V128
#endif

// Writes one block.
void shoal_chacha20_portable(uint8_t out[64], const uint32_t state[16]);

// Write one block, its rows in four vectors, and four consecutive blocks, a block in each lane.
//   state: that of the first; words 12 and 13 are the 64-bit counter
void shoal_chacha20_v128_row(uint8_t out[64], const uint32_t state[16]);
void shoal_chacha20_v128(uint8_t out[4 * 64], const uint32_t state[16]);

// Write eight, on machines that have AVX2, or AVX-512 (F and VL), and sixteen. Only where SHOAL_X86
// is defined.
void shoal_chacha20_avx2(uint8_t out[8 * 64], const uint32_t state[16]);
void shoal_chacha20_avx512(uint8_t out[8 * 64], const uint32_t state[16]);
void shoal_chacha20_avx512_16(uint8_t out[16 * 64], const uint32_t state[16]);

#endif
