// SPDX-License-Identifier: Apache-2.0
// Restoring a backup; see store_backup.h. Everything happens in a folder beside the wanted one, and
// one rename ends it.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg_size.h"
#include "backup_file.h"
#include "log.h"
#include "store_backup.h"
#include "store_statements.h"

#define ACCUMULATORS "accumulators/"

static agg_err fail_errno(agg_error *error, const char *path)
{
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", path, strerror(errno));
}

// ---- folders ----

// Refuses a folder that holds anything, and a link, which the rename at the end would replace.
static agg_err check_empty(agg_error *error, const char *path)
{
    struct stat status;
    size_t n = 0;
    if (lstat(path, &status) != 0) return errno == ENOENT ? SHOAL_OK : fail_errno(error, path);
    DIR *folder = S_ISDIR(status.st_mode) ? opendir(path) : NULL;
    if (folder == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s: a folder that does not exist, or is empty, is needed", path);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    if (n == 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "%s: is not empty; a restore replaces nothing, move the old store away first",
                    path);
}

// Removes a folder, the files in it, and the folders of files in it. It follows no link.
static void remove_folder(const char *path, bool is_nested)
{
    DIR *folder = opendir(path);
    if (folder == NULL) return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (unlinkat(dirfd(folder), entry->d_name, 0) == 0 || is_nested) continue;
        char *inner = agg_folder_join(NULL, path, entry->d_name);
        if (inner != NULL) remove_folder(inner, true);
        free(inner);
    }
    closedir(folder);
    (void)rmdir(path);
}

// ---- unpacking ----

// Returns: whether a piece of a backup may have this name.
static bool is_name(const char *name)
{
    if (strcmp(name, "shoal.db") == 0) return true;
    if (strncmp(name, ACCUMULATORS, sizeof ACCUMULATORS - 1) != 0) return false;
    const char *file = name + sizeof ACCUMULATORS - 1;
    return file[0] != '.' && file[0] != '\0' &&
           file[strspn(file, "abcdefghijklmnopqrstuvwxyz0123456789-.")] == '\0';
}

static agg_err write_piece(agg_error *error, agg_backup_file *from, const char *path, uint64_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *to = fd < 0 ? NULL : fdopen(fd, "wb");
    if (to == NULL) {
        agg_err err = fail_errno(error, path);
        if (fd >= 0) close(fd);
        return err;
    }
    agg_err err = agg_backup_copy(from, error, to, len);
    bool is_written = fflush(to) == 0 && fsync(fd) == 0;
    if (fclose(to) != 0) is_written = false;
    return err == SHOAL_OK && !is_written ? fail_errno(error, path) : err;
}

static agg_err unpack_one(agg_restore *r, agg_error *error, agg_backup_file *from, const char *name,
                          uint64_t len)
{
    if (!is_name(name))
        return agg_fail(error, SHOAL_ERR_CHECKSUM, AGG_EXIT_IO,
                        "%s: a piece has a name that no store has", from->path);
    char *path = agg_folder_join(error, r->partial, name);
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = write_piece(error, from, path, len);
    free(path);
    return err;
}

