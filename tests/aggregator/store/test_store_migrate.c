// SPDX-License-Identifier: Apache-2.0
// Stores of version 2, which kept counts by period, become blocks: nothing that was acknowledged is
// lost, no closed block is below the minimum, and a process that is killed at any system call
// meanwhile leaves a store that goes on to the same end.
#include "store_fixture.h"

#include <dirent.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "effort.h"

enum { N = 6, DAY = 20778, BASE = DAY - 10 };

// The database as version 2 made it.
static const char version_2[] =
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
    "CREATE TABLE sums(collection INTEGER NOT NULL, kind INTEGER NOT NULL, start INTEGER NOT NULL,"
    " records INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(collection, kind, start));"
    "CREATE TABLE released(collection INTEGER NOT NULL, kind INTEGER NOT NULL, start INTEGER NOT "
    "NULL,"
    " block INTEGER NOT NULL, records INTEGER NOT NULL, body BLOB, PRIMARY KEY(collection, kind, "
    "start));"
    "PRAGMA user_version = 2;";

typedef struct bench {
    char folder[64];
    agg_recipe recipe;
    fixture_batch batches[N]; // 100, 101, ... 105 records
    sqlite3 *db;              // while the old store is written
    agg_store *store;
    int64_t collection;
} bench;

// ---- writing as version 2 did ----

static void exec(bench *b, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(b->db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
}

// Runs a statement with one blob.
static void exec_blob(bench *b, const char *sql, const void *bytes, size_t len)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(b->db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_bind_blob64(statement, 1, bytes, len, SQLITE_TRANSIENT), SQLITE_OK);
    if (sqlite3_step(statement) != SQLITE_DONE) fail_msg("%s", sqlite3_errmsg(b->db));
    sqlite3_finalize(statement);
}

static void begin(bench *b, void (*make_recipe)(agg_recipe *))
{
    char path[160];
    fixture_folder(b->folder);
    make_recipe(&b->recipe);
    for (uint32_t i = 0; i < N; i++) b->batches[i] = fixture_batch_make(b->recipe.recipe, i);
    snprintf(path, sizeof path, "%s/accumulators", b->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/shoal.db", b->folder);
    assert_int_equal(sqlite3_open(path, &b->db), SQLITE_OK);
    exec(b, version_2);
    exec_blob(b, "INSERT INTO recipes VALUES(1, ?1, 'old')", b->recipe.recipe->recipe_hash, 32);
}

// Sums the batches first .. last. Release it.
static agg_accumulator sum_of(bench *b, unsigned first, unsigned last)
{
    agg_error error;
    agg_accumulator acc;
    must(agg_accumulator_init(&acc, &error, b->recipe.recipe), &error);
    for (unsigned i = first; i <= last; i++)
        must(agg_accumulator_add(&acc, &error, b->batches[i].bytes + SHOAL_BATCH_HEADER_V1,
                                 b->batches[i].count, 1),
             &error);
    return acc;
}

static void know(bench *b, unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++)
        exec_blob(b, "INSERT OR IGNORE INTO known VALUES(1, ?1)", b->batches[i].id, 16);
}

static void old_accumulator(bench *b, agg_period period, unsigned first, unsigned last)
{
    agg_error error;
    char path[160], sql[160];
    agg_accumulator acc = sum_of(b, first, last);
    snprintf(path, sizeof path, "%s/accumulators/c1-%c%d-g3.acc", b->folder, "adw"[period.kind],
             (int)period.start);
    must(agg_accumulator_save(&acc, &error, path), &error);
    snprintf(sql, sizeof sql, "INSERT INTO accumulators VALUES(1, %d, %d, 3, %llu)", period.kind,
             (int)period.start, (unsigned long long)acc.n);
    exec(b, sql);
    agg_accumulator_release(&acc);
    know(b, first, last);
}

static void old_waiting(bench *b, agg_period period, unsigned i)
{
    char sql[120];
    snprintf(sql, sizeof sql, "INSERT INTO waiting VALUES(NULL, 1, %d, %d, ?1)", period.kind,
             (int)period.start);
    exec_blob(b, sql, b->batches[i].bytes, b->batches[i].len);
    know(b, i, i);
}

