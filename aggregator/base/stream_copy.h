// SPDX-License-Identifier: Apache-2.0
// Copies with non-temporal stores, for data that is not needed soon. An ordinary store reads each
// cache line before it writes it, and evicts another line. Machines without such stores copy as
// usual.
#ifndef STREAM_COPY_H
#define STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Copies whole cache lines.
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

// Orders the copied bytes before later stores. Call it before another thread reads them.
static inline void agg_stream_end(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
