// SPDX-License-Identifier: Apache-2.0
// Which views there are, and which of them a recipe has.
#ifndef SERVE_VIEW_KINDS_H
#define SERVE_VIEW_KINDS_H

#include "serve_view.h"

// Returns: the view of a name, or NULL.
const serve_view_kind *serve_view_named(const char *name);

// Returns: the bytes that views of a collection take while they are made; 0 if it has none.
uint64_t serve_view_memory(const serve_collection *collection);

// Writes links to the views that a recipe has, up to one without href.
#define SERVE_VIEW_LINKS_MAX 3u
void serve_view_links(agg_page_link links[SERVE_VIEW_LINKS_MAX], const agg_recipe *recipe);

// Returns: why the page of a recipe without a dictionary has no values.
const char *serve_view_no_values(const agg_recipe *recipe);

#endif
