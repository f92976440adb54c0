// SPDX-License-Identifier: Apache-2.0
// Batches: round trip, every truncation, every bit flip, wrong recipe, bad records, header
// arithmetic.
#include "batch.h"

#include <string.h>

#include "check.h"
#include "checksum.h"
#include "samples.h"

static uint8_t bytes[1 << 16];

static size_t make_batch(const shoal_recipe *recipe, uint32_t count)
{
    const shoal_permanent permanent = {{2}};
    uint8_t seed[32] = {8}, id[16] = {1, 2, 3};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *record = bytes + SHOAL_BATCH_HEADER + (size_t)i * recipe->record_size;
        CHECK(sample_randomize(record, recipe, "1", &permanent, &rng) == SHOAL_OK);
    }
    size_t len = shoal_batch_size(recipe, count);
    CHECK(shoal_batch_seal(bytes, len, recipe, count, id) == SHOAL_OK);
    return len;
}

static void reseal(size_t len)
{
    uint64_t sum = shoal_checksum_of(bytes, len - 8);
    for (uint32_t i = 0; i < 8; i++) bytes[len - 8 + i] = (uint8_t)(sum >> (8 * i));
}

static void damage(const shoal_recipe *recipe)
{
    shoal_batch batch;
    size_t len = make_batch(recipe, 3);
    CHECK(len == 72 + 3 * (size_t)recipe->record_size + 8);
    CHECK(shoal_batch_open(&batch, bytes, len, recipe, NULL) == SHOAL_OK);
    CHECK(batch.count == 3 && batch.size == len && batch.id[0] == 1 &&
          batch.record_size == recipe->record_size);
    for (size_t cut = 0; cut < len; cut++)
        CHECK(shoal_batch_open(&batch, bytes, cut, recipe, NULL) == SHOAL_ERR_TRUNCATED);
    CHECK(shoal_batch_open(&batch, bytes, len + 1, recipe, NULL) == SHOAL_ERR_EXTRA);
    for (size_t bit = 0; bit < 8 * len; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(shoal_batch_open(&batch, bytes, len, recipe, NULL) != SHOAL_OK);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    bytes[8] = 2;
    reseal(len);
    CHECK(shoal_batch_open(&batch, bytes, len, recipe, NULL) == SHOAL_ERR_VERSION);
}

// The samples of every mechanism whose records are short: every bit of a batch is flipped.
static void every_sample(void)
{
    shoal_recipe recipe;
    for (size_t i = 0; sample_number(i).sample != NULL; i++) {
        sample_at at = sample_number(i);
        CHECK(sample_recipe(&recipe, at.mechanism, at.sample) == SHOAL_OK);
        if (recipe.record_size <= 40) damage(&recipe);
    }
}

static void wrong_recipe(void)
{
    shoal_recipe recipe, other;
    shoal_batch batch;
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 100, 32) == SHOAL_OK);
    CHECK(sketch_recipe(&other, "cms", 4000001, 100, 32) == SHOAL_OK);
    size_t len = make_batch(&recipe, 2);
    CHECK(shoal_batch_open(&batch, bytes, len, &other, NULL) == SHOAL_ERR_RECIPE_HASH);
    // The right hash over records of another width
    CHECK(sketch_recipe(&other, "cms", 4000000, 100, 64) == SHOAL_OK);
    memcpy(bytes + 24, other.recipe_hash, 32);
    reseal(len);
    CHECK(shoal_batch_open(&batch, bytes, len, &other, NULL) == SHOAL_ERR_RANGE);
}

static void bad_record(void)
{
    shoal_recipe recipe;
    shoal_batch batch;
    uint32_t at = 99;
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 100, 32) == SHOAL_OK);
    size_t len = make_batch(&recipe, 5);
    bytes[SHOAL_BATCH_HEADER + 3 * recipe.record_size] = 100; // row 100 of 100
    reseal(len);
    CHECK(shoal_batch_open(&batch, bytes, len, &recipe, &at) == SHOAL_ERR_RECORD && at == 3);
}