static agg_err unpack(agg_restore *r, agg_error *error, agg_backup_file *from)
{
    char name[AGG_BACKUP_NAME_MAX];
    uint64_t len = 0;
    char *inner = agg_folder_join(error, r->partial, "accumulators");
    if (inner == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_folder_make(error, r->partial);
    if (err == SHOAL_OK) err = agg_folder_make(error, inner);
    while (err == SHOAL_OK && (err = agg_backup_next(from, error, name, &len)) == SHOAL_OK &&
           name[0] != '\0')
        err = unpack_one(r, error, from, name, len);
    if (err == SHOAL_OK) err = agg_folder_sync(error, inner);
    free(inner);
    return err;
}

// ---- the store ----

// Numbers of blocks go on beyond every number that the lost store can have given since: from the
// next multiple of 2^20 on, moved by a random number of such steps, so that two restores of one
// backup differ, too. Rows of an open block or of waiting batches have no business in a backup.
static const char begin_anew[] =
    "BEGIN;"
    "DELETE FROM waiting; DELETE FROM ticks; DELETE FROM blocks WHERE NOT is_closed;"
    "INSERT OR IGNORE INTO forgotten(collection, batches, last_number)"
    " SELECT collection, 0, 0 FROM recipes;"
    "UPDATE forgotten AS f SET last_number = (((max(last_number, ifnull((SELECT max(number)"
    " FROM blocks AS b WHERE b.collection = f.collection), 0)) >> 20) + 1 + (random() & 16777215))"
    " << 20);"
    "COMMIT;";

static int64_t read_number(const agg_store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = 0;
    if (sqlite3_prepare_v2(store->database.db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static agg_err start_anew(agg_restore *r, agg_error *error)
{
    sqlite3 *db = r->store->database.db;
    if (sqlite3_exec(db, begin_anew, NULL, NULL, NULL) != SQLITE_OK)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: cannot begin anew: %s",
                        r->partial, sqlite3_errmsg(db));
    return SHOAL_OK;
}

static agg_err check(agg_restore *r, agg_error *error, const char *path)
{
    static char name[] = "store restore";
    agg_store_found found;
    agg_err err =
        agg_store_check(r->store, &found, error, (agg_store_told){agg_log_line, name}, NULL);
    if (err == SHOAL_OK && agg_store_found_damage(&found))
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: the store in it is damaged", path);
    return err;
}

agg_err agg_restore_begin(agg_restore *r, agg_error *error, const char *path, const char *folder)
{
    agg_backup_file from = {.stream = NULL};
    size_t len = strlen(folder);
    while (len > 1 && folder[len - 1] == '/') len--;
    *r = (agg_restore){.folder = folder};
    r->partial = agg_alloc(error, len + sizeof ".restoring", 1);
    if (r->partial == NULL) return AGG_ERR_MEMORY;
    snprintf(r->partial, len + sizeof ".restoring", "%.*s.restoring", (int)len, folder);
    agg_err err = check_empty(error, folder);
    if (err == SHOAL_OK) err = agg_backup_open(&from, error, path, &r->about.time_s);
    if (err == SHOAL_OK) {
        remove_folder(r->partial, false);
        err = unpack(r, error, &from);
    }
    agg_backup_close(&from);
    if (err == SHOAL_OK) err = agg_store_open(&r->store, error, r->partial);
    if (err == SHOAL_OK) err = check(r, error, path);
    return err == SHOAL_OK ? start_anew(r, error) : err;
}

static agg_err sync_parent(agg_error *error, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *parent = slash == NULL   ? strdup(".")
                   : slash == path ? strdup("/")
                                   : strndup(path, (size_t)(slash - path));
    if (parent == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    agg_err err = agg_folder_sync(error, parent);
    free(parent);
    return err;
}

agg_err agg_restore_finish(agg_restore *r, agg_error *error)
{
    const agg_store *store = r->store;
    r->about.recipes = (uint64_t)read_number(store, "SELECT count(*) FROM recipes");
    r->about.blocks = (uint64_t)read_number(store, "SELECT count(*) FROM blocks");
    r->about.records = (uint64_t)read_number(store, "SELECT ifnull(sum(records), 0) FROM blocks");
    agg_store_close(r->store);
    r->store = NULL;
    agg_err err = agg_folder_sync(error, r->partial);
    if (err == SHOAL_OK && rename(r->partial, r->folder) != 0) err = fail_errno(error, r->folder);
    if (err == SHOAL_OK) err = sync_parent(error, r->partial);
    if (err != SHOAL_OK) return err;
    free(r->partial);
    r->partial = NULL;
    return SHOAL_OK;
}

void agg_restore_abandon(agg_restore *r)
{
    agg_store_close(r->store);
    if (r->partial != NULL) remove_folder(r->partial, false);
    free(r->partial);
    *r = (agg_restore){.store = NULL};
}
