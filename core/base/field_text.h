// SPDX-License-Identifier: Apache-2.0
// The two kinds of field that record texts are made of: fixed-width decimals and hex. Private to
// the core.
#ifndef SHOAL_FIELD_TEXT_H
#define SHOAL_FIELD_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "shoal_err.h"

// Returns: digits that the largest value, count - 1, needs. count >= 1.
uint32_t shoal_decimal_width(uint32_t count);

// Writes value in `width` digits, zero-padded. Returns: the character after them.
char *shoal_print_decimal(char *text, uint32_t value, uint32_t width);

// Reads `width` digits of a number below count. *text advances past what was read, on error to the
// bad character.
shoal_err shoal_parse_decimal(uint32_t *value, const char **text, uint32_t width,
                              uint32_t count) SHOAL_MUST_CHECK;

// Writes 2 * len lower-case digits. Returns: the character after them.
char *shoal_print_hex(char *text, const uint8_t *bytes, size_t len);

// Reads exactly 2 * len lower-case digits, which must be there to be read; *text as above.
shoal_err shoal_parse_hex(uint8_t *bytes, size_t len, const char **text) SHOAL_MUST_CHECK;

// Reads one expected character; *text as above.
shoal_err shoal_parse_char(char expected, const char **text) SHOAL_MUST_CHECK;

#endif
