// SPDX-License-Identifier: Apache-2.0
// Draws for an audit: the texts of records, each with the item that it was made from. The native
// randomizer makes them, or a file has them as lines of item<TAB>record.
#ifndef AUDIT_DRAWS_H
#define AUDIT_DRAWS_H

#include "recipe_json.h"
#include "record.h"

#define AGG_DRAWS_ITEMS_MAX 8u
#define AGG_DRAWS_FILE_MAX ((size_t)1 << 31) // largest file of draws, in bytes

typedef struct agg_draws {
    const shoal_recipe *recipe;
    uint32_t n_items;
    uint64_t items[AGG_DRAWS_ITEMS_MAX];
    agg_text names[AGG_DRAWS_ITEMS_MAX];  // as given; empty: "none"
    char own_names[2][24];                // names of the usual items
    uint64_t count[AGG_DRAWS_ITEMS_MAX];  // draws of each item
    uint8_t seed[32];                     // seed of native draws
    agg_text *lines[AGG_DRAWS_ITEMS_MAX]; // record texts drawn elsewhere; NULL: native
    char *file;                           // the file's bytes, which `lines` points into
    uint64_t n_refused; // draws from elsewhere that the recipe's randomizer cannot have made
    char refusal[160];  // the line of the first refused draw, and the reason
} agg_draws;

// One draw. The record is NULL if the text is not a record of the recipe.
typedef struct agg_drawn {
    agg_text text;
    const uint8_t *record;
} agg_drawn;

// Adds an item to be drawn.
//   name: as the recipe spells a value; empty stands for "none" where the domain is known; must
//   outlive `draws`
// Returns: AGG_ERR_USAGE for an item that the recipe does not have, one that is named twice, or too
// many items.
agg_err agg_draws_add_item(agg_draws *draws, agg_error *error, const agg_recipe *recipe,
                           agg_text name) SHOAL_MUST_CHECK;

// Adds the default items, those that are easiest to tell apart. A list gives its first and last
// value and "none", a range its ends and "none". Open strings give two strings that share few hash
// columns.
agg_err agg_draws_add_usual(agg_draws *draws, agg_error *error,
                            const agg_recipe *recipe) SHOAL_MUST_CHECK;

// Sets up native draws, each from a fresh device.
//   seed_text: any text; the same text gives the same draws on every build, whatever the number of
//   threads
void agg_draws_native(agg_draws *draws, const char *seed_text, uint64_t count);

// Reads draws from a file. If no item was added before, the file's first AGG_DRAWS_ITEMS_MAX items
// are taken. Lines of other items are skipped.
//   path: "-" is standard input
// Returns: AGG_ERR_USAGE for a line without a tab, an item that the recipe does not have, or an
// item without draws.
agg_err agg_draws_load(agg_draws *draws, agg_error *error, const agg_recipe *recipe,
                       const char *path) SHOAL_MUST_CHECK;
agg_err agg_draws_parse(agg_draws *draws, agg_error *error, const agg_recipe *recipe,
                        const char *name, char *bytes, size_t len) SHOAL_MUST_CHECK;

// Returns: the bytes of scratch memory that agg_draws_get needs.
size_t agg_draws_scratch(const agg_draws *draws);

// Returns: the i-th draw of an item. It points into scratch and `draws` and holds until the next
// call.
agg_drawn agg_draws_get(const agg_draws *draws, uint8_t *scratch, uint32_t item, uint64_t i);

// Returns: the length of the longest text.
size_t agg_draws_text_max(const agg_draws *draws);

void agg_draws_release(agg_draws *draws);

#endif
