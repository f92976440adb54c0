// SPDX-License-Identifier: Apache-2.0
// Which views there are; see serve_view_kinds.h.
#include "serve_view_kinds.h"

#include <string.h>

#include "recipe.h"
#include "serve_found.h"
#include "serve_joint.h"

static const serve_view_kind *const kinds[] = {&serve_joint_view, &serve_found_view, NULL};

const serve_view_kind *serve_view_named(const char *name)
{
    for (size_t i = 0; kinds[i] != NULL; i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

uint64_t serve_view_memory(const serve_collection *collection)
{
    uint64_t most = 0;
    for (size_t i = 0; kinds[i] != NULL; i++) {
        const serve_view_kind *kind = kinds[i];
        uint64_t bytes = kind->has(&collection->recipe) ? kind->memory(collection) : 0;
        if (bytes > most) most = bytes;
    }
    return most;
}

void serve_view_links(agg_page_link links[SERVE_VIEW_LINKS_MAX], const agg_recipe *recipe)
{
    size_t n = 0;
    for (size_t i = 0; kinds[i] != NULL; i++)
        if (kinds[i]->has(recipe)) links[n++] = (agg_page_link){kinds[i]->href, kinds[i]->title};
    links[n] = (agg_page_link){NULL, NULL};
}

const char *serve_view_no_values(const agg_recipe *recipe)
{
    if (recipe->recipe->n_variables > 0)
        return "This recipe asks for several variables at once. The page about what hangs together "
               "has the values of each, and of each two.";
    if (serve_found_view.has(recipe))
        return "No dictionary is configured: there are no values to ask for. The words that nobody "
               "listed need none.";
    return "No dictionary is configured: there are no values to ask for.";
}
