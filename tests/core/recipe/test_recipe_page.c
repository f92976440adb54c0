// SPDX-License-Identifier: Apache-2.0
// The rows that a page's module carries refuse queries, and hash every other recipe as all builds
// do.
#define SHOAL_MODULE page
#include "module_rows.h"

#include "check.h"
#include "field_lines.h"
#include "test_recipes.h"

static void refuses_queries(void)
{
    static const char *const members[] = {"policy=" KEY_A,        "version:1000000",
                                          "round.index:1000000",  "round.previous=" KEY_A,
                                          "encoding.0.field=age", "split_by.0.field=locale"};
    shoal_recipe recipe;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        CHECK(recipe_of(&recipe, members[i], "", NULL) == SHOAL_ERR_UNKNOWN_FIELD &&
              building.error_field == NULL);
    CHECK(recipe_of(&recipe, "aggregation.protocol=sum", "", NULL) == SHOAL_ERR_TYPE);
    CHECK(recipe_of(&recipe, "value=fields", "", NULL) == SHOAL_ERR_TYPE);
    CHECK(recipe_of(&recipe, keyboard_query, "policy=" KEY_A, NULL) != SHOAL_OK &&
          recipe.n_parts == 0);
}

// sha256 of the 205 bytes that test_recipe's first test counts out.
static void hashes_others_alike(void)
{
    static const uint8_t start[] = {0x17, 0x81, 0x3b, 0x78, 0x01, 0x47, 0xcb, 0xc4,
                                    0xa5, 0xfe, 0xed, 0xe7, 0xe4, 0xd4, 0x82, 0x89,
                                    0x73, 0x28, 0x8c, 0xec, 0x1e, 0x77, 0xbe, 0x5f,
                                    0x08, 0x0f, 0xd5, 0xca, 0x67, 0x5b, 0xc4, 0x62};
    shoal_recipe recipe;
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 65536, 1024) == SHOAL_OK);
    CHECK(memcmp(recipe.recipe_hash, start, sizeof start) == 0);
    CHECK(memcmp(recipe.query_hash, recipe.recipe_hash, 32) == 0);
}

int main(void)
{
    refuses_queries();
    hashes_others_alike();
    return check_summary();
}
