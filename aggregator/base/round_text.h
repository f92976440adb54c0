// SPDX-License-Identifier: Apache-2.0
// Prints bounds so that they remain bounds: an upper bound is never printed below the computed
// figure, a lower bound never above it. Pure.
#ifndef ROUND_TEXT_H
#define ROUND_TEXT_H

#define AGG_ROUND_TEXT_MAX 32
#define AGG_DIGITS_JSON 12 // significant digits of a bound in JSON
#define AGG_DIGITS_TABLE 6 // and in tables

// Prints an upper bound, rounded up.
//   x: at least 0; NAN if there is no bound
//   digits: significant digits, at most 17
// Returns: out; `none` if x is NAN.
const char *agg_upper_text(char out[AGG_ROUND_TEXT_MAX], double x, int digits, const char *none);

// Prints a lower bound, rounded down; otherwise as agg_upper_text.
const char *agg_lower_text(char out[AGG_ROUND_TEXT_MAX], double x, int digits, const char *none);

// Prints a delta as recipes write it: 1e-9, not 1e-09.
// Returns: out.
const char *agg_delta_text(char out[AGG_ROUND_TEXT_MAX], double delta);

#endif
