// SPDX-License-Identifier: Apache-2.0
// Implements TurboSHAKE128; see turboshake.h.
// Source: FIPS 202 section 3.2 (the step mappings), of which RFC 9861 uses the last 12 rounds.
#include "turboshake.h"

#include "bytes.h"
#include "prio_cpu.h"
#include "turboshake_variant.h"

const uint64_t SHOAL_TURBOSHAKE_ROUND[12] = {
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};

static inline uint64_t rotl(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

// theta: adds to each lane the parities of two neighbouring columns.
static inline void add_parities(uint64_t a[25])
{
    uint64_t c[5], d[5];
    for (unsigned x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    d[0] = c[4] ^ rotl(c[1], 1);
    d[1] = c[0] ^ rotl(c[2], 1);
    d[2] = c[1] ^ rotl(c[3], 1);
    d[3] = c[2] ^ rotl(c[4], 1);
    d[4] = c[3] ^ rotl(c[0], 1);
    for (unsigned y = 0; y < 25; y += 5)
        for (unsigned x = 0; x < 5; x++) a[y + x] ^= d[x];
}

// rho and pi: lane (x, y) is rotated and moves to (y, 2x + 3y). The code is unrolled so that every
// offset is a constant.
static inline void turn_and_move(uint64_t b[25], const uint64_t a[25])
{
    b[0] = a[0];
    b[1] = rotl(a[6], 44);
    b[2] = rotl(a[12], 43);
    b[3] = rotl(a[18], 21);
    b[4] = rotl(a[24], 14);
    b[5] = rotl(a[3], 28);
    b[6] = rotl(a[9], 20);
    b[7] = rotl(a[10], 3);
    b[8] = rotl(a[16], 45);
    b[9] = rotl(a[22], 61);
    b[10] = rotl(a[1], 1);
    b[11] = rotl(a[7], 6);
    b[12] = rotl(a[13], 25);
    b[13] = rotl(a[19], 8);
    b[14] = rotl(a[20], 18);
    b[15] = rotl(a[4], 27);
    b[16] = rotl(a[5], 36);
    b[17] = rotl(a[11], 10);
    b[18] = rotl(a[17], 15);
    b[19] = rotl(a[23], 56);
    b[20] = rotl(a[2], 62);
    b[21] = rotl(a[8], 55);
    b[22] = rotl(a[14], 39);
    b[23] = rotl(a[15], 41);
    b[24] = rotl(a[21], 2);
}

// chi: the only step that is not linear.
static inline void mix_rows(uint64_t a[25], const uint64_t b[25])
{
    for (unsigned y = 0; y < 25; y += 5) {
        a[y] = b[y] ^ (~b[y + 1] & b[y + 2]);
        a[y + 1] = b[y + 1] ^ (~b[y + 2] & b[y + 3]);
        a[y + 2] = b[y + 2] ^ (~b[y + 3] & b[y + 4]);
        a[y + 3] = b[y + 3] ^ (~b[y + 4] & b[y]);
        a[y + 4] = b[y + 4] ^ (~b[y] & b[y + 1]);
    }
}

void shoal_turboshake_permute_portable(uint64_t lanes[25])
{
    uint64_t a[25], b[25];
    memcpy(a, lanes, sizeof a);
    for (unsigned round = 0; round < 12; round++) {
        add_parities(a);
        turn_and_move(b, a);
        mix_rows(a, b);
        a[0] ^= SHOAL_TURBOSHAKE_ROUND[round];
    }
    memcpy(lanes, a, sizeof a);
}

// Every caller has used up the rate, so the count starts again.
static void permute(shoal_turboshake *sponge)
{
    sponge->used = 0;
#ifdef SHOAL_X86
    if (sponge->cpu >= SHOAL_PRIO_AVX2) {
        shoal_turboshake_permute_avx2(sponge->lanes);
        return;
    }
#endif
    shoal_turboshake_permute_portable(sponge->lanes);
}

static void xor_byte(shoal_turboshake *sponge, uint32_t at, uint8_t byte)
{
    sponge->lanes[at / 8] ^= (uint64_t)byte << (8 * (at % 8));
}

// Returns: the bytes to move next: as many whole lanes as are left, or 1 within a lane.
static uint32_t some_bytes(const shoal_turboshake *sponge, size_t len)
{
    uint32_t left = SHOAL_TURBOSHAKE128_RATE - sponge->used;
    if (sponge->used % 8 != 0 || len < 8) return 1;
    return len < left ? (uint32_t)len / 8 * 8 : left;
}

void shoal_turboshake_init(shoal_turboshake *sponge)
{
    *sponge = (shoal_turboshake){.used = 0, .cpu = shoal_prio_cpu_best()};
}

void shoal_turboshake_absorb(shoal_turboshake *sponge, const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        uint32_t n = some_bytes(sponge, len);
        for (uint32_t i = 0; n > 1 && i < n; i += 8)
            sponge->lanes[(sponge->used + i) / 8] ^= load64_le(bytes + i);
        if (n == 1) xor_byte(sponge, sponge->used, *bytes);
        sponge->used += n;
        bytes += n;
        len -= n;
        if (sponge->used == SHOAL_TURBOSHAKE128_RATE) permute(sponge);
    }
}

void shoal_turboshake_end(shoal_turboshake *sponge, uint8_t domain)
{
    xor_byte(sponge, sponge->used, domain);
    xor_byte(sponge, SHOAL_TURBOSHAKE128_RATE - 1, 0x80);
    permute(sponge);
}

void shoal_turboshake_squeeze(uint8_t *out, size_t len, shoal_turboshake *sponge)
{
    while (len > 0) {
        if (sponge->used == SHOAL_TURBOSHAKE128_RATE) permute(sponge);
        uint32_t n = some_bytes(sponge, len);
        for (uint32_t i = 0; n > 1 && i < n; i += 8)
            store64_le(out + i, sponge->lanes[(sponge->used + i) / 8]);
        if (n == 1) *out = (uint8_t)(sponge->lanes[sponge->used / 8] >> (8 * (sponge->used % 8)));
        sponge->used += n;
        out += n;
        len -= n;
    }
}
