// SPDX-License-Identifier: Apache-2.0
// Databases in folders; see database.h.
#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg_size.h"

#define BUSY_MS 5000      // a backup tool may hold the file for a moment
#define CHECK_STEPS 10000 // of SQLite's machine, between two looks at the pace

// ---- folders ----

static agg_err fail_errno(agg_error *error, const char *path)
{
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", path, strerror(errno));
}

char *agg_folder_join(agg_error *error, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = agg_alloc(error, size, 1);
    if (path != NULL) snprintf(path, size, "%s/%s", folder, name);
    return path;
}

agg_err agg_folder_make(agg_error *error, const char *path)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return SHOAL_OK;
    if (errno == ENOENT)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO,
                        "%s: cannot be made: make the folder above it first", path);
    return fail_errno(error, path);
}

agg_err agg_file_keep_private(agg_error *error, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) return errno == ENOENT ? SHOAL_OK : fail_errno(error, path);
    if (!S_ISREG(status.st_mode) || (status.st_mode & 0077) == 0) return SHOAL_OK;
    return chmod(path, 0600) == 0 ? SHOAL_OK : fail_errno(error, path);
}

agg_err agg_folder_sync(agg_error *error, const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fail_errno(error, path);
    agg_err err = fsync(fd) == 0 ? SHOAL_OK : fail_errno(error, path);
    close(fd);
    return err;
}

// The lock ends with the process, or when its descriptor is closed.
static agg_err take_lock(agg_database *database, agg_error *error)
{
    char *path = agg_folder_join(error, database->folder, "lock");
    if (path == NULL) return AGG_ERR_MEMORY;
    database->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    agg_err err = SHOAL_OK;
    if (database->lock_fd < 0) {
        err = fail_errno(error, path);
    } else if (flock(database->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        err = errno == EWOULDBLOCK
                  ? agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: another process holds it",
                             database->folder)
                  : fail_errno(error, path);
    }
    if (err == SHOAL_OK) err = agg_file_keep_private(error, path);
    free(path);
    return err;
}

// ---- errors and transactions ----

static agg_err fail(const agg_database *database, agg_error *error, const char *what)
{
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: cannot %s: %s", database->folder,
                    what, sqlite3_errmsg(database->db));
}

agg_err agg_database_begin(agg_database *database, agg_error *error)
{
    return agg_database_run(database, error, database->begin, "begin a transaction");
}

void agg_database_rollback(agg_database *database)
{
    // SQLite rolls back by itself after some errors, a full disk for one.
    if (sqlite3_get_autocommit(database->db)) return;
    (void)sqlite3_step(database->rollback);
    agg_statement_end(database->rollback);
}

agg_err agg_database_end(agg_database *database, agg_error *error, agg_err err, const char *what)
{
    if (err == SHOAL_OK) err = agg_database_run(database, error, database->commit, what);
    if (err != SHOAL_OK) agg_database_rollback(database);
    return err;
}

