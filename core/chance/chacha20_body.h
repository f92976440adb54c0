// SPDX-License-Identifier: Apache-2.0
// Shared body of chacha20_v128.c and the other vector files: each 32-bit lane of a vector computes
// one block. The including file defines LANES, the number of lanes. The code uses the compiler's
// vector types because compilers do not vectorize the same loop in plain C.
#include <stdint.h>
#include <string.h>

typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));
typedef uint32_t four __attribute__((vector_size(16)));

// Without a rotate instruction, a byte shuffle rotates by 16 or by 8 in one instruction.
// WebAssembly is the exception: its engines compile a shuffle of 16-bit units well but a byte
// shuffle badly, so only the rotation by 16 is a shuffle there.
#if (defined(__wasm_simd128__) || defined(__SSSE3__)) && !defined(__AVX512VL__)
typedef uint8_t lane_bytes __attribute__((vector_size(4 * LANES)));
#define BYTES_ROTATED(from, a, b, c, d)                                                            \
    from + a, from + b, from + c, from + d, from + 4 + a, from + 4 + b, from + 4 + c,              \
        from + 4 + d, from + 8 + a, from + 8 + b, from + 8 + c, from + 8 + d, from + 12 + a,       \
        from + 12 + b, from + 12 + c, from + 12 + d
#if LANES == 8
#define ROTATED(x, a, b, c, d)                                                                     \
    (lanes) __builtin_shufflevector((lane_bytes)(x), (lane_bytes)(x),                              \
                                    BYTES_ROTATED(0, a, b, c, d), BYTES_ROTATED(16, a, b, c, d))
#else
#define ROTATED(x, a, b, c, d)                                                                     \
    (lanes) __builtin_shufflevector((lane_bytes)(x), (lane_bytes)(x), BYTES_ROTATED(0, a, b, c, d))
#endif
#define ROTATED_16(x) ROTATED(x, 2, 3, 0, 1)
#else
#define ROTATED_16(x) ((x) << 16 | (x) >> 16)
#endif
#if defined(ROTATED) && !defined(__wasm_simd128__)
#define ROTATED_8(x) ROTATED(x, 3, 0, 1, 2)
#else
#define ROTATED_8(x) ((x) << 8 | (x) >> 24)
#endif

// FIRST_LANES numbers the lanes; SHUFFLED applies the same shuffle to each group of 16 bytes.
#if LANES == 16
#define FIRST_LANES ((lanes){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
#define SHUFFLED(x, y, a, b, c, d)                                                                 \
    __builtin_shufflevector(x, y, a, b, c, d, (a) + 4, (b) + 4, (c) + 4, (d) + 4, (a) + 8,         \
                            (b) + 8, (c) + 8, (d) + 8, (a) + 12, (b) + 12, (c) + 12, (d) + 12)
#elif LANES == 8
#define FIRST_LANES ((lanes){0, 1, 2, 3, 4, 5, 6, 7})
#define SHUFFLED(x, y, a, b, c, d)                                                                 \
    __builtin_shufflevector(x, y, a, b, c, d, (a) + 4, (b) + 4, (c) + 4, (d) + 4)
#else
#define FIRST_LANES ((lanes){0, 1, 2, 3})
#define SHUFFLED(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#endif

static inline void quarter_rounds(lanes *x, int a, int b, int c, int d)
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

static inline void store_four(uint8_t *out, four words)
{
    memcpy(out, &words, sizeof words);
}

// Stores one row of a transposition, which holds four words of every fourth block.
static inline void store_row(uint8_t *out, lanes row)
{
    store_four(out, __builtin_shufflevector(row, row, 0, 1, 2, 3));
#if LANES >= 8
    store_four(out + 4 * 64, __builtin_shufflevector(row, row, 4, 5, 6, 7));
#endif
#if LANES == 16
    store_four(out + 8 * 64, __builtin_shufflevector(row, row, 8, 9, 10, 11));
    store_four(out + 12 * 64, __builtin_shufflevector(row, row, 12, 13, 14, 15));
#endif
}

// Transposes four words of every block in 4 x 4 squares and stores them. Words are stored from
// registers: no program can wipe the copies that a compiler spills to the stack.
static inline void store_words(uint8_t *out, lanes a, lanes b, lanes c, lanes d)
{
    lanes ab = SHUFFLED(a, b, 0, LANES, 1, LANES + 1), cd = SHUFFLED(c, d, 0, LANES, 1, LANES + 1);
    lanes ef = SHUFFLED(a, b, 2, LANES + 2, 3, LANES + 3),
          gh = SHUFFLED(c, d, 2, LANES + 2, 3, LANES + 3);
    store_row(out, SHUFFLED(ab, cd, 0, 1, LANES, LANES + 1));
    store_row(out + 64, SHUFFLED(ab, cd, 2, 3, LANES + 2, LANES + 3));
    store_row(out + 2 * 64, SHUFFLED(ef, gh, 0, 1, LANES, LANES + 1));
    store_row(out + 3 * 64, SHUFFLED(ef, gh, 2, 3, LANES + 2, LANES + 3));
}

// Adds the state of LANES blocks to x. The state is the same in every lane except for the counter.
static inline void add_state(lanes x[16], const uint32_t state[16])
{
    lanes counter = FIRST_LANES + state[12];
    for (int w = 0; w < 12; w++) x[w] += state[w];
    x[12] += counter;
    x[13] += state[13] - (lanes)(counter < state[12]); // a true comparison is -1 in its lane
    for (int w = 14; w < 16; w++) x[w] += state[w];
}

static inline void blocks_of_lanes(uint8_t *out, const uint32_t state[16])
{
    lanes x[16] = {{0}};
    add_state(x, state);
    permute_lanes(x);
    add_state(x, state);
    for (int w = 0; w < 16; w += 4) store_words(out + 4 * w, x[w], x[w + 1], x[w + 2], x[w + 3]);
}
