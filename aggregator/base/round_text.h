// SPDX-License-Identifier: Apache-2.0
// Bounds as decimal digits that are bounds still: upper ones are never printed below what was
// computed, lower ones never above. Pure.
#ifndef ROUND_TEXT_H
#define ROUND_TEXT_H

#define AGG_ROUND_TEXT_MAX 32
#define AGG_DIGITS_JSON 12 // of a bound in JSON
#define AGG_DIGITS_TABLE 6 // and where people read it

// Returns: out, which holds x >= 0 with `digits` significant digits (at most 17) and at least x;
// `none` where x is NAN.
const char *agg_upper_text(char out[AGG_ROUND_TEXT_MAX], double x, int digits, const char *none);

// The same, at most x.
const char *agg_lower_text(char out[AGG_ROUND_TEXT_MAX], double x, int digits, const char *none);

// Returns: out, which holds a delta as recipes write it: 1e-9, not 1e-09.
const char *agg_delta_text(char out[AGG_ROUND_TEXT_MAX], double delta);

#endif
