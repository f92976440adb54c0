// SPDX-License-Identifier: Apache-2.0
// The recipe: every field's range, what a mechanism needs and refuses, canonical bytes and hash;
// and the same of queries.
#include "recipe.h"

#include <string.h>

#include "check.h"
#include "field_lines.h"
#include "test_recipes.h"

static void canonical_bytes(void)
{
    static const char expected_title[] = "shoal recipe 1\n";
    shoal_recipe recipe;
    uint8_t bytes[SHOAL_CANONICAL_MAX], digest[32];
    size_t len = 0;
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 65536, 1024) == SHOAL_OK);
    CHECK(whole_bytes(bytes, sizeof bytes, &len, &recipe) == SHOAL_OK);
    CHECK(memcmp(bytes, expected_title, 15) == 0);
    static const uint8_t first[] = {0,   1, 0, 0, 0, 6, 'v', 'e', 'c', 't', 'o',
                                    'r', 0, 2, 0, 0, 0, 4,   't', 'e', 's', 't'};
    CHECK(memcmp(bytes + 15, first, sizeof first) == 0);
    // 3 names 6+6 6+4 6+1, value, mechanism, epsilon, k, m, hash, per_day, expires at 14 each, seed
    // 6+32
    CHECK(len == 15 + 12 + 10 + 7 + 8 * 14 + 38);
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, bytes, len);
    shoal_sha256_final(digest, &sha);
    CHECK(memcmp(digest, recipe.recipe_hash, 32) == 0);
    for (size_t cap = 0; cap < len; cap++)
        CHECK(whole_bytes(bytes, cap, &len, &recipe) == SHOAL_ERR_SPACE);
}

// A field written at its default is the same recipe; the order of the fields does not matter.
static void same_recipe_same_hash(void)
{
    shoal_recipe a, b;
    CHECK(onehot_recipe(&a, 1000000, 10) == SHOAL_OK);
    shoal_builder_init(&building);
    CHECK(set_text("expires", "2030-01-01") == SHOAL_OK &&
          set_int("parameters.size", 10) == SHOAL_OK);
    CHECK(set_int("limit.per_day", 1) == SHOAL_OK &&
          set_micro("parameters.epsilon", 1000000) == SHOAL_OK);
    CHECK(set_text("mechanism", "onehot-asymmetric") == SHOAL_OK &&
          set_text("value", "word") == SHOAL_OK);
    CHECK(set_text("stream", "s") == SHOAL_OK && set_text("analysis", "test") == SHOAL_OK);
    CHECK(set_text("recipe", "vector") == SHOAL_OK && set_int("send.delay_s", 86400) == SHOAL_OK);
    CHECK(set_text("send.fresh", "wait") == SHOAL_OK && set_text("text.form", "NFC") == SHOAL_OK);
    CHECK(set_int("batch.minimum", 500) == SHOAL_OK && set_int("release.threshold", 0) == SHOAL_OK);
    CHECK(finish_recipe(&b) == SHOAL_OK);
    CHECK(memcmp(a.recipe_hash, b.recipe_hash, 32) == 0);
}

typedef struct change {
    const char *path, *text; // text NULL: a number
    int64_t number;
} change;

// Every field that is changed changes the hash.
static void every_field_is_hashed(void)
{
    static const change changes[] = {{"text.form", "none", 0},
                                     {"text.case", "keep", 0},
                                     {"text.min", NULL, 2},
                                     {"text.max", NULL, 31},
                                     {"send.delay_s", NULL, 0},
                                     {"send.fresh", "allow", 0},
                                     {"batch.minimum", NULL, 1},
                                     {"batch.max_age_s", NULL, 1},
                                     {"cohort.minimum", NULL, 1},
                                     {"release.threshold", NULL, 1000000000000},
                                     {"block.minimum", NULL, 1001},
                                     {"block.tick_s", NULL, 1},
                                     {"text.locale", "tr", 0},
                                     {"text.case", "fold", 0},
                                     {"trial", NULL, 1},
                                     {"parameters.size", NULL, 11}};
    enum { CHANGES = sizeof changes / sizeof changes[0] };
    uint8_t hashes[CHANGES + 1][32];
    for (uint32_t i = 0; i <= CHANGES; i++) {
        shoal_recipe recipe;
        CHECK(start_recipe("onehot-asymmetric", 1000000) == SHOAL_OK);
        if (i < CHANGES) {
            const change *c = &changes[i];
            CHECK((c->text ? set_text(c->path, c->text) : set_int(c->path, c->number)) == SHOAL_OK);
        }
        if (i != CHANGES - 1) CHECK(set_int("parameters.size", 10) == SHOAL_OK);
        CHECK(finish_recipe(&recipe) == SHOAL_OK);
        memcpy(hashes[i], recipe.recipe_hash, 32);
        for (uint32_t j = 0; j < i; j++) CHECK(memcmp(hashes[i], hashes[j], 32) != 0);
    }
}

// The smallest block is the minimum cohort unless the recipe states it. Stated at that default it
// is not hashed, whichever of the two fields comes first, nor are signed bytes made with it.
static void blocks_are_cohorts_by_default(void)
{
    static const uint32_t cohorts[] = {0, 1, 1000, 5000}; // 0: not stated
    shoal_recipe plain, stated, other;
    uint8_t a[SHOAL_CANONICAL_MAX], b[SHOAL_CANONICAL_MAX];
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t cohort = cohorts[i] > 0 ? cohorts[i] : 1000;
        size_t a_len = 0, b_len = 0;
        for (int is_stated = 0; is_stated < 2; is_stated++) {
            CHECK(start_recipe("onehot-asymmetric", 1000000) == SHOAL_OK);
            CHECK(set_int("parameters.size", 10) == SHOAL_OK);
            if (is_stated)
                CHECK(set_int("block.tick_s", 86400) == SHOAL_OK &&
                      set_int("block.minimum", cohort) == SHOAL_OK);
            if (cohorts[i] > 0) CHECK(set_int("cohort.minimum", cohorts[i]) == SHOAL_OK);
            CHECK(finish_recipe(is_stated ? &stated : &plain) == SHOAL_OK);
        }
        CHECK(plain.block_minimum == cohort && plain.block_tick_s == 86400);
        CHECK(stated.block_minimum == cohort && stated.block_tick_s == 86400);
        CHECK(memcmp(plain.recipe_hash, stated.recipe_hash, 32) == 0);
        CHECK(shoal_recipe_signed(a, sizeof a, &a_len, &plain) == SHOAL_OK &&
              shoal_recipe_signed(b, sizeof b, &b_len, &stated) == SHOAL_OK);
        CHECK(a_len == b_len && memcmp(a, b, a_len) == 0);
        CHECK(start_recipe("onehot-asymmetric", 1000000) == SHOAL_OK);
        CHECK(set_int("parameters.size", 10) == SHOAL_OK);
        CHECK(set_int("block.minimum", cohort + 1) == SHOAL_OK &&
              set_int("cohort.minimum", cohort) == SHOAL_OK);
        CHECK(finish_recipe(&other) == SHOAL_OK && other.block_minimum == cohort + 1);
        CHECK(memcmp(plain.recipe_hash, other.recipe_hash, 32) != 0);
    }
}

