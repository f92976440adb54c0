// SPDX-License-Identifier: Apache-2.0
// Decodes 64 hex digits at a time with AVX2; see hex_digits.h. This file is compiled with -mavx2,
// so nothing in it may run on a machine without AVX2.
#include <immintrin.h>

#include <stdbool.h>

#include "hex_digits.h"

#define DIGITS 32u // digits in a vector

static inline __m256i all(int value)
{
    return _mm256_set1_epi8((char)value);
}

// Returns: the values of 32 digits; a value above 15 marks a character that is not a digit. In
// `number` '0' .. '9' become 0 .. 9 and all other characters 10 or more, because lesser ones wrap
// around and greater ones saturate. In `letter` 'a' .. 'f' become 10 .. 15 and all other characters
// 16 or more.
static inline __m256i digit_values(const char *digits)
{
    __m256i c = _mm256_loadu_si256((const __m256i *)(const void *)digits);
    __m256i number =
        _mm256_sub_epi8(_mm256_subs_epu8(_mm256_add_epi8(c, all(255 - '9')), all(6)), all(240));
    __m256i letter = _mm256_adds_epu8(_mm256_sub_epi8(c, all('a')), all(10));
    return _mm256_min_epu8(number, letter);
}

// Joins pairs of neighbouring digits into 16 words below 256.
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
        // Packing works on each half alone, so that the quarters come out as 0, 2, 1, 3.
        __m256i joined = _mm256_permute4x64_epi64(_mm256_packus_epi16(join(low), join(high)), 0xd8);
        _mm256_storeu_si256((__m256i *)(void *)(bytes + i), joined);
    }
    __m256i over = _mm256_subs_epu8(most, all(15));
    return _mm256_testz_si256(over, over) &&
           agg_hex_digits_portable(bytes + i, len - i, digits + 2 * i);
}
