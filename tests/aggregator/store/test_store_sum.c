// SPDX-License-Identifier: Apache-2.0
// Sums in the store: counted once, no record in any file, and no two loads closer than the minimum
// cohort.
#include "recipe.h"
#include "store_fixture.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

enum { N = 6, DAY = 20778, MINIMUM = 250 };

typedef struct bench {
    char folder[64];
    agg_recipe recipe;
    agg_store *store;
    int64_t collection;
    fixture_batch batches[N]; // 100, 101, ... 105 records
} bench;

enum { today = DAY };

static void reopen(bench *b)
{
    agg_error error;
    agg_store_close(b->store);
    b->store = NULL;
    must(agg_store_open(&b->store, &error, b->folder), &error);
    must(agg_store_collection(b->store, &b->collection, &error, b->recipe.recipe, DAY), &error);
}

// Folds, and closes the open block at the midnight before a day.
static uint64_t close_before(bench *b, int32_t day)
{
    agg_error error;
    uint64_t n_records;
    must(fixture_turn(b->store, &n_records, &error, b->collection, b->recipe.recipe,
                      (int64_t)FIXTURE_DAY_S * day, FIXTURE_DAY_S),
         &error);
    return n_records;
}

static void set_up_with(bench *b, void (*make_recipe)(agg_recipe *))
{
    fixture_folder(b->folder);
    make_recipe(&b->recipe);
    for (uint32_t i = 0; i < N; i++) b->batches[i] = fixture_batch_make(b->recipe.recipe, i);
    reopen(b);
    close_before(b, DAY); // the first call only notes the tick
}

static void release_bench(bench *b)
{
    agg_store_close(b->store);
    for (int i = 0; i < N; i++) free(b->batches[i].bytes);
    agg_recipe_release(&b->recipe);
    fixture_remove(b->folder);
}

static int set_up(void **state)
{
    bench *b = calloc(1, sizeof *b);
    set_up_with(b, fixture_sum_recipe);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    release_bench(*state);
    free(*state);
    return 0;
}

static agg_err try_put(bench *b, agg_put *put, agg_error *error, int32_t day,
                       const fixture_batch *batch)
{
    return fixture_put(b->store, put, error, b->collection, b->recipe.recipe, day, batch);
}

static agg_put put(bench *b, int i, int32_t day)
{
    agg_error error;
    agg_put result;
    must(try_put(b, &result, &error, day, &b->batches[i]), &error);
    return result;
}

static agg_err try_load(bench *b, agg_accumulator *acc, agg_error *error, agg_span span)
{
    return agg_store_load(b->store, acc, NULL, error, b->collection, b->recipe.recipe, span);
}

static void expect(bench *b, agg_span span, const fixture_batch *batches, size_t n)
{
    agg_error error;
    agg_accumulator acc;
    must(try_load(b, &acc, &error, span), &error);
    fixture_expect(&acc, b->recipe.recipe, batches, n);
    agg_accumulator_release(&acc);
}

static agg_store_stats statistics(bench *b)
{
    agg_error error;
    agg_store_stats stats;
    must(agg_store_statistics(b->store, &stats, &error, b->collection), &error);
    return stats;
}

static void a_batch_counts_once_and_nothing_waits(void **state)
{
    bench *b = *state;
    agg_error error;
    uint64_t n_batches;
    assert_int_equal(put(b, 0, today), AGG_PUT_STORED);
    assert_int_equal(put(b, 0, today), AGG_PUT_KNOWN);
    assert_int_equal(put(b, 0, DAY + 1), AGG_PUT_KNOWN);
    reopen(b);
    assert_int_equal(put(b, 0, today), AGG_PUT_KNOWN);
    must(agg_store_fold(b->store, &n_batches, &error, b->collection, b->recipe.recipe, 1), &error);
    assert_int_equal(n_batches, 0);
    agg_store_stats stats = statistics(b);
    assert_int_equal(stats.batches, 1);
    assert_int_equal(stats.waiting_batches, 0);
    assert_int_equal(stats.records, 100);
    assert_int_equal(stats.blocks, 0);
    assert_int_equal(stats.released, 0);
}

static void a_block_shows_once_it_is_closed(void **state)
{
    bench *b = *state;
    for (int i = 0; i < 3; i++) put(b, i, today);
    assert_int_equal(close_before(b, DAY), 0); // the day is not over
    expect(b, AGG_SPAN_ALL, NULL, 0);
    assert_int_equal(close_before(b, DAY + 1), 303);
    assert_int_equal(close_before(b, DAY + 1), 0);
    expect(b, AGG_SPAN_ALL, b->batches, 3);
    expect(b, (agg_span){DAY, DAY}, b->batches, 3);
    expect(b, (agg_span){DAY + 1, DAY + 9}, NULL, 0);
    reopen(b);
    expect(b, AGG_SPAN_ALL, b->batches, 3);
    assert_int_equal(statistics(b).released, 303);
}

