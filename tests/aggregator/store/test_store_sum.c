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

static const agg_period today = {AGG_PERIOD_DAY, DAY};
static const agg_period for_ever = {AGG_PERIOD_ALL, 0};

static void reopen(bench *b)
{
    agg_error error;
    agg_store_close(b->store);
    b->store = NULL;
    must(agg_store_open(&b->store, &error, b->folder), &error);
    must(agg_store_collection(b->store, &b->collection, &error, b->recipe.recipe), &error);
}

static void set_up_with(bench *b, void (*make_recipe)(agg_recipe *))
{
    fixture_folder(b->folder);
    make_recipe(&b->recipe);
    for (uint32_t i = 0; i < N; i++) b->batches[i] = fixture_batch_make(b->recipe.recipe, i);
    reopen(b);
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

static agg_err try_put(bench *b, agg_put *put, agg_error *error, agg_period period,
                       const fixture_batch *batch)
{
    return fixture_put(b->store, put, error, b->collection, b->recipe.recipe, period, batch);
}

static agg_put put(bench *b, int i, agg_period period)
{
    agg_error error;
    agg_put result;
    must(try_put(b, &result, &error, period, &b->batches[i]), &error);
    return result;
}

static uint64_t release(bench *b, int32_t day)
{
    agg_error error;
    uint64_t n_records;
    must(agg_store_release(b->store, &n_records, &error, b->collection, b->recipe.recipe, day),
         &error);
    return n_records;
}

static agg_err try_load(bench *b, agg_accumulator *acc, agg_error *error, agg_span span)
{
    return agg_store_load(b->store, acc, error, b->collection, b->recipe.recipe, span);
}

static void expect(bench *b, agg_span span, const fixture_batch *batches, size_t n)
{
    agg_error error;
    agg_accumulator acc;
    must(try_load(b, &acc, &error, span), &error);
    fixture_expect(&acc, b->recipe.recipe, batches, n);
    agg_accumulator_release(&acc);
}

static void expect_across(bench *b, agg_span span, const char *days)
{
    agg_error error;
    agg_accumulator acc;
    assert_int_equal(try_load(b, &acc, &error, span), SHOAL_ERR_RANGE);
    assert_non_null(strstr(error.text, days));
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
    assert_int_equal(put(b, 0, (agg_period){AGG_PERIOD_DAY, DAY + 1}), AGG_PUT_KNOWN);
    reopen(b);
    assert_int_equal(put(b, 0, today), AGG_PUT_KNOWN);
    must(agg_store_fold(b->store, &n_batches, &error, b->collection, b->recipe.recipe, 1), &error);
    assert_int_equal(n_batches, 0);
    agg_store_stats stats = statistics(b);
    assert_int_equal(stats.batches, 1);
    assert_int_equal(stats.waiting_batches, 0);
    assert_int_equal(stats.records, 100);
    assert_int_equal(stats.periods, 1);
    assert_int_equal(stats.released, 0);
}

static void a_closed_period_is_released_whole(void **state)
{
    bench *b = *state;
    for (int i = 0; i < 3; i++) put(b, i, today);
    assert_int_equal(release(b, DAY), 0); // the day is not over
    expect(b, AGG_SPAN_ALL, NULL, 0);
    assert_int_equal(release(b, DAY + 1), 303);
    assert_int_equal(release(b, DAY + 1), 0);
    expect(b, AGG_SPAN_ALL, b->batches, 3);
    expect(b, (agg_span){DAY, DAY}, b->batches, 3);
    expect(b, (agg_span){DAY + 1, DAY + 9}, NULL, 0);
    reopen(b);
    expect(b, AGG_SPAN_ALL, b->batches, 3);
    assert_int_equal(statistics(b).released, 303);
}

static void a_week_is_released_when_its_last_day_is_over(void **state)
{
    bench *b = *state;
    agg_period week = agg_period_of_day(AGG_PERIOD_WEEK, DAY);
    for (int i = 0; i < 3; i++) put(b, i, week);
    assert_int_equal(release(b, week.start + 6), 0);
    assert_int_equal(release(b, week.start + 7), 303);
    expect_across(b, (agg_span){DAY, DAY}, "2026-11-16 to 2026-11-22");
}

static void small_neighbours_are_released_as_one(void **state)
{
    bench *b = *state;
    for (int i = 0; i < 5; i++) put(b, i, (agg_period){AGG_PERIOD_DAY, DAY + i});
    assert_int_equal(release(b, DAY + 2), 0); // 201 of 250
    assert_int_equal(release(b, DAY + 3), 303);
    assert_int_equal(release(b, DAY + 5), 0); // 207 of 250
    expect_across(b, (agg_span){DAY, DAY}, "2026-11-21 to 2026-11-23");
    expect_across(b, (agg_span){DAY + 2, DAY + 9}, "2026-11-21 to 2026-11-23");
    expect(b, (agg_span){DAY, DAY + 2}, b->batches, 3);
    reopen(b);
    expect(b, AGG_SPAN_ALL, b->batches, 3);
    put(b, 5, (agg_period){AGG_PERIOD_DAY, DAY + 5});
    assert_int_equal(release(b, DAY + 6), 312);
    expect(b, (agg_span){DAY + 3, DAY + 9}, b->batches + 3, 3);
    expect(b, AGG_SPAN_ALL, b->batches, 6);
}

// Sums that grow after their release: one that never closes, and a day that came back with the
// clock.
static void what_is_released_stays_until_it_grew_by_the_minimum(void **state)
{
    bench *b = *state;
    const agg_period periods[] = {for_ever, today};
    for (int p = 0; p < 2; p++) {
        agg_error error;
        uint64_t before, after;
        for (int i = 0; i < 3; i++) put(b, i, periods[p]);
        assert_int_equal(release(b, DAY + 1), 303);
        must(agg_store_stamp(b->store, &before, &error, b->collection), &error);
        for (int i = 3; i < 5; i++) {
            put(b, i, periods[p]); // 103, then 207 more
            assert_int_equal(release(b, DAY + 1), 0);
            expect(b, AGG_SPAN_ALL, b->batches, 3);
            reopen(b);
        }
        must(agg_store_stamp(b->store, &after, &error, b->collection), &error);
        assert_int_equal(before, after);
        put(b, 5, periods[p]);
        expect(b, AGG_SPAN_ALL, b->batches, 3);
        assert_int_equal(release(b, DAY + 1), 312);
        must(agg_store_stamp(b->store, &after, &error, b->collection), &error);
        assert_true(before != after);
        expect(b, AGG_SPAN_ALL, b->batches, 6);
        release_bench(b);
        memset(b, 0, sizeof *b);
        set_up_with(b, fixture_sum_recipe);
    }
}

// The batch under another id: a new delivery.
static agg_put put_anew(bench *b, shoal_rng *rng, int i, agg_period period)
{
    agg_error error;
    agg_put result;
    fixture_batch *batch = &b->batches[i];
    shoal_rng_bytes(rng, batch->id, 16);
    assert_int_equal(
        shoal_batch_seal(batch->bytes, batch->len, b->recipe.recipe, batch->count, batch->id),
        SHOAL_OK);
    must(try_put(b, &result, &error, period, batch), &error);
    return result;
}

// What everybody could ever load of spans that begin at DAY, as the count of records. Returns: 0
// where it is refused.
static uint64_t count_until(bench *b, int32_t last)
{
    agg_error error;
    agg_accumulator acc;
    if (try_load(b, &acc, &error, (agg_span){DAY, last}) != SHOAL_OK) return 0;
    uint64_t n = acc.n;
    agg_accumulator_release(&acc);
    return n;
}

// Days pass, batches come (some for days that are over), releases happen, and someone loads every
// span that begins at the first day, all the time: one load within another, or a later one of the
// same, differs by the minimum or not at all.
static void no_two_nested_loads_are_closer_than_the_minimum(void **state)
{
    enum { DAYS = 16, STEPS = 320 };
    bench *b = *state;
    shoal_rng rng;
    const uint8_t seed[32] = {11};
    uint64_t seen[STEPS * DAYS];
    size_t n_seen = 0;
    shoal_rng_init(&rng, seed);
    for (int step = 0; step < STEPS; step++) {
        int32_t day = DAY + step * DAYS / STEPS;
        int32_t late = shoal_rng_below(&rng, 8) == 0
                           ? (int32_t)shoal_rng_below(&rng, (uint64_t)(day - DAY) + 1)
                           : 0;
        if (shoal_rng_below(&rng, 8) == 0)
            put_anew(b, &rng, (int)shoal_rng_below(&rng, N),
                     (agg_period){AGG_PERIOD_DAY, day - late});
        if (shoal_rng_below(&rng, 4) == 0) release(b, day);
        for (int32_t last = DAY; last < DAY + DAYS; last++) seen[n_seen++] = count_until(b, last);
    }
    uint64_t most = 0;
    for (size_t i = 0; i < n_seen; i++) {
        for (size_t j = 0; j < i; j++) {
            uint64_t gap = seen[i] > seen[j] ? seen[i] - seen[j] : seen[j] - seen[i];
            if (gap > 0 && gap < MINIMUM)
                fail_msg("loads of %llu and %llu records", (unsigned long long)seen[i],
                         (unsigned long long)seen[j]);
        }
        if (seen[i] > most) most = seen[i];
    }
    assert_true(most > 8 * MINIMUM); // otherwise little was released, and nothing tried
}

static void a_batch_below_its_minimum_is_refused(void **state)
{
    bench *b = *state;
    agg_error error;
    agg_put result;
    fixture_batch small = b->batches[0];
    small.count = 99;
    small.len = shoal_batch_size(b->recipe.recipe, small.count);
    assert_int_equal(
        shoal_batch_seal(small.bytes, small.len, b->recipe.recipe, small.count, small.id),
        SHOAL_OK);
    assert_int_equal(try_put(b, &result, &error, today, &small), SHOAL_ERR_RANGE);
    assert_non_null(strstr(error.text, "batch.minimum, 100"));
    assert_int_equal(statistics(b).batches, 0);
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
        agg_err err = agg_store_collection(b->store, &collection, &error, recipe.recipe);
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
            n += folder_holds(b->folder, b->batches[i].bytes + SHOAL_BATCH_HEADER + r * size, size);
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
    release(b, DAY + 1);
    put_anew(b, &(shoal_rng){0}, 0, today); // sets the released sum apart
    assert_int_equal(count_on_disk(b), 0);
    reopen(b);
    assert_int_equal(count_on_disk(b), 0);
    // The same search finds them where they wait, so it can find.
    set_up_with(&reports, fixture_recipe);
    for (int i = 0; i < N; i++) put(&reports, i, today);
    assert_int_equal(count_on_disk(&reports), 615);
    release_bench(&reports);
}

// A release empties the log of sums that were replaced: only what is current can be subtracted from
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
    assert_int_equal(release(b, DAY), 0);
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
    uint64_t n_batches;
    set_up_with(&reports, fixture_recipe);
    for (int i = 0; i < N; i++) {
        put(b, i, today);
        put(&reports, i, today);
    }
    release(b, DAY + 1);
    must(agg_store_fold(reports.store, &n_batches, &error, reports.collection,
                        reports.recipe.recipe, 1),
         &error);
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

static void exec_sql(const bench *b, const char *sql)
{
    char path[96], *message = NULL;
    snprintf(path, sizeof path, "%s/shoal.db", b->folder);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
    sqlite3_close(db);
}

static void a_damaged_sum_is_refused(void **state)
{
    bench *b = *state;
    agg_error error;
    agg_put result;
    agg_accumulator acc;
    for (int i = 0; i < 3; i++) put(b, i, today);
    release(b, DAY + 1);
    exec_sql(
        b,
        "UPDATE sums SET body = CAST(substr(body, 1, 303) || x'01' || substr(body, 305) AS BLOB)");
    assert_int_equal(try_load(b, &acc, &error, AGG_SPAN_ALL), SHOAL_ERR_CHECKSUM);
    assert_int_equal(try_put(b, &result, &error, today, &b->batches[3]), SHOAL_ERR_CHECKSUM);
    assert_int_equal(statistics(b).batches, 3); // the refused one is not known
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
    int at = sprintf(sql, "INSERT INTO sums VALUES(%d, 1, %d, %llu, x'", (int)b->collection, DAY,
                     (unsigned long long)acc.n);
    for (size_t i = 0; i < len; i++) at += sprintf(sql + at, "%02x", bytes[i]);
    memcpy(sql + at, "')", 3);
    exec_sql(b, sql);
    assert_int_equal(put(b, 0, today), AGG_PUT_STORED);
    assert_int_equal(try_put(b, &result, &error, today, &b->batches[1]), SHOAL_ERR_OVERFLOW);
    assert_int_equal(put(b, 1, (agg_period){AGG_PERIOD_DAY, DAY + 1}), AGG_PUT_STORED);
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
        agg_period period = {AGG_PERIOD_DAY, DAY + i % 2}; // two sums, so that groups differ
        if (try_put(p->b, &result, &error, period, &p->b->batches[i]) == SHOAL_OK) {
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
    release(b, DAY + 1);
    expect(b, AGG_SPAN_ALL, b->batches, 3);
}

// Eight threads deliver the same batches while this one releases and loads.
static void threads_agree_on_who_was_first(void **state)
{
    bench *b = *state;
    poster posters[THREADS];
    pthread_t threads[THREADS];
    start_posters(b, posters, threads);
    for (int i = 0; i < 20; i++) {
        agg_error error;
        agg_accumulator acc;
        release(b, DAY); // neither day is over: nothing may show
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
    assert_int_equal(release(b, DAY + 2), 615);
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
    uint64_t n_batches;
    assert_int_equal(put(&old, 0, today), AGG_PUT_KNOWN);
    must(agg_store_fold(old.store, &n_batches, &error, old.collection, old.recipe.recipe, 1),
         &error);
    assert_int_equal(n_batches, 1);
    expect(&old, AGG_SPAN_ALL, old.batches, 1);
    // And takes sums from now on.
    bench sums = old;
    sums.recipe = b->recipe;
    memcpy(sums.batches, b->batches, sizeof sums.batches);
    must(agg_store_collection(sums.store, &sums.collection, &error, sums.recipe.recipe), &error);
    for (int i = 0; i < 3; i++) put(&sums, i, today);
    assert_int_equal(release(&sums, DAY + 1), 303);
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
        TEST(a_closed_period_is_released_whole),
        TEST(a_week_is_released_when_its_last_day_is_over),
        TEST(small_neighbours_are_released_as_one),
        TEST(what_is_released_stays_until_it_grew_by_the_minimum),
        TEST(no_two_nested_loads_are_closer_than_the_minimum),
        TEST(a_batch_below_its_minimum_is_refused),
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