// A sum of batches first .. last, of which first .. released are released; below `first`: none.
static void old_sum(bench *b, agg_period period, unsigned first, unsigned last, int released,
                    int32_t group)
{
    char sql[200];
    size_t len;
    agg_accumulator acc = sum_of(b, first, last);
    uint8_t *bytes = fixture_bytes(&acc, &len);
    snprintf(sql, sizeof sql, "INSERT INTO sums VALUES(1, %d, %d, %llu, ?1)", period.kind,
             (int)period.start, (unsigned long long)acc.n);
    exec_blob(b, sql, bytes, len);
    free(bytes);
    know(b, first, last);
    if (released == (int)last) {
        snprintf(sql, sizeof sql, "INSERT INTO released VALUES(1, %d, %d, %d, %llu, NULL)",
                 period.kind, (int)period.start, (int)group, (unsigned long long)acc.n);
        exec(b, sql);
    } else if (released >= (int)first) {
        agg_accumulator less = sum_of(b, first, (unsigned)released);
        bytes = fixture_bytes(&less, &len);
        snprintf(sql, sizeof sql, "INSERT INTO released VALUES(1, %d, %d, %d, %llu, ?1)",
                 period.kind, (int)period.start, (int)group, (unsigned long long)less.n);
        exec_blob(b, sql, bytes, len);
        free(bytes);
        agg_accumulator_release(&less);
    }
    agg_accumulator_release(&acc);
}

// ---- what is there afterwards ----

static void open_new(bench *b)
{
    agg_error error;
    if (b->db != NULL) sqlite3_close(b->db);
    b->db = NULL;
    must(agg_store_open(&b->store, &error, b->folder), &error);
    must(agg_store_collection(b->store, &b->collection, &error, b->recipe.recipe, DAY), &error);
    assert_int_equal(b->collection, 1);
}

static agg_released expect(bench *b, agg_span span, unsigned first, unsigned n)
{
    agg_error error;
    agg_accumulator acc;
    agg_released released;
    must(agg_store_load(b->store, &acc, &released, &error, 1, b->recipe.recipe, span), &error);
    fixture_expect(&acc, b->recipe.recipe, b->batches + first, n);
    agg_accumulator_release(&acc);
    return released;
}

static uint64_t turn(bench *b, int32_t day)
{
    agg_error error;
    uint64_t n_records;
    must(fixture_turn(b->store, &n_records, &error, 1, b->recipe.recipe,
                      (int64_t)FIXTURE_DAY_S * day, FIXTURE_DAY_S),
         &error);
    return n_records;
}

// Delivers everything again, and closes what is left: all of it is there, once.
static void expect_all(bench *b)
{
    agg_error error;
    for (int i = 0; i < N; i++) {
        agg_put put;
        must(fixture_put(b->store, &put, &error, 1, b->recipe.recipe, DAY, &b->batches[i]), &error);
        assert_int_equal(put, AGG_PUT_KNOWN);
    }
    turn(b, DAY);
    turn(b, DAY + 1);
    expect(b, AGG_SPAN_ALL, 0, N);
    agg_store_close(b->store);
    open_new(b); // once is enough
    expect(b, AGG_SPAN_ALL, 0, N);
}

static void end(bench *b)
{
    agg_store_close(b->store);
    for (int i = 0; i < N; i++) free(b->batches[i].bytes);
    agg_recipe_release(&b->recipe);
    fixture_remove(b->folder);
}

static const agg_period today = {AGG_PERIOD_DAY, DAY}, for_ever = {AGG_PERIOD_ALL, 0};