// Starts a recipe that picks uniformly. NULL leaves the field out.
static void start_window(const char *mechanism, const char *pick, const char *window)
{
    CHECK(start_recipe(mechanism, 1000000) == SHOAL_OK);
    CHECK(set_int("parameters.size", 10) == SHOAL_OK);
    if (pick != NULL) CHECK(set_text("send.pick", pick) == SHOAL_OK);
    if (window != NULL) CHECK(set_text("send.window", window) == SHOAL_OK);
}

static void windows_are_hashed_and_checked(void)
{
    shoal_recipe plain, first, day, visit, refused;
    start_window("onehot-asymmetric", NULL, NULL);
    CHECK(finish_recipe(&plain) == SHOAL_OK);
    start_window("onehot-asymmetric", "first", NULL);
    CHECK(finish_recipe(&first) == SHOAL_OK);
    CHECK(memcmp(plain.recipe_hash, first.recipe_hash, 32) == 0);
    CHECK(plain.pick == SHOAL_PICK_FIRST && plain.window == SHOAL_WINDOW_NONE);

    start_window("onehot-asymmetric", "uniform", "day");
    CHECK(finish_recipe(&day) == SHOAL_OK && day.window == SHOAL_WINDOW_DAY);
    start_window("onehot-asymmetric", "uniform", "visit");
    CHECK(set_int("send.delay_s", 0) == SHOAL_OK);
    CHECK(finish_recipe(&visit) == SHOAL_OK && visit.window == SHOAL_WINDOW_VISIT);
    CHECK(memcmp(plain.recipe_hash, day.recipe_hash, 32) != 0);
    CHECK(memcmp(day.recipe_hash, visit.recipe_hash, 32) != 0);

    start_window("onehot-asymmetric", "uniform", "visit"); // it is sent as it ends, without delay
    CHECK(finish_recipe(&refused) == SHOAL_ERR_RANGE);
    CHECK(strcmp(building.error_field, "send.delay_s") == 0);
    start_window("onehot-asymmetric", "uniform", NULL);
    CHECK(finish_recipe(&refused) == SHOAL_ERR_MISSING_FIELD);
    CHECK(strcmp(building.error_field, "send.window") == 0);
    start_window("onehot-asymmetric", NULL, "day");
    CHECK(finish_recipe(&refused) == SHOAL_ERR_MISSING_FIELD);
    start_window("onehot-asymmetric", "first", "day");
    CHECK(finish_recipe(&refused) == SHOAL_ERR_MISSING_FIELD);
    start_window("onehot-asymmetric", NULL, NULL);
    CHECK(set_text("send.window", "week") == SHOAL_ERR_TYPE);
}

// Permanent coins are refused a window, whatever the order of the fields.
static void permanent_coins_have_no_window(void)
{
    shoal_recipe recipe;
    for (int is_uniform = 0; is_uniform < 2; is_uniform++) {
        CHECK(start_any_recipe("rappor", "word") == SHOAL_OK &&
              set_int("parameters.bits", 32) == SHOAL_OK);
        CHECK(set_int("parameters.hashes", 2) == SHOAL_OK);
        CHECK(set_int("parameters.cohorts", 8) == SHOAL_OK);
        CHECK(set_micro("parameters.p", 500000) == SHOAL_OK);
        CHECK(set_micro("parameters.q", 750000) == SHOAL_OK);
        CHECK(set_micro("parameters.f", 500000) == SHOAL_OK);
        CHECK(set_text("hash", "poly1") == SHOAL_OK && set_text("seed", TEST_SEED) == SHOAL_OK);
        if (is_uniform)
            CHECK(set_text("send.window", "day") == SHOAL_OK &&
                  set_text("send.pick", "uniform") == SHOAL_OK);
        CHECK(finish_recipe(&recipe) == (is_uniform ? SHOAL_ERR_RANGE : SHOAL_OK));
        if (is_uniform) CHECK(strcmp(building.error_field, "send.pick") == 0);
    }
}