static void a_sum_that_is_too_small_waits_for_a_later_tick(void **state)
{
    bench *b = *state;
    for (int i = 0; i < 5; i++) {
        put(b, i, DAY + i);
        assert_int_equal(close_before(b, DAY + i + 1), i == 2 ? 303 : 0);
        reopen(b);
    }
    expect(b, (agg_span){DAY, DAY + 1}, NULL, 0);
    expect(b, (agg_span){DAY + 2, DAY + 2}, b->batches, 3);
    put(b, 5, DAY + 5);
    assert_int_equal(close_before(b, DAY + 6), 312);
    expect(b, (agg_span){DAY + 3, DAY + 9}, b->batches + 3, 3);
    expect(b, AGG_SPAN_ALL, b->batches, 6);
}

// The batch under another id: a new delivery.
static agg_put put_anew(bench *b, shoal_rng *rng, int i, int32_t day)
{
    agg_error error;
    agg_put result;
    fixture_batch *batch = &b->batches[i];
    shoal_rng_bytes(rng, batch->id, 16);
    assert_int_equal(
        shoal_batch_seal_v1(batch->bytes, batch->len, b->recipe.recipe, batch->count, batch->id),
        SHOAL_OK);
    must(try_put(b, &result, &error, day, batch), &error);
    return result;
}

static void exec_sql(const bench *b, const char *sql)
{
    char path[96], *message = NULL;
    snprintf(path, sizeof path, "%s/shoal.db", b->folder);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
    sqlite3_close(db);
}

static void refuses_a_small_batch(bench *b)
{
    agg_error error;
    agg_put result;
    fixture_batch small = b->batches[0];
    small.count = 99;
    small.len = shoal_batch_size_v1(b->recipe.recipe, small.count);
    assert_int_equal(
        shoal_batch_seal_v1(small.bytes, small.len, b->recipe.recipe, small.count, small.id),
        SHOAL_OK);
    assert_int_equal(try_put(b, &result, &error, today, &small), SHOAL_ERR_RANGE);
    assert_non_null(strstr(error.text, "batch.minimum, 100"));
    assert_int_equal(statistics(b).batches, 0);
    assert_int_equal(statistics(b).waiting_batches, 0);
    assert_int_equal(statistics(b).records, 0);
}

static void a_batch_below_its_minimum_is_refused(void **state)
{
    bench reports = {0};
    refuses_a_small_batch(*state);
    set_up_with(&reports, fixture_recipe);
    refuses_a_small_batch(&reports);
    release_bench(&reports);
}

// Version 2 took small batches of reports. Whoever sends one again must learn that it is known.
static void a_small_batch_that_is_known_is_not_refused(void **state)
{
    bench *b = *state;
    agg_error error;
    agg_put result;
    char sql[120] = {0};
    fixture_batch small = b->batches[0];
    small.count = 99;
    small.len = shoal_batch_size_v1(b->recipe.recipe, small.count);
    assert_int_equal(
        shoal_batch_seal_v1(small.bytes, small.len, b->recipe.recipe, small.count, small.id),
        SHOAL_OK);
    int at = snprintf(sql, sizeof sql, "INSERT INTO known VALUES(%d, x'", (int)b->collection);
    for (int i = 0; i < 16; i++) at += sprintf(sql + at, "%02x", small.id[i]);
    memcpy(sql + at, "')", 3);
    exec_sql(b, sql);
    must(try_put(b, &result, &error, today, &small), &error);
    assert_int_equal(result, AGG_PUT_KNOWN);
    assert_int_equal(statistics(b).records, 0);
}

