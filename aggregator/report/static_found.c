// SPDX-License-Identifier: Apache-2.0
// Strings found, for a server; see static_found.h.
#include "static_found.h"

#include "compare.h"
#include "discover_print.h"

agg_err agg_static_found_print(FILE *out, agg_error *error, const agg_static_found *found,
                               agg_format format)
{
    const agg_discovery_result result = {&found->discovery, &found->guarantee, found->n_rounds,
                                         found->shards};
    return agg_discovery_print(out, error, &result, format);
}

bool agg_static_found_is_told(const agg_recipe *recipe)
{
    return agg_discover_finds(recipe) && !agg_discover_takes_rounds(recipe);
}

uint64_t agg_static_found_memory(const agg_recipe *recipe, uint64_t accumulator, unsigned n_threads)
{
    const agg_estimate_options options = {.n_threads = n_threads};
    uint64_t finding = agg_discover_memory(recipe, accumulator, n_threads),
             counting = agg_estimate_memory(recipe, AGG_STATIC_FOLLOWED, &options) +
                        agg_compare_memory(recipe, recipe, AGG_STATIC_FOLLOWED, n_threads);
    return finding > counting ? finding : counting;
}
