// SPDX-License-Identifier: Apache-2.0
// Claims of what leaves the store: two accumulators that share a block do not merge, whichever
// spans they are of, and whatever retention merged in between.
#include "store_fixture.h"

#include "store_claim.h"

enum { DAY = 20778, DAYS = 4, A_DAY = 3 }; // A_DAY batches hold more than the minimum of 250

typedef struct world {
    char folder[64];
    agg_recipe recipe;
    agg_store *store;
    int64_t collection;
} world;

static void fill(world *w)
{
    agg_error error;
    agg_put put;
    uint64_t n = 0;
    fixture_folder(w->folder);
    fixture_sum_recipe(&w->recipe);
    must(agg_store_open(&w->store, &error, w->folder), &error);
    must(agg_store_collection(w->store, &w->collection, &error, w->recipe.recipe, DAY), &error);
    for (uint32_t day = 0; day <= DAYS; day++) {
        int64_t midnight = (int64_t)FIXTURE_DAY_S * (DAY + (int32_t)day);
        must(fixture_turn(w->store, &n, &error, w->collection, w->recipe.recipe, midnight,
                          FIXTURE_DAY_S),
             &error);
        assert_int_equal(n > 0, day > 0);
        for (uint32_t i = 0; day < DAYS && i < A_DAY; i++) {
            fixture_batch batch = fixture_batch_make(w->recipe.recipe, A_DAY * day + i);
            must(fixture_put(w->store, &put, &error, w->collection, w->recipe.recipe,
                             DAY + (int32_t)day, &batch),
                 &error);
            free(batch.bytes);
        }
    }
}

static void empty(world *w)
{
    agg_store_close(w->store);
    agg_recipe_release(&w->recipe);
    fixture_remove(w->folder);
}

// Loads days `first` to `last`, counted from 0, and claims them. Returns: blocks.
static uint64_t load(world *w, agg_accumulator *acc, int32_t first, int32_t last)
{
    agg_error error;
    agg_released released;
    const agg_span span = {DAY + first, DAY + last};
    must(agg_store_load(w->store, acc, &released, &error, w->collection, w->recipe.recipe, span),
         &error);
    must(agg_store_claim(w->store, acc, &error, w->collection, &released, span), &error);
    assert_true(acc->claims.is_complete);
    return released.n;
}

static void spans_that_share_a_block_share_a_claim(void **state)
{
    world w;
    agg_accumulator a, b;
    agg_error error;
    (void)state;
    fill(&w);
    for (int32_t i = 0; i < DAYS * DAYS * DAYS * DAYS; i++) {
        int32_t first = i % DAYS, last = i / DAYS % DAYS, from = i / DAYS / DAYS % DAYS,
                to = i / DAYS / DAYS / DAYS;
        if (first > last || from > to) continue;
        assert_int_equal(load(&w, &a, first, last), last - first + 1);
        assert_int_equal(a.claims.n, last - first + 1);
        load(&w, &b, from, to);
        bool is_apart = last < from || to < first;
        assert_int_equal(agg_accumulator_merge(&a, &error, &b) == SHOAL_OK, is_apart);
        agg_accumulator_release(&a);
        agg_accumulator_release(&b);
    }
    assert_int_equal(load(&w, &a, 100, 200), 0); // no block
    assert_int_equal(a.claims.n, 0);
    agg_accumulator_release(&a);
    empty(&w);
}

static void merged_blocks_keep_the_claims_of_their_parts(void **state)
{
    world w;
    agg_accumulator day, before, after;
    agg_error error;
    uint64_t n_merged = 1;
    (void)state;
    fill(&w);
    load(&w, &day, 1, 1);
    load(&w, &before, 0, DAYS);
    while (n_merged > 0)
        must(agg_store_merge_blocks(w.store, &n_merged, &error, w.collection, w.recipe.recipe,
                                    DAY + 400, (agg_retention){1, 1}),
             &error);
    assert_true(load(&w, &after, 0, DAYS) < DAYS);
    assert_int_equal(after.claims.n, DAYS);
    assert_memory_equal(after.claims.ids, before.claims.ids, DAYS * AGG_CLAIM);
    assert_int_equal(agg_accumulator_merge(&day, &error, &after), SHOAL_ERR_DUPLICATE);
    agg_accumulator_release(&day);
    agg_accumulator_release(&before);
    agg_accumulator_release(&after);
    empty(&w);
}

// Block 1 of one server is not block 1 of another.
static void what_is_merged_between_loading_and_claiming_is_claimed(void **state)
{
    world w;
    agg_accumulator day, whole;
    agg_error error;
    agg_released released;
    uint64_t n_merged = 1;
    (void)state;
    fill(&w);
    load(&w, &whole, 0, DAYS);
    const agg_span span = {DAY + 1, DAY + 1};
    must(agg_store_load(w.store, &day, &released, &error, w.collection, w.recipe.recipe, span),
         &error);
    assert_int_equal(released.n, 1);
    while (n_merged > 0)
        must(agg_store_merge_blocks(w.store, &n_merged, &error, w.collection, w.recipe.recipe,
                                    DAY + 400, (agg_retention){1, 1}),
             &error);
    must(agg_store_claim(w.store, &day, &error, w.collection, &released, span), &error);
    assert_true(day.claims.n > 0);
    assert_int_equal(agg_accumulator_merge(&whole, &error, &day), SHOAL_ERR_DUPLICATE);
    agg_accumulator_release(&day);
    agg_accumulator_release(&whole);
    empty(&w);
}

static void stores_have_claims_of_their_own(void **state)
{
    world w, other;
    agg_accumulator a, b;
    (void)state;
    fill(&w);
    fill(&other);
    load(&w, &a, 0, DAYS);
    load(&other, &b, 0, DAYS);
    assert_null(agg_claims_shared(&a.claims, &b.claims));
    agg_accumulator_release(&a);
    agg_accumulator_release(&b);
    empty(&w);
    empty(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_that_share_a_block_share_a_claim),
        cmocka_unit_test(merged_blocks_keep_the_claims_of_their_parts),
        cmocka_unit_test(what_is_merged_between_loading_and_claiming_is_claimed),
        cmocka_unit_test(stores_have_claims_of_their_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
