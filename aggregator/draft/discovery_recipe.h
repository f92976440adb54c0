// SPDX-License-Identifier: Apache-2.0
// Writes the recipe of a discovery plan: of sfp, or of a trie's first round.
#ifndef DISCOVERY_RECIPE_H
#define DISCOVERY_RECIPE_H

#include "discovery_plan.h"

// The members of the recipe besides the planned ones. Texts are written unescaped and are checked
// when the recipe is read back.
typedef struct agg_discovery_frame {
    const char *id;
    const char *expires;    // "YYYY-MM-DD"; NULL: 180 days from now
    const char *characters; // characters that a trie asks about
    const char *policy; // policy file, whose policy covers a trie's rounds as queries; NULL: none
} agg_discovery_frame;

// Writes the recipe, with a fresh random seed if it needs one. The text is read back first and
// refused as a recipe file would be.
//   path: NULL or "-" is standard output
agg_err agg_discovery_recipe_write(agg_error *error, const char *path,
                                   const agg_discovery_plan *plan,
                                   const agg_discovery_frame *frame) SHOAL_MUST_CHECK;

#endif