bool agg_database_checkpoint(agg_database *database)
{
    bool is_hurried = atomic_load(&database->is_read_apart);
    if (is_hurried) sqlite3_busy_timeout(database->db, 0);
    int rc = sqlite3_wal_checkpoint_v2(database->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    if (is_hurried) sqlite3_busy_timeout(database->db, BUSY_MS);
    return rc == SQLITE_OK;
}

// ---- statements ----

sqlite3_stmt *agg_database_bind(const agg_database *database, unsigned statement,
                                const int64_t *integers, int n_integers)
{
    sqlite3_stmt *bound = database->statements[statement];
    for (int i = 0; i < n_integers; i++) sqlite3_bind_int64(bound, i + 1, integers[i]);
    return bound;
}

void agg_statement_bind_bytes(sqlite3_stmt *statement, int at, const void *bytes, size_t len)
{
    sqlite3_bind_blob64(statement, at, bytes == NULL ? "" : bytes, len, SQLITE_STATIC);
}

void agg_statement_end(sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

agg_err agg_database_run(agg_database *database, agg_error *error, sqlite3_stmt *statement,
                         const char *what)
{
    int rc = sqlite3_step(statement);
    agg_err err = rc == SQLITE_DONE ? SHOAL_OK : fail(database, error, what);
    agg_statement_end(statement);
    return err;
}

agg_err agg_database_step(agg_database *database, bool *is_row, agg_error *error,
                          sqlite3_stmt *statement, const char *what)
{
    int rc = sqlite3_step(statement);
    *is_row = rc == SQLITE_ROW;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SHOAL_OK : fail(database, error, what);
}

agg_err agg_database_read_integer(agg_database *database, int64_t *value, agg_error *error,
                                  sqlite3_stmt *statement, const char *what)
{
    bool is_row = false;
    agg_err err = agg_database_step(database, &is_row, error, statement, what);
    if (err == SHOAL_OK) *value = is_row ? sqlite3_column_int64(statement, 0) : 0;
    agg_statement_end(statement);
    return err;
}

agg_err agg_statement_copy(uint8_t **bytes, size_t *len, agg_error *error, sqlite3_stmt *statement,
                           int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return SHOAL_OK;
    const void *from = sqlite3_column_blob(statement, column);
    size_t n = (size_t)sqlite3_column_bytes(statement, column);
    uint8_t *copy = agg_alloc(error, n, 1);
    if (copy == NULL) return AGG_ERR_MEMORY;
    if (n > 0 && from == NULL) { // SQLite had no memory for the column
        free(copy);
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    }
    if (n > 0) memcpy(copy, from, n);
    *bytes = copy;
    *len = n;
    return SHOAL_OK;
}

agg_err agg_database_copy_exactly(const agg_database *database, uint8_t *out, size_t len,
                                  agg_error *error, sqlite3_stmt *statement, int column)
{
    const void *from = sqlite3_column_blob(statement, column);
    if (from == NULL || (size_t)sqlite3_column_bytes(statement, column) != len)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: a value has the wrong length",
                        database->folder);
    memcpy(out, from, len);
    return SHOAL_OK;
}

// ---- checking ----

// A progress handler of SQLite.
// Returns: other than 0 where the statement must end.
static int must_end(void *pace)
{
    return !agg_pace_go_on(pace, 0);
}

agg_err agg_database_quick_check(sqlite3 *db, bool *is_stopped, agg_error *error,
                                 const char *folder, const agg_pace *pace)
{
    sqlite3_stmt *check = NULL;
    if (pace != NULL) sqlite3_progress_handler(db, CHECK_STEPS, must_end, (void *)(uintptr_t)pace);
    int rc = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &check, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(check);
    if (pace != NULL) sqlite3_progress_handler(db, 0, NULL, NULL);
    const char *found = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(check, 0) : NULL;
    agg_err err = SHOAL_OK;
    if (is_stopped != NULL) *is_stopped = rc == SQLITE_INTERRUPT;
    if (rc != SQLITE_INTERRUPT && (found == NULL || strcmp(found, "ok") != 0))
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: the database is damaged: %s",
                       folder, found == NULL ? sqlite3_errmsg(db) : found);
    sqlite3_finalize(check);
    return err;
}

agg_err agg_database_open_apart(sqlite3 **db, agg_error *error, agg_database *database)
{
    *db = NULL;
    char *path = agg_folder_join(error, database->folder, database->file);
    if (path == NULL) return AGG_ERR_MEMORY;
    int rc = sqlite3_open_v2(path, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    free(path);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(*db, "PRAGMA cache_size = -1024", NULL, NULL, NULL); // KiB
    if (rc != SQLITE_OK) {
        agg_err err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: cannot read: %s",
                               database->folder, *db == NULL ? "no memory" : sqlite3_errmsg(*db));
        sqlite3_close(*db);
        *db = NULL;
        return err;
    }
    sqlite3_busy_timeout(*db, BUSY_MS);
    atomic_store(&database->is_read_apart, true);
    return SHOAL_OK;
}

void agg_database_close_apart(sqlite3 *db, agg_database *database)
{
    if (db == NULL) return;
    sqlite3_close(db);
    atomic_store(&database->is_read_apart, false);
}

// ---- opening ----

