// SPDX-License-Identifier: Apache-2.0
// The store: what is put is known, counted once and folded to the byte; what is not a store of ours
// is refused.
#include "store_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { N = 6, DAY = 20778 };

typedef struct bench {
    char folder[64];
    agg_recipe recipe;
    agg_store *store;
    int64_t collection;
    fixture_batch batches[N];
} bench;

static void reopen(bench *b)
{
    agg_error error;
    agg_store_close(b->store);
    b->store = NULL;
    must(agg_store_open(&b->store, &error, b->folder), &error);
    must(agg_store_collection(b->store, &b->collection, &error, b->recipe.recipe, DAY), &error);
}

// Folds, and closes the open block at the midnight that ends a day.
static uint64_t end_day(bench *b, int32_t day)
{
    agg_error error;
    uint64_t n_records;
    must(fixture_turn(b->store, &n_records, &error, b->collection, b->recipe.recipe,
                      (int64_t)FIXTURE_DAY_S * (day + 1), FIXTURE_DAY_S),
         &error);
    return n_records;
}

static int set_up(void **state)
{
    bench *b = calloc(1, sizeof *b);
    fixture_folder(b->folder);
    fixture_recipe(&b->recipe);
    for (uint32_t i = 0; i < N; i++) b->batches[i] = fixture_batch_make(b->recipe.recipe, i);
    reopen(b);
    end_day(b, DAY - 1);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    bench *b = *state;
    agg_store_close(b->store);
    for (int i = 0; i < N; i++) free(b->batches[i].bytes);
    agg_recipe_release(&b->recipe);
    fixture_remove(b->folder);
    free(b);
    return 0;
}

static agg_put put(bench *b, int i, int32_t day)
{
    agg_error error;
    agg_put result;
    must(fixture_put(b->store, &result, &error, b->collection, b->recipe.recipe, day,
                     &b->batches[i]),
         &error);
    return result;
}

static uint64_t fold(bench *b)
{
    agg_error error;
    uint64_t n_batches;
    must(agg_store_fold(b->store, &n_batches, &error, b->collection, b->recipe.recipe, 2), &error);
    return n_batches;
}

static void expect(bench *b, agg_span span, const fixture_batch *batches, size_t n)
{
    agg_error error;
    agg_accumulator acc;
    must(agg_store_load(b->store, &acc, NULL, &error, b->collection, b->recipe.recipe, span),
         &error);
    fixture_expect(&acc, b->recipe.recipe, batches, n);
    agg_accumulator_release(&acc);
}

enum { today = DAY };

static void a_batch_counts_once(void **state)
{
    bench *b = *state;
    assert_int_equal(put(b, 0, today), AGG_PUT_STORED);
    assert_int_equal(put(b, 0, today), AGG_PUT_KNOWN); // while it waits
    assert_int_equal(fold(b), 1);
    assert_int_equal(put(b, 0, today), AGG_PUT_KNOWN);   // once it is folded
    assert_int_equal(put(b, 0, DAY + 1), AGG_PUT_KNOWN); // and on the next day
    assert_int_equal(fold(b), 0);
    reopen(b);
    assert_int_equal(put(b, 0, today), AGG_PUT_KNOWN); // and after a restart
    assert_int_equal(end_day(b, DAY), 100);
    assert_int_equal(put(b, 0, today), AGG_PUT_KNOWN); // and once its block is closed
    expect(b, AGG_SPAN_ALL, b->batches, 1);
}

static void waiting_batches_survive_a_restart(void **state)
{
    bench *b = *state;
    for (int i = 0; i < N; i++) assert_int_equal(put(b, i, today), AGG_PUT_STORED);
    reopen(b);
    assert_int_equal(fold(b), N);
    expect(b, AGG_SPAN_ALL, NULL, 0); // folded, and in the open block
    reopen(b);
    end_day(b, DAY);
    reopen(b);
    expect(b, AGG_SPAN_ALL, b->batches, N);
}

