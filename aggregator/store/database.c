// SPDX-License-Identifier: Apache-2.0
// Folders with a database; see database.h.
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

agg_err agg_database_fail(agg_error *error, sqlite3 *db, const char *folder, const char *what)
{
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: %s: %s", folder, what,
                    sqlite3_errmsg(db));
}

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
    return fail_errno(error, path);
}

agg_err agg_folder_sync(agg_error *error, const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fail_errno(error, path);
    agg_err err = fsync(fd) == 0 ? SHOAL_OK : fail_errno(error, path);
    close(fd);
    return err;
}

agg_err agg_folder_lock(int *fd, agg_error *error, const char *folder)
{
    char *path = agg_folder_join(error, folder, "lock");
    if (path == NULL) return AGG_ERR_MEMORY;
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    agg_err err = SHOAL_OK;
    if (*fd < 0) {
        err = fail_errno(error, path);
    } else if (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
        err = errno == EWOULDBLOCK ? agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO,
                                              "store %s: another process holds it", folder)
                                   : fail_errno(error, path);
    }
    free(path);
    return err;
}

static int run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

// Reads a pragma's integer; -1 on error.
static int64_t pragma(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

agg_err agg_database_open(sqlite3 **db, agg_error *error, const char *folder, const char *name)
{
    char *path = agg_folder_join(error, folder, name);
    if (path == NULL) return AGG_ERR_MEMORY;
    int rc = sqlite3_open_v2(
        path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL);
    free(path);
    if (rc != SQLITE_OK) return agg_database_fail(error, *db, folder, "open");
    sqlite3_busy_timeout(*db, 5000); // a backup tool may hold the file for a moment
    if (!run(*db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;"
                  " PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 8192;"))
        return agg_database_fail(error, *db, folder, "open");
    return pragma(*db, "PRAGMA synchronous") == 2
               ? SHOAL_OK
               : agg_database_fail(error, *db, folder, "full sync was refused");
}

agg_err agg_database_upgrade(sqlite3 *db, agg_error *error, const char *folder,
                             const char *const *upgrades, int n)
{
    int64_t version = pragma(db, "PRAGMA user_version");
    if (version < 0) return agg_database_fail(error, db, folder, "not a store");
    if (version > n)
        return agg_fail(
            error, SHOAL_ERR_VERSION, AGG_EXIT_IO,
            "store %s: version %lld was written by a newer shoal; this one reads version %d",
            folder, (long long)version, n);
    for (; version < n; version++) {
        if (!run(db, "BEGIN IMMEDIATE")) return agg_database_fail(error, db, folder, "begin");
        if (run(db, upgrades[version]) && run(db, "COMMIT")) continue;
        agg_err err = agg_database_fail(error, db, folder, "schema");
        run(db, "ROLLBACK");
        return err;
    }
    return SHOAL_OK;
}

agg_err agg_database_prepare(sqlite3_stmt **statements, agg_error *error, sqlite3 *db,
                             const char *folder, const char *const *sql, int n)
{
    for (int i = 0; i < n; i++) {
        if (sqlite3_prepare_v3(db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &statements[i], NULL) !=
            SQLITE_OK)
            return agg_database_fail(error, db, folder, "prepare");
    }
    return SHOAL_OK;
}
