// SPDX-License-Identifier: Apache-2.0
// Records: text and binary forms of every mechanism, alone and as parts of one record; refusals
// with their position.
#include "record.h"

#include <string.h>

#include "check.h"
#include "samples.h"

#define BYTES_MAX 16384
#define MUTATED_MAX 600 // characters of a text whose every mutation is tried

static uint8_t record[BYTES_MAX], other[BYTES_MAX];
static char text[2 * BYTES_MAX], again[2 * BYTES_MAX];

// A record of two parts, as later recipes will have: a sketch and a list.
static void two_parts(shoal_recipe *recipe)
{
    shoal_recipe list;
    CHECK(sketch_recipe(recipe, "cms", 2000000, 100, 20) == SHOAL_OK &&
          onehot_recipe(&list, 1000000, 13) == SHOAL_OK);
    recipe->parts[1] = list.parts[0];
    recipe->n_parts = 2;
    recipe->record_size += list.record_size;
    recipe->text_size += 1 + list.text_size;
}

//   value: of a sample; NULL where items are given
static void round_trip(const shoal_recipe *recipe, const uint64_t *items, const char *value)
{
    const shoal_permanent permanent = {{2}};
    uint8_t seed[32] = {1};
    size_t position = 0;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 200; i++) {
        shoal_err err = value != NULL ? sample_randomize(record, recipe, value, &permanent, &rng)
                                      : shoal_record_randomize(record, recipe, items,
                                                               recipe->n_parts, &permanent, &rng);
        CHECK(err == SHOAL_OK);
        CHECK(shoal_record_check(recipe, record) == SHOAL_OK);
        CHECK(shoal_record_to_text(text, recipe->text_size, recipe, record) == SHOAL_OK);
        CHECK(shoal_record_from_text(other, recipe, text, recipe->text_size, &position) ==
              SHOAL_OK);
        CHECK(memcmp(record, other, recipe->record_size) == 0);
    }
    CHECK(shoal_record_to_text(text, recipe->text_size - 1, recipe, record) == SHOAL_ERR_SPACE);
    CHECK(shoal_record_from_text(other, recipe, text, recipe->text_size - 1, NULL) ==
          SHOAL_ERR_TRUNCATED);
    CHECK(shoal_record_from_text(other, recipe, text, recipe->text_size + 1, NULL) ==
          SHOAL_ERR_EXTRA);
    CHECK(shoal_record_from_text(other, recipe, text, 0, NULL) == SHOAL_ERR_TRUNCATED);
}

static int is_zero(const uint8_t *bytes, size_t len)
{
    uint8_t any = 0;
    for (size_t i = 0; i < len; i++) any |= bytes[i];
    return any == 0;
}

// Every single character replaced by every other byte: refused, or another record that prints as
// exactly what was read.
static void every_mutation(const shoal_recipe *recipe)
{
    for (uint32_t at = 0; at < recipe->text_size; at++) {
        char kept = text[at];
        for (int c = 0; c < 256; c++) {
            text[at] = (char)c;
            size_t position = BYTES_MAX;
            shoal_err err =
                shoal_record_from_text(other, recipe, text, recipe->text_size, &position);
            if (err == SHOAL_OK) {
                CHECK(shoal_record_to_text(again, sizeof again, recipe, other) == SHOAL_OK);
                CHECK(memcmp(again, text, recipe->text_size) == 0);
            } else {
                CHECK(position <= recipe->text_size);
                CHECK(is_zero(other, recipe->record_size));
            }
            if (c == ' ' || c == 'A' || c == 0 || c == '-' || c == '+') CHECK(err != SHOAL_OK);
        }
        text[at] = kept;
    }
}

static void whole(const shoal_recipe *recipe, const uint64_t *items)
{
    round_trip(recipe, items, NULL);
    every_mutation(recipe);
}

// Every mechanism's samples; where a record is long, its text is not mutated at every character.
static void every_sample(void)
{
    shoal_recipe recipe;
    for (size_t i = 0; sample_number(i).sample != NULL; i++) {
        sample_at at = sample_number(i);
        CHECK(sample_recipe(&recipe, at.mechanism, at.sample) == SHOAL_OK);
        CHECK(recipe.record_size <= BYTES_MAX && recipe.text_size <= 2 * BYTES_MAX);
        round_trip(&recipe, NULL, at.sample->value);
        if (recipe.text_size <= MUTATED_MAX) every_mutation(&recipe);
    }
}

