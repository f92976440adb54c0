// SPDX-License-Identifier: Apache-2.0
// The body of chacha20_v128.c and its kin: one block in each 32-bit lane of the compiler's vectors, whose number of lanes
// the including file defines as LANES. A loop over lanes in plain C is what compilers fail to make vectors of.
#include <stdint.h>
#include <string.h>

#include "bytes.h"

typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));
typedef uint32_t four __attribute__((vector_size(16)));

// Where there is no rotation, but any shuffle of bytes in one instruction, two of the four rotations are that.
#if (defined(__wasm_simd128__) || defined(__SSSE3__)) && !defined(__AVX512VL__)
typedef uint8_t lane_bytes __attribute__((vector_size(4 * LANES)));
#define BYTES_ROTATED(from, a, b, c, d)                                                                                \
    from + a, from + b, from + c, from + d, from + 4 + a, from + 4 + b, from + 4 + c, from + 4 + d, from + 8 + a,      \
        from + 8 + b, from + 8 + c, from + 8 + d, from + 12 + a, from + 12 + b, from + 12 + c, from + 12 + d
#if LANES == 8
#define ROTATED(x, a, b, c, d)                                                                                         \
    (lanes) __builtin_shufflevector((lane_bytes)(x), (lane_bytes)(x), BYTES_ROTATED(0, a, b, c, d),                    \
                                    BYTES_ROTATED(16, a, b, c, d))
#else
#define ROTATED(x, a, b, c, d)                                                                                         \
    (lanes) __builtin_shufflevector((lane_bytes)(x), (lane_bytes)(x), BYTES_ROTATED(0, a, b, c, d))
#endif
#define ROTATED_16(x) ROTATED(x, 2, 3, 0, 1)
#define ROTATED_8(x) ROTATED(x, 3, 0, 1, 2)
#else
#define ROTATED_16(x) ((x) << 16 | (x) >> 16)
#define ROTATED_8(x) ((x) << 8 | (x) >> 24)
#endif

#if LANES == 8
#define FIRST_LANES ((lanes){0, 1, 2, 3, 4, 5, 6, 7})
#else
#define FIRST_LANES ((lanes){0, 1, 2, 3})
#endif

static inline void quarter_rounds(lanes x[16], int a, int b, int c, int d)
{
    x[a] += x[b];
    x[d] ^= x[a];
    x[d] = ROTATED_16(x[d]);
    x[c] += x[d];
    x[b] ^= x[c];
    x[b] = x[b] << 12 | x[b] >> 20;
    x[a] += x[b];
    x[d] ^= x[a];
    x[d] = ROTATED_8(x[d]);
    x[c] += x[d];
    x[b] ^= x[c];
    x[b] = x[b] << 7 | x[b] >> 25;
}

static inline void permute_lanes(lanes x[16])
{
    for (int round = 0; round < 10; round++) {
        quarter_rounds(x, 0, 4, 8, 12);
        quarter_rounds(x, 1, 5, 9, 13);
        quarter_rounds(x, 2, 6, 10, 14);
        quarter_rounds(x, 3, 7, 11, 15);
        quarter_rounds(x, 0, 5, 10, 15);
        quarter_rounds(x, 1, 6, 11, 12);
        quarter_rounds(x, 2, 7, 8, 13);
        quarter_rounds(x, 3, 4, 9, 14);
    }
}

// Lanes 4 g to 4 g + 3 of four words to the same words of four blocks: a transposition of 4 x 4.
static inline void store_four(uint8_t *out, const lanes words[4], int g)
{
    four a, b, c, d;
    memcpy(&a, (const uint8_t *)&words[0] + 16 * g, 16);
    memcpy(&b, (const uint8_t *)&words[1] + 16 * g, 16);
    memcpy(&c, (const uint8_t *)&words[2] + 16 * g, 16);
    memcpy(&d, (const uint8_t *)&words[3] + 16 * g, 16);
    four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    four ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    four rows[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                    __builtin_shufflevector(ef, gh, 0, 1, 4, 5), __builtin_shufflevector(ef, gh, 2, 3, 6, 7)};
    for (int i = 0; i < 4; i++) memcpy(out + 64 * (4 * g + i), &rows[i], 16);
}

// x += the state of LANES blocks: the same in every lane but for the counter.
static inline void add_state(lanes x[16], const uint32_t state[16])
{
    lanes counter = FIRST_LANES + state[12];
    for (int w = 0; w < 12; w++) x[w] += state[w];
    x[12] += counter;
    x[13] += state[13] - (lanes)(counter < state[12]); // a lane that is true is -1
    for (int w = 14; w < 16; w++) x[w] += state[w];
}

static inline void blocks_of_lanes(uint8_t *out, const uint32_t state[16])
{
    lanes x[16] = {{0}};
    add_state(x, state);
    permute_lanes(x);
    add_state(x, state);
    for (int w = 0; w < 16; w += 4)
        for (int g = 0; g < LANES / 4; g++) store_four(out + 4 * w, x + w, g);
    wipe(x, sizeof x);
}
