// SPDX-License-Identifier: Apache-2.0
// Writes a folder at once; see init_folder.h.
#include "init_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg_size.h"
#include "init_random.h"

#define PATH_BYTES 4000u

static agg_err fail_io(agg_error *error, const char *path, const char *doing)
{
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot %s: %s", path, doing,
                    strerror(errno));
}

// Returns: "FOLDER/NAME" or "FOLDERNAME", to free; NULL without memory.
static char *join(agg_error *error, const char *folder, const char *separator, const char *name)
{
    size_t len = strlen(folder) + strlen(separator) + strlen(name) + 1;
    char *path = agg_alloc(error, len, 1);
    if (path != NULL) snprintf(path, len, "%s%s%s", folder, separator, name);
    return path;
}

// Finds what is in the way. An empty folder is not: it is replaced.
static agg_err check_free(agg_error *error, const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? SHOAL_OK : fail_io(error, path, "look there");
    if (!S_ISDIR(status.st_mode))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s: is there already and is no folder; nothing was written", path);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    if (folder == NULL) return fail_io(error, path, "read");
    agg_err err = SHOAL_OK;
    while (err == SHOAL_OK && (entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                           "%s: holds %.100s already; give the name of a new folder. Nothing was "
                           "written",
                           path, entry->d_name);
    closedir(folder);
    return err;
}

// Returns: whether the last part of the path names a folder, and not "." or "..".
static bool has_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash != NULL ? slash + 1 : path;
    return last[0] != '\0' && strcmp(last, ".") != 0 && strcmp(last, "..") != 0;
}

agg_err init_folder_begin(init_folder *folder, agg_error *error, const char *path)
{
    char hex[INIT_HEX], suffix[32];
    memset(folder, 0, sizeof *folder);
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/') len--;
    if (len == 0 || len > PATH_BYTES)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "the folder needs a name");
    folder->path = agg_alloc(error, len + 1, 1);
    if (folder->path == NULL) return AGG_ERR_MEMORY;
    memcpy(folder->path, path, len);
    if (!has_name(folder->path))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s: give the name of a new folder, such as my-shoal", folder->path);
    agg_err err = check_free(error, folder->path);
    if (err == SHOAL_OK) err = init_random(hex, error, NULL, "");
    if (err != SHOAL_OK) return err;
    snprintf(suffix, sizeof suffix, ".tmp-%.16s", hex);
    char *temporary = join(error, folder->path, "", suffix);
    if (temporary == NULL) return AGG_ERR_MEMORY;
    if (mkdir(temporary, 0777) != 0) {
        err = fail_io(error, folder->path, "write beside");
        free(temporary);
        return err;
    }
    folder->temporary = temporary;
    return SHOAL_OK;
}

// Notes what is made, before it is.
static agg_err note(init_folder *folder, agg_error *error, const char *name, const char *end)
{
    if (folder->n_made == INIT_FOLDER_FILES_MAX)
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "too many files");
    char *noted = join(error, name, end, "");
    if (noted == NULL) return AGG_ERR_MEMORY;
    folder->made[folder->n_made++] = noted;
    return SHOAL_OK;
}

agg_err init_folder_add_folder(init_folder *folder, agg_error *error, const char *name,
                               bool is_private)
{
    char *path = join(error, folder->temporary, "/", name);
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = note(folder, error, name, "/");
    if (err == SHOAL_OK && mkdir(path, is_private ? 0700 : 0777) != 0)
        err = fail_io(error, name, "make the folder");
    free(path);
    return err;
}

static bool write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

agg_err init_folder_add(init_folder *folder, agg_error *error, const char *name, bool is_private,
                        const char *text, size_t len)
{
    char *path = join(error, folder->temporary, "/", name);
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = note(folder, error, name, "");
    int fd = -1;
    if (err == SHOAL_OK) {
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, is_private ? 0600 : 0666);
        bool is_written = fd >= 0 && write_all(fd, text, len) && fsync(fd) == 0;
        if (!is_written) err = fail_io(error, name, "write");
        if (fd >= 0 && close(fd) != 0 && err == SHOAL_OK) err = fail_io(error, name, "write");
    }
    free(path);
    return err;
}

agg_err init_folder_commit(init_folder *folder, agg_error *error)
{
    if (rename(folder->temporary, folder->path) != 0) return fail_io(error, folder->path, "write");
    free(folder->temporary);
    folder->temporary = NULL;
    return SHOAL_OK;
}

// Removes one name below the temporary folder.
static void remove_made(const init_folder *folder, const char *name)
{
    char *path = join(NULL, folder->temporary, "/", name);
    size_t len = path != NULL ? strlen(path) : 0;
    if (path == NULL) return;
    if (path[len - 1] == '/') {
        path[len - 1] = '\0';
        (void)rmdir(path);
    } else {
        (void)unlink(path);
    }
    free(path);
}

void init_folder_end(init_folder *folder)
{
    while (folder->n_made > 0) {
        char *name = folder->made[--folder->n_made];
        if (folder->temporary != NULL) remove_made(folder, name);
        free(name);
    }
    if (folder->temporary != NULL) (void)rmdir(folder->temporary);
    free(folder->temporary);
    free(folder->path);
    memset(folder, 0, sizeof *folder);
}
