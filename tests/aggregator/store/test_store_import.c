// SPDX-License-Identifier: Apache-2.0
// Imports: blocks that merge like the store's own, a second import that is refused whatever
// happened in between, a process that died before it entered its block, and batches beside.
#include "store_fixture.h"

#include "store_import.h"

enum { DAY = 20778, GENERATIONS = 4, RECORDS = 120 };

typedef struct world {
    char folder[64];
    agg_recipe recipe;
    agg_store *store;
    int64_t collection;
    agg_accumulator accs[GENERATIONS]; // each after all before it
} world;

// An accumulator of generation `number`: records of a batch, and all of its manifest.
static void make_generation(world *w, uint32_t number)
{
    agg_error error = {SHOAL_OK, 0, ""};
    uint8_t earlier[GENERATIONS][32] = {{0}};
    agg_shard_claims claims;
    agg_accumulator *acc = &w->accs[number];
    agg_shard_claim about = {
        .generation = number + 1, .n_shards = 1, .n_earlier = number, .earlier = earlier};
    for (uint32_t i = 0; i < number; i++) earlier[i][0] = (uint8_t)(i + 1);
    about.manifest[0] = (uint8_t)(number + 1);
    fixture_batch batch = fixture_batch_make(w->recipe.recipe, RECORDS - 100 + number);
    must(agg_accumulator_init(acc, &error, w->recipe.recipe), &error);
    must(agg_accumulator_add(acc, &error, batch.bytes + SHOAL_BATCH_HEADER_V1, batch.count, 1),
         &error);
    must(agg_shard_claims_of(&claims, &error, &about, 1), &error);
    must(agg_accumulator_claim_shards(acc, &error, &claims), &error);
    agg_shard_claims_release(&claims);
    free(batch.bytes);
}

static void open_store(world *w)
{
    agg_error error;
    must(agg_store_open(&w->store, &error, w->folder), &error);
    must(agg_store_collection(w->store, &w->collection, &error, w->recipe.recipe, DAY), &error);
}

static void fill(world *w)
{
    fixture_folder(w->folder);
    fixture_recipe(&w->recipe);
    open_store(w);
    for (uint32_t i = 0; i < GENERATIONS; i++) make_generation(w, i);
}

static void empty(world *w)
{
    agg_store_close(w->store);
    for (uint32_t i = 0; i < GENERATIONS; i++) agg_accumulator_release(&w->accs[i]);
    agg_recipe_release(&w->recipe);
    fixture_remove(w->folder);
}

static agg_err import(world *w, uint32_t number, int32_t day)
{
    agg_error error;
    int64_t block = 0;
    return agg_store_import(w->store, &block, &error, w->collection, w->recipe.recipe,
                            &w->accs[number], DAY + day, DAY + 10);
}

// Checks that the days first .. last hold so many records in so many blocks, of these generations.
static void check_days(world *w, int32_t first, int32_t last, uint64_t n_blocks, uint32_t from,
                       uint32_t end)
{
    agg_error error;
    agg_released released;
    agg_accumulator acc, sum;
    const agg_span span = {DAY + first, DAY + last};
    must(agg_store_load(w->store, &acc, &released, &error, w->collection, w->recipe.recipe, span),
         &error);
    assert_int_equal(released.n, n_blocks);
    must(agg_accumulator_init(&sum, &error, w->recipe.recipe), &error);
    sum.n = 0;
    for (uint32_t i = from; i < end; i++) {
        agg_accumulator copy = w->accs[i]; // without its claims
        memset(&copy.shards, 0, sizeof copy.shards);
        must(agg_accumulator_merge(&sum, &error, &copy), &error);
    }
    assert_int_equal(acc.n, sum.n);
    assert_memory_equal(acc.parts[0].cells.ones, sum.parts[0].cells.ones,
                        sum.parts[0].n_cells * sizeof *sum.parts[0].cells.ones);
    agg_accumulator_release(&acc);
    agg_accumulator_release(&sum);
}