static void a_locale_is_a_language(void)
{
    static const struct {
        const char *locale, *text_case;
        shoal_err err;
    } cases[] = {{"tr", "lower", SHOAL_OK},      {"ckb", NULL, SHOAL_OK},
                 {"t", NULL, SHOAL_ERR_TYPE},    {"turk", NULL, SHOAL_ERR_TYPE},
                 {"t1", NULL, SHOAL_ERR_TYPE},   {"tr", "keep", SHOAL_ERR_RANGE},
                 {"tr", "fold", SHOAL_ERR_RANGE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        shoal_recipe recipe;
        start_window("onehot-asymmetric", NULL, NULL);
        CHECK(set_text("text.locale", cases[i].locale) == SHOAL_OK);
        if (cases[i].text_case != NULL)
            CHECK(set_text("text.case", cases[i].text_case) == SHOAL_OK);
        CHECK(finish_recipe(&recipe) == cases[i].err);
        if (cases[i].err) CHECK(strcmp(building.error_field, "text.locale") == 0);
    }
}

static void blocks_below_the_cohort_are_refused(void)
{
    shoal_recipe recipe;
    for (int is_stated = 0; is_stated < 2; is_stated++) { // the cohort, 1000 by default
        CHECK(start_recipe("onehot-asymmetric", 1000000) == SHOAL_OK);
        CHECK(set_int("parameters.size", 10) == SHOAL_OK);
        CHECK(set_int("block.minimum", 999 + 1000 * is_stated) == SHOAL_OK);
        if (is_stated) CHECK(set_int("cohort.minimum", 2000) == SHOAL_OK);
        CHECK(finish_recipe(&recipe) == SHOAL_ERR_RANGE);
        CHECK(building.error_field != NULL && strcmp(building.error_field, "block.minimum") == 0);
        CHECK(building.error_text != NULL &&
              strcmp(building.error_text, "is below cohort.minimum") == 0);
    }
}

static void value_lists(void)
{
    static const char *const lists[3][3] = {
        {"ab", "c", NULL}, {"a", "bc", NULL}, {"c", "ab", NULL}};
    uint8_t hashes[3][32];
    shoal_recipe recipe;
    for (int i = 0; i < 3; i++) {
        CHECK(start_recipe("onehot-asymmetric", 1000000) == SHOAL_OK);
        for (int v = 0; lists[i][v] != NULL; v++)
            CHECK(shoal_builder_add_value(&building, lists[i][v], strlen(lists[i][v])) == SHOAL_OK);
        CHECK(finish_recipe(&recipe) == SHOAL_OK && recipe.parts[0].m == 2);
        memcpy(hashes[i], recipe.recipe_hash, 32);
    }
    CHECK(memcmp(hashes[0], hashes[1], 32) != 0 && memcmp(hashes[0], hashes[2], 32) != 0);
    CHECK(start_recipe("onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(shoal_builder_add_value(&building, "", 0) == SHOAL_ERR_RANGE);
    CHECK(start_recipe("onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(shoal_builder_add_value(&building, "only", 4) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_RANGE); // a list of one says nothing
    CHECK(start_recipe("onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(shoal_builder_add_value(&building, "a", 1) == SHOAL_OK &&
          shoal_builder_add_value(&building, "b", 1) == SHOAL_OK);
    CHECK(set_int("parameters.size", 2) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_DUPLICATE);
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
        {"recipe", "0123456789012345678901234567890123456789012345678901234567890123x", 0,
         SHOAL_ERR_RANGE},
        {"value", "words", 0, SHOAL_ERR_TYPE},
        {"text.form", "NFD", 0, SHOAL_ERR_TYPE},
        {"mechanism", "cm", 0, SHOAL_ERR_MECHANISM},
        {"mechanism", "cmss", 0, SHOAL_ERR_MECHANISM},
        {"hash", "poly2", 0, SHOAL_ERR_TYPE},
        {"seed", "00", 0, SHOAL_ERR_TYPE},
        {"seed", "0000000000000000000000000000000000000000000000000000000000000000", 0,
         SHOAL_ERR_RANGE},
        {"seed", "00112233445566778899AABBccddeeff00112233445566778899aabbccddeeff", 0,
         SHOAL_ERR_TYPE},
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
        shoal_builder_init(&building);
        shoal_err err =
            bad[i].text ? set_text(bad[i].path, bad[i].text) : set_micro(bad[i].path, bad[i].micro);
        if (!CHECK(err == bad[i].err))
            printf("  %s %s: %d\n", bad[i].path, bad[i].text ? bad[i].text : "", (int)err);
        CHECK(building.error_field != NULL && strcmp(building.error_field, bad[i].path) == 0);
        CHECK(building.error_text != NULL);
        CHECK(finish_recipe(&recipe) != SHOAL_OK);
    }
}

static void refused_wholes(void)
{
    static const char *const required[] = {"recipe",        "analysis",  "stream",
                                           "value",         "mechanism", "parameters.epsilon",
                                           "limit.per_day", "expires"};
    shoal_recipe recipe;
    shoal_builder_init(&building);
    CHECK(set_text("recipes", "x") == SHOAL_ERR_UNKNOWN_FIELD && building.error_field == NULL);
    shoal_builder_init(&building);
    CHECK(set_text("recip", "x") == SHOAL_ERR_UNKNOWN_FIELD);
    shoal_builder_init(&building);
    CHECK(set_text("recipe", "x") == SHOAL_OK && set_text("recipe", "x") == SHOAL_ERR_DUPLICATE);
    for (int i = 0; i < 8; i++) { // leave one out, by giving all the others
        shoal_builder_init(&building);
        for (int f = 0; f < 8; f++) {
            if (f == i) continue;
            const char *path = required[f];
            const char *text = f == 3 ? "word" : f == 4 ? "cms" : f == 7 ? "2030-01-01" : "x";
            CHECK((f == 5 || f == 6 ? set_int(path, 1) : set_text(path, text)) == SHOAL_OK);
        }
        CHECK(finish_recipe(&recipe) == SHOAL_ERR_MISSING_FIELD);
        CHECK(strcmp(building.error_field, required[i]) == 0);
    }
    CHECK(start_recipe("cms", 1000000) == SHOAL_OK &&
          finish_recipe(&recipe) == SHOAL_ERR_MISSING_FIELD);
    CHECK(strcmp(building.error_field, "parameters.k") == 0);
    CHECK(start_recipe("cms", 1000000) == SHOAL_OK && set_int("parameters.k", 4) == SHOAL_OK);
    CHECK(set_int("parameters.m", 4) == SHOAL_OK && set_text("seed", TEST_SEED) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_MISSING_FIELD &&
          strcmp(building.error_field, "hash") == 0);
    CHECK(start_recipe("onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(set_int("parameters.k", 4) == SHOAL_OK && set_int("parameters.size", 4) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_UNKNOWN_FIELD &&
          strcmp(building.error_field, "parameters.k") == 0);
    CHECK(start_recipe("onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_MISSING_FIELD);
    CHECK(start_recipe("onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(set_int("parameters.size", 4) == SHOAL_OK &&
          set_text("cohort.delta", "1e-9") == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_MISSING_FIELD &&
          strcmp(building.error_field, "cohort.delta") == 0);
    CHECK(start_recipe("onehot-asymmetric", 1000000) == SHOAL_OK);
    CHECK(set_int("parameters.size", 4) == SHOAL_OK && set_int("text.min", 9) == SHOAL_OK);
    CHECK(set_int("text.max", 8) == SHOAL_OK && finish_recipe(&recipe) == SHOAL_ERR_RANGE);
}

static void days(void)
{
    static const struct {
        const char *text;
        uint32_t day;
    } known[] = {{"1970-01-01", 0},     {"1970-12-31", 364},   {"2000-02-29", 11016},
                 {"2024-03-01", 19783}, {"2027-01-31", 20849}, {"2100-03-01", 47541}};
    for (uint32_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const shoal_recipe *recipe = &building.recipe;
        shoal_builder_init(&building);
        CHECK(set_text("expires", known[i].text) == SHOAL_OK &&
              recipe->expires_day == known[i].day);
        CHECK(shoal_recipe_check_day(recipe, known[i].day) == SHOAL_OK);
        CHECK(shoal_recipe_check_day(recipe, known[i].day + 1) == SHOAL_ERR_EXPIRED);
    }
}

// Both ends are taken, what is next to them is not.
static void ranges_are_told(void)
{
    static const struct {
        const char *path;
        int64_t step;
    } ranged[] = {{"parameters.epsilon", 1},  {"send.sample", 1},
                  {"limit.per_day", 1000000}, {"release.threshold", 1000000},
                  {"block.minimum", 1000000}, {"block.tick_s", 1000000},
                  {"parameters.k", 1000000}};
    static const char *const others[] = {"recipe",         "seed",  "expires", "cohort.delta",
                                         "parameters.low", "limit", "nope"};
    for (size_t i = 0; i < sizeof ranged / sizeof ranged[0]; i++) {
        int64_t low = -1, high = -1;
        const char *path = ranged[i].path;
        CHECK(shoal_builder_range(&low, &high, path, strlen(path)));
        const int64_t tries[] = {low, high, low - ranged[i].step, high + ranged[i].step};
        for (int t = 0; t < 4; t++) {
            shoal_builder_init(&building);
            CHECK(set_micro(path, tries[t]) == (t < 2 ? SHOAL_OK : SHOAL_ERR_RANGE));
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        int64_t low = 0, high = 0;
        CHECK(!shoal_builder_range(&low, &high, others[i], strlen(others[i])));
    }
}

// ---- queries ----

#define FULL_QUERY                                                                                 \
    "policy=" KEY_A "\nencoding.2.field=lang\nencoding.2.values+de\nsplit_by.0.field="             \
    "locale\nsplit_by.0.values+de\n"                                                               \
    "split_by.0.values+en\nround.index:2000000\nround.previous=" KEY_B                             \
    "\naggregation.protocol=sum\n"

// Made from the words of recipe.h by another program: names, numbers, lists, 42 the encoding, 43
// the split.
static const char query_canonical[] = "73686f616c2072656369706520310a0001000000086e6772616d732d3200"
                                      "02000000086b6579626f61726400030000000d74797065642d70"
                                      "687261736573000400000008000000000000000600090000000800000000"
                                      "00000004000a0000000800000000003d09000011000000080000"
                                      "00000000000100170000000800000000000186a000180000000800000000"
                                      "0007a1200019000000080000000000000009001b000000080000"
                                      "00000000517100250000002000112233445566778899aabbccddeeff0011"
                                      "2233445566778899aabbccddeeff002600000008000000000000"
                                      "00030027000000080000000000000002002800000020ffeeddccbbaa9988"
                                      "7766554433221100ffeeddccbbaa998877665544332211000029"
                                      "000000080000000000000001002a0000017b036167650100000003000000"
                                      "0001312d000000000001c9c3800000000002625a000000000000"
                                      "000000000000000000000000000000000000000000000000000000000000"
                                      "0000000000000000000000000000000000000000000000000000"
                                      "000000000000000000000000000000000000000000000000000000000000"
                                      "0000000000000000000000000000000000067068726173650300"
                                      "000000000000000000000000000000000000000000000000000000000000"
                                      "00000000000000000000000002aa114d63a03b41fcee90a03eb1"
                                      "43252113f42f04dc9159dbf3cb4d2195b1ae2300000003a16b19ae7bf316"
                                      "84b59fd00d6d094a9bac01ae8e7037fa81893b608ce6b6c80404"
                                      "6c616e67020000000000000001a11f36644d20a3956a7194814ce7c0a7e5"
                                      "69202da5ada7f0a979216f4c0356f40000000000000000000000"
                                      "000000000000000000000000000000000000000000000000000000000000"
                                      "0000000000000000000000000000000000000000000000000000"
                                      "0000000000002b0000002b066c6f63616c6500000002bdd684a5e5e042fc"
                                      "ca80474eb9d9f471110e81162efdfcdafe2b59b1cda66b1d";

static void to_hex(char *hex, const uint8_t *bytes, size_t len)
{
    hex[0] = '\0';
    for (size_t i = 0; i < len; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

// What is signed leaves `part` out; the hash of the part does not.
static void query_bytes(void)
{
    static const char whole_hash[] =
        "f966a26f9ad778e131cefc6106f61c60bd41f0a2ab2752ac275b6e5a5a39dae5";
    static const char part_hash[] =
        "9d7e372ae2b8ac01984c35dff0ca01cc38ad672476aa08f4907fdf51dadeadb2";
    static uint8_t bytes[SHOAL_CANONICAL_MAX];
    static char hex[2 * SHOAL_CANONICAL_MAX + 1];
    shoal_recipe recipe;
    size_t len = 0;
    CHECK(recipe_of(&recipe, keyboard_query, FULL_QUERY, NULL) == SHOAL_OK);
    CHECK(recipe.parts[0].size == 4 * 11 * 2 && recipe.parts[0].domain == SHOAL_DOMAIN_CLOSED);
    CHECK(whole_bytes(bytes, sizeof bytes, &len, &recipe) == SHOAL_OK);
    to_hex(hex, bytes, len);
    if (!CHECK(strcmp(hex, query_canonical) == 0)) printf("  %s\n", hex);
    to_hex(hex, recipe.recipe_hash, 32);
    CHECK(strcmp(hex, whole_hash) == 0 && memcmp(recipe.recipe_hash, recipe.query_hash, 32) == 0);
    CHECK(recipe.key.len == 8 && memcmp(recipe.key.bytes, "ngrams-2", 8) == 0);

    CHECK(recipe_of(&recipe, keyboard_query, FULL_QUERY "part+de\n", NULL) == SHOAL_OK);
    CHECK(shoal_recipe_signed(bytes, sizeof bytes, &len, &recipe) == SHOAL_OK);
    to_hex(hex, bytes, len);
    CHECK(strcmp(hex, query_canonical) == 0);
    CHECK(whole_bytes(bytes, sizeof bytes, &len, &recipe) == SHOAL_OK && len == 726 + 9);
    to_hex(hex, bytes + 726, 9);
    CHECK(strcmp(hex, "002c00000003026465") == 0);
    to_hex(hex, recipe.recipe_hash, 32);
    CHECK(strcmp(hex, part_hash) == 0);
    to_hex(hex, recipe.query_hash, 32);
    CHECK(strcmp(hex, whole_hash) == 0);
    CHECK(recipe.key.len == 11 && memcmp(recipe.key.bytes, "ngrams-2/de", 11) == 0);
}

// Every member of a query changes the hash that is signed; `part` changes the other only.
static void every_query_field_is_hashed(void)
{
    static const char *const changes[] = {
        "",
        "policy=" KEY_B,
        "version:4000000",
        "round.index:3000000",
        "round.previous=" KEY_A,
        "aggregation.protocol=reports",
        "split_by.0.field=country",
        "split_by.0.values+de",
        "split_by.0.values+en\nsplit_by.0.values+de",
        "split_by.1.field=country\nsplit_by.1.values+de",
        "encoding.0.field=years",
        "encoding.0.boundaries#20000000",
        "encoding.0.boundaries#20000000\nencoding.0.boundaries#30000000\nencoding.0.boundaries#"
        "40000001",
        "encoding.2.values+en",
        "encoding.2.values-\nencoding.2.boundaries#1",
        "encoding.1.prefixes+i went\nencoding.1.prefixes+hello world",
        "encoding.1.tokens+a\nencoding.1.tokens+and",
        "encoding.1.tokens+a\nencoding.1.tokens+and\nencoding.1.tokens+gott",
    };
    enum { N = sizeof changes / sizeof changes[0] };
    uint8_t seen[N][32];
    char text[1024];
    for (size_t i = 0; i < N; i++) {
        shoal_recipe recipe;
        const char *split = strstr(changes[i], "split_by.0.values") != NULL
                                ? ""
                                : "split_by.0.values+de\nsplit_by.0.values+en\n";
        const char *lang = strstr(changes[i], "encoding.2") != NULL ? "" : "encoding.2.values+de\n";
        snprintf(text, sizeof text,
                 "policy=" KEY_A
                 "\nencoding.2.field=lang\n%ssplit_by.0.field=locale\n%sround.index:2000000\n"
                 "round.previous=" KEY_B "\naggregation.protocol=sum\n%s",
                 lang, split, changes[i]);
        if (!CHECK(recipe_of(&recipe, keyboard_query, text, NULL) == SHOAL_OK))
            printf("  %s\n", changes[i]);
        memcpy(seen[i], recipe.query_hash, 32);
        for (size_t j = 0; j < i; j++)
            if (!CHECK(memcmp(seen[i], seen[j], 32) != 0)) printf("  %s\n", changes[i]);
    }
}

static void every_part_is_hashed(void)
{
    static const char *const parts[] = {"", "part+de\npart+de\n", "part+de\npart+en\n",
                                        "part+en\npart+de\n", "part+other\npart+de\n"};
    uint8_t seen[5][32], signed_one[32];
    for (int i = 0; i < 5; i++) {
        shoal_recipe recipe;
        char text[1024];
        snprintf(text, sizeof text, FULL_QUERY "split_by.1.field=country\nsplit_by.1.values+de\n%s",
                 parts[i]);
        CHECK(recipe_of(&recipe, keyboard_query, text, NULL) == SHOAL_OK);
        if (i == 0) memcpy(signed_one, recipe.query_hash, 32);
        CHECK(memcmp(signed_one, recipe.query_hash, 32) == 0);
        memcpy(seen[i], recipe.recipe_hash, 32);
        for (int j = 0; j < i; j++) CHECK(memcmp(seen[i], seen[j], 32) != 0);
    }
}

// One wrong member each.
static void refused_queries(void)
{
    static const struct {
        const char *change;
        shoal_err err;
        const char *path;
    } bad[] = {
        {"", SHOAL_OK, NULL},
        {"version-", SHOAL_ERR_MISSING_FIELD, "version"},
        {"policy-", SHOAL_ERR_MISSING_FIELD, "version"},
        {"policy=00", SHOAL_ERR_TYPE, "policy"},
        {"version:0", SHOAL_ERR_RANGE, "version"},
        {"version:1000001000000", SHOAL_ERR_RANGE, "version"},
        {"version:1000000000000", SHOAL_OK, NULL},
        {"cohort.epsilon-\ncohort.delta-", SHOAL_ERR_MISSING_FIELD, "cohort.epsilon"},
        {"trial:1000000", SHOAL_ERR_RANGE, "trial"},
        {"trial:0", SHOAL_OK, NULL},
        {"round.index:0", SHOAL_ERR_RANGE, "round.index"},
        {"round.index:65538000000", SHOAL_ERR_RANGE, "round.index"},
        {"round.index:65537000000", SHOAL_OK, NULL},
        {"round.index:1000000", SHOAL_ERR_MISSING_FIELD, "round.previous"},
        {"round.index:1000000\nround.previous-", SHOAL_OK, NULL},
        {"round.index-", SHOAL_ERR_MISSING_FIELD, "round.previous"},
        {"round.index-\nround.previous-", SHOAL_OK, NULL},
        {"round.previous-", SHOAL_ERR_MISSING_FIELD, "round.previous"},
        {"aggregation.protocol=prio", SHOAL_ERR_TYPE, "aggregation.protocol"},
        {"aggregation.protocol=reports", SHOAL_OK, NULL},
        {"value=word", SHOAL_ERR_MISSING_FIELD, "parameters.values"},
        {"value=word\nparameters.size:44000000", SHOAL_ERR_MISSING_FIELD, "encoding"},
        {"parameters.size:44000000", SHOAL_ERR_UNKNOWN_FIELD, "parameters.size"},
        {"+a\n+b", SHOAL_ERR_UNKNOWN_FIELD, "parameters.values"},
        {"mechanism=hcms", SHOAL_ERR_MISSING_FIELD, "parameters.k"},
        {"mechanism=rappor", SHOAL_ERR_MISSING_FIELD, "seed"},
        {"mechanism=one-bit-mean", SHOAL_ERR_RANGE, "mechanism"},
        {"encoding.0.field=Age", SHOAL_ERR_TYPE, "encoding.N.field"},
        {"encoding.0.boundaries#2\nencoding.0.boundaries#2", SHOAL_ERR_RANGE,
         "encoding.N.boundaries"},
        {"encoding.1.tokens+a b", SHOAL_ERR_TYPE, "encoding.N.tokens"},
        {"encoding.1.prefixes+a\nencoding.1.prefixes+a b", SHOAL_ERR_RANGE, "encoding.N.prefixes"},
        {"encoding.2.values+<oov>", SHOAL_ERR_TYPE, "encoding.N.values"},
        {"encoding.2.field=age", SHOAL_ERR_DUPLICATE, "encoding"},
        {"encoding.2.values-", SHOAL_ERR_MISSING_FIELD, "encoding"},
        {"encoding.2.boundaries#1", SHOAL_ERR_MISSING_FIELD, "encoding"},
        {"encoding.4.field=x", SHOAL_ERR_RANGE, "encoding.N.field"},
        {"encoding.9.values+x", SHOAL_ERR_RANGE, "encoding.N.values"},
        {"encoding.10.field=x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"encoding.x.field=x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"encoding.2.names+x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"encoding.2.values#1", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"encoding.2.boundaries+1", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"encoding.2.=x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"encoding.2xvalues+x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"encodingx2.values+x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"split_by.0.names+x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"split_by.1.field=country", SHOAL_ERR_MISSING_FIELD, "split_by"},
        {"split_by.1.field=country\nsplit_by.1.values+x\nsplit_by.2.field=y", SHOAL_ERR_RANGE,
         "split_by"},
        {"split_by.0.field-\nsplit_by.0.values-\nsplit_by.1.field=x", SHOAL_ERR_RANGE, "split_by"},
        {"encoding.2=x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"encoding.2.boundaries:1", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"parameters.values+x", SHOAL_ERR_UNKNOWN_FIELD, "parameters.values"},
        {"split_by.0.field-", SHOAL_ERR_MISSING_FIELD, "split_by"},
        {"split_by.0.values-", SHOAL_ERR_MISSING_FIELD, "split_by"},
        {"split_by.0.field=Locale", SHOAL_ERR_TYPE, "split_by.N.field"},
        {"split_by.0.values+DE", SHOAL_ERR_TYPE, "split_by.N.values"},
        {"split_by.0.values+other", SHOAL_ERR_DUPLICATE, "split_by.N.values"},
        {"split_by.1.field=locale\nsplit_by.1.values+x", SHOAL_ERR_DUPLICATE, "split_by"},
        {"split_by.2.field=x", SHOAL_ERR_RANGE, "split_by"},
        {"split_by.2.values+x", SHOAL_ERR_RANGE, "split_by"},
        {"part+de\npart+en", SHOAL_ERR_RANGE, "part"},
        {"part+de\npart+en\npart+fr", SHOAL_ERR_RANGE, "part"},
        {"part+DE", SHOAL_ERR_TYPE, "part"},
        {"part+", SHOAL_ERR_RANGE, "part"},
        {"part+other", SHOAL_OK, NULL},
        {"split_by.0.field-\nsplit_by.0.values-\npart+de", SHOAL_ERR_RANGE, "part"},
        {"part=de", SHOAL_ERR_TYPE, "part"}, // a list
        {"split_by.1.field=country\nsplit_by.1.values+x\npart+de", SHOAL_ERR_RANGE, "part"},
        {"split_by.1.field=country\nsplit_by.1.values+x\npart+de\npart+x", SHOAL_OK, NULL},
        // locale: de, en, and always other; every part has a key
        {"recipe=0123456789012345678901234567890123456789012345678901234567", SHOAL_OK,
         NULL}, // 58 + 6
        {"recipe=01234567890123456789012345678901234567890123456789012345678", SHOAL_ERR_RANGE,
         "split_by"},
        {"recipe=01234567890123456789012345678901234567890123456789012345678\npart+de",
         SHOAL_ERR_RANGE, "split_by"},
        {"recipe=01234567890123456789012345678901234567890123456789012345\nsplit_by.0.values+de-"
         "1996",
         SHOAL_OK, NULL}, // 56 + 8
        {"recipe=012345678901234567890123456789012345678901234567890123456\nsplit_by.0.values+de-"
         "1996",
         SHOAL_ERR_RANGE, "split_by"},
        {"recipe=0123456789012345678901234567890123456789012345678901\nsplit_by.1.field="
         "country\nsplit_by.1.values+x",
         SHOAL_OK, NULL}, // 52 + 6 + 6
        {"recipe=01234567890123456789012345678901234567890123456789012\nsplit_by.1.field="
         "country\nsplit_by.1.values+x",
         SHOAL_ERR_RANGE, "split_by"},
        {"recipe=0123456789012345678901234567890123456789012345678901234567\npart+de-1996",
         SHOAL_ERR_RANGE, "part"}, // not listed
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        shoal_recipe recipe;
        char text[1024];
        size_t len = 0;
        // the full query, without what the change replaces
        const char *rest = FULL_QUERY;
        size_t left = strlen(rest);
        field_line line;
        while (next_line(&line, &rest, &left))
            if (!is_changed(&line, bad[i].change))
                len += (size_t)snprintf(text + len, sizeof text - len, "%.*s\n",
                                        (int)(line.text + line.text_len - line.path), line.path);
        snprintf(text + len, sizeof text - len, "%s", bad[i].change);
        shoal_err err = recipe_of(&recipe, keyboard_query, text, NULL);
        int is_path = bad[i].path == NULL ? building.error_field == NULL
                                          : building.error_field != NULL &&
                                                strcmp(building.error_field, bad[i].path) == 0;
        if (!CHECK(err == bad[i].err && is_path))
            printf("  %s: %d %s %s\n", bad[i].change, (int)err,
                   building.error_field ? building.error_field : "-",
                   building.error_text ? building.error_text : "-");
        CHECK(err == SHOAL_OK || (building.error_text != NULL && recipe.n_parts == 0));
    }
}

// The most values that a split may list, and the longest query there can be: its canonical bytes
// have room.
static void largest_query(void)
{
    static char text[1 << 17];
    char name[65];
    shoal_recipe recipe;
    size_t len = 0;
    memset(name, 'n', 64);
    name[64] = '\0';
    len += (size_t)snprintf(text, sizeof text, "policy=" KEY_A "\n");
    for (char i = '0'; i < '4'; i++) {
        name[0] = i;
        len += (size_t)snprintf(text + len, sizeof text - len, "encoding.%c.field=%s\n", i, name);
        for (int k = 0; k < 63; k++)
            len += (size_t)snprintf(text + len, sizeof text - len, "encoding.%c.boundaries#%d\n", i,
                                    k);
    }
    for (char i = '0'; i < '2'; i++) {
        name[0] = i;
        len += (size_t)snprintf(text + len, sizeof text - len, "split_by.%c.field=%s\n", i, name);
        for (int k = 0; k < 31; k++)
            len +=
                (size_t)snprintf(text + len, sizeof text - len, "split_by.%c.values+v%d\n", i, k);
    }
    snprintf(
        text + len, sizeof text - len,
        "encoding.1.prefixes-\nencoding.1.tokens-\nanalysis=%s\nstream=%s\nround.index:2000000\n"
        "round.previous=" KEY_B
        "\naggregation.protocol=sum\nmechanism=cms\nhash=affine1\nseed=" KEY_A "\n"
        "parameters.k:2000000\nparameters.m:16000000\ntext.form=none\ntext.case=keep\ntext.min:"
        "2000000\n"
        "text.max:40000000\nsend.sample:1\nsend.delay_s:1000000\nsend.fresh=allow\nbatch.minimum:"
        "1000000\n"
        "batch.max_age_s:1000000\nrelease.threshold:1000000\npart+v1\npart+v2\nrecipe=%.52s",
        name, name, name);
    if (!CHECK(recipe_of(&recipe, keyboard_query, text, NULL) == SHOAL_OK))
        printf("  %s %s\n", building.error_field ? building.error_field : "-",
               building.error_text ? building.error_text : "-");
    CHECK(recipe.parts[0].size == 1u << 24 && recipe.key.len == 58);
    CHECK(recipe_of(&recipe, keyboard_query, strcat(text, "\nsplit_by.1.values+more"), NULL) ==
          SHOAL_ERR_RANGE);
    // too many cells for bits: what is said is about the encoding, as no query states a size
    snprintf(
        strstr(text, "\npart+v1"), 200,
        "\nmechanism=onehot-symmetric\nhash-\nseed-\nparameters.k-\nparameters.m-\nrecipe=%.52s",
        name);
    CHECK(recipe_of(&recipe, keyboard_query, text, NULL) == SHOAL_ERR_RANGE &&
          strcmp(building.error_field, "encoding") == 0);
}

// ---- two servers ----

static const char dap_recipe[] =
    "recipe=colours\nanalysis=a\nstream=s\nvalue=item\nmechanism=onehot-symmetric\nparameters."
    "epsilon:4000000\n"
    "parameters.size:8000000\nlimit.per_day:1000000\nexpires=2030-01-01\naggregation.protocol=dap\n"
    "aggregation.leader=https://a.example/dap\naggregation.helper=https://b.example\n";

static void two_servers(void)
{
    // The tail of the canonical bytes: tags 71 and 72, and 73 where it is not a day.
    static const char tail[] = "00470000001568747470733a2f2f612e6578616d706c652f646170"
                               "00480000001168747470733a2f2f622e6578616d706c65";
    static const struct {
        const char *change;
        shoal_err err;
        const char *path;
    } cases[] = {
        {"aggregation.leader-", SHOAL_ERR_MISSING_FIELD, "aggregation.leader"},
        {"aggregation.helper-", SHOAL_ERR_MISSING_FIELD, "aggregation.helper"},
        {"aggregation.helper=https://a.example/dap", SHOAL_ERR_RANGE, "aggregation.helper"},
        {"aggregation.protocol-", SHOAL_ERR_UNKNOWN_FIELD, "aggregation.leader"},
        {"aggregation.protocol=reports", SHOAL_ERR_UNKNOWN_FIELD, "aggregation.leader"},
        {"aggregation.time_precision_s:59000000", SHOAL_ERR_RANGE, "aggregation.time_precision_s"},
        {"aggregation.time_precision_s:604801000000", SHOAL_ERR_RANGE,
         "aggregation.time_precision_s"},
        {"aggregation.time_precision_s:604800000000", SHOAL_OK, NULL},
        {"aggregation.leader=http://a.example", SHOAL_ERR_TYPE, "aggregation.leader"},
        {"aggregation.leader=http://localhost", SHOAL_OK, NULL},
        {"aggregation.leader=http://localhost:80/x", SHOAL_OK, NULL},
        {"aggregation.leader=http://localhost.example", SHOAL_ERR_TYPE, "aggregation.leader"},
        {"aggregation.leader=http://127.0.0.1:8701", SHOAL_OK, NULL},
        {"aggregation.leader=http://127.0.0.1.example", SHOAL_ERR_TYPE, "aggregation.leader"},
        {"aggregation.leader=http://[::1]:1", SHOAL_OK, NULL},
        {"aggregation.leader=http://[::1]x", SHOAL_ERR_TYPE, "aggregation.leader"},
        {"aggregation.leader=https://a.example/", SHOAL_ERR_TYPE, "aggregation.leader"},
        {"aggregation.leader=https:///a", SHOAL_ERR_TYPE, "aggregation.leader"},
        {"aggregation.leader=https://", SHOAL_ERR_TYPE, "aggregation.leader"},
        {"aggregation.leader=https://a.example?x", SHOAL_ERR_TYPE, "aggregation.leader"},
        {"aggregation.leader=https://u@a.example", SHOAL_ERR_TYPE, "aggregation.leader"},
        {"aggregation.leader=https://a b", SHOAL_ERR_TYPE, "aggregation.leader"},
        {"aggregation.leader=https://a\x7f", SHOAL_ERR_TYPE, "aggregation.leader"},
        {"policy=" KEY_A "\nversion:1000000", SHOAL_ERR_RANGE, "aggregation.protocol"},
        {"trial:1000000", SHOAL_ERR_RANGE, "aggregation.protocol"},
        {"trial:0", SHOAL_OK, NULL},
    };
    static uint8_t bytes[SHOAL_CANONICAL_MAX];
    static char hex[2 * SHOAL_CANONICAL_MAX + 1];
    shoal_recipe recipe;
    size_t len = 0;
    CHECK(recipe_of(&recipe, dap_recipe, "", NULL) == SHOAL_OK &&
          recipe.aggregation == SHOAL_AGGREGATION_DAP);
    CHECK(recipe.time_precision_s == 86400 && recipe.leader.len == 21);
    CHECK(whole_bytes(bytes, sizeof bytes, &len, &recipe) == SHOAL_OK && len > sizeof tail / 2);
    to_hex(hex, bytes, len);
    CHECK(strcmp(hex + 2 * len - (sizeof tail - 1), tail) == 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        shoal_err err = recipe_of(&recipe, dap_recipe, cases[i].change, NULL);
        if (!CHECK(err == cases[i].err)) printf("  %s: %d\n", cases[i].change, (int)err);
        if (err != SHOAL_OK && building.error_field != NULL)
            CHECK(strcmp(building.error_field, cases[i].path) == 0);
    }
    char longest[300] = "aggregation.leader=https://";
    memset(longest + strlen(longest), 'a', 192);
    CHECK(recipe_of(&recipe, dap_recipe, longest, NULL) == SHOAL_OK &&
          recipe.leader.len == SHOAL_URL_MAX);
    strcat(longest, "a");
    CHECK(recipe_of(&recipe, dap_recipe, longest, NULL) == SHOAL_ERR_RANGE);
}

// ---- tokens ----

static void tokens(void)
{
    static const char token[] = "\nsend.token=https://a.example/issue";
    // Tag 79, 23 bytes: the last field of the canonical bytes.
    static const char tail[] = "004f0000001768747470733a2f2f612e6578616d706c652f6973737565";
    static const struct {
        const char *change;
        shoal_err err;
        const char *path;
    } cases[] = {
        {"send.token=https://a.example/issue/", SHOAL_ERR_TYPE, "send.token"},
        {"send.token=http://a.example", SHOAL_ERR_TYPE, "send.token"},
        {"send.token:1000000", SHOAL_ERR_TYPE, "send.token"},
        {"limit.per_day:256000000", SHOAL_OK, NULL},
        {"limit.per_day:257000000", SHOAL_ERR_RANGE, "limit.per_day"},
        {"aggregation.protocol=dap\naggregation.leader=https://l.example\n"
         "aggregation.helper=https://h.example",
         SHOAL_ERR_RANGE, "send.token"},
        {"send.pick=uniform\nsend.window=day", SHOAL_OK, NULL},
    };
    static const char plain[] =
        "recipe=colours\nanalysis=a\nstream=s\nvalue=item\nmechanism=onehot-symmetric\nparameters."
        "epsilon:4000000\nparameters.size:8000000\nlimit.per_day:1000000\nexpires=2030-01-01";
    static uint8_t bytes[SHOAL_CANONICAL_MAX];
    static char hex[2 * SHOAL_CANONICAL_MAX + 1];
    char with[600];
    shoal_recipe without, recipe;
    size_t len = 0;
    snprintf(with, sizeof with, "%s%s\n", plain, token);
    CHECK(recipe_of(&without, plain, "", NULL) == SHOAL_OK && without.token.len == 0);
    CHECK(recipe_of(&recipe, with, "", NULL) == SHOAL_OK && recipe.token.len == 23);
    CHECK(memcmp(without.recipe_hash, recipe.recipe_hash, 32) != 0);
    CHECK(whole_bytes(bytes, sizeof bytes, &len, &recipe) == SHOAL_OK && len > sizeof tail / 2);
    to_hex(hex, bytes, len);
    CHECK(strcmp(hex + 2 * len - (sizeof tail - 1), tail) == 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        shoal_err err = recipe_of(&recipe, with, cases[i].change, NULL);
        if (!CHECK(err == cases[i].err)) printf("  %s: %d\n", cases[i].change, (int)err);
        if (err != SHOAL_OK && !CHECK(building.error_field != NULL &&
                                      strcmp(building.error_field, cases[i].path) == 0))
            printf("  %s: at %s\n", cases[i].change, building.error_field);
    }
    CHECK(recipe_of(&recipe, keyboard_query, FULL_QUERY, NULL) == SHOAL_OK);
    snprintf(with, sizeof with, "%s%s\n", FULL_QUERY, token);
    CHECK(recipe_of(&recipe, keyboard_query, with, NULL) == SHOAL_ERR_RANGE &&
          strcmp(building.error_field, "send.token") == 0);
}

int main(void)
{
    canonical_bytes();
    same_recipe_same_hash();
    every_field_is_hashed();
    blocks_are_cohorts_by_default();
    blocks_below_the_cohort_are_refused();
    windows_are_hashed_and_checked();
    permanent_coins_have_no_window();
    a_locale_is_a_language();
    value_lists();
    refused_settings();
    refused_wholes();
    days();
    query_bytes();
    every_query_field_is_hashed();
    every_part_is_hashed();
    refused_queries();
    largest_query();
    ranges_are_told();
    two_servers();
    tokens();
    return check_summary();
}
