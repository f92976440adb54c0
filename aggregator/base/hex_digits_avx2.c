// SPDX-License-Identifier: Apache-2.0
// Hex digits, 64 at a time, in AVX2; see hex_digits.h. Compiled with -mavx2: nothing here may run
// on a machine without it.
#include <immintrin.h>

#include <stdbool.h>

#include "hex_digits.h"

#define DIGITS 32u // of a vector

static inline __m256i all(int value)
{
    return _mm256_set1_epi8((char)value);
}

// The values of 32 digits; above 15 where a character is none. '0' .. '9' come to 0 .. 9 in
// `number`, and only they below 10: what was less wraps around, what was more saturates. 'a' .. 'f'
// come to 10 .. 15 in `letter`, and no other character below 16.
static inline __m256i digit_values(const char *digits)
{
    __m256i c = _mm256_loadu_si256((const __m256i *)(const void *)digits);
    __m256i number =
        _mm256_sub_epi8(_mm256_subs_epu8(_mm256_add_epi8(c, all(255 - '9')), all(6)), all(240));
    __m256i letter = _mm256_adds_epu8(_mm256_sub_epi8(c, all('a')), all(10));
    return _mm256_min_epu8(number, letter);
}

// Joins neighbours: 16 words, each below 256.
static inline __m256i join(__m256i values)
{
    return _mm256_maddubs_epi16(values, _mm256_set1_epi16(0x0110));
}

bool agg_hex_digits_avx2(uint8_t *bytes, size_t len, const char *digits)
{
    __m256i most = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + DIGITS <= len; i += DIGITS) {
        __m256i low = digit_values(digits + 2 * i), high = digit_values(digits + 2 * i + DIGITS);
        most = _mm256_max_epu8(most, _mm256_max_epu8(low, high));
        // Packing goes by halves: quarters 0, 2, 1, 3.
        __m256i joined = _mm256_permute4x64_epi64(_mm256_packus_epi16(join(low), join(high)), 0xd8);
        _mm256_storeu_si256((__m256i *)(void *)(bytes + i), joined);
    }
    __m256i over = _mm256_subs_epu8(most, all(15));
    return _mm256_testz_si256(over, over) &&
           agg_hex_digits_portable(bytes + i, len - i, digits + 2 * i);
}
