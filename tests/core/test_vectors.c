// SPDX-License-Identifier: Apache-2.0
// The same seed, recipe and value give the same record on every build: vectors_records.json, one object a line.
//
//     test_vectors FILE            checks
//     test_vectors --write         prints the file anew (only when a format changes on purpose)
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "record.h"
#include "test_recipes.h"

typedef struct vector {
    const char *mechanism;
    uint32_t eps_micro, k, m; // m is the size of a list
    const char *value;        // an item: its index, or "none"
} vector;

static const vector vectors[] = {
    {"cms", 4000000, 65536, 1024, "hello"},
    {"cms", 2000000, 2048, 1024, "example.org"},
    {"cms", 8000000, 1, 2, ""},
    {"cms", 16000000, 1000, 100, "\xc3\xa9t\xc3\xa9"},
    {"cms", 10000, 1048576, 256, "a"},
    {"cms", 1234567, 77, 65, "zebra"},
    {"hcms", 4000000, 1024, 32768, "hello"},
    {"hcms", 500000, 2048, 1024, "example.org"},
    {"hcms", 16000000, 1, 2, "x"},
    {"hcms", 1000000, 999, 4096, "\xe6\xbc\xa2\xe5\xad\x97"},
    {"onehot-asymmetric", 4000000, 0, 2, "1"},
    {"onehot-asymmetric", 1000000, 0, 50, "49"},
    {"onehot-asymmetric", 2500000, 0, 64, "none"},
    {"onehot-asymmetric", 8000000, 0, 1000, "777"},
    {"onehot-asymmetric", 16000000, 0, 129, "128"},
};
#define N_VECTORS (sizeof vectors / sizeof vectors[0])

static char text[20000], line[24000], expected[24000];

static uint64_t item_of(const vector *v, const shoal_recipe *recipe)
{
    if (recipe->mechanism != shoal_onehot_asymmetric_id)
        return shoal_part_item(&recipe->parts[0], (const uint8_t *)v->value, strlen(v->value));
    return strcmp(v->value, "none") == 0 ? SHOAL_ITEM_NONE : strtoull(v->value, NULL, 10);
}

// Writes the vector's line into `expected`.
static void make_line(const vector *v, uint32_t number)
{
    static uint8_t record[20000];
    shoal_recipe recipe;
    shoal_rng rng;
    uint8_t seed[32];
    char hash[65] = "";
    for (uint32_t i = 0; i < 32; i++) seed[i] = (uint8_t)(number * 32 + i);
    CHECK((v->k ? sketch_recipe(&recipe, v->mechanism, v->eps_micro, v->k, v->m)
                : onehot_recipe(&recipe, v->eps_micro, v->m)) == SHOAL_OK);
    for (int i = 0; i < 32; i++) snprintf(hash + 2 * i, 3, "%02x", recipe.recipe_hash[i]);
    uint64_t item = item_of(v, &recipe);
    shoal_rng_init(&rng, seed);
    CHECK(shoal_record_randomize(record, &recipe, &item, 1, &rng) == SHOAL_OK);
    memset(text, 0, sizeof text);
    CHECK(shoal_record_to_text(text, sizeof text, &recipe, record) == SHOAL_OK);
    snprintf(expected, sizeof expected,
             "{\"mechanism\": \"%s\", \"epsilon_micro\": %u, \"k\": %u, \"m\": %u, \"value\": \"%s\", "
             "\"first_seed_byte\": %u, \"recipe_hash\": \"%s\", \"record\": \"%s\"}%s\n",
             v->mechanism, v->eps_micro, v->k, v->m, v->value, seed[0], hash, text, number + 1 < N_VECTORS ? "," : "");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--write") == 0) {
        puts("[");
        for (uint32_t i = 0; i < N_VECTORS; i++) {
            make_line(&vectors[i], i);
            fputs(expected, stdout);
        }
        puts("]");
        return 0;
    }
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!CHECK(file != NULL && fgets(line, sizeof line, file) != NULL && strcmp(line, "[\n") == 0))
        return check_summary();
    for (uint32_t i = 0; i < N_VECTORS; i++) {
        make_line(&vectors[i], i);
        if (CHECK(fgets(line, sizeof line, file) != NULL)) CHECK(strcmp(line, expected) == 0);
    }
    CHECK(fgets(line, sizeof line, file) != NULL && strcmp(line, "]\n") == 0);
    fclose(file);
    return check_summary();
}
