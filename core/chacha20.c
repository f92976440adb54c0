// SPDX-License-Identifier: Apache-2.0
// ChaCha20 (RFC 8439). Lanes are the inner index everywhere: one block is a lane, and the loops over lanes are what a
// compiler turns into vector instructions. See chacha20.h.
#include "chacha20.h"

#include "bytes.h"

#define LANES SHOAL_CHACHA20_LANES

static inline uint32_t rotl(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static inline void quarter_round(uint32_t x[16][LANES], int n, int a, int b, int c, int d)
{
    for (int i = 0; i < n; i++) {
        x[a][i] += x[b][i];
        x[d][i] = rotl(x[d][i] ^ x[a][i], 16);
        x[c][i] += x[d][i];
        x[b][i] = rotl(x[b][i] ^ x[c][i], 12);
        x[a][i] += x[b][i];
        x[d][i] = rotl(x[d][i] ^ x[a][i], 8);
        x[c][i] += x[d][i];
        x[b][i] = rotl(x[b][i] ^ x[c][i], 7);
    }
}

static inline void permute(uint32_t x[16][LANES], int n)
{
    for (int round = 0; round < 10; round++) {
        quarter_round(x, n, 0, 4, 8, 12);
        quarter_round(x, n, 1, 5, 9, 13);
        quarter_round(x, n, 2, 6, 10, 14);
        quarter_round(x, n, 3, 7, 11, 15);
        quarter_round(x, n, 0, 5, 10, 15);
        quarter_round(x, n, 1, 6, 11, 12);
        quarter_round(x, n, 2, 7, 8, 13);
        quarter_round(x, n, 3, 4, 9, 14);
    }
}

static const uint32_t sigma[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

// Makes n <= LANES blocks; inlined, so that n is a constant in each of its two uses. Lane i has tail[.][i].
static inline void blocks(uint8_t *out, int n, const uint32_t key[8], const uint32_t tail[4][LANES])
{
    uint32_t start[16][LANES], x[16][LANES];
    for (int i = 0; i < n; i++) {
        for (int w = 0; w < 4; w++) start[w][i] = sigma[w];
        for (int w = 0; w < 8; w++) start[4 + w][i] = key[w];
        for (int w = 0; w < 4; w++) start[12 + w][i] = tail[w][i];
    }
    for (int w = 0; w < 16; w++)
        for (int i = 0; i < n; i++) x[w][i] = start[w][i];
    permute(x, n);
    for (int i = 0; i < n; i++)
        for (int w = 0; w < 16; w++) store32_le(out + 64 * i + 4 * w, x[w][i] + start[w][i]);
    wipe(start, sizeof start);
    wipe(x, sizeof x);
}

void shoal_chacha20_block(uint8_t out[64], const uint32_t key[8], const uint32_t tail[4])
{
    uint32_t lanes[4][LANES];
    for (int w = 0; w < 4; w++) lanes[w][0] = tail[w];
    blocks(out, 1, key, (const uint32_t(*)[LANES])lanes);
}

void shoal_chacha20_blocks(uint8_t out[64 * LANES], const uint32_t key[8], uint64_t counter, const uint32_t nonce[2])
{
    uint32_t lanes[4][LANES];
    for (int i = 0; i < LANES; i++) {
        uint64_t block = counter + (uint64_t)i;
        lanes[0][i] = (uint32_t)block;
        lanes[1][i] = (uint32_t)(block >> 32);
        lanes[2][i] = nonce[0];
        lanes[3][i] = nonce[1];
    }
    blocks(out, LANES, key, (const uint32_t(*)[LANES])lanes);
}

void shoal_chacha20_derive(uint8_t out[64], const uint8_t seed[32], uint32_t j, const char label[12])
{
    uint32_t key[8], tail[4] = {j, 0, 0, 0};
    for (int i = 0; i < 8; i++) key[i] = load32_le(seed + 4 * i);
    for (int i = 0; i < 3; i++) {
        uint8_t four[4];
        memcpy(four, label + 4 * i, 4);
        tail[1 + i] = load32_le(four);
    }
    shoal_chacha20_block(out, key, tail);
}
