// SPDX-License-Identifier: Apache-2.0
// Implements SipHash-2-4; see fingerprint.h.
#include "fingerprint.h"

#include "bytes.h"

typedef struct sip {
    uint64_t v0, v1, v2, v3;
} sip;

static inline uint64_t rotl(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static void rounds(sip *s, int n)
{
    for (int i = 0; i < n; i++) {
        s->v0 += s->v1;
        s->v1 = rotl(s->v1, 13) ^ s->v0;
        s->v0 = rotl(s->v0, 32);
        s->v2 += s->v3;
        s->v3 = rotl(s->v3, 16) ^ s->v2;
        s->v0 += s->v3;
        s->v3 = rotl(s->v3, 21) ^ s->v0;
        s->v2 += s->v1;
        s->v1 = rotl(s->v1, 17) ^ s->v2;
        s->v2 = rotl(s->v2, 32);
    }
}

static void absorb(sip *s, uint64_t word)
{
    s->v3 ^= word;
    rounds(s, 2);
    s->v0 ^= word;
}

uint64_t shoal_fingerprint(const uint8_t key[16], const uint8_t *bytes, size_t len)
{
    uint64_t k0 = load64_le(key), k1 = load64_le(key + 8);
    sip s = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
             k1 ^ 0x7465646279746573};
    size_t full = len / 8 * 8;
    for (size_t i = 0; i < full; i += 8) absorb(&s, load64_le(bytes + i));
    uint64_t last = (uint64_t)len << 56;
    for (size_t i = full; i < len; i++) last |= (uint64_t)bytes[i] << (8 * (i - full));
    absorb(&s, last);
    s.v2 ^= 0xff;
    rounds(&s, 4);
    uint64_t value = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
    wipe(&s, sizeof s);
    wipe(&last, sizeof last);
    return value;
}