static void a_large_sum_is_refused_when_it_is_configured(void **state)
{
    bench *b = *state;
    agg_error error;
    int64_t collection;
    char json[sizeof fixture_sum_json + 16];
    for (int is_large = 0; is_large < 2; is_large++) {
        // 4 * (4095 * 1024 + 4095) bytes and a header of 144 lie below 16 MiB, one row more above.
        agg_recipe recipe;
        const char *k = strstr(fixture_sum_json, "\"k\":16,\"m\":64");
        snprintf(json, sizeof json, "%.*s\"k\":%d,\"m\":1024%s", (int)(k - fixture_sum_json),
                 fixture_sum_json, is_large ? 4096 : 4090, k + strlen("\"k\":16,\"m\":64"));
        must(agg_recipe_from_bytes(&recipe, &error, "large", json, strlen(json)), &error);
        uint64_t size;
        must(agg_accumulator_size_of(&size, &error, recipe.recipe), &error);
        agg_accumulator acc;
        must(agg_accumulator_init(&acc, &error, recipe.recipe), &error);
        assert_int_equal(size, agg_accumulator_size(&acc));
        agg_accumulator_release(&acc);
        agg_err err = agg_store_collection(b->store, &collection, &error, recipe.recipe, DAY);
        assert_int_equal(err, is_large ? SHOAL_ERR_RANGE : SHOAL_OK);
        if (is_large) {
            assert_non_null(strstr(error.text, "at most 16 MiB"));
            assert_int_equal(error.exit_code, AGG_EXIT_USAGE);
        }
        agg_recipe_release(&recipe);
    }
}

// Whether a file below the folder holds the bytes.
static int file_holds(const char *path, const uint8_t *bytes, size_t len)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    static uint8_t content[1 << 22];
    size_t size = fread(content, 1, sizeof content, file);
    assert_true(size < sizeof content);
    fclose(file);
    return memmem(content, size, bytes, len) != NULL;
}

static int folder_holds(const char *path, const uint8_t *bytes, size_t len)
{
    DIR *folder = opendir(path);
    assert_non_null(folder);
    int found = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char inner[400];
        if (entry->d_name[0] == '.') continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        found |= entry->d_type == DT_DIR ? folder_holds(inner, bytes, len)
                                         : file_holds(inner, bytes, len);
    }
    closedir(folder);
    return found;
}

// How many records of the batches lie in some file of the store. A record is 12 bytes, 8 of them
// bits that the randomizer drew.
static int count_on_disk(bench *b)
{
    int n = 0;
    size_t size = b->recipe.recipe->record_size;
    for (int i = 0; i < N; i++) {
        for (uint32_t r = 0; r < b->batches[i].count; r++)
            n += folder_holds(b->folder, b->batches[i].bytes + SHOAL_BATCH_HEADER_V1 + r * size,
                              size);
    }
    return n;
}

static void no_record_reaches_a_file(void **state)
{
    bench *b = *state, reports = {0};
    for (int i = 0; i < N; i++) put(b, i, today);
    assert_true(
        folder_holds(b->folder, b->batches[3].id, 16)); // the log was looked at: ids are there
    assert_int_equal(count_on_disk(b), 0);
    close_before(b, DAY + 1);
    put_anew(b, &(shoal_rng){0}, 0, today); // a second block
    assert_int_equal(count_on_disk(b), 0);
    reopen(b);
    assert_int_equal(count_on_disk(b), 0);
    // The same search finds them where they wait, so it can find.
    set_up_with(&reports, fixture_recipe);
    for (int i = 0; i < N; i++) put(&reports, i, today);
    assert_int_equal(count_on_disk(&reports), 615);
    release_bench(&reports);
}

// A turn empties the log of sums that were replaced: only what is current can be subtracted from
// anything.
static void old_sums_leave_the_log(void **state)
{
    bench *b = *state;
    char path[96];
    snprintf(path, sizeof path, "%s/shoal.db-wal", b->folder);
    put(b, 0, today);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_true(ftell(file) > 0);
    fclose(file);
    assert_int_equal(close_before(b, DAY), 0);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
}

static void sums_are_what_reports_fold_to(void **state)
{
    bench *b = *state, reports = {0};
    agg_error error;
    agg_accumulator sum, folded;
    set_up_with(&reports, fixture_recipe);
    for (int i = 0; i < N; i++) {
        put(b, i, today);
        put(&reports, i, today);
    }
    close_before(b, DAY + 1);
    close_before(&reports, DAY + 1);
    must(try_load(b, &sum, &error, AGG_SPAN_ALL), &error);
    must(try_load(&reports, &folded, &error, AGG_SPAN_ALL), &error);
    assert_int_equal(sum.n, folded.n);
    // Same seed and parameters, so the records are the same; only the recipes' ids and hashes
    // differ.
    const agg_sketch *x = &sum.parts[0], *y = &folded.parts[0];
    assert_memory_equal(x->cells.ones, y->cells.ones, x->n_cells * sizeof *x->cells.ones);
    assert_memory_equal(x->rows, y->rows, x->n_rows * sizeof *x->rows);
    agg_accumulator_release(&sum);
    agg_accumulator_release(&folded);
    release_bench(&reports);
}

