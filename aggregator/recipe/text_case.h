// SPDX-License-Identifier: Apache-2.0
// The text rule as devices apply it: normalization, then case. wasm/bindings/text.js gives the same
// bytes, for every character that utf8proc's version of Unicode knows;
// tests/aggregator/recipe/text_rule.test.mjs compares the two.
//
// - case "lower" without a locale: Unicode's lower case, with its rule for a final sigma. The
// result
//   is not normalized again, as it never was.
// - case "lower" with a locale: the rules of that language (SpecialCasing.txt: tr and az for dotted
//   and dotless i, lt for dots under accents; the default elsewhere), then the form again. A
//   combining dot over an i is dropped, except those that Lithuanian adds.
// - case "fold": full case folding (CaseFolding.txt, C and F) of the decomposed text, then NFC.
//   Folding an NFC text and composing it would not be stable; this order is.
#ifndef TEXT_CASE_H
#define TEXT_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include "recipe_ref.h"
#include "text_list.h"

#define AGG_RULED_TEXT_MAX 256u // bytes of text_max code points at most

// Applies the recipe's text rule.
//   out: the text that a device reports, without a NUL; written if it returns true
//   len: its length in bytes, 1 .. AGG_RULED_TEXT_MAX
//   text: any bytes
// Returns: false if the rule refuses the text: no valid UTF-8, or too short or too long; also
// without memory.
bool agg_text_apply(char out[AGG_RULED_TEXT_MAX], size_t *len, const shoal_recipe *recipe,
                    agg_text text);

#endif
