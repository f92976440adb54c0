// SPDX-License-Identifier: Apache-2.0
// Scales a number by long division, one bit at a time, because a divide instruction may take longer
// for some operands. See number_item.h.
#include "number_item.h"

uint64_t shoal_number_scale(int64_t x, int64_t low, int64_t high, uint64_t count)
{
    // Non-negative differences of int64_t fit uint64_t.
    uint64_t width = (uint64_t)high - (uint64_t)low, from_low = (uint64_t)x - (uint64_t)low;
    uint64_t is_below = 0 - (uint64_t)(x < low), is_above = 0 - (uint64_t)(x > high);
    uint64_t inside = (from_low & ~is_below & ~is_above) | (width & is_above);
    // numerator = inside * count < 2^97, as two words
    uint64_t part_low = (inside & UINT32_MAX) * count, part_high = (inside >> 32) * count;
    uint64_t low_word = part_low + (part_high << 32);
    uint64_t high_word = (part_high >> 32) + (uint64_t)(low_word < part_low);
    uint64_t rest = 0, quotient = 0;
    for (int i = 0; i < 128; i++) {
        uint64_t carry = rest >> 63;
        rest = rest << 1 | high_word >> 63;
        high_word = high_word << 1 | low_word >> 63;
        low_word <<= 1;
        uint64_t fits = 0 - (carry | (uint64_t)(rest >= width));
        rest -= width & fits;
        quotient = quotient << 1 | (fits & 1);
    }
    return quotient;
}
