// SPDX-License-Identifier: Apache-2.0
// Decodes long runs of hex digits. Reading reports of bit vectors spends most of its time here.
//
// hex_digits.c decodes them with the core's function, which is the reference, and picks the
// variant. hex_digits_avx2.c decodes 64 digits at a time.
// Source: Geoff Langdale and Wojciech Mula, "hex to bytes", whose validation by saturation is cut
// down to lower case.
#ifndef HEX_DIGITS_H
#define HEX_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_cpu.h"

// Decodes 2 * len lower-case hex digits.
//   bytes: `len`; undefined on failure
//   digits: at least 2 * len readable characters
// Returns: whether all of them are lower-case hex digits.
typedef bool (*agg_hex_digits)(uint8_t *bytes, size_t len, const char *digits);

// Returns: the variant for an instruction set that the machine has.
agg_hex_digits agg_hex_digits_of(agg_cpu cpu);

// The variants. Call them through agg_hex_digits_of.
bool agg_hex_digits_portable(uint8_t *bytes, size_t len, const char *digits);
bool agg_hex_digits_avx2(uint8_t *bytes, size_t len, const char *digits);

#endif
