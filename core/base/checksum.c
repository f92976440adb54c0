// SPDX-License-Identifier: Apache-2.0
// Implements XXH64; see checksum.h.
#include "checksum.h"

#include "bytes.h"

static const uint64_t P1 = 0x9E3779B185EBCA87, P2 = 0xC2B2AE3D27D4EB4F, P3 = 0x165667B19E3779F9,
                      P4 = 0x85EBCA77C2B2AE63, P5 = 0x27D4EB2F165667C5;

static inline uint64_t rotl(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static inline uint64_t stir(uint64_t lane, uint64_t word)
{
    return rotl(lane + word * P2, 31) * P1;
}

static void absorb_block(uint64_t lane[4], const uint8_t *block)
{
    for (int i = 0; i < 4; i++) lane[i] = stir(lane[i], load64_le(block + 8 * i));
}

void shoal_checksum_init(shoal_checksum *sum)
{
    *sum = (shoal_checksum){.lane = {P1 + P2, P2, 0, 0 - P1}};
}

// Absorbs bytes after a block boundary: the tail of *sum must be empty.
static void absorb(shoal_checksum *sum, const uint8_t *bytes, size_t len)
{
    uint64_t lane[4]; // a local copy, because `bytes` could alias *sum
    memcpy(lane, sum->lane, sizeof lane);
    for (; len >= 32; bytes += 32, len -= 32) absorb_block(lane, bytes);
    memcpy(sum->lane, lane, sizeof lane);
    memcpy(sum->tail, bytes, len);
    sum->tail_len = (uint32_t)len;
}

void shoal_checksum_update(shoal_checksum *sum, const uint8_t *bytes, size_t len)
{
    if (len == 0) return;
    sum->total += len;
    if (sum->tail_len > 0) {
        size_t n = 32 - sum->tail_len;
        if (n > len) n = len;
        memcpy(sum->tail + sum->tail_len, bytes, n);
        sum->tail_len += (uint32_t)n;
        bytes += n;
        len -= n;
        if (sum->tail_len < 32) return;
        absorb_block(sum->lane, sum->tail);
    }
    absorb(sum, bytes, len);
}

static uint64_t join_lanes(const uint64_t lane[4])
{
    uint64_t h = rotl(lane[0], 1) + rotl(lane[1], 7) + rotl(lane[2], 12) + rotl(lane[3], 18);
    for (int i = 0; i < 4; i++) h = (h ^ stir(0, lane[i])) * P1 + P4;
    return h;
}

uint64_t shoal_checksum_value(const shoal_checksum *sum)
{
    uint64_t h = (sum->total >= 32 ? join_lanes(sum->lane) : P5) + sum->total;
    const uint8_t *p = sum->tail;
    uint32_t left = sum->tail_len;
    for (; left >= 8; p += 8, left -= 8) h = rotl(h ^ stir(0, load64_le(p)), 27) * P1 + P4;
    for (; left >= 4; p += 4, left -= 4) h = rotl(h ^ load32_le(p) * P1, 23) * P2 + P3;
    for (; left > 0; p++, left--) h = rotl(h ^ *p * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}

uint64_t shoal_checksum_of(const uint8_t *bytes, size_t len)
{
    shoal_checksum sum;
    shoal_checksum_init(&sum);
    sum.total = len;
    absorb(&sum, bytes, len);
    return shoal_checksum_value(&sum);
}
