// SPDX-License-Identifier: Apache-2.0
// Opening, appending and following; see audit_files.h.
#include "audit_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg_file.h"
#include "agg_size.h"
#include "audit_line.h"
#include "sha256.h"

#define NEXT_NAME "next.tmp"
#define FILE_MAX ((size_t)1 << 29) // bytes; twice the size at which a new file begins
enum { DIGITS = 6, NUMBER_MAX = 999999 };

static agg_err fail(agg_error *error, const char *what, const char *name)
{
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot %s %s: %s", what, name,
                    strerror(errno));
}

void agg_audit_file_name(char name[AGG_AUDIT_NAME_MAX], unsigned number)
{
    snprintf(name, AGG_AUDIT_NAME_MAX, "%06u.jsonl", number);
}

// Returns: the number in a file's name, 0 for any other name.
static unsigned number_of(const char *name)
{
    if (strspn(name, "0123456789") != DIGITS || strcmp(name + DIGITS, ".jsonl") != 0) return 0;
    return (unsigned)strtoul(name, NULL, 10);
}

agg_err agg_audit_files_range(unsigned *first, unsigned *last, agg_error *error, const char *folder)
{
    DIR *listing = opendir(folder);
    if (listing == NULL) return fail(error, "read", folder);
    *first = *last = 0;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        unsigned number = number_of(entry->d_name);
        if (number == 0) continue;
        if (*first == 0 || number < *first) *first = number;
        if (number > *last) *last = number;
    }
    closedir(listing);
    return SHOAL_OK;
}

agg_err agg_audit_file_read(uint8_t **bytes, size_t *len, agg_error *error, const char *path)
{
    agg_bytes read;
    agg_err err = agg_file_read(&read, error, path, FILE_MAX);
    if (err != SHOAL_OK) return err;
    *bytes = read.data;
    *len = read.len;
    return SHOAL_OK;
}

static agg_err open_folder(agg_audit_files *files, agg_error *error, const char *folder)
{
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) return fail(error, "make", folder);
    files->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (files->folder < 0) return fail(error, "open", folder);
    if (flock(files->folder, LOCK_EX | LOCK_NB) == 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: another process has this audit log open",
                    folder);
}

static void keep_tail(agg_audit_files *files, const uint8_t *bytes, size_t len)
{
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, bytes, len);
    shoal_sha256_final(files->tail_hash, &sha);
    files->tail_len = len;
}

// Checks the last file and takes the chain's end from it.
static agg_err check_last(agg_audit_files *files, agg_error *error, agg_audit_chain *chain,
                          const char *path)
{
    uint8_t *bytes;
    size_t len;
    agg_audit_scan scan;
    agg_err err = agg_audit_file_read(&bytes, &len, error, path);
    if (err != SHOAL_OK) return err;
    err = agg_audit_chain_scan(chain, &scan, error, path, bytes, len, NULL);
    files->size = len;
    files->is_open = err == SHOAL_OK && scan.is_open;
    if (err == SHOAL_OK && scan.tail > 0) keep_tail(files, bytes + scan.good, scan.tail);
    free(bytes);
    return err;
}

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

// Cuts off what a failed write left: it belongs to questions that were refused.
static bool clean(agg_audit_files *files)
{
    if (files->is_dirty) files->is_dirty = ftruncate(files->fd, (off_t)files->size) != 0;
    return !files->is_dirty;
}

agg_err agg_audit_files_append(agg_audit_files *files, agg_error *error, const char *bytes,
                               size_t len)
{
    char name[AGG_AUDIT_NAME_MAX];
    agg_audit_file_name(name, files->number);
    if (!clean(files)) return fail(error, "cut back", name);
    files->is_dirty = true;
    if (write_all(files->fd, bytes, len) && fdatasync(files->fd) == 0) {
        files->is_dirty = false;
        files->size += len;
        files->tail_len = 0;
        return SHOAL_OK;
    }
    agg_err err = fail(error, "append to", name);
    (void)clean(files); // or before the next write
    return err;
}

static agg_err open_last(agg_audit_files *files, agg_error *error, agg_audit_chain *chain,
                         const char *folder)
{
    char name[AGG_AUDIT_NAME_MAX];
    agg_audit_file_name(name, files->number);
    size_t size = strlen(folder) + sizeof name + 1;
    char *path = agg_alloc(error, size, 1);
    if (path == NULL) return AGG_ERR_MEMORY;
    snprintf(path, size, "%s/%s", folder, name);
    agg_err err = check_last(files, error, chain, path);
    if (err == SHOAL_OK) {
        files->fd = openat(files->folder, name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
        if (files->fd < 0) err = fail(error, "append to", path);
    }
    if (err == SHOAL_OK && files->is_open) err = agg_audit_files_append(files, error, "\n", 1);
    free(path);
    return err;
}

agg_err agg_audit_files_open(agg_audit_files *files, agg_error *error, agg_audit_chain *chain,
                             const char *folder, int64_t time_s)
{
    unsigned first = 0;
    *files = AGG_AUDIT_NO_FILES;
    *chain = (agg_audit_chain){.next = 1};
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error of write(), not the end
    agg_err err = open_folder(files, error, folder);
    if (err == SHOAL_OK) err = agg_audit_files_range(&first, &files->number, error, folder);
    if (err == SHOAL_OK && files->number > 0) {
        err = open_last(files, error, chain, folder);
    } else if (err == SHOAL_OK) {
        chain->is_started = true;
        err = agg_audit_files_next(files, error, chain, time_s);
    }
    if (err != SHOAL_OK) {
        agg_error_prefix(error, "audit log");
        agg_audit_files_close(files);
    }
    return err;
}

agg_err agg_audit_files_next(agg_audit_files *files, agg_error *error, agg_audit_chain *chain,
                             int64_t time_s)
{
    char line[AGG_AUDIT_LINE_MAX], name[AGG_AUDIT_NAME_MAX], previous[AGG_AUDIT_NAME_MAX] = "";
    agg_audit_chain moved = *chain;
    if (files->number >= NUMBER_MAX)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "the folder is full");
    if (files->number > 0) agg_audit_file_name(previous, files->number);
    agg_audit_file_name(name, files->number + 1);
    size_t len = agg_audit_line_begin(line, &moved, time_s, previous);
    int fd = openat(files->folder, NEXT_NAME,
                    O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fail(error, "make", name);
    if (!write_all(fd, line, len) || fsync(fd) != 0 ||
        renameat(files->folder, NEXT_NAME, files->folder, name) != 0 || fsync(files->folder) != 0) {
        agg_err err = fail(error, "write", name);
        close(fd);
        (void)unlinkat(files->folder, name, 0); // it would not continue the lines to come
        return err;
    }
    if (files->fd >= 0) close(files->fd);
    files->fd = fd;
    files->number++;
    files->size = len;
    *chain = moved;
    return SHOAL_OK;
}

void agg_audit_files_close(agg_audit_files *files)
{
    if (files->fd >= 0) close(files->fd);
    if (files->folder >= 0) close(files->folder);
    *files = AGG_AUDIT_NO_FILES;
}
