// SPDX-License-Identifier: Apache-2.0
// Maps events to the cells of a recipe's encoding. An event is a JSON object with numbers and
// strings by field.
//
// Texts are taken as they are. Devices apply the recipe's text rule first, to each token and each
// value; agg_event_is_kept says if it would change one. A number counts as its nearest millionth. A
// field is in bucket 0 if it is missing, of another type, or not listed.
#ifndef EVENT_H
#define EVENT_H

#include <stdbool.h>

#include "recipe_json.h"

struct cJSON;

// Finds the cell of an event.
//   item: the cell, written whatever is returned
//   recipe: with an encoding
//   event: an object
// Returns: whether the event matches: no field of tokens or characters is in bucket 0. In a trie,
// whether devices report it: shoal_trie_is_answer holds for its cell, and it is not a known word.
bool agg_recipe_event_item(uint64_t *item, const agg_recipe *recipe, const struct cJSON *event);

// Finds the cell of a word; otherwise as agg_recipe_event_item.
//   recipe: with an encoding of one field of characters
bool agg_recipe_word_item(uint64_t *item, const agg_recipe *recipe, agg_text word);

// Returns: whether the event belongs to the recipe's part; true if the recipe has no parts.
bool agg_recipe_event_is_part(const agg_recipe *recipe, const struct cJSON *event);

// Returns: whether the recipe's text rule leaves the event's tokens and listed values unchanged.
bool agg_event_is_kept(const agg_recipe *recipe, const struct cJSON *event);

#endif
