// SPDX-License-Identifier: Apache-2.0
// Copying to memory that is not needed soon, around the caches: without it, each line is read
// before it is written and drives another out of the cache. Plain copying where the machine has no
// such stores.
#ifndef STREAM_COPY_H
#define STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Copies whole lines.
//   to: aligned to 64 bytes
//   len: a multiple of 64
static inline void agg_stream_copy(uint8_t *to, const uint8_t *from, size_t len)
{
#ifdef __SSE2__
    for (size_t i = 0; i < len; i += 16)
        _mm_stream_si128((__m128i *)(void *)(to + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
#else
    memcpy(to, from, len);
#endif
}

// Call before another thread is to read what was copied.
static inline void agg_stream_end(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
