// SPDX-License-Identifier: Apache-2.0
// The two kinds of field in a record's text: fixed-width decimals and hex. Private to the core.
#ifndef SHOAL_FIELD_TEXT_H
#define SHOAL_FIELD_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "shoal_err.h"

// Returns: the number of digits that count - 1, the largest value, needs.
//   count: at least 1
uint32_t shoal_decimal_width(uint32_t count);

// Writes value in `width` digits, zero-padded.
// Returns: a pointer to the character after them.
char *shoal_print_decimal(char *text, uint32_t value, uint32_t width);

// Reads a number below count, written in `width` digits. *text advances past the bytes read; on
// error it points at the bad character.
shoal_err shoal_parse_decimal(uint32_t *value, const char **text, uint32_t width,
                              uint32_t count) SHOAL_MUST_CHECK;

// Writes len bytes as 2 * len lower-case hex digits.
// Returns: a pointer to the character after them.
char *shoal_print_hex(char *text, const uint8_t *bytes, size_t len);

// Reads 2 * len lower-case hex digits. *text must hold that many characters; it advances as in
// shoal_parse_decimal.
shoal_err shoal_parse_hex(uint8_t *bytes, size_t len, const char **text) SHOAL_MUST_CHECK;

// Reads one expected character; *text advances as in shoal_parse_decimal.
shoal_err shoal_parse_char(char expected, const char **text) SHOAL_MUST_CHECK;

#endif