static void a_damaged_sum_is_refused(void **state)
{
    bench *b = *state;
    agg_error error;
    agg_put result;
    agg_accumulator acc;
    for (int i = 0; i < 3; i++) put(b, i, today);
    close_before(b, DAY + 1);
    put(b, 3, DAY + 1);
    exec_sql(b, "DROP TRIGGER closed_blocks_stay;"
                "UPDATE blocks SET body = CAST(substr(body, 1, 303) || x'01' || substr(body, 305) "
                "AS BLOB)");
    assert_int_equal(try_load(b, &acc, &error, AGG_SPAN_ALL), SHOAL_ERR_CHECKSUM);
    assert_int_equal(try_put(b, &result, &error, today, &b->batches[4]), SHOAL_ERR_CHECKSUM);
    assert_int_equal(statistics(b).batches, 4); // the refused one is not known
}

// The sum counts so many records that there is no room for another batch: that batch is refused and
// not known.
static void a_full_sum_refuses(void **state)
{
    bench *b = *state;
    agg_error error;
    agg_put result;
    agg_accumulator acc;
    must(agg_accumulator_init(&acc, &error, b->recipe.recipe), &error);
    acc.n = agg_sketch_kind_of(acc.parts[0].shape.mechanism)->n_max - 150;
    size_t len;
    uint8_t *bytes = fixture_bytes(&acc, &len);
    char *sql = malloc(2 * len + 200);
    int at = sprintf(sql, "INSERT INTO blocks VALUES(%d, 1, 1, 0, %d, 0, 0, %llu, 0, NULL, x'",
                     (int)b->collection, DAY, (unsigned long long)acc.n);
    for (size_t i = 0; i < len; i++) at += sprintf(sql + at, "%02x", bytes[i]);
    memcpy(sql + at, "')", 3);
    exec_sql(b, sql);
    assert_int_equal(put(b, 0, today), AGG_PUT_STORED);
    assert_int_equal(try_put(b, &result, &error, today, &b->batches[1]), SHOAL_ERR_OVERFLOW);
    assert_true(close_before(b, DAY + 1) > 0);
    assert_int_equal(put(b, 1, DAY + 1), AGG_PUT_STORED); // the next block has room
    assert_int_equal(statistics(b).batches, 2);
    free(sql);
    free(bytes);
    agg_accumulator_release(&acc);
}

typedef struct poster {
    bench *b;
    int stored[N], failed, strange; // strange: failed without saying why
} poster;

static void *post_all(void *context)
{
    poster *p = context;
    for (int i = 0; i < N; i++) {
        agg_error error = {0};
        agg_put result;
        if (try_put(p->b, &result, &error, today, &p->b->batches[i]) == SHOAL_OK) {
            p->stored[i] = result == AGG_PUT_STORED;
            continue;
        }
        p->failed++;
        p->strange += error.code != AGG_ERR_IO;
    }
    return NULL;
}

enum { THREADS = 8 };

static void start_posters(bench *b, poster posters[THREADS], pthread_t threads[THREADS])
{
    for (int t = 0; t < THREADS; t++) {
        posters[t] = (poster){.b = b};
        assert_int_equal(pthread_create(&threads[t], NULL, post_all, &posters[t]), 0);
    }
}

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
    poster posters[THREADS];
    pthread_t threads[THREADS];
    start_posters(b, posters, threads);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    for (int t = 0; t < THREADS; t++) {
        assert_true(posters[t].failed >=
                    N - 1); // the first batch is known, but may share another's transaction
        assert_int_equal(posters[t].strange, 0);
    }
    assert_int_equal(put(b, 0, today), AGG_PUT_KNOWN);
    for (int i = 1; i < 3; i++) assert_int_equal(put(b, i, today), AGG_PUT_STORED);
    close_before(b, DAY + 1);
    expect(b, AGG_SPAN_ALL, b->batches, 3);
}

// Eight threads deliver the same batches while this one turns and loads.
static void threads_agree_on_who_was_first(void **state)
{
    bench *b = *state;
    poster posters[THREADS];
    pthread_t threads[THREADS];
    start_posters(b, posters, threads);
    for (int i = 0; i < 20; i++) {
        agg_error error;
        agg_accumulator acc;
        close_before(b, DAY); // the day is not over: nothing may show
        must(try_load(b, &acc, &error, AGG_SPAN_ALL), &error);
        assert_int_equal(acc.n, 0);
        agg_accumulator_release(&acc);
    }
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    for (int i = 0; i < N; i++) {
        int first = 0;
        for (int t = 0; t < THREADS; t++) first += posters[t].stored[i];
        assert_int_equal(first, 1);
    }
    for (int t = 0; t < THREADS; t++) assert_int_equal(posters[t].failed, 0);
    assert_int_equal(close_before(b, DAY + 1), 615);
    expect(b, AGG_SPAN_ALL, b->batches, N);
}

