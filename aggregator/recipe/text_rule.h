// SPDX-License-Identifier: Apache-2.0
// The text rule of a recipe: Unicode form, letter case and length. Devices apply the rule to every
// text before they randomize it. The aggregator checks which texts the rule leaves unchanged,
// because no device ever sends the others. Where a recipe states a locale or case folding, lists of
// texts are read as people type them: the commands apply the rule, too (text_case.h). Without
// either they take lists as they stand, as they always did.
#ifndef TEXT_RULE_H
#define TEXT_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include "recipe_ref.h"
#include "text_list.h"

// Returns: whether the commands apply the rule to lists: the recipe states text.locale or case
// fold.
bool agg_text_rule_is_applied(const shoal_recipe *recipe);

// Returns: whether devices leave the case of texts alone.
bool agg_text_rule_keeps_case(const shoal_recipe *recipe);

// Returns: whether the rule leaves the text unchanged: valid UTF-8, in the recipe's form and case,
// and between text_min and text_max code points long.
bool agg_text_is_kept(const shoal_recipe *recipe, const char *bytes, size_t len);

// Takes the first token off a text. Tokens are separated by white space, as JavaScript's \s defines
// it.
//   token: points into the text
//   text: shortened to whatever follows the token
// Returns: whether there was a token.
bool agg_text_take_token(agg_text *token, agg_text *text);

// Returns: whether the rule leaves every token of the text unchanged.
//   joined: set to the length in bytes of all tokens with one space between two, if it does
bool agg_tokens_are_kept(size_t *joined, const shoal_recipe *recipe, agg_text text);

// Returns: whether devices can send a listed entry: the rule leaves the entry, or each of its
// tokens, unchanged, and the entry's tokens are separated by exactly one space.
//   is_tokens: the entry is a sequence of tokens, not a whole value
bool agg_entry_is_kept(const shoal_recipe *recipe, agg_text entry, bool is_tokens);

#endif
