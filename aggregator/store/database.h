// SPDX-License-Identifier: Apache-2.0
// One SQLite database in a folder of its own, for one process at a time. The store of collections
// and the store of a DAP server are both built on it; it knows nothing of what they keep.
//
// The database is durable: it has a write-ahead log and syncs fully at every commit. Deleted
// content is overwritten. A database does not lock its connection: its owner holds a mutex around
// every function below except open and close.
//
// Errors: every function that returns agg_err fills `error` when it fails. The text names the
// folder, the statement's purpose (`what`) and SQLite's own message, and the code is AGG_ERR_IO
// unless a comment says otherwise.
#ifndef DATABASE_H
#define DATABASE_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "pace.h"

// Bytes that SQLite takes for one database, beside the largest content that it is given.
#define AGG_DATABASE_BYTES ((uint64_t)6 << 20)

// The layout of a database, fixed at compile time.
typedef struct agg_database_layout {
    const char *file;              // name of the database's file in the folder
    const char *const *upgrades;   // upgrades[i] turns version i into i + 1; version 0 is empty
    int version;                   // PRAGMA user_version that this program reads and writes
    const char *extras;            // SQL run at every open, for what older releases do without;
                                   // NULL for none
    const char *const *statements; // SQL of every statement
    unsigned n_statements;
} agg_database_layout;

typedef struct agg_database {
    char *folder;
    const char *file; // the layout's
    // Another connection of this process reads, so checkpoints must not wait for readers.
    atomic_bool is_read_apart;
    int lock_fd;
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *rollback;
    sqlite3_stmt **statements; // prepared once, in the layout's order
    unsigned n_statements;
} agg_database;

// Makes the folder (mode 0700) unless it exists, takes its lock, opens or creates the database,
// upgrades it and prepares its statements. The files of the database get mode 0600, whatever their
// mode, the folder's and the umask. The structure of a small database is checked first
// (AGG_DATABASE_CHECK_MAX): who writes into a damaged one may lose what was acknowledged. An
// upgrade goes one version at a time, each in one transaction: a process that is killed in between
// leaves a whole database of a lower version. Call agg_database_close also after an error.
//   database: zeros but for lock_fd, which is -1
//   layout: lives as long as the database
// Returns: AGG_ERR_IO when another process holds the lock, or the database is damaged;
// SHOAL_ERR_VERSION when a newer program wrote the database; AGG_ERR_MEMORY.
agg_err agg_database_open(agg_database *database, agg_error *error, const char *folder,
                          const agg_database_layout *layout) SHOAL_MUST_CHECK;

// Finalizes the statements, checkpoints and closes the database, and releases the lock last.
void agg_database_close(agg_database *database);

// ---- checking ----

// Bytes of the largest database whose structure is checked whenever it is opened. A check of so
// much takes under half a second.
#define AGG_DATABASE_CHECK_MAX ((int64_t)256 << 20)

// Runs SQLite's quick_check over a connection's database. It finds damage of the structure: of
// pages, rows and their types. It does not find changed bytes within a value, which have checksums
// of their own.
//   is_stopped: the pace ended the check, and nothing is known; NULL where there is no pace
//   pace: may be NULL
// Returns: AGG_ERR_IO, with the first finding, for a damaged database.
agg_err agg_database_quick_check(sqlite3 *db, bool *is_stopped, agg_error *error,
                                 const char *folder, const agg_pace *pace) SHOAL_MUST_CHECK;

// Opens another connection, which only reads. It may be used without the owner's mutex, by one
// thread. While it is open, checkpoints do not wait for readers. End with agg_database_close_apart.
agg_err agg_database_open_apart(sqlite3 **db, agg_error *error,
                                agg_database *database) SHOAL_MUST_CHECK;

// Closes the connection. db may be NULL.
void agg_database_close_apart(sqlite3 *db, agg_database *database);

// ---- transactions ----

agg_err agg_database_begin(agg_database *database, agg_error *error) SHOAL_MUST_CHECK;

// Ends the transaction: commits when `err` is SHOAL_OK, rolls back otherwise or when the commit
// fails.
// Returns: `err`, or the commit's error.
agg_err agg_database_end(agg_database *database, agg_error *error, agg_err err,
                         const char *what) SHOAL_MUST_CHECK;

// Rolls back the transaction, if one is open.
void agg_database_rollback(agg_database *database);

// Moves the write-ahead log's content into the database and empties the log, so that replaced and
// deleted content is overwritten there too. A reader may hold the log back; then the next call
// empties it. It waits for readers of other processes for some seconds, and not for
// agg_database_open_apart.
// Returns: whether the log is empty.
bool agg_database_checkpoint(agg_database *database);

// ---- statements ----

// Binds the statement's first parameters.
// Returns: the statement, ready for more bindings or to be stepped.
sqlite3_stmt *agg_database_bind(const agg_database *database, unsigned statement,
                                const int64_t *integers, int n_integers);

// Binds bytes, which must live until the statement has been stepped. NULL is bound as no bytes.
//   at: the parameter's number, from 1
void agg_statement_bind_bytes(sqlite3_stmt *statement, int at, const void *bytes, size_t len);

// Runs a statement that returns no rows, and resets it.
agg_err agg_database_run(agg_database *database, agg_error *error, sqlite3_stmt *statement,
                         const char *what) SHOAL_MUST_CHECK;

// Steps a query. Call agg_statement_end when no further row is wanted, also after an error.
//   is_row: whether the statement is at a row
agg_err agg_database_step(agg_database *database, bool *is_row, agg_error *error,
                          sqlite3_stmt *statement, const char *what) SHOAL_MUST_CHECK;

// Resets a statement and forgets its bindings.
void agg_statement_end(sqlite3_stmt *statement);

// Runs a query and reads the first column of its first row.
//   value: 0 when there is no row or the column is NULL
agg_err agg_database_read_integer(agg_database *database, int64_t *value, agg_error *error,
                                  sqlite3_stmt *statement, const char *what) SHOAL_MUST_CHECK;

// Copies the bytes of a column of the current row. SQL's NULL leaves *bytes and *len as they are.
//   bytes: from malloc
// Returns: AGG_ERR_MEMORY.
agg_err agg_statement_copy(uint8_t **bytes, size_t *len, agg_error *error, sqlite3_stmt *statement,
                           int column) SHOAL_MUST_CHECK;

// Copies a column that must have exactly `len` bytes.
agg_err agg_database_copy_exactly(const agg_database *database, uint8_t *out, size_t len,
                                  agg_error *error, sqlite3_stmt *statement,
                                  int column) SHOAL_MUST_CHECK;

// ---- folders ----

// Joins a folder and a name.
// Returns: a string to free, or NULL with `error` filled.
char *agg_folder_join(agg_error *error, const char *folder, const char *name);

// Makes a folder of mode 0700 unless it exists.
agg_err agg_folder_make(agg_error *error, const char *path) SHOAL_MUST_CHECK;

// Gives a file mode 0600 if it exists and anybody else may read or write it.
agg_err agg_file_keep_private(agg_error *error, const char *path) SHOAL_MUST_CHECK;

// Syncs a folder, so that the names in it are as durable as the files.
agg_err agg_folder_sync(agg_error *error, const char *path) SHOAL_MUST_CHECK;

#endif