// The database as version 1 made it, with a batch that waits.
static const char version_1[] =
    "PRAGMA application_id = 1936224097; PRAGMA journal_mode = WAL;"
    "CREATE TABLE recipes(collection INTEGER PRIMARY KEY, recipe_hash BLOB NOT NULL UNIQUE, recipe "
    "TEXT NOT NULL);"
    "CREATE TABLE known(collection INTEGER NOT NULL, id BLOB NOT NULL, PRIMARY KEY(collection, "
    "id)) WITHOUT ROWID;"
    "CREATE TABLE waiting(number INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, "
    "kind INTEGER NOT NULL,"
    " start INTEGER NOT NULL, body BLOB NOT NULL);"
    "CREATE INDEX waiting_period ON waiting(collection, kind, start, number);"
    "CREATE TABLE accumulators(collection INTEGER NOT NULL, kind INTEGER NOT NULL, start INTEGER "
    "NOT NULL,"
    " generation INTEGER NOT NULL, records INTEGER NOT NULL, PRIMARY KEY(collection, kind, start)) "
    "WITHOUT ROWID;"
    "PRAGMA user_version = 1;";

static void print_hex(char *out, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) sprintf(out + 2 * i, "%02x", bytes[i]);
}

static void a_store_of_version_1_goes_on(void **state)
{
    bench *b = *state, old = {0};
    fixture_folder(old.folder);
    fixture_recipe(&old.recipe);
    for (uint32_t i = 0; i < N; i++) old.batches[i] = fixture_batch_make(old.recipe.recipe, i);
    const fixture_batch *batch = &old.batches[0];
    char hash[65] = {0}, id[33] = {0}, *body = calloc(2, batch->len + 1),
         *sql = malloc(2 * batch->len + 1000);
    print_hex(hash, old.recipe.recipe->recipe_hash, 32);
    print_hex(id, batch->id, 16);
    print_hex(body, batch->bytes, batch->len);
    exec_sql(&old, version_1);
    sprintf(
        sql,
        "INSERT INTO recipes VALUES(1, x'%s', 'store-test'); INSERT INTO known VALUES(1, x'%s');"
        "INSERT INTO waiting VALUES(1, 1, 1, %d, x'%s');",
        hash, id, DAY, body);
    exec_sql(&old, sql);
    reopen(&old);
    agg_error error;
    close_before(&old, DAY);
    assert_int_equal(put(&old, 0, today), AGG_PUT_KNOWN);
    assert_int_equal(close_before(&old, DAY + 1), 100);
    expect(&old, AGG_SPAN_ALL, old.batches, 1);
    // And takes sums from now on.
    bench sums = old;
    sums.recipe = b->recipe;
    memcpy(sums.batches, b->batches, sizeof sums.batches);
    must(agg_store_collection(sums.store, &sums.collection, &error, sums.recipe.recipe, DAY),
         &error);
    close_before(&sums, DAY);
    for (int i = 0; i < 3; i++) put(&sums, i, today);
    assert_int_equal(close_before(&sums, DAY + 1), 303);
    expect(&sums, AGG_SPAN_ALL, sums.batches, 3);
    expect(&old, AGG_SPAN_ALL, old.batches, 1);
    reopen(&old);
    expect(&old, AGG_SPAN_ALL, old.batches, 1);
    free(body);
    free(sql);
    release_bench(&old);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_batch_counts_once_and_nothing_waits),
        TEST(a_block_shows_once_it_is_closed),
        TEST(a_sum_that_is_too_small_waits_for_a_later_tick),
        TEST(a_batch_below_its_minimum_is_refused),
        TEST(a_small_batch_that_is_known_is_not_refused),
        TEST(a_large_sum_is_refused_when_it_is_configured),
        TEST(no_record_reaches_a_file),
        TEST(old_sums_leave_the_log),
        TEST(sums_are_what_reports_fold_to),
        TEST(a_damaged_sum_is_refused),
        TEST(a_full_sum_refuses),
        TEST(a_full_disk_refuses_and_recovers),
        TEST(threads_agree_on_who_was_first),
        TEST(a_store_of_version_1_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
