// SPDX-License-Identifier: Apache-2.0
// Chooses `send` of a new recipe: the first events of a day, or one event of each window. On a
// terminal it asks for what no option says; elsewhere nothing is asked.
#ifndef RECIPE_SEND_H
#define RECIPE_SEND_H

#include "agg_error.h"
#include "recipe_options.h"
#include "recipe_ref.h"

// Chooses `send` by the share of windows with an event (pick_advice.h), and logs what is chosen and
// why. A site of one page has windows of visits. Elsewhere a visit would be one page view, so
// windows are days.
//   send: written; static text, or NULL where the recipe states none
//   recipe: the draft without `send`
// Returns: AGG_ERR_USAGE for options that are no share and no kind of pages, and for a share where
// the recipe chooses what it reports by itself.
agg_err recipe_send_choose(const char **send, agg_error *error, const recipe_options *options,
                           const shoal_recipe *recipe) SHOAL_MUST_CHECK;

#endif
