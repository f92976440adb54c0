// SPDX-License-Identifier: Apache-2.0
// Writing a backup; see store_backup.h. The server is not asked and its lock is not taken: the rows
// come from one read transaction, and closed blocks are files that only retention replaces. Where
// one is replaced in between, the copy begins anew.
#include "store_backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg_size.h"
#include "backup_file.h"
#include "sealed_check.h"
#include "store_statements.h"

#define TRIES 20 // retention replaces files once a day at most for each collection
#define BUSY_MS 10000

typedef struct backup {
    agg_error *error;
    const char *folder; // of the store
    char *database;     // file of the copied rows
    char *work;         // file of the backup while it is written
    agg_backed_up *about;
    sqlite3 *db;
    bool is_changed; // the store changed meanwhile: begin anew
} backup;

static agg_err fail_rows(const backup *b, const char *what)
{
    return agg_fail(b->error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: cannot %s: %s", b->folder, what,
                    b->db == NULL ? "out of memory" : sqlite3_errmsg(b->db));
}

// ---- rows ----

// Returns: the first column of the first row, or -1.
static int64_t read_number(const backup *b, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(b->db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

// Attaches the store as "live". The copy only reads it.
static agg_err attach(const backup *b)
{
    sqlite3_stmt *statement = NULL;
    char *path = agg_folder_join(b->error, b->folder, "shoal.db");
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = SHOAL_OK;
    if (access(path, R_OK) != 0)
        err = agg_fail(b->error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", path, strerror(errno));
    bool is_attached =
        err == SHOAL_OK &&
        sqlite3_prepare_v2(b->db, "ATTACH ?1 AS live", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_DONE;
    if (err == SHOAL_OK && !is_attached) err = fail_rows(b, "open the database");
    sqlite3_finalize(statement);
    free(path);
    return err;
}

// A store of an older version is upgraded by its server; a backup leaves the store as it is.
static agg_err check_version(const backup *b)
{
    int64_t version = read_number(b, "PRAGMA live.user_version");
    int own = agg_store_layout()->version;
    if (version < 0) return fail_rows(b, "read the version");
    if (version > own)
        return agg_fail(
            b->error, SHOAL_ERR_VERSION, AGG_EXIT_IO,
            "store %s: version %lld was written by a newer shoal; this one reads version %d",
            b->folder, (long long)version, own);
    if (version < own || read_number(b, "SELECT (SELECT count(*) FROM live.accumulators)"
                                        " + (SELECT count(*) FROM live.sums)") > 0)
        return agg_fail(b->error, SHOAL_ERR_VERSION, AGG_EXIT_IO,
                        "store %s: parts of it are as an older shoal left them; serve every recipe "
                        "once, or forget those that are over, and then back it up",
                        b->folder);
    return SHOAL_OK;
}

// A store that an older server has open has no such table.
static agg_err copy_imports(const backup *b)
{
    static const char copy[] =
        AGG_STORE_IMPORTS "INSERT INTO main.imports SELECT * FROM live.imports;";
    int64_t n = read_number(b, "SELECT count(*) FROM live.sqlite_master WHERE name = 'imports'");
    if (n == 0) return SHOAL_OK;
    if (n < 0 || sqlite3_exec(b->db, copy, NULL, NULL, NULL) != SQLITE_OK)
        return fail_rows(b, "copy its imports");
    return SHOAL_OK;
}

static agg_err copy_rows(const backup *b)
{
    static const char copy[] = "BEGIN;"
                               "INSERT INTO main.recipes SELECT * FROM live.recipes;"
                               "INSERT INTO main.known SELECT * FROM live.known;"
                               "INSERT INTO main.forgotten SELECT * FROM live.forgotten;"
                               "INSERT INTO main.blocks SELECT * FROM live.blocks WHERE is_closed;"
                               "COMMIT;";
    const agg_database_layout *layout = agg_store_layout();
    for (int i = 0; i < layout->version; i++)
        if (sqlite3_exec(b->db, layout->upgrades[i], NULL, NULL, NULL) != SQLITE_OK)
            return fail_rows(b, "make the copy");
    agg_err err = attach(b);
    if (err == SHOAL_OK) err = check_version(b);
    if (err == SHOAL_OK && sqlite3_exec(b->db, copy, NULL, NULL, NULL) != SQLITE_OK)
        err = fail_rows(b, "copy its rows");
    return err == SHOAL_OK ? copy_imports(b) : err;
}

static agg_err open_copy(backup *b)
{
    (void)unlink(b->database);
    int fd = open(b->database, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return agg_fail(b->error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", b->database, strerror(errno));
    close(fd);
    if (sqlite3_open_v2(b->database, &b->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return fail_rows(b, "make the copy");
    sqlite3_busy_timeout(b->db, BUSY_MS);
    // The copy is thrown away where anything fails.
    return sqlite3_exec(b->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;", NULL, NULL,
                        NULL) == SQLITE_OK
               ? SHOAL_OK
               : fail_rows(b, "make the copy");
}

// ---- files ----

static bool read_file(void *context, uint8_t *bytes, size_t len)
{
    return fread(bytes, 1, len, context) == len;
}

// Adds an accumulator, whose checksum and head are compared first.
static agg_err add_file(backup *b, agg_backup_file *to, FILE *from, const char *name,
                        sqlite3_stmt *row)
{
    struct stat status;
    sealed_about about = {{0}, 0};
    bool is_stopped;
    if (fstat(fileno(from), &status) != 0)
        return agg_fail(b->error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", name, strerror(errno));
    const sealed_source source = {read_file, from, (uint64_t)status.st_size, false};
    agg_err err = sealed_check(&about, &is_stopped, &source, NULL);
    const void *hash = sqlite3_column_blob(row, 1);
    if (err == SHOAL_OK && (hash == NULL || sqlite3_column_bytes(row, 1) != 32 ||
                            memcmp(about.recipe_hash, hash, 32) != 0 ||
                            (int64_t)about.n != sqlite3_column_int64(row, 2)))
        err = SHOAL_ERR_CHECKSUM;
    if (err != SHOAL_OK)
        return agg_fail(b->error, err, AGG_EXIT_IO,
                        "store %s: %s is damaged; nothing was backed up", b->folder, name);
    rewind(from);
    return agg_backup_add(to, b->error, name, from, (uint64_t)status.st_size);
}

static agg_err add_row(backup *b, agg_backup_file *to, sqlite3_stmt *row)
{
    char name[AGG_BACKUP_NAME_MAX];
    const char *file = (const char *)sqlite3_column_text(row, 0);
    int len = snprintf(name, sizeof name, "accumulators/%s", file == NULL ? "" : file);
    if (file == NULL || len >= (int)sizeof name || strchr(file, '/') != NULL)
        return fail_rows(b, "read a block's name");
    char *path = agg_folder_join(b->error, b->folder, name);
    if (path == NULL) return AGG_ERR_MEMORY;
    FILE *from = fopen(path, "rb");
    b->is_changed = from == NULL && errno == ENOENT;
    agg_err err =
        from != NULL ? add_file(b, to, from, name, row)
                     : agg_fail(b->error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", path, strerror(errno));
    if (from != NULL) fclose(from);
    free(path);
    return err;
}

static agg_err add_files(backup *b, agg_backup_file *to)
{
    sqlite3_stmt *rows = NULL;
    agg_err err = SHOAL_OK;
    int rc = sqlite3_prepare_v2(b->db,
                                "SELECT file, recipe_hash, records FROM blocks"
                                " JOIN recipes USING(collection) WHERE file IS NOT NULL",
                                -1, &rows, NULL);
    while (err == SHOAL_OK && rc == SQLITE_OK && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
        err = add_row(b, to, rows);
        rc = SQLITE_OK;
    }
    if (err == SHOAL_OK && rc != SQLITE_DONE) err = fail_rows(b, "list blocks");
    sqlite3_finalize(rows);
    return err;
}

static agg_err add_database(backup *b, agg_backup_file *to)
{
    struct stat status;
    FILE *from = fopen(b->database, "rb");
    agg_err err = SHOAL_OK;
    if (from == NULL || fstat(fileno(from), &status) != 0)
        err = agg_fail(b->error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", b->database, strerror(errno));
    else
        err = agg_backup_add(to, b->error, "shoal.db", from, (uint64_t)status.st_size);
    if (from != NULL) fclose(from);
    return err;
}

static agg_err write_all(backup *b, int64_t now_s)
{
    agg_backup_file to = {.stream = NULL};
    agg_err err = open_copy(b);
    if (err == SHOAL_OK) err = copy_rows(b);
    if (err == SHOAL_OK) err = agg_backup_create(&to, b->error, b->work, now_s);
    if (err == SHOAL_OK) err = add_files(b, &to);
    if (err == SHOAL_OK)
        *b->about = (agg_backed_up){
            .time_s = now_s,
            .recipes = (uint64_t)read_number(b, "SELECT count(*) FROM recipes"),
            .blocks = (uint64_t)read_number(b, "SELECT count(*) FROM blocks"),
            .records = (uint64_t)read_number(b, "SELECT ifnull(sum(records), 0) FROM blocks")};
    sqlite3_close(b->db);
    b->db = NULL;
    if (err == SHOAL_OK) err = add_database(b, &to);
    if (err == SHOAL_OK) err = agg_backup_finish(&to, b->error);
    agg_backup_close(&to);
    (void)unlink(b->database);
    return err;
}

// Gives the backup its name, unless somebody else has taken it.
static agg_err publish(const backup *b, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *parent = slash == NULL   ? strdup(".")
                   : slash == path ? strdup("/")
                                   : strndup(path, (size_t)(slash - path));
    if (parent == NULL)
        return agg_fail(b->error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    agg_err err = SHOAL_OK;
    if (link(b->work, path) != 0)
        err = agg_fail(b->error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", path, strerror(errno));
    (void)unlink(b->work);
    if (err == SHOAL_OK) err = agg_folder_sync(b->error, parent);
    free(parent);
    return err;
}

static char *with_suffix(agg_error *error, const char *path, const char *suffix)
{
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *name = agg_alloc(error, size, 1);
    if (name != NULL) snprintf(name, size, "%s%s", path, suffix);
    return name;
}

agg_err agg_store_backup(agg_backed_up *about, agg_error *error, const char *folder,
                         const char *path, int64_t now_s)
{
    struct stat status;
    if (lstat(path, &status) == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s: exists; a backup replaces nothing, choose another name", path);
    backup b = {.error = error,
                .folder = folder,
                .about = about,
                .database = with_suffix(error, path, ".partial-rows"),
                .work = with_suffix(error, path, ".partial")};
    agg_err err = b.database == NULL || b.work == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    for (int i = 0; err == SHOAL_OK && i < TRIES; i++) {
        b.is_changed = false;
        err = write_all(&b, now_s);
        if (!b.is_changed) break;
        if (i + 1 < TRIES) err = SHOAL_OK;
    }
    if (err == SHOAL_OK) err = publish(&b, path);
    if (err != SHOAL_OK && b.work != NULL) (void)unlink(b.work);
    free(b.database);
    free(b.work);
    return err;
}
