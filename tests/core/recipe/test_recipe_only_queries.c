// SPDX-License-Identifier: Apache-2.0
// The rows of the module that a page loads for queries refuse what no query states, and hash
// queries as all builds do.
#define SHOAL_MODULE query
#include "module_rows.h"

#include "check.h"
#include "field_lines.h"
#include "test_recipes.h"

static void refuses_what_no_query_states(void)
{
    static const char *const members[] = {
        "parameters.k:1000000",
        "parameters.m:2000000",
        "parameters.size:2000000",
        "hash=poly1",
        ("seed=" KEY_A),
        "parameters.g:2000000",
        "parameters.bits:2000000",
        "parameters.p:500000",
        "parameters.hashes:1000000",
        "parameters.cohorts:1000000",
        "parameters.q:500000",
        "parameters.f:500000",
        "parameters.low:0",
        "parameters.high:1000000",
        "parameters.unknown:1000000",
    };
    static const char *const values[] = {"word", "host", "site", "item", "number"};
    shoal_recipe recipe;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        CHECK(recipe_of(&recipe, keyboard_query, members[i], NULL) == SHOAL_ERR_UNKNOWN_FIELD &&
              building.error_field == NULL);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        CHECK(start_any_recipe("grr", values[i]) == SHOAL_ERR_TYPE);
    shoal_builder_init(&building);
    CHECK(shoal_builder_add_value(&building, "a", 1) == SHOAL_ERR_UNKNOWN_FIELD);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_ARGUMENT);
}

// Should the module carry one by mistake: its missing fields would pass.
static void refuses_mechanisms_with_other_fields(void)
{
    static const char *const names[] = {"cms", "hcms", "olh", "rappor"};
    shoal_recipe recipe;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char change[128];
        snprintf(change, sizeof change, "mechanism=%s\npolicy=" KEY_A, names[i]);
        CHECK(recipe_of(&recipe, keyboard_query, change, NULL) == SHOAL_ERR_MECHANISM &&
              recipe.n_parts == 0);
    }
}

// Its hash as test_recipe has it.
static void hashes_queries_alike(void)
{
    static const uint8_t start[] = {0xf9, 0x66, 0xa2, 0x6f, 0x9a, 0xd7, 0x78, 0xe1,
                                    0x31, 0xce, 0xfc, 0x61, 0x06, 0xf6, 0x1c, 0x60};
    shoal_recipe recipe;
    CHECK(
        recipe_of(
            &recipe, keyboard_query,
            "policy=" KEY_A
            "\nencoding.2.field=lang\nencoding.2.values+de\nsplit_by.0.field=locale\n"
            "split_by.0.values+de\nsplit_by.0.values+en\nround.index:2000000\nround.previous=" KEY_B
            "\naggregation.protocol=sum\n",
            NULL) == SHOAL_OK);
    CHECK(memcmp(recipe.recipe_hash, start, sizeof start) == 0);
    CHECK(recipe.parts[0].size == 4 * 11 * 2 && recipe.parts[0].domain == SHOAL_DOMAIN_CLOSED);
}

int main(void)
{
    refuses_what_no_query_states();
    refuses_mechanisms_with_other_fields();
    hashes_queries_alike();
    return check_summary();
}
