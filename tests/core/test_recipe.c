// SPDX-License-Identifier: Apache-2.0
// The recipe: every field's range, what a mechanism needs and refuses, canonical bytes and hash.
#include "recipe.h"

#include <string.h>

#include "check.h"
#include "test_recipes.h"

static void canonical_bytes(void)
{
    static const char expected_title[] = "shoal recipe 1\n";
    shoal_recipe recipe;
    uint8_t bytes[SHOAL_CANONICAL_MAX], digest[32];
    size_t len = 0;
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 65536, 1024) == SHOAL_OK);
    CHECK(shoal_recipe_canonical(bytes, sizeof bytes, &len, &recipe) == SHOAL_OK);
    CHECK(memcmp(bytes, expected_title, 15) == 0);
    static const uint8_t first[] = {0,   1, 0, 0, 0, 6, 'v', 'e', 'c', 't', 'o',
                                    'r', 0, 2, 0, 0, 0, 4,   't', 'e', 's', 't'};
    CHECK(memcmp(bytes + 15, first, sizeof first) == 0);
    // 3 names 6+6 6+4 6+1, value, mechanism, epsilon, k, m, hash, per_day, expires at 14 each, seed 6+32
    CHECK(len == 15 + 12 + 10 + 7 + 8 * 14 + 38);
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, bytes, len);
    shoal_sha256_final(digest, &sha);
    CHECK(memcmp(digest, recipe.recipe_hash, 32) == 0);
    for (size_t cap = 0; cap < len; cap++) CHECK(shoal_recipe_canonical(bytes, cap, &len, &recipe) == SHOAL_ERR_SPACE);
}

// A field written at its default is the same recipe; the order of the fields does not matter.
static void same_recipe_same_hash(void)
{
    shoal_recipe a, b;
    CHECK(onehot_recipe(&a, 1000000, 10) == SHOAL_OK);
    shoal_recipe_init(&b);
    CHECK(set_text(&b, "expires", "2030-01-01") == SHOAL_OK && set_int(&b, "parameters.size", 10) == SHOAL_OK);
    CHECK(set_int(&b, "limit.per_day", 1) == SHOAL_OK && set_micro(&b, "parameters.epsilon", 1000000) == SHOAL_OK);
    CHECK(set_text(&b, "mechanism", "onehot-asymmetric") == SHOAL_OK && set_text(&b, "value", "word") == SHOAL_OK);
    CHECK(set_text(&b, "stream", "s") == SHOAL_OK && set_text(&b, "analysis", "test") == SHOAL_OK);
    CHECK(set_text(&b, "recipe", "vector") == SHOAL_OK && set_int(&b, "send.delay_s", 86400) == SHOAL_OK);
    CHECK(set_text(&b, "send.fresh", "wait") == SHOAL_OK && set_text(&b, "text.form", "NFC") == SHOAL_OK);
    CHECK(set_int(&b, "batch.minimum", 500) == SHOAL_OK && set_int(&b, "release.threshold", 0) == SHOAL_OK);
    CHECK(shoal_recipe_finish(&b) == SHOAL_OK);
    CHECK(memcmp(a.recipe_hash, b.recipe_hash, 32) == 0);
}

typedef struct change {
    const char *path, *text; // text NULL: a number
    int64_t number;
} change;

// Every field that is changed changes the hash.
static void every_field_is_hashed(void)
{
    static const change changes[] = {{"text.form", "none", 0},     {"text.case", "keep", 0},
                                     {"text.min", NULL, 2},        {"text.max", NULL, 31},
                                     {"send.delay_s", NULL, 0},    {"send.fresh", "allow", 0},
                                     {"batch.minimum", NULL, 1},   {"batch.max_age_s", NULL, 1},
                                     {"cohort.minimum", NULL, 1},  {"release.threshold", NULL, 1000000000000},
                                     {"parameters.size", NULL, 11}};
    uint8_t hashes[12][32];
    for (uint32_t i = 0; i < 12; i++) {
        shoal_recipe recipe;
        CHECK(start_recipe(&recipe, "onehot-asymmetric", 1000000) == SHOAL_OK);
        if (i < 11) {
            const change *c = &changes[i];
            CHECK((c->text ? set_text(&recipe, c->path, c->text) : set_int(&recipe, c->path, c->number)) == SHOAL_OK);
        }
        if (i != 10) CHECK(set_int(&recipe, "parameters.size", 10) == SHOAL_OK);
        CHECK(shoal_recipe_finish(&recipe) == SHOAL_OK);
        memcpy(hashes[i], recipe.recipe_hash, 32);
        for (uint32_t j = 0; j < i; j++) CHECK(memcmp(hashes[i], hashes[j], 32) != 0);
    }
}