static agg_period day(int32_t after)
{
    return (agg_period){AGG_PERIOD_DAY, BASE + after};
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

// Days of 100, 101 + 102 and 103 records, today's 104, and 105 that wait; a block is 100 or 250.
static void write_days(bench *b)
{
    old_accumulator(b, day(0), 0, 0);
    old_accumulator(b, day(2), 1, 2);
    old_accumulator(b, day(3), 3, 3);
    old_accumulator(b, today, 4, 4);
    old_waiting(b, day(9), 5);
}

static void large(agg_recipe *recipe) // the same collection, with a block of 250
{
    agg_error error;
    char json[sizeof fixture_json + 8];
    const char *at = strstr(fixture_json, "\"cohort\":{\"minimum\":100}");
    assert_non_null(at);
    snprintf(json, sizeof json, "%.*s\"cohort\":{\"minimum\":250}%s", (int)(at - fixture_json),
             fixture_json, at + strlen("\"cohort\":{\"minimum\":100}"));
    must(agg_recipe_from_bytes(recipe, &error, "fixture", json, strlen(json)), &error);
}

static void closed_days_are_blocks_and_today_is_open(void **state)
{
    (void)state;
    bench b = {0};
    begin(&b, fixture_recipe);
    write_days(&b);
    open_new(&b);
    agg_released all = expect(&b, AGG_SPAN_ALL, 0, 4);
    assert_int_equal(all.n, 3);
    assert_int_equal(all.first_day, BASE);
    assert_int_equal(all.last_day, BASE + 3);
    expect(&b, (agg_span){BASE, BASE}, 0, 1);
    expect(&b, (agg_span){BASE + 1, BASE + 2}, 1, 2);
    expect(&b, (agg_span){BASE + 3, DAY + 9}, 3, 1);
    assert_int_equal(count_files(&b), 4);
    expect_all(&b);
    end(&b);
}

static void small_days_become_one_block(void **state)
{
    (void)state;
    bench b = {0};
    begin(&b, large);
    write_days(&b);
    open_new(&b);
    agg_released all = expect(&b, AGG_SPAN_ALL, 0, 3);
    assert_int_equal(all.n, 1);
    assert_int_equal(all.first_day, BASE);
    assert_int_equal(all.last_day, BASE + 2);
    // Whoever asks for one of its days gets all of them.
    expect(&b, (agg_span){BASE + 1, BASE + 1}, 0, 3);
    expect(&b, (agg_span){BASE + 3, DAY}, 0, 0); // 103 and today are open
    assert_int_equal(count_files(&b), 2);
    expect_all(&b);
    end(&b);
}

static void what_never_closed_is_a_block_if_it_holds_enough(void **state)
{
    (void)state;
    for (int is_large = 0; is_large < 2; is_large++) {
        bench b = {0};
        begin(&b, is_large ? large : fixture_recipe);
        old_accumulator(&b, for_ever, 0, 1); // 201 records
        old_waiting(&b, for_ever, 2);
        old_waiting(&b, (agg_period){AGG_PERIOD_WEEK, 20773}, 3);
        old_waiting(&b, today, 4);
        old_waiting(&b, today, 5);
        open_new(&b);
        agg_released all = expect(&b, AGG_SPAN_ALL, 0, is_large ? 0 : 2);
        assert_int_equal(all.n, !is_large);
        if (!is_large) expect(&b, (agg_span){DAY, DAY}, 0, 2);
        expect_all(&b);
        end(&b);
    }
}

// Days of 100 .. 105 records: the first three are one released group, the fourth is not released,
// today's is not closed.
static void write_sums(bench *b)
{
    for (unsigned i = 0; i < 3; i++) old_sum(b, day((int32_t)i), i, i, (int)i, BASE);
    old_sum(b, day(3), 3, 3, -1, 0);
    old_sum(b, today, 4, 5, -1, 0);
}

static void released_sums_keep_their_groups(void **state)
{
    (void)state;
    bench b = {0};
    begin(&b, fixture_sum_recipe);
    write_sums(&b);
    open_new(&b);
    agg_released all = expect(&b, AGG_SPAN_ALL, 0, 3);
    assert_int_equal(all.n, 1);
    assert_int_equal(all.first_day, BASE);
    assert_int_equal(all.last_day, BASE + 2);
    expect(&b, (agg_span){BASE, BASE}, 0, 3);
    expect_all(&b);
    end(&b);
}

static void a_sum_that_grew_after_its_release_is_parted(void **state)
{
    (void)state;
    bench b = {0};
    begin(&b, fixture_sum_recipe);
    old_sum(&b, for_ever, 0, 5, 2, 0); // 303 released, 312 came later
    open_new(&b);
    agg_released all = expect(&b, AGG_SPAN_ALL, 0, 3);
    assert_int_equal(all.n, 1);
    assert_int_equal(all.last_day, DAY);
    turn(&b, DAY);
    assert_int_equal(turn(&b, DAY + 1), 312);
    expect(&b, (agg_span){DAY, DAY}, 0, N); // both blocks belong to today
    expect_all(&b);
    end(&b);
}

// A recipe that is not served keeps its periods until it is.
static void periods_wait_until_their_recipe_is_served(void **state)
{
    (void)state;
    agg_error error;
    agg_store *store;
    bench b = {0};
    begin(&b, fixture_recipe);
    write_days(&b);
    sqlite3_close(b.db);
    b.db = NULL;
    must(agg_store_open(&store, &error, b.folder), &error);
    agg_store_close(store);
    assert_int_equal(count_files(&b), 4);
    open_new(&b);
    expect(&b, AGG_SPAN_ALL, 0, 4);
    expect_all(&b);
    end(&b);
}

// ---- killed meanwhile ----

static int run_child(const bench *b)
{
    agg_error error;
    agg_store *store;
    int64_t collection;
    if (agg_store_open(&store, &error, b->folder) != SHOAL_OK) return 1;
    if (agg_store_collection(store, &collection, &error, b->recipe.recipe, DAY) != SHOAL_OK)
        return 2;
    agg_store_close(store);
    return 0;
}

// Starts the child and kills it at its system call number `kill_at`.
// Returns: 1 when it was killed, 0 when it ended before, -1 where tracing is not allowed.
static int run_until(const bench *b, unsigned kill_at)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(77);
        raise(SIGSTOP);
        _exit(run_child(b));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) return -1;
    for (unsigned stops = 0;; stops++) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status)) {
            assert_int_equal(WEXITSTATUS(status), 0);
            return 0;
        }
        assert_true(WIFSTOPPED(status));
        if (stops != kill_at * 2) continue; // even stops are entries, odd ones returns
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        return 1;
    }
}