static bool execute(agg_database *database, const char *sql)
{
    return sqlite3_exec(database->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

// Returns: a pragma's integer, or -1 on error.
static int64_t read_pragma(agg_database *database, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(database->db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

// Makes a file of the database private, and creates it if it is to be there: SQLite would leave its
// mode to the umask. SQLite gives the log and the shared memory the mode of the database itself.
static agg_err keep_private(const agg_database *database, agg_error *error, const char *suffix,
                            bool is_made)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", database->file, suffix);
    char *path = agg_folder_join(error, database->folder, name);
    if (path == NULL) return AGG_ERR_MEMORY;
    int fd = is_made ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    agg_err err = is_made && fd < 0 ? fail_errno(error, path) : agg_file_keep_private(error, path);
    if (fd >= 0) close(fd);
    free(path);
    return err;
}

static agg_err open_file(agg_database *database, agg_error *error, const char *name)
{
    agg_err err = keep_private(database, error, "", true);
    if (err == SHOAL_OK) err = keep_private(database, error, "-wal", false);
    if (err == SHOAL_OK) err = keep_private(database, error, "-shm", false);
    if (err != SHOAL_OK) return err;
    char *path = agg_folder_join(error, database->folder, name);
    if (path == NULL) return AGG_ERR_MEMORY;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
    int rc = sqlite3_open_v2(path, &database->db, flags, NULL);
    free(path);
    if (rc != SQLITE_OK) return fail(database, error, "open the database");
    sqlite3_busy_timeout(database->db, BUSY_MS);
    if (!execute(database,
                 "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;"
                 " PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 8192;"))
        return fail(database, error, "open the database");
    return read_pragma(database, "PRAGMA synchronous") == 2
               ? SHOAL_OK
               : fail(database, error, "turn on full sync");
}

static agg_err check_small(agg_database *database, agg_error *error)
{
    int64_t pages = read_pragma(database, "PRAGMA page_count"),
            size = read_pragma(database, "PRAGMA page_size");
    if (pages > 0 && size > 0 && pages > AGG_DATABASE_CHECK_MAX / size) return SHOAL_OK;
    return agg_database_quick_check(database->db, NULL, error, database->folder, NULL);
}

static agg_err upgrade(agg_database *database, agg_error *error, const agg_database_layout *layout)
{
    int64_t version = read_pragma(database, "PRAGMA user_version");
    if (version < 0) return fail(database, error, "read the version");
    if (version > layout->version)
        return agg_fail(
            error, SHOAL_ERR_VERSION, AGG_EXIT_IO,
            "store %s: version %lld was written by a newer shoal; this one reads version %d",
            database->folder, (long long)version, layout->version);
    for (; version < layout->version; version++) {
        if (!execute(database, "BEGIN IMMEDIATE")) return fail(database, error, "begin an upgrade");
        if (execute(database, layout->upgrades[version]) && execute(database, "COMMIT")) continue;
        agg_err err = fail(database, error, "upgrade the schema");
        execute(database, "ROLLBACK");
        return err;
    }
    if (layout->extras != NULL && !execute(database, layout->extras))
        return fail(database, error, "add to the schema");
    return SHOAL_OK;
}

static agg_err prepare_one(agg_database *database, sqlite3_stmt **statement, agg_error *error,
                           const char *sql)
{
    return sqlite3_prepare_v3(database->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) ==
                   SQLITE_OK
               ? SHOAL_OK
               : fail(database, error, "prepare a statement");
}

static agg_err prepare(agg_database *database, agg_error *error, const agg_database_layout *layout)
{
    agg_err err = prepare_one(database, &database->begin, error, "BEGIN IMMEDIATE");
    if (err == SHOAL_OK) err = prepare_one(database, &database->commit, error, "COMMIT");
    if (err == SHOAL_OK) err = prepare_one(database, &database->rollback, error, "ROLLBACK");
    if (err != SHOAL_OK) return err;
    database->statements = agg_alloc(error, layout->n_statements, sizeof(sqlite3_stmt *));
    if (database->statements == NULL) return AGG_ERR_MEMORY;
    database->n_statements = layout->n_statements;
    for (unsigned i = 0; err == SHOAL_OK && i < layout->n_statements; i++)
        err = prepare_one(database, &database->statements[i], error, layout->statements[i]);
    return err;
}

agg_err agg_database_open(agg_database *database, agg_error *error, const char *folder,
                          const agg_database_layout *layout)
{
    database->folder = strdup(folder);
    database->file = layout->file;
    if (database->folder == NULL)
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    agg_err err = agg_folder_make(error, folder);
    if (err == SHOAL_OK) err = take_lock(database, error);
    if (err == SHOAL_OK) err = open_file(database, error, layout->file);
    if (err == SHOAL_OK) err = check_small(database, error);
    if (err == SHOAL_OK) err = upgrade(database, error, layout);
    if (err == SHOAL_OK) err = prepare(database, error, layout);
    return err == SHOAL_OK ? agg_folder_sync(error, folder) : err;
}

void agg_database_close(agg_database *database)
{
    for (unsigned i = 0; i < database->n_statements; i++) sqlite3_finalize(database->statements[i]);
    sqlite3_finalize(database->begin);
    sqlite3_finalize(database->commit);
    sqlite3_finalize(database->rollback);
    sqlite3_close(database->db);                          // checkpoints the write-ahead log
    if (database->lock_fd >= 0) close(database->lock_fd); // last: it guards the closing too
    free(database->statements);
    free(database->folder);
    *database = (agg_database){.lock_fd = -1};
}
