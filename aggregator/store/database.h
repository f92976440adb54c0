// SPDX-License-Identifier: Apache-2.0
// A folder that holds one SQLite database, for one process at a time: what every store of ours is
// opened with. Durable: a write-ahead log with full sync; what is deleted is overwritten. Knows
// nothing of what is stored.
#ifndef DATABASE_H
#define DATABASE_H

#include <sqlite3.h>
#include <stdint.h>

#include "agg_error.h"

// Fills `error` with what SQLite says last. Returns: AGG_ERR_IO.
agg_err agg_database_fail(agg_error *error, sqlite3 *db, const char *folder, const char *what);

// Joins folder and name. Returns: a string to free, or NULL with `error` filled.
char *agg_folder_join(agg_error *error, const char *folder, const char *name);

// Makes a folder of mode 0700 unless it is there.
agg_err agg_folder_make(agg_error *error, const char *path) SHOAL_MUST_CHECK;

// Makes the names in a folder as durable as the files.
agg_err agg_folder_sync(agg_error *error, const char *path) SHOAL_MUST_CHECK;

// Takes the folder's lock, which ends with the process or when *fd is closed.
agg_err agg_folder_lock(int *fd, agg_error *error, const char *folder) SHOAL_MUST_CHECK;

// Opens or makes the database. *db is to be closed also after an error.
agg_err agg_database_open(sqlite3 **db, agg_error *error, const char *folder,
                          const char *name) SHOAL_MUST_CHECK;

// Brings it up to version n: upgrades[i] makes version i + 1 of version i, and 0 is an empty file.
// One version at a time: killed in between it is a whole database of the one reached. Returns:
// SHOAL_ERR_VERSION for one of a newer version
agg_err agg_database_upgrade(sqlite3 *db, agg_error *error, const char *folder,
                             const char *const *upgrades, int n) SHOAL_MUST_CHECK;

// Prepares n statements for the life of the database. Finalize them also after an error.
agg_err agg_database_prepare(sqlite3_stmt **statements, agg_error *error, sqlite3 *db,
                             const char *folder, const char *const *sql, int n) SHOAL_MUST_CHECK;

#endif
