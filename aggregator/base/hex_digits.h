// SPDX-License-Identifier: Apache-2.0
// Many hex digits at once: what reading reports of bit vectors spends its time on. Private to
// ingest/.
//
// hex_digits.c reads them by the core's function, which is the reference, and picks the variant;
// hex_digits_avx2.c reads 64 at a time (after Geoff Langdale's and Wojciech Mula's "hex to bytes"
// with its validation by saturation, lower case alone).
#ifndef HEX_DIGITS_H
#define HEX_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_cpu.h"

// Reads exactly 2 * len lower-case digits, which must be there to be read.
//   bytes: `len`, written; of any content where a character was no such digit
// Returns: whether all were.
typedef bool (*agg_hex_digits)(uint8_t *bytes, size_t len, const char *digits);

// Returns: the function for this instruction set, which the machine must have.
agg_hex_digits agg_hex_digits_of(agg_cpu cpu);

// The variants, by the table of hex_digits.c only.
bool agg_hex_digits_portable(uint8_t *bytes, size_t len, const char *digits);
bool agg_hex_digits_avx2(uint8_t *bytes, size_t len, const char *digits);

#endif