static void kill_at_every_call(void (*make_recipe)(agg_recipe *), void (*write)(bench *b),
                               unsigned n_closed)
{
    unsigned step = effort_is_small() ? 9 : effort_is_long() ? 1 : 3, runs = 0;
    int was_killed = 1;
    for (unsigned kill_at = 0; was_killed == 1; kill_at += step, runs++) {
        bench b = {0};
        begin(&b, make_recipe);
        write(&b);
        sqlite3_close(b.db);
        b.db = NULL;
        was_killed = run_until(&b, kill_at);
        open_new(&b);
        expect(&b, AGG_SPAN_ALL, 0, n_closed);
        expect_all(&b);
        end(&b);
        if (was_killed < 0) skip();
    }
    print_message("killed at %u system calls\n", runs - 1);
    assert_true(runs > 60 / step);
}

static void killed_while_accumulators_are_migrated(void **state)
{
    (void)state;
    kill_at_every_call(large, write_days, 3);
}

static void killed_while_sums_are_migrated(void **state)
{
    (void)state;
    kill_at_every_call(fixture_sum_recipe, write_sums, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_days_are_blocks_and_today_is_open),
        cmocka_unit_test(small_days_become_one_block),
        cmocka_unit_test(what_never_closed_is_a_block_if_it_holds_enough),
        cmocka_unit_test(released_sums_keep_their_groups),
        cmocka_unit_test(a_sum_that_grew_after_its_release_is_parted),
        cmocka_unit_test(periods_wait_until_their_recipe_is_served),
        cmocka_unit_test(killed_while_accumulators_are_migrated),
        cmocka_unit_test(killed_while_sums_are_migrated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
