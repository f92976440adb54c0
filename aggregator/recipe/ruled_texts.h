// SPDX-License-Identifier: Apache-2.0
// Texts of a list as the recipe's text rule makes them, with the memory of those that it changed.
#ifndef RULED_TEXTS_H
#define RULED_TEXTS_H

#include "agg_error.h"
#include "recipe_ref.h"
#include "text_list.h"

struct agg_ruled_block;

typedef struct agg_ruled_texts {
    struct agg_ruled_block *last; // zero before the first text
} agg_ruled_texts;

// Replaces a text by what devices report of it. A text that the rule leaves alone or refuses stays
// as it is, and so does every text of a recipe without a locale or case folding, whose lists are
// taken as they stand.
//   text: replaced by one that lasts as long as `texts`
// Returns: AGG_ERR_MEMORY.
agg_err agg_ruled_text(agg_ruled_texts *texts, agg_error *error, const shoal_recipe *recipe,
                       agg_text *text) SHOAL_MUST_CHECK;

void agg_ruled_texts_release(agg_ruled_texts *texts);

#endif
