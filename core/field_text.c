// SPDX-License-Identifier: Apache-2.0
// Decimals and hex of record texts; see field_text.h.
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
    static const char digits[16] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
    for (size_t i = 0; i < len; i++) {
        *text++ = digits[bytes[i] >> 4];
        *text++ = digits[bytes[i] & 15];
    }
    return text;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

shoal_err shoal_parse_hex(uint8_t *bytes, size_t len, const char **text)
{
    for (size_t i = 0; i < 2 * len; i++) {
        int digit = digit_value(**text);
        if (digit < 0) return SHOAL_ERR_TYPE;
        bytes[i / 2] = (uint8_t)(i % 2 == 0 ? digit << 4 : bytes[i / 2] | digit);
        (*text)++;
    }
    return SHOAL_OK;
}

shoal_err shoal_parse_char(char expected, const char **text)
{
    if (**text != expected) return SHOAL_ERR_TYPE;
    (*text)++;
    return SHOAL_OK;
}
