// SPDX-License-Identifier: Apache-2.0
// Imports: blocks that merge like the store's own, a second import that is refused whatever
// happened in between, a process that died before it entered its block, and batches beside.
#include "store_fixture.h"

#include "effort.h"
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

// ---- whatever is tried, no two answers differ by fewer reports than a block has ----

enum { TRIED = 8, STEPS = 14, DAYS = 9, ANSWERS_MAX = STEPS * DAYS * DAYS };

// Reports of the generations, in an order of its own for each trial. No two subsets have the same
// sum, so an answer's number of reports tells what it counts. A block has 100 at least.
static const uint64_t sizes[TRIED] = {37, 75, 150, 300, 600, 1200, 2400, 4800};

typedef struct tried {
    world w;
    uint64_t n[TRIED]; // reports of a generation
    agg_accumulator accs[TRIED];
    uint32_t answers[ANSWERS_MAX]; // sets of generations that were shown, each once
    size_t n_answers;
    uint64_t coins;
} tried;

static uint32_t draw(tried *t, uint32_t below)
{
    t->coins = t->coins * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(t->coins >> 33) % below;
}

static void make_tried(tried *t, uint32_t number)
{
    agg_error error;
    uint8_t earlier[TRIED][32] = {{0}};
    agg_shard_claims claims;
    agg_accumulator *acc = &t->accs[number];
    agg_shard_claim about = {
        .generation = number + 1, .n_shards = 1, .n_earlier = number, .earlier = earlier};
    for (uint32_t i = 0; i < number; i++) earlier[i][0] = (uint8_t)(i + 1);
    about.manifest[0] = (uint8_t)(number + 1);
    must(agg_accumulator_init(acc, &error, t->w.recipe.recipe), &error);
    acc->n = t->n[number];
    must(agg_shard_claims_of(&claims, &error, &about, 1), &error);
    must(agg_accumulator_claim_shards(acc, &error, &claims), &error);
    agg_shard_claims_release(&claims);
}

static uint32_t set_of(const tried *t, uint64_t n)
{
    uint32_t set = 0;
    for (int rank = TRIED - 1; rank >= 0; rank--)
        for (uint32_t i = 0; i < TRIED; i++)
            if (t->n[i] == sizes[rank] && n >= sizes[rank]) {
                n -= sizes[rank];
                set |= 1u << i;
            }
    assert_int_equal(n, 0);
    return set;
}

// Asks for every span of days, as readers of the server may.
static void ask_all(tried *t)
{
    agg_error error;
    for (int32_t first = 0; first < DAYS; first++)
        for (int32_t last = first; last < DAYS; last++) {
            agg_accumulator acc;
            agg_released released;
            const agg_span span = {DAY + first, DAY + last};
            if (agg_store_load(t->w.store, &acc, &released, &error, t->w.collection,
                               t->w.recipe.recipe, span) != SHOAL_OK)
                continue;
            uint32_t set = set_of(t, acc.n);
            bool is_known = set == 0;
            for (size_t i = 0; i < t->n_answers; i++) is_known |= t->answers[i] == set;
            if (!is_known) t->answers[t->n_answers++] = set;
            agg_accumulator_release(&acc);
        }
}

// Generations that the same answers count cannot be told apart. Together they are what adding and
// subtracting answers shows at the least.
static void check_apart(const tried *t)
{
    for (uint32_t i = 0; i < TRIED; i++) {
        uint64_t together = 0;
        bool is_shown = false;
        for (uint32_t j = 0; j < TRIED; j++) {
            bool is_same = true;
            for (size_t a = 0; a < t->n_answers; a++)
                is_same &= (t->answers[a] >> i & 1) == (t->answers[a] >> j & 1);
            if (is_same) together += t->n[j];
        }
        for (size_t a = 0; a < t->n_answers; a++) is_shown |= t->answers[a] >> i & 1;
        if (is_shown && together < 100)
            fail_msg("%d reports of generation %u show", (int)together, i + 1);
    }
}

static bool try_import(tried *t)
{
    agg_error error;
    agg_accumulator sum;
    int64_t block = 0;
    bool is_empty = true;
    uint32_t set = 1u << draw(t, TRIED);
    while (draw(t, 2)) set |= 1u << draw(t, TRIED);
    for (uint32_t i = 0; i < TRIED; i++) {
        if (!(set >> i & 1)) continue;
        if (is_empty) must(agg_accumulator_init(&sum, &error, t->w.recipe.recipe), &error);
        if (is_empty) agg_accumulator_begin_claims(&sum);
        is_empty = false;
        must(agg_accumulator_merge(&sum, &error, &t->accs[i]), &error);
    }
    agg_err err = agg_store_import(t->w.store, &block, &error, t->w.collection, t->w.recipe.recipe,
                                   &sum, DAY + (int32_t)draw(t, DAYS), DAY + DAYS);
    agg_accumulator_release(&sum);
    return err == SHOAL_OK;
}

// Imports anything on any day, between merges of blocks, restarts and removals of the recipe.
static void try_all(tried *t, uint32_t *n_imported)
{
    agg_error error;
    uint64_t n = 0;
    agg_removed removed;
    for (int step = 0; step < STEPS; step++) {
        switch (draw(t, 12)) {
        case 0:
            must(agg_store_merge_blocks(t->w.store, &n, &error, t->w.collection, t->w.recipe.recipe,
                                        DAY + 400, AGG_RETENTION_DEFAULT),
                 &error);
            break;
        case 1:
            agg_store_close(t->w.store);
            open_store(&t->w);
            break;
        case 2:
            if (draw(t, 3) > 0) break;
            must(agg_store_remove(t->w.store, &removed, &error, t->w.recipe.id), &error);
            break;
        default: *n_imported += try_import(t);
        }
        ask_all(t);
    }
}

static void no_two_answers_show_less_than_a_block(void **state)
{
    uint32_t n_imported = 0, n_trials = effort(300, 12, 3);
    (void)state;
    for (uint32_t trial = 0; trial < n_trials; trial++) {
        tried t = {.coins = trial + 1};
        fixture_folder(t.w.folder);
        fixture_recipe(&t.w.recipe);
        open_store(&t.w);
        memcpy(t.n, sizes, sizeof sizes);
        for (uint32_t i = TRIED - 1; i > 0; i--) {
            uint32_t j = draw(&t, i + 1);
            uint64_t kept = t.n[i];
            t.n[i] = t.n[j];
            t.n[j] = kept;
        }
        for (uint32_t i = 0; i < TRIED; i++) make_tried(&t, i);
        try_all(&t, &n_imported);
        check_apart(&t);
        agg_store_close(t.w.store);
        for (uint32_t i = 0; i < TRIED; i++) agg_accumulator_release(&t.accs[i]);
        agg_recipe_release(&t.w.recipe);
        fixture_remove(t.w.folder);
    }
    assert_true(n_imported > n_trials); // something was shown
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_merge_and_stay_imported),
        cmocka_unit_test(a_killed_import_leaves_nothing_or_all),
        cmocka_unit_test(batches_and_imports_exclude_each_other),
        cmocka_unit_test(what_is_no_whole_generation_is_refused),
        cmocka_unit_test(no_two_answers_show_less_than_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
