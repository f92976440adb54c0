// SPDX-License-Identifier: Apache-2.0
// What the aggregator's cmocka tests share: recipes, records, accumulators as bytes.
#ifndef AGG_TEST_H
#define AGG_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> // needs those above it

#include "accumulator.h"
#include "agg_error.h"
#include "effort.h"
#include "recipe_json.h"
#include "record.h"

#define AGG_TEST_SEED "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

#define assert_ok(call) assert_int_equal((int)(call), (int)SHOAL_OK)
#define assert_err(call, err) assert_int_equal((int)(call), (int)(err))

// The text of a recipe: `sketch` is "cms" or "hcms"; `extra` further members, starting with a
// comma, or "".
static inline void sketch_text(char out[1024], const char *id, const char *sketch, double epsilon,
                               unsigned k, unsigned m, const char *seed, const char *extra)
{
    snprintf(out, 1024,
             "{\"recipe\":\"%s\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"%s\","
             "\"parameters\":{\"epsilon\":%g,\"k\":%u,\"m\":%u},\"hash\":\"poly1\",\"seed\":\"%s\","
             "\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"%s}",
             id, sketch, epsilon, k, m, seed, extra);
}

static inline void onehot_text(char out[1024], double epsilon, const char *list, const char *extra)
{
    snprintf(out, 1024,
             "{\"recipe\":\"list\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"onehot-asymmetric\",\"parameters\":{\"epsilon\":%g,%s},"
             "\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"%s}",
             epsilon, list, extra);
}

static inline void read_recipe(agg_recipe *recipe, const char *text)
{
    agg_error error = {SHOAL_OK, 0, ""};
    if (agg_recipe_from_bytes(recipe, &error, "test", text, strlen(text)) != SHOAL_OK)
        fail_msg("%s", error.text);
}

// The members of a recipe that was read, for a test that changes one.
static inline shoal_recipe *fields_of(agg_recipe *recipe)
{
    return (shoal_recipe *)recipe->recipe;
}

static inline void sketch_recipe(agg_recipe *recipe, const char *sketch, double epsilon, unsigned k,
                                 unsigned m)
{
    char text[1024];
    sketch_text(text, "test", sketch, epsilon, k, m, AGG_TEST_SEED, "");
    read_recipe(recipe, text);
}

// `count` records of the values value0 .. value9 (open) or indices 0 .. m-1, by stream numbers from
// `first`.
static inline uint8_t *make_records(const agg_recipe *recipe, uint32_t count, uint64_t first)
{
    static const uint8_t seed[32] = {7};
    size_t size = shoal_record_size(recipe->recipe);
    uint8_t *records = malloc(count * size + 1);
    shoal_rng rng;
    assert_non_null(records);
    for (uint32_t i = 0; i < count; i++) {
        char value[16];
        uint64_t item = (first + i) % shoal_recipe_part(recipe->recipe, 0)->m;
        int len = snprintf(value, sizeof value, "value%u", (unsigned)((first + i) % 10));
        if (!agg_recipe_is_closed(recipe))
            assert_true(agg_recipe_item(&item, recipe, value, (size_t)len));
        shoal_rng_init_stream(&rng, seed, first + i);
        assert_ok(shoal_record_randomize(records + i * size, recipe->recipe, &item, 1, NULL, &rng));
    }
    return records;
}

// The accumulator's file. Release with free.
static inline char *acc_bytes(size_t *len, const agg_accumulator *acc)
{
    char *bytes = NULL;
    agg_error error;
    FILE *stream = open_memstream(&bytes, len);
    assert_non_null(stream);
    assert_ok(agg_accumulator_write(stream, &error, acc));
    fclose(stream);
    assert_int_equal(*len, agg_accumulator_size(acc));
    return bytes;
}

static inline void assert_same_acc(const agg_accumulator *a, const agg_accumulator *b)
{
    size_t a_len = 0, b_len = 0;
    char *x = acc_bytes(&a_len, a), *y = acc_bytes(&b_len, b);
    assert_int_equal(a_len, b_len);
    assert_memory_equal(x, y, a_len);
    free(x);
    free(y);
}

static inline void read_acc(agg_accumulator *acc, const agg_recipe *recipe, const uint8_t *records,
                            uint32_t count, unsigned n_threads)
{
    agg_error error;
    assert_ok(agg_accumulator_init(acc, &error, recipe->recipe));
    assert_ok(agg_accumulator_add(acc, &error, records, count, n_threads));
}

// Reads a file of the tests' folder, NUL-terminated.
static inline char *read_test_file(size_t *len, const char *path)
{
    FILE *stream = fopen(path, "rb");
    char *bytes = malloc(1 << 20);
    if (stream == NULL) fail_msg("cannot open %s", path);
    assert_non_null(bytes);
    *len = fread(bytes, 1, (1 << 20) - 1, stream);
    bytes[*len] = '\0';
    fclose(stream);
    return bytes;
}

#endif