static void blocks_merge_and_stay_imported(void **state)
{
    world w;
    agg_error error;
    uint64_t n_merged = 0;
    (void)state;
    fill(&w);
    assert_int_equal(import(&w, 0, 0), SHOAL_OK);
    assert_int_equal(import(&w, 1, 0), SHOAL_ERR_RANGE); // the day is released
    assert_int_equal(import(&w, 1, 11), SHOAL_ERR_RANGE);
    assert_int_equal(import(&w, 1, 1), SHOAL_OK);
    assert_int_equal(import(&w, 2, 3), SHOAL_OK);
    assert_int_equal(w.accs[2].shards.n, 1); // the caller's stays as it was
    check_days(&w, 0, 0, 1, 0, 1);
    check_days(&w, 0, 9, 3, 0, 3);
    must(agg_store_merge_blocks(w.store, &n_merged, &error, w.collection, w.recipe.recipe,
                                DAY + 400, AGG_RETENTION_DEFAULT),
         &error);
    assert_int_equal(n_merged, 3);
    check_days(&w, 0, 0, 1, 0, 3);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(import(&w, i, 9), SHOAL_ERR_DUPLICATE);
    agg_store_close(w.store);
    open_store(&w);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(import(&w, i, 9), SHOAL_ERR_DUPLICATE);
    assert_int_equal(import(&w, 3, 9), SHOAL_OK);
    check_days(&w, 0, 9, 2, 0, 4);
    empty(&w);
}

// A process that is killed leaves its file, or the whole block.
static void a_killed_import_leaves_nothing_or_all(void **state)
{
    world w;
    agg_error error;
    char path[160];
    (void)state;
    fill(&w);
    assert_int_equal(import(&w, 0, 0), SHOAL_OK);
    agg_store_close(w.store);
    snprintf(path, sizeof path, "%s/accumulators/c%d-b2-g1.acc", w.folder, (int)w.collection);
    must(agg_accumulator_save(&w.accs[1], &error, path), &error);
    open_store(&w);
    assert_int_not_equal(access(path, F_OK), 0);
    check_days(&w, 0, 9, 1, 0, 1);
    assert_int_equal(import(&w, 1, 1), SHOAL_OK);
    check_days(&w, 0, 9, 2, 0, 2);
    empty(&w);
}

static void batches_and_imports_exclude_each_other(void **state)
{
    world w;
    agg_error error;
    agg_put put;
    (void)state;
    fill(&w);
    fixture_batch batch = fixture_batch_make(w.recipe.recipe, 1);
    assert_int_equal(import(&w, 0, 0), SHOAL_OK);
    assert_int_equal(
        fixture_put(w.store, &put, &error, w.collection, w.recipe.recipe, DAY + 1, &batch),
        SHOAL_ERR_ARGUMENT);
    check_days(&w, 0, 9, 1, 0, 1);
    empty(&w);
    fill(&w);
    must(fixture_put(w.store, &put, &error, w.collection, w.recipe.recipe, DAY, &batch), &error);
    assert_int_equal(import(&w, 0, 0), SHOAL_ERR_DUPLICATE);
    empty(&w);
    free(batch.bytes);
}

static void what_is_no_whole_generation_is_refused(void **state)
{
    world w;
    agg_error error;
    agg_shard_claim about = {.manifest = {9}, .generation = 1, .n_shards = 3};
    agg_shard_claims claims;
    (void)state;
    fill(&w);
    agg_accumulator *acc = &w.accs[0];
    agg_shard_claims whole = acc->shards;
    must(agg_shard_claims_of(&claims, &error, &about, 2), &error);
    acc->shards = claims;
    assert_int_equal(import(&w, 0, 0), AGG_ERR_INCOMPLETE);
    memset(&acc->shards, 0, sizeof acc->shards);
    assert_int_equal(import(&w, 0, 0), SHOAL_ERR_ARGUMENT);
    acc->shards = whole;
    agg_shard_claims_release(&claims);
    acc->n = 99; // a block has 100
    assert_int_equal(import(&w, 0, 0), AGG_ERR_COHORT);
    acc->n = 120;
    assert_int_equal(import(&w, 0, 0), SHOAL_OK);
    // A manifest that does not know the first may list its batches.
    w.accs[2].shards.list[0].n_earlier = 0;
    assert_int_equal(import(&w, 2, 1), SHOAL_ERR_DUPLICATE);
    w.accs[2].shards.list[0].n_earlier = 2;
    // One that does may come before an earlier one, as a later day.
    assert_int_equal(import(&w, 2, 1), SHOAL_OK);
    assert_int_equal(import(&w, 1, 2), SHOAL_OK);
    empty(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_merge_and_stay_imported),
        cmocka_unit_test(a_killed_import_leaves_nothing_or_all),
        cmocka_unit_test(batches_and_imports_exclude_each_other),
        cmocka_unit_test(what_is_no_whole_generation_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
