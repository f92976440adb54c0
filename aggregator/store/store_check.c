// SPDX-License-Identifier: Apache-2.0
// Looking for damage; see store_check.h.
#include "store_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agg_size.h"
#include "sealed_check.h"
#include "store_blocks.h"

// What one row says of the bytes that it names or holds.
typedef struct held {
    char file[AGG_BLOCK_FILE_SIZE]; // in accumulators/; "" where the row itself holds the bytes
    const char *table, *column;     // that hold them
    int64_t row, records;           // records -1 where the row does not say how many
    uint8_t recipe_hash[32];
} held;

typedef struct check {
    agg_store *store;
    agg_store_found *found;
    agg_error *error;
    agg_store_told told;
    const agg_pace *pace;
    sqlite3 *db;
    held *list;
    size_t n, cap;
} check;

// Says what is damaged.
static void tell(const check *c, const char *name, agg_err err)
{
    char text[512];
    snprintf(text, sizeof text, "%s is damaged: %s", name, shoal_err_text(err));
    if (c->told.log != NULL) c->told.log(c->told.context, text);
}

static agg_err fail_reading(check *c)
{
    return agg_fail(c->error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: cannot be checked: %s",
                    c->store->database.folder, sqlite3_errmsg(c->db));
}

// ---- what is to be checked ----

// Versions 2 and earlier kept what is in `accumulators`, `sums` and `released`.
static const struct listing {
    const char *table, *column, *sql; // sql: file or NULL, row, records or NULL, recipe hash
} listings[] = {
    {"blocks", "body",
     "SELECT file, b.rowid, records, recipe_hash FROM blocks AS b JOIN recipes USING(collection)"
     " WHERE file IS NOT NULL OR body IS NOT NULL"},
    {"waiting", "body",
     "SELECT NULL, number, NULL, recipe_hash FROM waiting JOIN recipes USING(collection)"},
    {"accumulators", "",
     "SELECT printf('c%d-%s%d-g%d.acc', collection, substr('adw', kind + 1, 1), start,"
     " generation), 0, records, recipe_hash FROM accumulators JOIN recipes USING(collection)"},
    {"sums", "body",
     "SELECT NULL, s.rowid, NULL, recipe_hash FROM sums AS s JOIN recipes USING(collection)"},
    {"released", "body",
     "SELECT NULL, r.rowid, NULL, recipe_hash FROM released AS r JOIN recipes USING(collection)"
     " WHERE body IS NOT NULL"}};

static agg_err add_row(check *c, sqlite3_stmt *row, const struct listing *of)
{
    void *list = c->list;
    agg_err err = agg_grow(&list, &c->cap, c->n + 1, sizeof *c->list, c->error);
    c->list = list;
    if (err != SHOAL_OK) return err;
    held *next = &c->list[c->n++];
    *next = (held){
        .table = of->table,
        .column = of->column,
        .row = sqlite3_column_int64(row, 1),
        .records = sqlite3_column_type(row, 2) == SQLITE_NULL ? -1 : sqlite3_column_int64(row, 2)};
    const char *file = (const char *)sqlite3_column_text(row, 0);
    if (file != NULL) snprintf(next->file, sizeof next->file, "%s", file);
    const void *hash = sqlite3_column_blob(row, 3);
    if (hash != NULL && sqlite3_column_bytes(row, 3) == sizeof next->recipe_hash)
        memcpy(next->recipe_hash, hash, sizeof next->recipe_hash);
    return SHOAL_OK;
}

static agg_err list_rows(check *c, const struct listing *of)
{
    sqlite3_stmt *rows = NULL;
    int rc = sqlite3_prepare_v2(c->db, of->sql, -1, &rows, NULL);
    agg_err err = SHOAL_OK;
    while (err == SHOAL_OK && rc == SQLITE_OK && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
        err = add_row(c, rows, of);
        rc = SQLITE_OK;
    }
    if (err == SHOAL_OK && rc != SQLITE_DONE) err = fail_reading(c);
    sqlite3_finalize(rows);
    return err;
}

// ---- checking one ----

static bool read_file(void *context, uint8_t *bytes, size_t len)
{
    return fread(bytes, 1, len, context) == len;
}

typedef struct blob {
    sqlite3_blob *handle;
    int at;
} blob;

static bool read_blob(void *context, uint8_t *bytes, size_t len)
{
    blob *b = context;
    if (sqlite3_blob_read(b->handle, bytes, (int)len, b->at) != SQLITE_OK) return false;
    b->at += (int)len;
    return true;
}

// Compares bytes with their own checksum, and with what the row says of them.
static agg_err check_source(const check *c, bool *is_stopped, const held *one,
                            const sealed_source *source)
{
    sealed_about about = {{0}, 0};
    agg_err err = sealed_check(&about, is_stopped, source, c->pace);
    if (err != SHOAL_OK || *is_stopped) return err;
    if (memcmp(about.recipe_hash, one->recipe_hash, sizeof about.recipe_hash) != 0)
        return SHOAL_ERR_RECIPE_HASH;
    return one->records < 0 || (int64_t)about.n == one->records ? SHOAL_OK : SHOAL_ERR_RANGE;
}