static void folds_add_up_and_spans_select(void **state)
{
    bench *b = *state;
    for (int i = 0; i < N; i++) {
        put(b, i, DAY + i / 2);
        if (i == 2) fold(b);
        if (i % 2 == 1) end_day(b, DAY + i / 2);
    }
    expect(b, AGG_SPAN_ALL, b->batches, N);
    expect(b, (agg_span){DAY, DAY}, b->batches, 2);
    expect(b, (agg_span){DAY + 1, DAY + 2}, b->batches + 2, 4);
    expect(b, (agg_span){DAY + 3, DAY + 9}, NULL, 0);
}

static agg_released find(bench *b, agg_span span)
{
    agg_error error;
    agg_released released;
    must(agg_store_find_released(b->store, &released, &error, b->collection, span), &error);
    return released;
}

static void what_is_released_changes_with_a_close_and_nothing_else(void **state)
{
    bench *b = *state;
    const agg_span first = {DAY, DAY};
    put(b, 0, today);
    fold(b);
    assert_int_equal(find(b, AGG_SPAN_ALL).n, 0); // nothing to see
    end_day(b, DAY);
    const agg_released before = find(b, first);
    assert_int_equal(before.n, 1);
    put(b, 1, DAY + 1);
    end_day(b, DAY + 1);
    end_day(b, DAY + 2); // a tick that closes nothing
    reopen(b);
    const agg_released after = find(b, first);
    assert_memory_equal(&before, &after,
                        sizeof before); // another day's block is none of this one's
    assert_int_equal(find(b, AGG_SPAN_ALL).n, 2);
    assert_int_equal(find(b, AGG_SPAN_ALL).last_number, 2);
    assert_int_equal(find(b, (agg_span){DAY + 2, DAY + 9}).n, 0);
}

