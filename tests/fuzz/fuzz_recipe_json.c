// SPDX-License-Identifier: Apache-2.0
// Property: a recipe file either is refused with a text, leaving nothing behind, or gives a recipe
// whose values are all found again under their own index, and whose cells have labels that end
// where they say. Put into its text, a signature is read back, beside the same recipe.
#include "fuzz_aggregator.h"
#include "recipe.h"

#include "event.h"
#include "item_label.h"
#include "recipe_signature.h"

static void find_all(const agg_list *list, uint32_t count)
{
    PROPERTY(list->n == count);
    for (uint32_t i = 0; i < list->n; i++) PROPERTY(agg_list_find(list, list->texts[i]) == i);
}

static void check_query(const agg_recipe *recipe)
{
    const shoal_encoding *encoding = &recipe->recipe->encoding;
    char label[AGG_CELL_LABEL_MAX];
    for (uint32_t i = 0; i < encoding->n_fields; i++) {
        find_all(&recipe->lists[i][SHOAL_LIST_VALUES], encoding->fields[i].values.count);
        int is_word = encoding->fields[i].is_word != 0;
        find_all(&recipe->lists[i][is_word ? SHOAL_LIST_STARTS : SHOAL_LIST_PREFIXES],
                 encoding->fields[i].prefixes.count);
        find_all(&recipe->lists[i][is_word ? SHOAL_LIST_CHARACTERS : SHOAL_LIST_TOKENS],
                 encoding->fields[i].tokens.count);
    }
    find_all(&recipe->known, recipe->recipe->known.count);
    for (uint32_t i = 0; i < recipe->recipe->n_splits; i++)
        find_all(&recipe->splits[i], recipe->recipe->splits[i].values.count);
    for (uint32_t i = 0; encoding->n_fields > 0 && i < recipe->recipe->parts[0].size && i < 1000;
         i++)
        PROPERTY(agg_recipe_label(label, sizeof label, recipe, i) == strlen(label));
}

static void put_signature(const agg_recipe *recipe)
{
    agg_recipe again;
    agg_error error = {0};
    char *text = agg_recipe_signed_text(&error, recipe);
    PROPERTY(text != NULL);
    shoal_err err = agg_recipe_from_bytes(&again, &error, "signed", text, strlen(text));
    free(text);
    // Where the input names the member with an escape, or all but fills a file, there is no such
    // text.
    PROPERTY(err == SHOAL_OK || err == SHOAL_ERR_DUPLICATE ||
             recipe->json_len + 512 > AGG_RECIPE_FILE_MAX);
    if (err != SHOAL_OK) return;
    PROPERTY(again.has_signature && memcmp(again.key, recipe->key, sizeof again.key) == 0);
    PROPERTY(memcmp(again.recipe->recipe_hash, recipe->recipe->recipe_hash, 32) == 0);
    agg_recipe_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    agg_recipe recipe;
    agg_error error = {0};
    if (agg_recipe_from_bytes(&recipe, &error, "input", (const char *)data, len) != SHOAL_OK) {
        PROPERTY(error.text[0] != '\0' && memchr(error.text, '\0', sizeof error.text) != NULL);
        return 0;
    }
    for (uint32_t i = 0; i < recipe.values.n; i++) {
        uint64_t item = 0;
        PROPERTY(agg_recipe_item(&item, &recipe, recipe.values.texts[i].bytes,
                                 recipe.values.texts[i].len) &&
                 item == i);
    }
    PROPERTY(recipe.json_len == len && recipe.recipe->n_parts >= 1);
    check_query(&recipe);
    put_signature(&recipe);
    agg_recipe_release(&recipe);
    return 0;
}
