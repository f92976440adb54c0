// SPDX-License-Identifier: Apache-2.0
// What the store counts of many collections at once is what it counts of each alone.
#include "recipe.h"
#include "store_fixture.h"

enum { KINDS = 3, BATCHES = 3, DAY = 20778 };

typedef struct bench {
    char folder[64];
    agg_store *store;
    agg_recipe recipes[KINDS]; // the last one has no report
    int64_t numbers[KINDS];
} bench;

static void third_recipe(agg_recipe *recipe)
{
    agg_error error;
    char json[sizeof fixture_json];
    memcpy(json, fixture_json, sizeof json);
    memcpy(strstr(json, "store-test"), "store-none", strlen("store-none"));
    must(agg_recipe_from_bytes(recipe, &error, "fixture", json, strlen(json)), &error);
}

static int set_up(void **state)
{
    static void (*const make[KINDS])(agg_recipe *) = {fixture_recipe, fixture_sum_recipe,
                                                      third_recipe};
    agg_error error;
    bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    fixture_folder(b->folder);
    must(agg_store_open(&b->store, &error, b->folder), &error);
    for (int i = 0; i < KINDS; i++) {
        make[i](&b->recipes[i]);
        must(agg_store_collection(b->store, &b->numbers[i], &error, b->recipes[i].recipe, DAY),
             &error);
    }
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    bench *b = *state;
    agg_store_close(b->store);
    for (int i = 0; i < KINDS; i++) agg_recipe_release(&b->recipes[i]);
    fixture_remove(b->folder);
    free(b);
    return 0;
}

static void put(bench *b, int kind, uint32_t i)
{
    agg_error error;
    agg_put result;
    fixture_batch batch = fixture_batch_make(b->recipes[kind].recipe, i);
    must(fixture_put(b->store, &result, &error, b->numbers[kind], b->recipes[kind].recipe, DAY,
                     &batch),
         &error);
    free(batch.bytes);
}

static void turn(bench *b, int kind, int32_t day)
{
    agg_error error;
    uint64_t n_records;
    must(fixture_turn(b->store, &n_records, &error, b->numbers[kind], b->recipes[kind].recipe,
                      (int64_t)FIXTURE_DAY_S * day, FIXTURE_DAY_S),
         &error);
}

static void expect_same(bench *b, bool with_batches)
{
    agg_error error;
    // In another order than the store's, and one that it does not have.
    const int64_t asked[KINDS + 1] = {b->numbers[1], b->numbers[2], 1000, b->numbers[0]};
    agg_store_stats all[KINDS + 1];
    memset(all, 0xff, sizeof all);
    must(agg_store_statistics_of(b->store, all, &error, asked, KINDS + 1, with_batches), &error);
    for (int i = 0; i <= KINDS; i++) {
        agg_store_stats one;
        must(agg_store_statistics(b->store, &one, &error, asked[i]), &error);
        assert_int_equal(all[i].batches, with_batches ? one.batches : 0);
        assert_int_equal(all[i].waiting_batches, one.waiting_batches);
        assert_int_equal(all[i].waiting_bytes, one.waiting_bytes);
        assert_int_equal(all[i].waiting_records, one.waiting_records);
        assert_int_equal(all[i].records, one.records);
        assert_int_equal(all[i].blocks, one.blocks);
        assert_int_equal(all[i].released, one.released);
    }
}

static void counts_are_those_of_each(void **state)
{
    bench *b = *state;
    agg_error error;
    agg_store_stats stats;
    for (int kind = 0; kind < KINDS; kind++) turn(b, kind, DAY); // notes the tick
    expect_same(b, true);
    for (uint32_t i = 0; i < BATCHES; i++)
        for (int kind = 0; kind < KINDS - 1; kind++) put(b, kind, i);
    must(agg_store_statistics_of(b->store, &stats, &error, &b->numbers[0], 1, true), &error);
    assert_int_equal(stats.batches, BATCHES);
    assert_int_equal(stats.waiting_batches, BATCHES);
    assert_int_equal(stats.waiting_records, 100 + 101 + 102);
    assert_true(stats.waiting_bytes > 0);
    expect_same(b, true);
    for (int kind = 0; kind < KINDS - 1; kind++) turn(b, kind, DAY + 1);
    put(b, 0, BATCHES); // waits
    put(b, 1, BATCHES); // is in the open sum
    must(agg_store_statistics_of(b->store, &stats, &error, &b->numbers[1], 1, false), &error);
    assert_int_equal(stats.batches, 0);
    assert_int_equal(stats.blocks, 1);
    assert_int_equal(stats.released, 100 + 101 + 102);
    assert_int_equal(stats.records, 100 + 101 + 102 + 103);
    expect_same(b, true);
    expect_same(b, false);
    must(agg_store_statistics_of(b->store, NULL, &error, NULL, 0, true), &error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_are_those_of_each, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