// Finds whether a row still names a file: a fold may have replaced it since the rows were listed.
static bool is_named(const check *c, const held *one)
{
    sqlite3_stmt *find = NULL;
    bool is_row = true; // where that cannot be found out, the file counts as missing
    if (strcmp(one->table, "blocks") != 0) return true;
    if (sqlite3_prepare_v2(c->db, "SELECT 1 FROM blocks WHERE file = ?1", -1, &find, NULL) ==
        SQLITE_OK) {
        sqlite3_bind_text(find, 1, one->file, -1, SQLITE_STATIC);
        is_row = sqlite3_step(find) != SQLITE_DONE;
    }
    sqlite3_finalize(find);
    return is_row;
}

static agg_err check_file(const check *c, bool *is_stopped, bool *is_gone, const held *one)
{
    char path[4096];
    struct stat status;
    int len =
        snprintf(path, sizeof path, "%s/accumulators/%s", c->store->database.folder, one->file);
    FILE *stream = len < (int)sizeof path ? fopen(path, "rb") : NULL;
    if (stream == NULL) {
        *is_gone = errno == ENOENT && !is_named(c, one);
        return AGG_ERR_IO;
    }
    agg_err err = AGG_ERR_IO;
    if (fstat(fileno(stream), &status) == 0) {
        const sealed_source source = {read_file, stream, (uint64_t)status.st_size, true};
        err = check_source(c, is_stopped, one, &source);
    }
    fclose(stream);
    return err;
}

static agg_err check_blob(const check *c, bool *is_stopped, bool *is_gone, const held *one)
{
    blob b = {NULL, 0};
    if (sqlite3_blob_open(c->db, "main", one->table, one->column, one->row, 0, &b.handle) !=
        SQLITE_OK) {
        sqlite3_blob_close(b.handle);
        // A fold deletes waiting batches, and a put replaces the open sum; a row that is gone since
        // is no damage. quick_check finds one that cannot be read.
        *is_gone = true;
        return SHOAL_OK;
    }
    const sealed_source source = {read_blob, &b, (uint64_t)sqlite3_blob_bytes(b.handle), false};
    agg_err err = check_source(c, is_stopped, one, &source);
    sqlite3_blob_close(b.handle);
    return err;
}

// The open block's sum may have grown since the rows were listed.
static bool has_changed(const check *c, const held *one)
{
    char sql[128];
    sqlite3_stmt *find = NULL;
    if (one->file[0] != '\0' || one->records < 0) return false;
    snprintf(sql, sizeof sql, "SELECT records FROM %s WHERE rowid = ?1", one->table);
    bool is_same = false;
    if (sqlite3_prepare_v2(c->db, sql, -1, &find, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(find, 1, one->row);
        is_same = sqlite3_step(find) == SQLITE_ROW && sqlite3_column_int64(find, 0) == one->records;
    }
    sqlite3_finalize(find);
    return !is_same;
}

static void check_one(const check *c, const held *one)
{
    bool is_gone = false;
    char name[AGG_BLOCK_FILE_SIZE + 64];
    agg_err err = one->file[0] != '\0' ? check_file(c, &c->found->is_stopped, &is_gone, one)
                                       : check_blob(c, &c->found->is_stopped, &is_gone, one);
    if (is_gone || c->found->is_stopped) return;
    c->found->n_checked++;
    if (err == SHOAL_OK || has_changed(c, one)) return; // the next check sees what it became
    c->found->n_damaged++;
    if (one->file[0] != '\0')
        snprintf(name, sizeof name, "accumulators/%s", one->file);
    else
        snprintf(name, sizeof name, "row %lld of %s", (long long)one->row, one->table);
    tell(c, name, err == AGG_ERR_IO ? SHOAL_ERR_TRUNCATED : err);
}

// ---- all ----

static agg_err check_all(check *c)
{
    agg_error damage;
    if (agg_database_quick_check(c->db, &c->found->is_stopped, &damage, c->store->database.folder,
                                 c->pace) != SHOAL_OK) {
        c->found->is_database_damaged = true;
        if (c->told.log != NULL) c->told.log(c->told.context, damage.text);
        return SHOAL_OK; // its rows cannot be believed
    }
    agg_err err = SHOAL_OK;
    if (c->found->is_stopped) return SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < sizeof listings / sizeof *listings; i++)
        err = list_rows(c, &listings[i]);
    for (size_t i = 0; err == SHOAL_OK && i < c->n && !c->found->is_stopped; i++)
        check_one(c, &c->list[i]);
    return err;
}

agg_err agg_store_check(agg_store *store, agg_store_found *found, agg_error *error,
                        agg_store_told told, const agg_pace *pace)
{
    check c = {.store = store, .found = found, .error = error, .told = told, .pace = pace};
    *found = (agg_store_found){0};
    agg_err err = agg_database_open_apart(&c.db, error, &store->database);
    if (err == SHOAL_OK) err = check_all(&c);
    agg_database_close_apart(c.db, &store->database);
    free(c.list);
    return err;
}
