// SPDX-License-Identifier: Apache-2.0
// Events of a stream (JSON objects: numbers and strings by field) against a recipe with an
// encoding: the cell that an event lies in, the part of a split collection that it belongs to, and
// what a cell is called.
//
// Texts are taken as they are: devices apply the recipe's text rule first, to each token and each
// value (agg_event_is_kept says where it would change one). Tokens are what white space separates,
// as JavaScript's \s knows it. A number counts as its nearest millionth; a field that is missing or
// of another type, and what is not listed, is in bucket 0.
#ifndef EVENT_H
#define EVENT_H

#include <stdbool.h>

#include "recipe_json.h"

struct cJSON;

// The cell of an event.
//   recipe: with an encoding
//   event: an object
// Returns: whether the event matches: none of its fields of tokens or characters is in bucket 0; of
// a trie, whether devices report it: a cell of shoal_trie_is_answer, and not one of the known
// words. The item is written either way.
bool agg_recipe_event_item(uint64_t *item, const agg_recipe *recipe, const struct cJSON *event);

// The same of a word, where the encoding is one field of characters.
bool agg_recipe_word_item(uint64_t *item, const agg_recipe *recipe, agg_text word);

// Returns: whether the event belongs to the recipe's part; always where the recipe has none.
bool agg_recipe_event_is_part(const agg_recipe *recipe, const struct cJSON *event);

// Returns: whether the recipe's text rule leaves the event's tokens and listed values as they are.
bool agg_event_is_kept(const agg_recipe *recipe, const struct cJSON *event);

#endif