static int count_files(const bench *b)
{
    char path[96];
    snprintf(path, sizeof path, "%s/accumulators", b->folder);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

// The statistics, and that folded bytes are gone from the disk: not deleted in name only.
static void folded_bytes_are_gone(void **state)
{
    bench *b = *state;
    agg_error error;
    agg_store_stats stats;
    for (int i = 0; i < N; i++) put(b, i, today);
    must(agg_store_statistics(b->store, &stats, &error, b->collection), &error);
    assert_int_equal(stats.batches, N);
    assert_int_equal(stats.waiting_batches, N);
    assert_int_equal(stats.records, 0);
    fold(b);
    must(agg_store_statistics(b->store, &stats, &error, b->collection), &error);
    assert_int_equal(stats.batches, N);
    assert_int_equal(stats.waiting_batches, 0);
    assert_int_equal(stats.waiting_bytes, 0);
    assert_int_equal(stats.records, 6 * 100 + 15);
    assert_int_equal(stats.released, 0);
    assert_int_equal(stats.blocks, 0);
    end_day(b, DAY);
    must(agg_store_statistics(b->store, &stats, &error, b->collection), &error);
    assert_int_equal(stats.released, stats.records);
    assert_int_equal(stats.blocks, 1);
    assert_int_equal(count_files(b), 1);
    char command[160];
    snprintf(command, sizeof command, "grep -q shoalbat '%s'/shoal.db*", b->folder);
    assert_int_not_equal(system(command), 0);
}

static void leftovers_of_a_crash_are_removed(void **state)
{
    bench *b = *state;
    put(b, 0, today);
    end_day(b, DAY);
    char path[160];
    static const char *const names[] = {"c1-b1-g2.acc", "c1-b1-g2.acc.tmp-123", "c9-a0-g1.acc"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/accumulators/%s", b->folder, names[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs("half", file);
        fclose(file);
    }
    assert_int_equal(count_files(b), 4);
    reopen(b);
    assert_int_equal(count_files(b), 1);
    expect(b, AGG_SPAN_ALL, b->batches, 1);
}

static agg_err try_open(bench *b, agg_error *error)
{
    agg_store_close(b->store);
    b->store = NULL;
    return agg_store_open(&b->store, error, b->folder);
}

static void a_store_without_its_file_is_refused(void **state)
{
    bench *b = *state;
    put(b, 0, today);
    fold(b);
    char path[160];
    snprintf(path, sizeof path, "%s/accumulators/c1-b1-g1.acc", b->folder);
    assert_int_equal(unlink(path), 0);
    agg_error error;
    assert_int_equal(try_open(b, &error), AGG_ERR_IO);
    assert_non_null(strstr(error.text, "c1-b1-g1.acc"));
}

static void a_damaged_accumulator_is_refused(void **state)
{
    bench *b = *state;
    put(b, 0, today);
    fold(b);
    char path[160];
    snprintf(path, sizeof path, "%s/accumulators/c1-b1-g1.acc", b->folder);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    fseek(file, 300, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, 300, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
    agg_error error;
    agg_accumulator acc;
    // A fold must not begin anew: the batch keeps waiting.
    put(b, 1, today);
    uint64_t n_batches, n_records;
    assert_int_equal(
        agg_store_fold(b->store, &n_batches, &error, b->collection, b->recipe.recipe, 1),
        SHOAL_ERR_CHECKSUM);
    agg_store_stats stats;
    must(agg_store_statistics(b->store, &stats, &error, b->collection), &error);
    assert_int_equal(stats.waiting_batches, 1);
    must(agg_store_close_block(b->store, &n_records, &error, b->collection, b->recipe.recipe,
                               (int64_t)FIXTURE_DAY_S * (DAY + 1), FIXTURE_DAY_S),
         &error);
    assert_int_equal(
        agg_store_load(b->store, &acc, NULL, &error, b->collection, b->recipe.recipe, AGG_SPAN_ALL),
        SHOAL_ERR_CHECKSUM);
}

static void exec_sql(const bench *b, const char *sql)
{
    char path[96];
    snprintf(path, sizeof path, "%s/shoal.db", b->folder);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void a_newer_store_is_refused(void **state)
{
    bench *b = *state;
    agg_store_close(b->store);
    b->store = NULL;
    exec_sql(b, "PRAGMA user_version = 5");
    agg_error error;
    assert_int_equal(try_open(b, &error), SHOAL_ERR_VERSION);
    assert_non_null(strstr(error.text, "newer"));
}

static void something_else_is_refused(void **state)
{
    bench *b = *state;
    agg_store_close(b->store);
    b->store = NULL;
    char path[96];
    snprintf(path, sizeof path, "%s/shoal.db", b->folder);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 400; i++) fputs("no database at all ", file);
    fclose(file);
    agg_error error;
    assert_int_equal(try_open(b, &error), AGG_ERR_IO);
}

// A fold that cannot write says so; what was acknowledged waits, and the next fold takes it.
static void a_fold_that_cannot_write_loses_nothing(void **state)
{
    bench *b = *state;
    put(b, 0, today);
    fold(b);
    put(b, 1, today);
    char path[160], away[160];
    snprintf(path, sizeof path, "%s/accumulators/c1-b1-g2.acc", b->folder);
    assert_int_equal(mkdir(path, 0700), 0); // in the way of the rename
    agg_error error;
    uint64_t n_batches;
    assert_int_equal(
        agg_store_fold(b->store, &n_batches, &error, b->collection, b->recipe.recipe, 1),
        AGG_ERR_IO);
    snprintf(away, sizeof away, "%s/away", b->folder);
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(fold(b), 1);
    end_day(b, DAY);
    expect(b, AGG_SPAN_ALL, b->batches, 2);
}

// No byte can be written: the put is refused rather than acknowledged, and both put and fold go on
// once there is room.
static void a_full_disk_refuses_and_recovers(void **state)
{
    bench *b = *state;
    put(b, 0, today);
    struct rlimit before, full;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    full = before;
    full.rlim_cur = 0;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    agg_error error;
    agg_put result;
    uint64_t n_batches;
    agg_err put_err = fixture_put(b->store, &result, &error, b->collection, b->recipe.recipe, today,
                                  &b->batches[1]);
    agg_err fold_err =
        agg_store_fold(b->store, &n_batches, &error, b->collection, b->recipe.recipe, 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(put_err, AGG_ERR_IO);
    assert_int_equal(fold_err, AGG_ERR_IO);
    assert_int_equal(put(b, 0, today), AGG_PUT_KNOWN);
    assert_int_equal(put(b, 1, today), AGG_PUT_STORED);
    assert_int_equal(fold(b), 2);
    end_day(b, DAY);
    expect(b, AGG_SPAN_ALL, b->batches, 2);
}

static void a_second_process_is_refused(void **state)
{
    bench *b = *state;
    pid_t child = fork();
    if (child == 0) {
        agg_store *other;
        agg_error error;
        agg_err err = agg_store_open(&other, &error, b->folder);
        _exit(err == AGG_ERR_IO && strstr(error.text, "another process") != NULL ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

typedef struct poster {
    bench *b;
    int stored[N];
} poster;

static void *post_all(void *context)
{
    poster *p = context;
    for (int i = 0; i < N; i++) {
        agg_error error;
        agg_put result;
        if (fixture_put(p->b->store, &result, &error, p->b->collection, p->b->recipe.recipe, today,
                        &p->b->batches[i]) == SHOAL_OK) {
            p->stored[i] = result == AGG_PUT_STORED;
        }
    }
    return NULL;
}

// Four threads deliver the same batches while a fifth folds and this one reads.
static void threads_agree_on_who_was_first(void **state)
{
    bench *b = *state;
    poster posters[4];
    pthread_t threads[4];
    for (int t = 0; t < 4; t++) {
        posters[t] = (poster){.b = b};
        assert_int_equal(pthread_create(&threads[t], NULL, post_all, &posters[t]), 0);
    }
    for (int i = 0; i < 20; i++) {
        agg_error error;
        agg_accumulator acc;
        fold(b);
        must(agg_store_load(b->store, &acc, NULL, &error, b->collection, b->recipe.recipe,
                            AGG_SPAN_ALL),
             &error);
        agg_accumulator_release(&acc);
    }
    for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
    for (int i = 0; i < N; i++) {
        int first = 0;
        for (int t = 0; t < 4; t++) first += posters[t].stored[i];
        assert_int_equal(first, 1);
    }
    end_day(b, DAY);
    expect(b, AGG_SPAN_ALL, b->batches, N);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

// ---- records that a recipe keeps for a time ----

static const char joint_json[] =
    "{\"recipe\":\"store-joint\",\"analysis\":\"tests\",\"stream\":\"words\",\"variables\":["
    "{\"name\":\"a\",\"value\":\"item\",\"mechanism\":\"grr\",\"parameters\":{\"epsilon\":2,"
    "\"size\":5}},"
    "{\"name\":\"b\",\"value\":\"item\",\"mechanism\":\"grr\",\"parameters\":{\"epsilon\":2,"
    "\"size\":3}}],"
    "\"limit\":{\"per_day\":1},\"batch\":{\"minimum\":50},\"cohort\":{\"minimum\":50},"
    "\"records\":{\"keep_days\":2},\"expires\":\"2026-11-30\"}"; // DAY +
                                                                 // 9

static fixture_batch joint_batch(const shoal_recipe *recipe, uint8_t i)
{
    fixture_batch batch = {.count = 50};
    const uint8_t seed[32] = {11, i};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    batch.len = shoal_batch_size_v1(recipe, batch.count);
    batch.bytes = calloc(1, batch.len);
    assert_non_null(batch.bytes);
    for (uint32_t r = 0; r < batch.count; r++) {
        const uint64_t items[2] = {r % 5, r % 3};
        assert_int_equal(shoal_record_randomize(batch.bytes + SHOAL_BATCH_HEADER_V1 +
                                                    (size_t)r * shoal_record_size(recipe),
                                                recipe, items, 2, NULL, &rng),
                         SHOAL_OK);
    }
    shoal_rng_bytes(&rng, batch.id, 16);
    assert_int_equal(shoal_batch_seal_v1(batch.bytes, batch.len, recipe, batch.count, batch.id),
                     SHOAL_OK);
    return batch;
}

static int keeps(agg_store *store, int64_t collection, const shoal_recipe *recipe, agg_span span,
                 uint64_t n)
{
    agg_error error;
    agg_accumulator acc;
    must(agg_store_load(store, &acc, NULL, &error, collection, recipe, span), &error);
    assert_int_equal(acc.n, n);
    int has_records = agg_accumulator_keeps_records(&acc);
    if (has_records) assert_true(acc.set.n_distinct > 0);
    agg_accumulator_release(&acc);
    return has_records;
}

static uint64_t forget(agg_store *store, int64_t collection, const shoal_recipe *recipe,
                       int32_t day)
{
    agg_error error;
    uint64_t n_blocks = 99;
    must(agg_store_forget(store, &n_blocks, &error, collection, recipe, day), &error);
    return n_blocks;
}

static void records_go_when_their_days_are_over(void **state)
{
    bench *b = *state;
    agg_recipe own;
    agg_error error;
    int64_t collection;
    uint64_t n_batches, n_records;
    agg_put result;
    must(agg_recipe_from_bytes(&own, &error, "joint", joint_json, sizeof joint_json - 1), &error);
    const shoal_recipe *recipe = own.recipe;
    must(agg_store_collection(b->store, &collection, &error, recipe, DAY), &error);
    fixture_batch batches[4];
    for (uint8_t i = 0; i < 4; i++) batches[i] = joint_batch(recipe, i);
    for (int i = -1; i < 2; i++) { // the first turn notes the tick
        if (i >= 0)
            must(fixture_put(b->store, &result, &error, collection, recipe, DAY + i, &batches[i]),
                 &error);
        must(fixture_turn(b->store, &n_records, &error, collection, recipe,
                          (int64_t)FIXTURE_DAY_S * (DAY + 1 + i), FIXTURE_DAY_S),
             &error);
    }
    const agg_span first = {DAY, DAY}, second = {DAY + 1, DAY + 1};
    assert_int_equal(forget(b->store, collection, recipe, DAY + 2),
                     0); // the second day after DAY is not over
    assert_true(keeps(b->store, collection, recipe, first, 50));
    assert_int_equal(forget(b->store, collection, recipe, DAY + 3), 1);
    assert_int_equal(forget(b->store, collection, recipe, DAY + 3), 0);
    assert_int_equal(count_files(b), 2); // the file with the records is gone
    agg_store_close(b->store);
    must(agg_store_open(&b->store, &error, b->folder), &error);
    assert_false(keeps(b->store, collection, recipe, first, 50));
    assert_true(keeps(b->store, collection, recipe, second, 50));
    // What never closes ends with the recipe.
    must(fixture_put(b->store, &result, &error, collection, recipe, DAY + 2, &batches[2]), &error);
    must(agg_store_fold(b->store, &n_batches, &error, collection, recipe, 1), &error);
    assert_int_equal(forget(b->store, collection, recipe, DAY + 4), 1);
    assert_int_equal(forget(b->store, collection, recipe, DAY + 11), 0);
    assert_int_equal(forget(b->store, collection, recipe, DAY + 12), 1);
    // A batch that comes late counts, and brings no records back.
    must(fixture_put(b->store, &result, &error, collection, recipe, DAY + 12, &batches[3]), &error);
    must(fixture_turn(b->store, &n_records, &error, collection, recipe,
                      (int64_t)FIXTURE_DAY_S * (DAY + 13), FIXTURE_DAY_S),
         &error);
    assert_int_equal(n_records, 100);
    assert_false(keeps(b->store, collection, recipe, AGG_SPAN_ALL, 200));
    for (int i = 0; i < 4; i++) free(batches[i].bytes);
    agg_recipe_release(&own);
}

static void sums_have_nothing_to_forget(void **state)
{
    bench *b = *state;
    put(b, 0, today);
    end_day(b, DAY);
    assert_int_equal(forget(b->store, b->collection, b->recipe.recipe, DAY + 900), 0);
    expect(b, AGG_SPAN_ALL, b->batches, 1);
}

// ---- removing a recipe ----

// Every record of the recipe goes, to the last byte, and nothing of another recipe. The ids stay: a
// batch that is sent again, by a worker that never got the acknowledgement, does not count anew.
static void a_recipe_is_removed_whole(void **state)
{
    bench *b = *state;
    agg_error error;
    agg_recipe sums;
    int64_t other, again;
    agg_put result;
    agg_removed removed;
    agg_store_stats stats;
    fixture_batch own;
    fixture_sum_recipe(&sums);
    must(agg_store_collection(b->store, &other, &error, sums.recipe, DAY), &error);
    own = fixture_batch_make(sums.recipe, 0);
    must(fixture_put(b->store, &result, &error, other, sums.recipe, DAY, &own), &error);
    put(b, 0, DAY);
    end_day(b, DAY);
    put(b, 1, DAY + 1);
    fold(b);
    put(b, 2, DAY + 1); // waits
    assert_int_equal(count_files(b), 2);
    must(agg_store_remove(b->store, &removed, &error, "no-such-recipe"), &error);
    assert_int_equal(removed.collections, 0);
    must(agg_store_remove(b->store, &removed, &error, "store-test"), &error);
    assert_int_equal(removed.collections, 1);
    assert_int_equal(removed.batches, 3);
    assert_int_equal(removed.records, 201);
    assert_int_equal(count_files(b), 0);
    char command[160];
    snprintf(command, sizeof command, "grep -q shoalbat '%s'/shoal.db*", b->folder);
    assert_int_not_equal(system(command), 0);
    must(agg_store_statistics(b->store, &stats, &error, other), &error);
    assert_int_equal(stats.records, 100);
    must(agg_store_collection(b->store, &again, &error, b->recipe.recipe, DAY), &error);
    b->collection = again;
    expect(b, AGG_SPAN_ALL, NULL, 0);
    for (int i = 0; i < 3; i++) assert_int_equal(put(b, i, DAY), AGG_PUT_KNOWN);
    must(agg_store_remove(b->store, &removed, &error, "store-test"), &error);
    assert_int_equal(removed.collections, 0); // nothing is left to remove
    assert_int_equal(put(b, 3, DAY), AGG_PUT_STORED);
    end_day(b, DAY - 1); // the first tick is only noted
    end_day(b, DAY);
    agg_released released;
    must(agg_store_find_released(b->store, &released, &error, again, AGG_SPAN_ALL), &error);
    assert_int_equal(released.first_number, 3); // 1 and 2 are in the audit log
    must(agg_store_remove(b->store, &removed, &error, "store-test"), &error);
    assert_int_equal(removed.collections, 1);
    assert_int_equal(removed.batches, 1);
    assert_int_equal(removed.records, 103);
    for (int i = 0; i < 4; i++) assert_int_equal(put(b, i, DAY), AGG_PUT_KNOWN);
    char hash[65];
    for (int i = 0; i < 32; i++) sprintf(hash + 2 * i, "%02x", sums.recipe->recipe_hash[i]);
    must(agg_store_remove(b->store, &removed, &error, hash), &error);
    assert_int_equal(removed.collections, 1);
    free(own.bytes);
    agg_recipe_release(&sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_batch_counts_once),
        TEST(waiting_batches_survive_a_restart),
        TEST(folds_add_up_and_spans_select),
        TEST(what_is_released_changes_with_a_close_and_nothing_else),
        TEST(folded_bytes_are_gone),
        TEST(leftovers_of_a_crash_are_removed),
        TEST(a_store_without_its_file_is_refused),
        TEST(a_damaged_accumulator_is_refused),
        TEST(a_newer_store_is_refused),
        TEST(something_else_is_refused),
        TEST(a_fold_that_cannot_write_loses_nothing),
        TEST(a_full_disk_refuses_and_recovers),
        TEST(a_second_process_is_refused),
        TEST(threads_agree_on_who_was_first),
        TEST(records_go_when_their_days_are_over),
        TEST(sums_have_nothing_to_forget),
        TEST(a_recipe_is_removed_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
