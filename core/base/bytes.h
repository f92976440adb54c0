// SPDX-License-Identifier: Apache-2.0
// Conversions between integers and bytes without punned loads, and a wipe. Private to the core.
#ifndef SHOAL_BYTES_H
#define SHOAL_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t load32_le(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t load64_le(const uint8_t *p)
{
    return (uint64_t)load32_le(p) | (uint64_t)load32_le(p + 4) << 32;
}

static inline void store32_le(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

static inline void store64_le(uint8_t *p, uint64_t x)
{
    store32_le(p, (uint32_t)x);
    store32_le(p + 4, (uint32_t)(x >> 32));
}

static inline uint32_t load32_be(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline void store32_be(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)(x >> 24);
    p[1] = (uint8_t)(x >> 16);
    p[2] = (uint8_t)(x >> 8);
    p[3] = (uint8_t)x;
}

static inline void store64_be(uint8_t *p, uint64_t x)
{
    store32_be(p, (uint32_t)(x >> 32));
    store32_be(p + 4, (uint32_t)x);
}

static inline size_t text_len(const char *text)
{
    size_t n = 0;
    while (text[n] != '\0') n++;
    return n;
}

// Overwrites len bytes with zeros that the optimiser may not drop. The asm barrier makes GCC and
// Clang assume that the memory is read; other compilers get stores through a volatile pointer.
static inline void wipe(void *bytes, size_t len)
{
#if defined(__GNUC__) || defined(__clang__)
    memset(bytes, 0, len);
    __asm__ __volatile__("" : : "r"(bytes) : "memory");
#else
    volatile uint8_t *p = bytes;
    for (size_t i = 0; i < len; i++) p[i] = 0;
#endif
}

#endif