// Without the device's own secret a permanent mechanism makes no record.
static void permanent_needs_its_secret(void)
{
    shoal_recipe recipe;
    uint8_t seed[32] = {1};
    shoal_rng rng;
    for (size_t i = 0; sample_number(i).sample != NULL; i++) {
        sample_at at = sample_number(i);
        CHECK(sample_recipe(&recipe, at.mechanism, at.sample) == SHOAL_OK);
        shoal_rng_init(&rng, seed);
        shoal_err expected = shoal_recipe_is_permanent(&recipe) ? SHOAL_ERR_ARGUMENT : SHOAL_OK;
        CHECK(sample_randomize(record, &recipe, at.sample->value, NULL, &rng) == expected);
    }
}

static void known_refusals(void)
{
    shoal_recipe recipe;
    size_t position = 0;
    CHECK(sketch_recipe(&recipe, "cms", 2000000, 100, 20) == SHOAL_OK);
    CHECK(shoal_record_from_text(other, &recipe, "07,ffff0f", 9, &position) == SHOAL_OK);
    CHECK(other[0] == 7 && other[4] == 0xff && other[6] == 0x0f);
    CHECK(shoal_record_from_text(other, &recipe, "07,ffff1f", 9, &position) ==
          SHOAL_ERR_RECORD); // bit 20 of 20
    CHECK(shoal_record_from_text(other, &recipe, "07;ffff0f", 9, &position) == SHOAL_ERR_TYPE &&
          position == 2);
    CHECK(shoal_record_from_text(other, &recipe, "07,fFff0f", 9, &position) == SHOAL_ERR_TYPE &&
          position == 4);
    CHECK(sketch_recipe(&recipe, "cms", 2000000, 99, 20) == SHOAL_OK);
    CHECK(shoal_record_from_text(other, &recipe, "99,ffff0f", 9, &position) == SHOAL_ERR_RANGE &&
          position == 0);
    CHECK(sketch_recipe(&recipe, "hcms", 2000000, 10, 16) == SHOAL_OK);
    CHECK(shoal_record_from_text(other, &recipe, "9,15,1", 6, &position) == SHOAL_OK &&
          other[4] == 31);
    CHECK(shoal_record_from_text(other, &recipe, "9,16,1", 6, &position) == SHOAL_ERR_RANGE &&
          position == 2);
    CHECK(shoal_record_from_text(other, &recipe, "9,15,2", 6, &position) == SHOAL_ERR_RANGE &&
          position == 5);
    memset(other, 0, 8);
    other[0] = 10;
    CHECK(shoal_record_check(&recipe, other) == SHOAL_ERR_RECORD);
    other[0] = 9;
    other[4] = 32;
    CHECK(shoal_record_check(&recipe, other) == SHOAL_ERR_RECORD);
    other[4] = 31;
    CHECK(shoal_record_check(&recipe, other) == SHOAL_OK);
}

// A recipe that was refused makes, reads and prints nothing.
static void unfinished_recipe(void)
{
    const shoal_recipe *recipe = &building.recipe;
    uint8_t seed[32] = {1};
    uint64_t item = 0;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    shoal_builder_init(&building);
    CHECK(shoal_record_randomize(record, recipe, &item, 0, NULL, &rng) == SHOAL_ERR_ARGUMENT);
    CHECK(shoal_record_check(recipe, record) == SHOAL_ERR_ARGUMENT);
    CHECK(shoal_record_to_text(text, sizeof text, recipe, record) == SHOAL_ERR_ARGUMENT);
    CHECK(shoal_record_from_text(record, recipe, "", 0, NULL) == SHOAL_ERR_ARGUMENT);
}

int main(void)
{
    shoal_recipe recipe;
    uint64_t items[2] = {12345, 3};
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 65536, 1024) == SHOAL_OK);
    whole(&recipe, items);
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 1, 2) == SHOAL_OK);
    whole(&recipe, items);
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 1024, 32768) == SHOAL_OK);
    whole(&recipe, items);
    CHECK(onehot_recipe(&recipe, 4000000, 77) == SHOAL_OK);
    whole(&recipe, items + 1);
    two_parts(&recipe);
    whole(&recipe, items);
    every_sample();
    permanent_needs_its_secret();
    known_refusals();
    unfinished_recipe();
    return check_summary();
}
