// SPDX-License-Identifier: Apache-2.0
// What the store's tests share: recipes of both protocols, batches made by the core's own
// randomizer, and the accumulator they must sum to.
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store.h"

#include "recipe.h"

#include "recipe_json.h"

// A batch holds 100 records at least, a block 100.
static const char fixture_json[] =
    "{\"recipe\":\"store-test\",\"analysis\":\"tests\",\"stream\":\"words\",\"value\":\"word\","
    "\"mechanism\":\"cms\","
    "\"parameters\":{\"epsilon\":4,\"k\":16,\"m\":64},\"hash\":\"poly1\","
    "\"seed\":\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\",\"limit\":{"
    "\"per_day\":1},"
    "\"batch\":{\"minimum\":100},\"cohort\":{\"minimum\":100},"
    "\"expires\":\"2030-01-31\"}";

// The same collection as sums only: a batch holds 100 records at least, a block 250.
static const char fixture_sum_json[] =
    "{\"recipe\":\"store-sum\",\"analysis\":\"tests\",\"stream\":\"words\",\"value\":\"word\","
    "\"mechanism\":\"cms\","
    "\"parameters\":{\"epsilon\":4,\"k\":16,\"m\":64},\"hash\":\"poly1\","
    "\"seed\":\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\",\"limit\":{"
    "\"per_day\":1},"
    "\"batch\":{\"minimum\":100},\"cohort\":{\"minimum\":250},\"aggregation\":{\"protocol\":"
    "\"sum\"},"
    "\"expires\":\"2030-01-31\"}";

typedef struct fixture_batch {
    uint8_t id[16];
    uint8_t *bytes;
    size_t len;
    uint32_t count;
} fixture_batch;

static inline void must(agg_err err, const agg_error *error)
{
    if (err != SHOAL_OK) fail_msg("%s", error->text);
}

static inline void fixture_recipe(agg_recipe *recipe)
{
    agg_error error;
    must(agg_recipe_from_bytes(recipe, &error, "fixture", fixture_json, sizeof fixture_json - 1),
         &error);
}

static inline void fixture_sum_recipe(agg_recipe *recipe)
{
    agg_error error;
    must(agg_recipe_from_bytes(recipe, &error, "fixture", fixture_sum_json,
                               sizeof fixture_sum_json - 1),
         &error);
}

// Batch number i: 100 + i records of its own random stream.
static inline fixture_batch fixture_batch_make(const shoal_recipe *recipe, uint32_t i)
{
    fixture_batch batch = {.count = 100 + i};
    const uint8_t seed[32] = {7};
    shoal_rng rng;
    shoal_rng_init_stream(&rng, seed, i);
    batch.len = shoal_batch_size_v1(recipe, batch.count);
    batch.bytes = calloc(1, batch.len);
    assert_non_null(batch.bytes);
    for (uint32_t r = 0; r < batch.count; r++) {
        uint64_t item = shoal_rng_below(&rng, 5);
        assert_int_equal(shoal_record_randomize(batch.bytes + SHOAL_BATCH_HEADER_V1 +
                                                    (size_t)r * shoal_record_size(recipe),
                                                recipe, &item, 1, NULL, &rng),
                         SHOAL_OK);
    }
    shoal_rng_bytes(&rng, batch.id, 16);
    assert_int_equal(shoal_batch_seal_v1(batch.bytes, batch.len, recipe, batch.count, batch.id),
                     SHOAL_OK);
    return batch;
}

static inline agg_err fixture_put(agg_store *store, agg_put *put, agg_error *error,
                                  int64_t collection, const shoal_recipe *recipe, int32_t today,
                                  const fixture_batch *batch)
{
    return agg_store_put(store, put, error, collection, recipe, today, batch->id, batch->bytes,
                         batch->len);
}

#define FIXTURE_DAY_S 86400

// What the server's other thread does now and then: folds what waits, and closes the open block if
// a tick has passed.
//   n_records: of the block that was closed
static inline agg_err fixture_turn(agg_store *store, uint64_t *n_records, agg_error *error,
                                   int64_t collection, const shoal_recipe *recipe, int64_t now_s,
                                   uint32_t tick_s)
{
    uint64_t n_batches;
    agg_err err = agg_store_fold(store, &n_batches, error, collection, recipe, 1);
    return err == SHOAL_OK
               ? agg_store_close_block(store, n_records, error, collection, recipe, now_s, tick_s)
               : err;
}

// The accumulator's file as bytes; free it.
static inline uint8_t *fixture_bytes(const agg_accumulator *acc, size_t *len)
{
    agg_error error;
    char *bytes = NULL;
    FILE *stream = open_memstream(&bytes, len);
    must(agg_accumulator_write(stream, &error, acc), &error);
    fclose(stream);
    return (uint8_t *)bytes;
}

// Fails unless `acc` is to the byte what `n` batches, folded in memory, give.
static inline void fixture_expect(const agg_accumulator *acc, const shoal_recipe *recipe,
                                  const fixture_batch *batches, size_t n)
{
    agg_error error;
    agg_accumulator expected;
    must(agg_accumulator_init(&expected, &error, recipe), &error);
    for (size_t i = 0; i < n; i++) {
        must(agg_accumulator_add(&expected, &error, batches[i].bytes + SHOAL_BATCH_HEADER_V1,
                                 batches[i].count, 1),
             &error);
    }
    size_t expected_len, len;
    uint8_t *expected_bytes = fixture_bytes(&expected, &expected_len),
            *bytes = fixture_bytes(acc, &len);
    assert_int_equal(acc->n, expected.n);
    assert_int_equal(len, expected_len);
    assert_memory_equal(bytes, expected_bytes, len);
    free(bytes);
    free(expected_bytes);
    agg_accumulator_release(&expected);
}

// Makes an empty folder; in memory where the machine has such a place, because these tests sync a
// great deal.
static inline void fixture_folder(char path[64])
{
    snprintf(path, 64, "%s/shoal-store-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(path));
}

static inline void fixture_remove(const char *path)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

#endif
