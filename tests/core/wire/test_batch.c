// SPDX-License-Identifier: Apache-2.0
// Batches of both versions: round trip, every truncation, every bit flip, wrong recipe, bad
// records, header arithmetic; in version 2 the id and the day.
#include "batch.h"

#include <string.h>

#include "check.h"
#include "checksum.h"
#include "samples.h"
#include "sha256.h"

#define DAY 20780u // 2026-11-23

static uint8_t bytes[1 << 16];
static const uint8_t salt[16] = {1, 2, 3};

static size_t make_version(const shoal_recipe *recipe, uint32_t count, uint32_t version)
{
    size_t header = version == 1 ? SHOAL_BATCH_HEADER_V1 : SHOAL_BATCH_HEADER;
    const shoal_permanent permanent = {{2}};
    uint8_t seed[32] = {8};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *record = bytes + header + (size_t)i * recipe->record_size;
        CHECK(sample_randomize(record, recipe, "1", &permanent, &rng) == SHOAL_OK);
    }
    size_t len =
        version == 1 ? shoal_batch_size_v1(recipe, count) : shoal_batch_size(recipe, count);
    CHECK(len == header + (size_t)count * recipe->record_size + SHOAL_BATCH_TRAILER);
    CHECK((version == 1 ? shoal_batch_seal_v1(bytes, len, recipe, count, salt)
                        : shoal_batch_seal(bytes, len, recipe, count, DAY, salt)) == SHOAL_OK);
    return len;
}

static size_t make_batch(const shoal_recipe *recipe, uint32_t count)
{
    return make_version(recipe, count, 2);
}

static void reseal(size_t len)
{
    uint64_t sum = shoal_checksum_of(bytes, len - 8);
    for (uint32_t i = 0; i < 8; i++) bytes[len - 8 + i] = (uint8_t)(sum >> (8 * i));
}

static void damage_version(const shoal_recipe *recipe, uint32_t version)
{
    shoal_batch batch;
    size_t len = make_version(recipe, 3, version);
    CHECK(len == (version == 1 ? 72 : 88) + 3 * (size_t)recipe->record_size + 8);
    CHECK(shoal_batch_open(&batch, bytes, len, recipe, NULL) == SHOAL_OK);
    CHECK(batch.count == 3 && batch.size == len && batch.record_size == recipe->record_size);
    CHECK(batch.version == version && batch.day == (version == 1 ? 0 : DAY));
    CHECK(batch.header == (version == 1 ? 72 : 88));
    CHECK((memcmp(batch.id, salt, sizeof salt) == 0) == (version == 1));
    for (size_t cut = 0; cut < len; cut++)
        CHECK(shoal_batch_open(&batch, bytes, cut, recipe, NULL) == SHOAL_ERR_TRUNCATED);
    CHECK(shoal_batch_open(&batch, bytes, len + 1, recipe, NULL) == SHOAL_ERR_EXTRA);
    for (size_t bit = 0; bit < 8 * len; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(shoal_batch_open(&batch, bytes, len, recipe, NULL) != SHOAL_OK);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    bytes[8] = 3;
    reseal(len);
    CHECK(shoal_batch_open(&batch, bytes, len, recipe, NULL) == SHOAL_ERR_VERSION);
    bytes[8] = 0;
    reseal(len);
    CHECK(shoal_batch_open(&batch, bytes, len, recipe, NULL) == SHOAL_ERR_VERSION);
}

static void damage(const shoal_recipe *recipe)
{
    damage_version(recipe, 1);
    damage_version(recipe, 2);
}

// Under a right checksum every byte but those of the trailer is held by the id.
static void every_bit_is_in_the_id(void)
{
    shoal_recipe recipe;
    shoal_batch batch;
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 128, 32) == SHOAL_OK);
    size_t len = make_batch(&recipe, 3);
    int n_wrong_id = 0;
    for (size_t bit = 0; bit < 8 * (len - 8); bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        reseal(len);
        shoal_err err = shoal_batch_open(&batch, bytes, len, &recipe, NULL);
        bool is_salt = bit >= 8 * 72 && bit < 8 * 88, is_id = bit >= 8 * 56 && bit < 8 * 72;
        CHECK(err != SHOAL_OK);
        if (is_salt || is_id) CHECK(err == SHOAL_ERR_BATCH_ID);
        n_wrong_id += err == SHOAL_ERR_BATCH_ID;
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    CHECK(n_wrong_id > 2 * 128 + 3 * 32); // id, salt, the records' bits, days
    reseal(len);
    CHECK(shoal_batch_open(&batch, bytes, len, &recipe, NULL) == SHOAL_OK);
}

