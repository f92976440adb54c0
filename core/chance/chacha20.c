// SPDX-License-Identifier: Apache-2.0
// Computes ChaCha20 (RFC 8439) block by block, and selects the vector code (chacha20_lanes.h) that
// the machine supports. See chacha20.h.
#include "chacha20.h"

#include "bytes.h"
#include "chacha20_lanes.h"

static inline uint32_t rotl(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static inline void quarter_round(uint32_t x[16], int a, int b, int c, int d)
{
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 7);
}

static inline void permute(uint32_t x[16])
{
    for (int round = 0; round < 10; round++) {
        quarter_round(x, 0, 4, 8, 12);
        quarter_round(x, 1, 5, 9, 13);
        quarter_round(x, 2, 6, 10, 14);
        quarter_round(x, 3, 7, 11, 15);
        quarter_round(x, 0, 5, 10, 15);
        quarter_round(x, 1, 6, 11, 12);
        quarter_round(x, 2, 7, 8, 13);
        quarter_round(x, 3, 4, 9, 14);
    }
}

static void start(uint32_t state[16], const uint32_t key[8], const uint32_t tail[4])
{
    static const uint32_t sigma[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    memcpy(state, sigma, sizeof sigma);
    memcpy(state + 4, key, 8 * sizeof *key);
    memcpy(state + 12, tail, 4 * sizeof *tail);
}

void shoal_chacha20_portable(uint8_t out[64], const uint32_t state[16])
{
    uint32_t x[16];
    memcpy(x, state, sizeof x);
    permute(x);
    for (int w = 0; w < 16; w++) store32_le(out + 4 * w, x[w] + state[w]);
    wipe(x, sizeof x);
}

static void one_block(uint8_t out[64], const uint32_t state[16])
{
#ifdef SHOAL_CHACHA20_V128
    shoal_chacha20_v128_row(out, state);
#else
    shoal_chacha20_portable(out, state);
#endif
}

// Writes as many blocks as this machine computes side by side, but no more than n.
// Returns: the number of blocks written.
static uint32_t some_blocks(uint8_t *out, uint32_t n, const uint32_t state[16])
{
#ifdef SHOAL_X86
    if (n >= 8 && __builtin_cpu_supports("avx512vl")) {
        (n >= 16 ? shoal_chacha20_avx512_16 : shoal_chacha20_avx512)(out, state);
        return n >= 16 ? 16 : 8;
    }
    if (n >= 8 && __builtin_cpu_supports("avx2")) {
        shoal_chacha20_avx2(out, state);
        return 8;
    }
#endif
#ifdef SHOAL_CHACHA20_V128
    if (n >= 4) {
        shoal_chacha20_v128(out, state);
        return 4;
    }
#endif
    (void)n;
    one_block(out, state);
    return 1;
}

void shoal_chacha20_block(uint8_t out[64], const uint32_t key[8], const uint32_t tail[4])
{
    uint32_t state[16];
    start(state, key, tail);
    one_block(out, state);
    wipe(state, sizeof state);
}

void shoal_chacha20_blocks(uint8_t *out, uint32_t n, const uint32_t key[8], uint64_t counter,
                           const uint32_t nonce[2])
{
    const uint32_t tail[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), nonce[0], nonce[1]};
    uint32_t state[16];
    start(state, key, tail);
    for (uint32_t i = 0, made; i < n; i += made) {
        state[12] = (uint32_t)(counter + i);
        state[13] = (uint32_t)((counter + i) >> 32);
        made = some_blocks(out + 64 * (size_t)i, n - i, state);
    }
    wipe(state, sizeof state);
}

void shoal_chacha20_derive(uint8_t out[64], const uint8_t seed[32], uint32_t j,
                           const char label[12])
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
