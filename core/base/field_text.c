// SPDX-License-Identifier: Apache-2.0
// Reads and writes the decimals and hex digits of record texts; see field_text.h.
#include "field_text.h"

uint32_t shoal_decimal_width(uint32_t count)
{
    uint32_t width = 1;
    for (uint32_t rest = (count - 1) / 10; rest > 0; rest /= 10) width++;
    return width;
}

char *shoal_print_decimal(char *text, uint32_t value, uint32_t width)
{
    for (uint32_t i = width; i-- > 0; value /= 10) text[i] = (char)('0' + value % 10);
    return text + width;
}

shoal_err shoal_parse_decimal(uint32_t *value, const char **text, uint32_t width, uint32_t count)
{
    uint64_t sum = 0;
    const char *start = *text;
    for (uint32_t i = 0; i < width; i++) {
        char c = **text;
        if (c < '0' || c > '9') return SHOAL_ERR_TYPE;
        sum = sum * 10 + (uint64_t)(c - '0');
        (*text)++;
    }
    if (sum >= count) {
        *text = start;
        return SHOAL_ERR_RANGE;
    }
    *value = (uint32_t)sum;
    return SHOAL_OK;
}

char *shoal_print_hex(char *text, const uint8_t *bytes, size_t len)
{
    static const char digits[16] = {'0', '1', '2', '3', '4', '5', '6', '7',
                                    '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
    for (size_t i = 0; i < len; i++) {
        *text++ = digits[bytes[i] >> 4];
        *text++ = digits[bytes[i] & 15];
    }
    return text;
}

// Returns a digit's value, or NO_DIGIT. The function has no branch: record bits are nearly random,
// so branches on them would often be mispredicted. A branch-free body also lets the compiler
// vectorize the loop over digits.
#define NO_DIGIT 0x80u
static inline uint8_t digit_value(char c)
{
    uint8_t number = (uint8_t)(c - '0'), letter = (uint8_t)(c - 'a');
    uint8_t is_number = (uint8_t)(0 - (number < 10)), is_letter = (uint8_t)(0 - (letter < 6));
    return (uint8_t)((number & is_number) | ((letter + 10) & is_letter) |
                     (NO_DIGIT & ~(is_number | is_letter)));
}

shoal_err shoal_parse_hex(uint8_t *bytes, size_t len, const char **text)
{
    const char *from = *text;
    uint8_t seen = 0;
    for (size_t i = 0; i < len; i++) {
        uint8_t high = digit_value(from[2 * i]), low = digit_value(from[2 * i + 1]);
        seen |= high | low;
        bytes[i] = (uint8_t)(high << 4 | (low & 15));
    }
    if ((seen & NO_DIGIT) == 0) {
        *text += 2 * len;
        return SHOAL_OK;
    }
    while (digit_value(**text) != NO_DIGIT) (*text)++;
    return SHOAL_ERR_TYPE;
}

shoal_err shoal_parse_char(char expected, const char **text)
{
    if (**text != expected) return SHOAL_ERR_TYPE;
    (*text)++;
    return SHOAL_OK;
}