// The id by its definition in batch.h, and that the day and the salt are in it.
static void id_and_day(void)
{
    static const uint8_t other[16] = {1, 2, 4};
    shoal_recipe recipe;
    shoal_batch batch, again;
    shoal_sha256 sha;
    uint8_t digest[32];
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 128, 32) == SHOAL_OK);
    size_t len = make_batch(&recipe, 3);
    CHECK(shoal_batch_open(&batch, bytes, len, &recipe, NULL) == SHOAL_OK);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)"shoal batch\0", 12);
    shoal_sha256_update(&sha, bytes, 56);
    shoal_sha256_update(&sha, bytes + 72, len - 72 - 8);
    shoal_sha256_final(digest, &sha);
    CHECK(memcmp(batch.id, digest, 16) == 0);
    CHECK(shoal_batch_seal(bytes, len, &recipe, 3, DAY, other) == SHOAL_OK);
    CHECK(shoal_batch_open(&again, bytes, len, &recipe, NULL) == SHOAL_OK);
    CHECK(memcmp(again.id, batch.id, 16) != 0);
    CHECK(shoal_batch_seal(bytes, len, &recipe, 3, DAY + 1, salt) == SHOAL_OK);
    CHECK(shoal_batch_open(&again, bytes, len, &recipe, NULL) == SHOAL_OK);
    CHECK(memcmp(again.id, batch.id, 16) != 0 && again.day == DAY + 1);
    static const struct {
        uint32_t day;
        shoal_err err;
    } days[] = {{0, SHOAL_ERR_DAY_ZERO},
                {1, SHOAL_OK},
                {SHOAL_BATCH_DAY_MAX, SHOAL_OK},
                {SHOAL_BATCH_DAY_MAX + 1, SHOAL_ERR_DAY_LATE},
                {UINT32_MAX, SHOAL_ERR_DAY_LATE}};
    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
        CHECK(shoal_batch_seal(bytes, len, &recipe, 3, days[i].day, salt) == days[i].err);
        make_batch(&recipe, 3);
        for (int b = 0; b < 4; b++) bytes[20 + b] = (uint8_t)(days[i].day >> (8 * b));
        shoal_batch head = {.size = len};
        shoal_batch_id(bytes + 56, &head, bytes);
        reseal(len);
        CHECK(shoal_batch_open(&again, bytes, len, &recipe, NULL) == days[i].err);
    }
}

// Bytes that the program sealed before version 2: two GRR answers out of five values.
static void earlier_bytes(void)
{
    static const uint8_t old[] = {
        0x73, 0x68, 0x6f, 0x61, 0x6c, 0x62, 0x61, 0x74, 0x01, 0x00, 0x00, 0x00, 0x04, 0x00,
        0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe4, 0xd3, 0x9b, 0x27,
        0x16, 0x18, 0x41, 0xfa, 0xa3, 0x21, 0x82, 0x61, 0x51, 0xab, 0xe3, 0x57, 0x4a, 0xcd,
        0xbe, 0x45, 0x9f, 0xf0, 0xc3, 0xf5, 0x07, 0xca, 0xbe, 0x3f, 0xe2, 0xda, 0x82, 0x79,
        0xca, 0x71, 0x87, 0x66, 0x38, 0xce, 0x99, 0xee, 0xaf, 0x36, 0xc2, 0xa4, 0x0b, 0x22,
        0x2e, 0xc7, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
        0x36, 0xa8, 0x0e, 0x28, 0xec, 0xe4, 0x75, 0x77};
    shoal_recipe recipe;
    shoal_batch batch;
    uint8_t again[sizeof old];
    for (size_t i = 0; sample_number(i).sample != NULL; i++) {
        sample_at at = sample_number(i);
        CHECK(sample_recipe(&recipe, at.mechanism, at.sample) == SHOAL_OK);
        if (recipe.record_size == 4 && recipe.parts[0].mechanism == shoal_grr_id &&
            recipe.n_parts == 1)
            break;
    }
    CHECK(recipe.record_size == 4 && recipe.parts[0].mechanism == shoal_grr_id);
    memcpy(recipe.recipe_hash, old + 24, 32); // that recipe's values are another file's
    CHECK(shoal_batch_open(&batch, old, sizeof old, &recipe, NULL) == SHOAL_OK);
    CHECK(batch.version == 1 && batch.count == 3 && batch.day == 0 && batch.id[0] == 0xca);
    memcpy(again, old, sizeof old);
    CHECK(shoal_batch_seal_v1(again, sizeof again, &recipe, 3, batch.id) == SHOAL_OK);
    CHECK(memcmp(again, old, sizeof old) == 0);
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
    reseal(len); // the id is wrong too, but a bad record says more
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
                                : err == SHOAL_ERR_BATCH_ID && found == UINT32_MAX);
        }
    }
}

static void sizes(void)
{
    shoal_recipe recipe;
    shoal_batch batch;
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 4096, 65536) == SHOAL_OK); // 8196 bytes a record
    CHECK(shoal_batch_size(&recipe, 0) == 0);
    CHECK(shoal_batch_size(&recipe, 32751) == 88 + 32751u * 8196 + 8);
    CHECK(shoal_batch_size(&recipe, 32752) == 0); // over 2^28
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 4, 4) == SHOAL_OK);
    CHECK(shoal_batch_size(&recipe, 1000000) == 8000096 && shoal_batch_size(&recipe, 1000001) == 0);
    CHECK(shoal_batch_seal(bytes, 88 + 8 + 7, &recipe, 1, DAY, salt) == SHOAL_ERR_ARGUMENT);
    CHECK(shoal_batch_seal(bytes, 0, &recipe, 0, DAY, salt) == SHOAL_ERR_ARGUMENT);
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
    id_and_day();
    every_bit_is_in_the_id();
    earlier_bytes();
    return check_summary();
}
