// SPDX-License-Identifier: Apache-2.0
// Property: a counts file or dictionary that is accepted has distinct values that are not empty,
// and counts that add up; events have a cell of the domain, whose label ends where it says; a value
// of several variables has an item of each, in its part's domain.
#include "dictionary.h"
#include "event.h"
#include "fuzz_aggregator.h"
#include "item_label.h"
#include "recipe.h"

static void check(const agg_dictionary *d, int has_counts)
{
    uint64_t total = 0;
    for (size_t i = 0; i < d->n; i++) {
        PROPERTY(d->values[i].len >= 1);
        if (has_counts) total += d->counts[i];
        for (size_t j = 0; j < i && d->n < 64; j++)
            PROPERTY(d->values[i].len != d->values[j].len ||
                     memcmp(d->values[i].bytes, d->values[j].bytes, d->values[i].len) != 0);
    }
    PROPERTY(!has_counts || (total == d->total && total >= 1 && total <= (uint64_t)1 << 53));
}

static void check_events(const agg_dictionary *d, const agg_recipe *recipe)
{
    char label[AGG_CELL_LABEL_MAX];
    PROPERTY((d->kinds != NULL) == (d->counts != NULL && recipe->recipe->encoding.n_fields > 0));
    for (size_t i = 0; d->kinds != NULL && i < d->n; i++) {
        PROPERTY(d->items[i] < recipe->recipe->parts[0].size && d->kinds[i] < 4);
        PROPERTY(agg_recipe_label(label, sizeof label, recipe, d->items[i]) == strlen(label));
    }
}

static void check_variables(const agg_dictionary *d, const agg_recipe *recipe)
{
    const shoal_recipe *r = recipe->recipe;
    PROPERTY(d->width == (r->n_variables > 0 ? r->n_variables : 1));
    for (size_t i = 0; r->n_variables > 0 && i < d->n; i++)
        for (uint32_t v = 0; v < r->n_variables; v++) {
            uint64_t item = d->items[i * d->width + v];
            PROPERTY(shoal_part_has_item(&r->parts[v], item) || item == SHOAL_ITEM_NONE);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    agg_dictionary dictionary;
    agg_error error = {0};
    if (len < 1) return 0;
    int has_counts = data[0] >> 1 & 1;
    const agg_recipe *recipe = data[0] & 16  ? fuzz_joint_recipe()
                               : data[0] & 8 ? fuzz_trie_recipe()
                               : data[0] & 4 ? fuzz_query_recipe()
                                             : fuzz_agg_recipe(data[0]);
    if (agg_dictionary_parse(&dictionary, &error, recipe, "input", (const char *)data + 1, len - 1,
                             has_counts, NULL, NULL) != SHOAL_OK) {
        PROPERTY(error.text[0] != '\0');
        return 0;
    }
    check(&dictionary, has_counts);
    check_events(&dictionary, recipe);
    check_variables(&dictionary, recipe);
    agg_dictionary_release(&dictionary);
    return 0;
}
