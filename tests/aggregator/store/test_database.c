// SPDX-License-Identifier: Apache-2.0
// The wrapper of SQLite: one process holds a database, upgrades are whole or not there, a
// transaction is undone by an error, errors name folder and statement, and a truncated log holds
// nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "database.h"

enum { ADD, FIND, COUNT, STATEMENTS };

static const char *const statements[STATEMENTS] = {
    [ADD] = "INSERT INTO rows(number, body) VALUES(?1, ?2)",
    [FIND] = "SELECT body FROM rows WHERE number = ?1",
    [COUNT] = "SELECT count(*) FROM rows",
};
static const char version_1[] = "CREATE TABLE rows(number INTEGER PRIMARY KEY, body BLOB);"
                                "INSERT INTO rows VALUES(1, x'0102');"
                                "PRAGMA user_version = 1;";
static const char version_2[] = "CREATE TABLE more(number INTEGER PRIMARY KEY);"
                                "PRAGMA user_version = 2;";
static const char broken[] = "DELETE FROM rows; CREATE TABLE rows(number INTEGER);";
static const char *const upgrades[] = {version_1, version_2}, *const bad_upgrades[] = {version_1,
                                                                                       broken};

static char folder[] = "/tmp/shoal-database-XXXXXX";
static agg_error error;

static agg_err open_version(agg_database *database, const char *const *list, int version)
{
    static agg_database_layout layout; // lives as long as the database
    layout = (agg_database_layout){.file = "test.db",
                                   .upgrades = list,
                                   .version = version,
                                   .statements = statements,
                                   .n_statements = STATEMENTS};
    *database = (agg_database){.lock_fd = -1};
    return agg_database_open(database, &error, folder, &layout);
}

static void must(agg_err err)
{
    if (err != SHOAL_OK) fail_msg("%s", error.text);
}

static void assert_says(const char *text)
{
    if (strstr(error.text, text) == NULL) fail_msg("\"%s\" does not say: %s", error.text, text);
}

static int64_t count(agg_database *database)
{
    int64_t n = -1;
    must(agg_database_read_integer(database, &n, &error,
                                   agg_database_bind(database, COUNT, NULL, 0), "count rows"));
    return n;
}

static agg_err add(agg_database *database, int64_t number, const void *bytes, size_t len)
{
    sqlite3_stmt *statement = agg_database_bind(database, ADD, &number, 1);
    agg_statement_bind_bytes(statement, 2, bytes, len);
    return agg_database_run(database, &error, statement, "add a row");
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"test.db", "test.db-wal", "test.db-shm", "lock"};
    char path[sizeof folder + 16];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static void one_process_holds_a_database(void **state)
{
    agg_database first, second;
    (void)state;
    must(open_version(&first, upgrades, 2));
    assert_int_equal(open_version(&second, upgrades, 2), AGG_ERR_IO);
    assert_says(folder);
    assert_says("another process holds it");
    agg_database_close(&second);
    agg_database_close(&first);
    must(open_version(&second, upgrades, 2));
    agg_database_close(&second);
}

static void upgrades_keep_rows_and_newer_versions_are_refused(void **state)
{
    agg_database database;
    (void)state;
    must(open_version(&database, upgrades, 1));
    must(add(&database, 7, "seven", 5));
    agg_database_close(&database);
    must(open_version(&database, upgrades, 2));
    assert_int_equal(count(&database), 2);
    agg_database_close(&database);
    assert_int_equal(open_version(&database, upgrades, 1), SHOAL_ERR_VERSION);
    assert_says("version 2 was written by a newer shoal");
    agg_database_close(&database);
}

static void a_failed_upgrade_changes_nothing(void **state)
{
    agg_database database;
    (void)state;
    must(open_version(&database, upgrades, 1));
    agg_database_close(&database);
    assert_int_equal(open_version(&database, bad_upgrades, 2), AGG_ERR_IO);
    assert_says("cannot upgrade the schema: table rows already exists");
    agg_database_close(&database);
    must(open_version(&database, upgrades, 1));
    assert_int_equal(count(&database), 1); // the row that `broken` deletes first
    agg_database_close(&database);
}

