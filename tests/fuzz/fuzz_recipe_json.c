// SPDX-License-Identifier: Apache-2.0
// Property: a recipe file either is refused with a text, leaving nothing behind, or gives a recipe whose values are all found
// again under their own index.
#include "fuzz_aggregator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    agg_recipe recipe;
    agg_error error = {0};
    if (agg_recipe_from_bytes(&recipe, &error, "input", (const char *)data, len) != SHOAL_OK) {
        PROPERTY(error.text[0] != '\0' && memchr(error.text, '\0', sizeof error.text) != NULL);
        return 0;
    }
    for (uint32_t i = 0; i < recipe.n_values; i++) {
        uint64_t item = 0;
        PROPERTY(agg_recipe_item(&item, &recipe, recipe.values[i].bytes, recipe.values[i].len) && item == i);
    }
    PROPERTY(recipe.json_len == len && recipe.recipe.n_parts == 1);
    agg_recipe_release(&recipe);
    return 0;
}
