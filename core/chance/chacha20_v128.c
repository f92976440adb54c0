// SPDX-License-Identifier: Apache-2.0
// Computes four ChaCha20 blocks side by side, or one alone, in 16-byte vectors that every machine
// of the build has: SSE2, NEON or WebAssembly's 128 bits. The file is empty where no such vectors
// exist. See chacha20_lanes.h.
#include "chacha20_lanes.h"

#ifdef SHOAL_CHACHA20_V128
#define LANES 4
#include "chacha20_body.h"

#define LEFT_1(x) __builtin_shufflevector(x, x, 1, 2, 3, 0)
#define LEFT_2(x) __builtin_shufflevector(x, x, 2, 3, 0, 1)
#define LEFT_3(x) __builtin_shufflevector(x, x, 3, 0, 1, 2)

// The state is a square of 4 x 4 words with a row in each vector. A quarter round mixes the
// columns; rotating the rows turns diagonals into columns. The second row is ready last, so the
// code rotates the other three and no rotation waits for it.
void shoal_chacha20_v128_row(uint8_t out[64], const uint32_t state[16])
{
    lanes x[4], start[4];
    memcpy(start, state, sizeof start);
    memcpy(x, state, sizeof x);
    for (int round = 0; round < 10; round++) {
        quarter_rounds(x, 0, 1, 2, 3);
        x[0] = LEFT_3(x[0]);
        x[2] = LEFT_1(x[2]);
        x[3] = LEFT_2(x[3]);
        quarter_rounds(x, 0, 1, 2, 3);
        x[0] = LEFT_1(x[0]);
        x[2] = LEFT_3(x[2]);
        x[3] = LEFT_2(x[3]);
    }
    for (int row = 0; row < 4; row++) store_four(out + 16 * row, x[row] + start[row]);
}

void shoal_chacha20_v128(uint8_t out[4 * 64], const uint32_t state[16])
{
    blocks_of_lanes(out, state);
}
#endif
