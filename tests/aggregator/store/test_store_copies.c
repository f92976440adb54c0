// SPDX-License-Identifier: Apache-2.0
// Copies among the records of blocks: what is said of a closed block is of all its records and of
// no others, nothing is said of an open one, and where a record may be missing or twice it is said
// too.
#include "store_copies.h"
#include "store_fixture.h"

#include <sqlite3.h>

enum { N = 6, DAY = 20778 };

typedef struct bench {
    char folder[64];
    agg_recipe recipe;
    agg_store *store;
    int64_t collection;
    fixture_batch batches[N]; // 100, 101, ... 105 records
} bench;

static void open_store(bench *b)
{
    agg_error error;
    must(agg_store_open(&b->store, &error, b->folder), &error);
    must(agg_store_collection(b->store, &b->collection, &error, b->recipe.recipe, DAY), &error);
    must(agg_store_count_copies(b->store, &error, b->collection, b->recipe.recipe), &error);
    must(agg_store_count_copies(b->store, &error, b->collection, b->recipe.recipe), &error);
}

static void reopen(bench *b)
{
    agg_store_close(b->store);
    open_store(b);
}

// Folds, and closes the open block at the midnight before a day.
static agg_err try_turn(bench *b, agg_error *error, int32_t day)
{
    uint64_t n_records;
    return fixture_turn(b->store, &n_records, error, b->collection, b->recipe.recipe,
                        (int64_t)FIXTURE_DAY_S * day, FIXTURE_DAY_S);
}

static void turn(bench *b, int32_t day)
{
    agg_error error;
    must(try_turn(b, &error, day), &error);
}

static void put(bench *b, int first, int last)
{
    agg_error error;
    agg_put result;
    for (int i = first; i <= last; i++)
        must(fixture_put(b->store, &result, &error, b->collection, b->recipe.recipe, DAY,
                         &b->batches[i]),
             &error);
}

static agg_copies_seen seen(bench *b)
{
    agg_error error;
    agg_released released;
    must(agg_store_find_released(b->store, &released, &error, b->collection, AGG_SPAN_ALL), &error);
    return released.copies;
}

static double p_of(bench *b)
{
    double likeliest;
    agg_copies_seen of = seen(b);
    return agg_copies_seen_p(&likeliest, b->recipe.recipe, &of);
}

// Makes batch `i` a batch of copies of its first record.
static void copy_first(bench *b, int i)
{
    fixture_batch *batch = &b->batches[i];
    size_t size = shoal_record_size(b->recipe.recipe);
    uint8_t *records = batch->bytes + SHOAL_BATCH_HEADER_V1;
    for (uint32_t r = 1; r < batch->count; r++) memcpy(records + r * size, records, size);
    assert_int_equal(
        shoal_batch_seal_v1(batch->bytes, batch->len, b->recipe.recipe, batch->count, batch->id),
        SHOAL_OK);
}

static void set_up_with(bench *b, void (*make_recipe)(agg_recipe *))
{
    fixture_folder(b->folder);
    make_recipe(&b->recipe);
    for (uint32_t i = 0; i < N; i++) b->batches[i] = fixture_batch_make(b->recipe.recipe, i);
    open_store(b);
    turn(b, DAY); // the first call only notes the tick
}

static void release_bench(bench *b)
{
    agg_store_close(b->store);
    for (int i = 0; i < N; i++) free(b->batches[i].bytes);
    agg_recipe_release(&b->recipe);
    fixture_remove(b->folder);
}

static void (*const recipes[])(agg_recipe *) = {fixture_recipe, fixture_sum_recipe};

static void blocks_are_counted_apart_and_open_ones_are_silent(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        bench b = {.collection = 0};
        set_up_with(&b, recipes[i]);
        put(&b, 0, 2);
        put(&b, 0, 2); // known: they count once
        turn(&b, DAY);
        assert_int_equal(seen(&b).n_examined, 0);
        turn(&b, DAY + 1);
        assert_int_equal(seen(&b).n_examined, 303);
        assert_true(seen(&b).is_whole);
        assert_true(p_of(&b) > AGG_COPIES_RATE);
        copy_first(&b, 3);
        put(&b, 3, 5);
        turn(&b, DAY + 1);
        assert_int_equal(seen(&b).n_examined, 303); // nothing of the open block
        assert_true(p_of(&b) > AGG_COPIES_RATE);
        turn(&b, DAY + 2);
        assert_int_equal(seen(&b).n_examined, 303 + 103 + 104 + 105);
        assert_int_equal(seen(&b).largest, 103);
        assert_true(seen(&b).is_whole);
        assert_true(p_of(&b) < AGG_COPIES_RATE);
        agg_copies_seen before = seen(&b);
        reopen(&b); // with no block open
        assert_int_equal(seen(&b).n_examined, before.n_examined);
        assert_int_equal(seen(&b).largest, before.largest);
        assert_true(seen(&b).is_whole);
        release_bench(&b);
    }
}