static void an_error_undoes_the_transaction(void **state)
{
    agg_database database;
    (void)state;
    must(open_version(&database, upgrades, 2));
    must(agg_database_begin(&database, &error));
    must(add(&database, 8, NULL, 0));
    agg_err err = add(&database, 1, NULL, 0); // the number is taken
    assert_int_equal(err, AGG_ERR_IO);
    assert_says(folder);
    assert_says("cannot add a row: UNIQUE constraint failed");
    assert_int_equal(agg_database_end(&database, &error, err, "commit"), AGG_ERR_IO);
    assert_says("cannot add a row"); // the first error stays
    assert_int_equal(count(&database), 1);

    must(agg_database_begin(&database, &error));
    must(add(&database, 8, NULL, 0));
    agg_database_rollback(&database);
    agg_database_rollback(&database); // no transaction is open any more
    assert_int_equal(count(&database), 1);

    must(agg_database_begin(&database, &error));
    must(add(&database, 8, NULL, 0));
    must(agg_database_end(&database, &error, SHOAL_OK, "commit"));
    assert_int_equal(agg_database_end(&database, &error, SHOAL_OK, "commit twice"), AGG_ERR_IO);
    assert_says("cannot commit twice");
    agg_database_close(&database);
    must(open_version(&database, upgrades, 2));
    assert_int_equal(count(&database), 2);
    agg_database_close(&database);
}

static void columns_are_copied_by_their_length(void **state)
{
    agg_database database;
    const int64_t one = 1, none = 99;
    uint8_t *bytes = NULL, exact[2] = {0}, longer[3] = {9, 9, 9};
    size_t len = 0;
    int64_t value = -1;
    bool is_row = false;
    (void)state;
    must(open_version(&database, upgrades, 2));
    sqlite3_stmt *find = agg_database_bind(&database, FIND, &one, 1);
    must(agg_database_step(&database, &is_row, &error, find, "find a row"));
    assert_true(is_row);
    must(agg_statement_copy(&bytes, &len, &error, find, 0));
    assert_int_equal(len, 2);
    assert_memory_equal(bytes, "\1\2", 2);
    free(bytes);
    must(agg_database_copy_exactly(&database, exact, 2, &error, find, 0));
    assert_memory_equal(exact, "\1\2", 2);
    assert_int_equal(agg_database_copy_exactly(&database, longer, 3, &error, find, 0), AGG_ERR_IO);
    assert_says("the wrong length");
    assert_memory_equal(longer, "\11\11\11", 3);
    agg_statement_end(find);
    must(agg_database_read_integer(&database, &value, &error,
                                   agg_database_bind(&database, FIND, &none, 1), "find a row"));
    assert_int_equal(value, 0); // there is no row

    must(add(&database, 2, NULL, 0)); // no bytes, which is not SQL's NULL
    bytes = NULL;
    find = agg_database_bind(&database, FIND, &(int64_t){2}, 1);
    must(agg_database_step(&database, &is_row, &error, find, "find a row"));
    must(agg_statement_copy(&bytes, &len, &error, find, 0));
    assert_non_null(bytes);
    assert_int_equal(len, 0);
    free(bytes);
    agg_statement_end(find);
    agg_database_close(&database);
}

static void a_checkpoint_empties_the_log(void **state)
{
    agg_database database;
    char path[sizeof folder + 16];
    struct stat about;
    (void)state;
    snprintf(path, sizeof path, "%s/test.db-wal", folder);
    must(open_version(&database, upgrades, 2));
    must(add(&database, 5, "five", 4));
    assert_int_equal(stat(path, &about), 0);
    assert_true(about.st_size > 0);
    assert_true(agg_database_checkpoint(&database));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, 0);
    agg_database_close(&database);
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(one_process_holds_a_database),
        ONE(upgrades_keep_rows_and_newer_versions_are_refused),
        ONE(a_failed_upgrade_changes_nothing),
        ONE(an_error_undoes_the_transaction),
        ONE(columns_are_copied_by_their_length),
        ONE(a_checkpoint_empties_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