static void value_lists(void)
{
    static const char *const lists[3][3] = {{"ab", "c", NULL}, {"a", "bc", NULL}, {"c", "ab", NULL}};
    uint8_t hashes[3][32];
    shoal_recipe recipe;
    for (int i = 0; i < 3; i++) {
        CHECK(start_recipe(&recipe, "onehot-asymmetric", 1000000) == SHOAL_OK);
        for (int v = 0; lists[i][v] != NULL; v++)
            CHECK(shoal_recipe_add_value(&recipe, lists[i][v], strlen(lists[i][v])) == SHOAL_OK);
        CHECK(shoal_recipe_finish(&recipe) == SHOAL_OK && recipe.parts[0].m == 2);
        memcpy(hashes[i], recipe.recipe_hash, 32);
    }
    CHECK(memcmp(hashes[0], hashes[1], 32) != 0 && memcmp(hashes[0], hashes[2], 32) != 0);
    CHECK(start_recipe(&recipe, "onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(shoal_recipe_add_value(&recipe, "", 0) == SHOAL_ERR_RANGE);
    CHECK(start_recipe(&recipe, "onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(shoal_recipe_add_value(&recipe, "only", 4) == SHOAL_OK);
    CHECK(shoal_recipe_finish(&recipe) == SHOAL_ERR_RANGE); // a list of one says nothing
    CHECK(start_recipe(&recipe, "onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(shoal_recipe_add_value(&recipe, "a", 1) == SHOAL_OK && shoal_recipe_add_value(&recipe, "b", 1) == SHOAL_OK);
    CHECK(set_int(&recipe, "parameters.size", 2) == SHOAL_OK);
    CHECK(shoal_recipe_finish(&recipe) == SHOAL_ERR_DUPLICATE);
}

// One wrong setting each: the error and the field that it names.
static void refused_settings(void)
{
    static const struct {
        const char *path, *text;
        int64_t micro;
        shoal_err err;
    } bad[] = {
        {"parameters.epsilon", NULL, 0, SHOAL_ERR_RANGE},
        {"parameters.epsilon", NULL, -1000000, SHOAL_ERR_RANGE},
        {"parameters.epsilon", NULL, 17000000, SHOAL_ERR_RANGE},
        {"parameters.epsilon", NULL, 16000001, SHOAL_ERR_RANGE},
        {"parameters.epsilon", NULL, INT64_MIN, SHOAL_ERR_RANGE},
        {"parameters.epsilon", "4", 0, SHOAL_ERR_TYPE},
        {"parameters.k", NULL, 1500000, SHOAL_ERR_TYPE},
        {"parameters.k", NULL, 0, SHOAL_ERR_RANGE},
        {"parameters.k", NULL, INT64_MAX / 1000000 * 1000000, SHOAL_ERR_RANGE},
        {"parameters.values", "a", 0, SHOAL_ERR_TYPE},
        {"parameters.values", NULL, 1000000, SHOAL_ERR_TYPE},
        {"recipe", "", 0, SHOAL_ERR_RANGE},
        {"recipe", "Upper", 0, SHOAL_ERR_TYPE},
        {"recipe", "-x", 0, SHOAL_ERR_TYPE},
        {"recipe", "a/b", 0, SHOAL_ERR_TYPE},
        {"recipe", NULL, 1000000, SHOAL_ERR_TYPE},
        {"recipe", "0123456789012345678901234567890123456789012345678901234567890123x", 0, SHOAL_ERR_RANGE},
        {"value", "words", 0, SHOAL_ERR_TYPE},
        {"text.form", "NFD", 0, SHOAL_ERR_TYPE},
        {"mechanism", "cm", 0, SHOAL_ERR_MECHANISM},
        {"mechanism", "cmss", 0, SHOAL_ERR_MECHANISM},
        {"hash", "poly2", 0, SHOAL_ERR_TYPE},
        {"seed", "00", 0, SHOAL_ERR_TYPE},
        {"seed", "0000000000000000000000000000000000000000000000000000000000000000", 0, SHOAL_ERR_RANGE},
        {"seed", "00112233445566778899AABBccddeeff00112233445566778899aabbccddeeff", 0, SHOAL_ERR_TYPE},
        {"expires", "2027-02-29", 0, SHOAL_ERR_RANGE},
        {"expires", "2027-13-01", 0, SHOAL_ERR_RANGE},
        {"expires", "1969-12-31", 0, SHOAL_ERR_RANGE},
        {"expires", "20270101", 0, SHOAL_ERR_TYPE},
        {"expires", "2027/01/01", 0, SHOAL_ERR_TYPE},
        {"cohort.delta", "1e-2", 0, SHOAL_ERR_RANGE},
        {"cohort.delta", "1e-16", 0, SHOAL_ERR_RANGE},
        {"cohort.delta", "1e-09", 0, SHOAL_ERR_TYPE},
        {"cohort.delta", "0.1", 0, SHOAL_ERR_TYPE},
        {"send.sample", NULL, 0, SHOAL_ERR_RANGE},
        {"send.sample", NULL, 1000001, SHOAL_ERR_RANGE},
        {"release.threshold", NULL, -1, SHOAL_ERR_RANGE},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        shoal_recipe recipe;
        shoal_recipe_init(&recipe);
        shoal_err err =
            bad[i].text ? set_text(&recipe, bad[i].path, bad[i].text) : set_micro(&recipe, bad[i].path, bad[i].micro);
        if (!CHECK(err == bad[i].err)) printf("  %s %s: %d\n", bad[i].path, bad[i].text ? bad[i].text : "", (int)err);
        CHECK(recipe.error_field != NULL && strcmp(recipe.error_field, bad[i].path) == 0);
        CHECK(recipe.error_text != NULL);
        CHECK(shoal_recipe_finish(&recipe) != SHOAL_OK);
    }
}

static void refused_wholes(void)
{
    static const char *const required[] = {"recipe",    "analysis",           "stream",        "value",
                                           "mechanism", "parameters.epsilon", "limit.per_day", "expires"};
    shoal_recipe recipe;
    shoal_recipe_init(&recipe);
    CHECK(set_text(&recipe, "recipes", "x") == SHOAL_ERR_UNKNOWN_FIELD && recipe.error_field == NULL);
    shoal_recipe_init(&recipe);
    CHECK(set_text(&recipe, "recip", "x") == SHOAL_ERR_UNKNOWN_FIELD);
    shoal_recipe_init(&recipe);
    CHECK(set_text(&recipe, "recipe", "x") == SHOAL_OK && set_text(&recipe, "recipe", "x") == SHOAL_ERR_DUPLICATE);
    for (int i = 0; i < 8; i++) { // leave one out, by giving all the others
        shoal_recipe_init(&recipe);
        for (int f = 0; f < 8; f++) {
            if (f == i) continue;
            const char *path = required[f];
            const char *text = f == 3 ? "word" : f == 4 ? "cms" : f == 7 ? "2030-01-01" : "x";
            CHECK((f == 5 || f == 6 ? set_int(&recipe, path, 1) : set_text(&recipe, path, text)) == SHOAL_OK);
        }
        CHECK(shoal_recipe_finish(&recipe) == SHOAL_ERR_MISSING_FIELD);
        CHECK(strcmp(recipe.error_field, required[i]) == 0);
    }
    CHECK(start_recipe(&recipe, "cms", 1000000) == SHOAL_OK && shoal_recipe_finish(&recipe) == SHOAL_ERR_MISSING_FIELD);
    CHECK(strcmp(recipe.error_field, "parameters.k") == 0);
    CHECK(start_recipe(&recipe, "cms", 1000000) == SHOAL_OK && set_int(&recipe, "parameters.k", 4) == SHOAL_OK);
    CHECK(set_int(&recipe, "parameters.m", 4) == SHOAL_OK && set_text(&recipe, "seed", TEST_SEED) == SHOAL_OK);
    CHECK(shoal_recipe_finish(&recipe) == SHOAL_ERR_MISSING_FIELD && strcmp(recipe.error_field, "hash") == 0);
    CHECK(start_recipe(&recipe, "onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(set_int(&recipe, "parameters.k", 4) == SHOAL_OK && set_int(&recipe, "parameters.size", 4) == SHOAL_OK);
    CHECK(shoal_recipe_finish(&recipe) == SHOAL_ERR_UNKNOWN_FIELD && strcmp(recipe.error_field, "parameters.k") == 0);
    CHECK(start_recipe(&recipe, "onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(shoal_recipe_finish(&recipe) == SHOAL_ERR_MISSING_FIELD);
    CHECK(start_recipe(&recipe, "onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(set_int(&recipe, "parameters.size", 4) == SHOAL_OK && set_text(&recipe, "cohort.delta", "1e-9") == SHOAL_OK);
    CHECK(shoal_recipe_finish(&recipe) == SHOAL_ERR_MISSING_FIELD && strcmp(recipe.error_field, "cohort.delta") == 0);
    CHECK(start_recipe(&recipe, "onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(set_int(&recipe, "parameters.size", 4) == SHOAL_OK && set_int(&recipe, "text.min", 9) == SHOAL_OK);
    CHECK(set_int(&recipe, "text.max", 8) == SHOAL_OK && shoal_recipe_finish(&recipe) == SHOAL_ERR_RANGE);
}

static void days(void)
{
    static const struct {
        const char *text;
        uint32_t day;
    } known[] = {{"1970-01-01", 0},     {"1970-12-31", 364},   {"2000-02-29", 11016},
                 {"2024-03-01", 19783}, {"2027-01-31", 20849}, {"2100-03-01", 47541}};
    for (uint32_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        shoal_recipe recipe;
        shoal_recipe_init(&recipe);
        CHECK(set_text(&recipe, "expires", known[i].text) == SHOAL_OK && recipe.expires_day == known[i].day);
        CHECK(shoal_recipe_check_day(&recipe, known[i].day) == SHOAL_OK);
        CHECK(shoal_recipe_check_day(&recipe, known[i].day + 1) == SHOAL_ERR_EXPIRED);
    }
}

// Both ends are taken, what is next to them is not.
static void ranges_are_told(void)
{
    static const struct {
        const char *path;
        int64_t step;
    } ranged[] = {{"parameters.epsilon", 1},
                  {"send.sample", 1},
                  {"limit.per_day", 1000000},
                  {"release.threshold", 1000000},
                  {"parameters.k", 1000000}};
    static const char *const others[] = {"recipe",         "seed",  "expires", "cohort.delta",
                                         "parameters.low", "limit", "nope"};
    for (size_t i = 0; i < sizeof ranged / sizeof ranged[0]; i++) {
        int64_t low = -1, high = -1;
        const char *path = ranged[i].path;
        CHECK(shoal_recipe_range(&low, &high, path, strlen(path)));
        const int64_t tries[] = {low, high, low - ranged[i].step, high + ranged[i].step};
        for (int t = 0; t < 4; t++) {
            shoal_recipe recipe;
            shoal_recipe_init(&recipe);
            CHECK(set_micro(&recipe, path, tries[t]) == (t < 2 ? SHOAL_OK : SHOAL_ERR_RANGE));
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        int64_t low = 0, high = 0;
        CHECK(!shoal_recipe_range(&low, &high, others[i], strlen(others[i])));
    }
}

int main(void)
{
    canonical_bytes();
    same_recipe_same_hash();
    every_field_is_hashed();
    value_lists();
    refused_settings();
    refused_wholes();
    days();
    ranges_are_told();
    return check_summary();
}