static void a_restart_within_a_block_makes_it_incomplete_and_no_other(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        bench b = {.collection = 0};
        set_up_with(&b, recipes[i]);
        put(&b, 0, 0);
        turn(&b, DAY); // it is in the open block
        reopen(&b);
        copy_first(&b, 1);
        put(&b, 1, 2);
        turn(&b, DAY + 1);
        assert_int_equal(seen(&b).n_examined, 101 + 102);
        assert_false(seen(&b).is_whole);
        assert_true(p_of(&b) < AGG_COPIES_RATE); // what passed is evidence all the same
        put(&b, 3, 5);
        turn(&b, DAY + 2);
        assert_false(seen(&b).is_whole);
        agg_error error;
        agg_released newest;
        must(agg_store_find_released(b.store, &newest, &error, b.collection,
                                     (agg_span){DAY + 1, DAY + 1}),
             &error);
        assert_int_equal(newest.copies.n_examined, 103 + 104 + 105);
        assert_true(newest.copies.is_whole);
        release_bench(&b);
    }
}

static void merged_blocks_keep_what_was_seen(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        bench b = {.collection = 0};
        agg_error error;
        uint64_t n_merged = 0;
        set_up_with(&b, recipes[i]);
        copy_first(&b, 1);
        put(&b, 0, 2);
        turn(&b, DAY + 1);
        put(&b, 3, 5);
        turn(&b, DAY + 2);
        agg_copies_seen before = seen(&b);
        must(agg_store_merge_blocks(b.store, &n_merged, &error, b.collection, b.recipe.recipe,
                                    DAY + 400, AGG_RETENTION_DEFAULT),
             &error);
        assert_int_equal(n_merged, 2);
        assert_int_equal(seen(&b).n_examined, before.n_examined);
        assert_int_equal(seen(&b).largest, before.largest);
        assert_true(seen(&b).is_whole);
        release_bench(&b);
    }
}

// An older release closes and merges blocks, and knows nothing of the rows.
static void a_row_that_does_not_fit_its_block_says_nothing(void **state)
{
    (void)state;
    bench b = {.collection = 0};
    char path[96];
    sqlite3 *db = NULL;
    set_up_with(&b, fixture_recipe);
    put(&b, 0, 2);
    turn(&b, DAY + 1);
    agg_store_close(b.store);
    snprintf(path, sizeof path, "%s/shoal.db", b.folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE copies SET records = records + 1", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    open_store(&b);
    assert_int_equal(seen(&b).n_examined, 0);
    assert_false(seen(&b).is_whole);
    release_bench(&b);
}

static void a_fold_that_failed_counts_no_record_twice(void **state)
{
    (void)state;
    bench b = {.collection = 0};
    agg_error error;
    char there[96], away[96];
    set_up_with(&b, fixture_recipe);
    put(&b, 0, 2);
    snprintf(there, sizeof there, "%s/accumulators", b.folder);
    snprintf(away, sizeof away, "%s/away", b.folder);
    assert_int_equal(rename(there, away), 0);
    for (int i = 0; i < 3; i++) assert_int_not_equal(try_turn(&b, &error, DAY), SHOAL_OK);
    assert_int_equal(rename(away, there), 0);
    turn(&b, DAY + 1);
    assert_int_equal(seen(&b).n_examined, 303);
    assert_false(seen(&b).is_whole);
    assert_true(p_of(&b) > AGG_COPIES_RATE); // honest reports, each counted once
    release_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_counted_apart_and_open_ones_are_silent),
        cmocka_unit_test(a_restart_within_a_block_makes_it_incomplete_and_no_other),
        cmocka_unit_test(merged_blocks_keep_what_was_seen),
        cmocka_unit_test(a_row_that_does_not_fit_its_block_says_nothing),
        cmocka_unit_test(a_fold_that_failed_counts_no_record_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