// More records than are checked together, two of them bad: the first is named, by its number in the
// batch.
static void far_bad_records(void)
{
    static const uint32_t at[][2] = {
        {6999, 6999}, {6998, 6999}, {4096, 4095}, {0, 6999}, {5000, 4999}};
    shoal_recipe recipe;
    shoal_batch batch;
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 16, 32) == SHOAL_OK);
    size_t len = make_batch(&recipe, 7000);
    CHECK(shoal_batch_open(&batch, bytes, len, &recipe, NULL) == SHOAL_OK);
    for (size_t c = 0; c < sizeof at / sizeof at[0]; c++) {
        uint32_t found = UINT32_MAX, first = at[c][0] < at[c][1] ? at[c][0] : at[c][1];
        make_batch(&recipe, 7000);
        for (int i = 0; i < 2; i++) bytes[SHOAL_BATCH_HEADER + at[c][i] * recipe.record_size] = 16;
        CHECK(shoal_batch_open(&batch, bytes, len, &recipe, &found) == SHOAL_ERR_CHECKSUM &&
              found == UINT32_MAX);
        reseal(len);
        CHECK(shoal_batch_open(&batch, bytes, len, &recipe, &found) == SHOAL_ERR_RECORD &&
              found == first);
    }
}

// A batch's first bad record is the first that shoal_record_check refuses, whichever part it is
// that is bad.
static void bad_records_of_every_sample(void)
{
    enum { COUNT = 6 };
    uint8_t seed[32] = {9};
    shoal_recipe recipe;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (size_t i = 0; sample_number(i).sample != NULL; i++) {
        sample_at at = sample_number(i);
        CHECK(sample_recipe(&recipe, at.mechanism, at.sample) == SHOAL_OK);
        if (recipe.record_size > 4096) continue;
        for (int round = 0; round < 20; round++) {
            shoal_batch batch;
            uint32_t found = UINT32_MAX, first = 0;
            size_t len = make_batch(&recipe, COUNT);
            for (int b = 0; b < 3; b++)
                bytes[SHOAL_BATCH_HEADER +
                      shoal_rng_below(&rng, COUNT * (uint64_t)recipe.record_size)] = 0xff;
            reseal(len);
            while (first < COUNT &&
                   shoal_record_check(&recipe, bytes + SHOAL_BATCH_HEADER +
                                                   first * (size_t)recipe.record_size) == SHOAL_OK)
                first++;
            shoal_err err = shoal_batch_open(&batch, bytes, len, &recipe, &found);
            CHECK(first < COUNT ? err == SHOAL_ERR_RECORD && found == first
                                : err == SHOAL_OK && found == UINT32_MAX);
        }
    }
}

static void sizes(void)
{
    shoal_recipe recipe;
    shoal_batch batch;
    uint8_t id[16] = {0};
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 4096, 65536) == SHOAL_OK); // 8196 bytes a record
    CHECK(shoal_batch_size(&recipe, 0) == 0);
    CHECK(shoal_batch_size(&recipe, 32751) == 72 + 32751u * 8196 + 8);
    CHECK(shoal_batch_size(&recipe, 32752) == 0); // over 2^28
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 4, 4) == SHOAL_OK);
    CHECK(shoal_batch_size(&recipe, 1000000) == 8000080 && shoal_batch_size(&recipe, 1000001) == 0);
    CHECK(shoal_batch_seal(bytes, 72 + 8 + 7, &recipe, 1, id) == SHOAL_ERR_ARGUMENT);
    CHECK(shoal_batch_seal(bytes, 0, &recipe, 0, id) == SHOAL_ERR_ARGUMENT);
    size_t len = make_batch(&recipe, 1);
    memset(bytes + 12, 0xff, 8); // record_size and count that would overflow 32 bits
    reseal(len);
    CHECK(shoal_batch_peek(&batch, bytes, len) == SHOAL_ERR_RANGE);
    CHECK(shoal_batch_peek(&batch, (const uint8_t *)"{\"key\"", 6) == SHOAL_ERR_MAGIC);
    CHECK(shoal_batch_peek(&batch, (const uint8_t *)"shoal", 5) == SHOAL_ERR_TRUNCATED);
}

int main(void)
{
    shoal_recipe recipe;
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 100, 32) == SHOAL_OK);
    damage(&recipe);
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 16, 32) == SHOAL_OK);
    damage(&recipe);
    CHECK(onehot_recipe(&recipe, 4000000, 9) == SHOAL_OK);
    damage(&recipe);
    every_sample();
    wrong_recipe();
    bad_record();
    far_bad_records();
    bad_records_of_every_sample();
    sizes();
    return check_summary();
}
