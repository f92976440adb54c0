// SPDX-License-Identifier: Apache-2.0
// Reads and replaces whole files; see agg_file.h.
#include "agg_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg_size.h"
#include "call_streams.h"

static agg_err fail_io(agg_error *error, const char *path, const char *doing)
{
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot %s: %s", path, doing,
                    strerror(errno));
}

static agg_err read_all(agg_bytes *bytes, agg_error *error, const char *path, size_t max,
                        FILE *stream)
{
    size_t cap = 0, len = 0, got = 0;
    void *data = NULL;
    do {
        agg_err err = agg_grow(&data, &cap, len + 4096, 1, error);
        if (err != SHOAL_OK) {
            free(data);
            return err;
        }
        got = fread((uint8_t *)data + len, 1, cap - len - 1, stream);
        len += got;
    } while (got > 0 && len <= max);
    if (ferror(stream)) {
        free(data);
        return fail_io(error, path, "read");
    }
    if (len > max) {
        free(data);
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_IO, "%s: is larger than %zu bytes", path,
                        max);
    }
    bytes->data = data;
    bytes->data[len] = 0;
    bytes->len = len;
    return SHOAL_OK;
}

agg_err agg_file_read(agg_bytes *bytes, agg_error *error, const char *path, size_t max)
{
    if (strcmp(path, "-") == 0) {
        FILE *in = agg_in(error);
        return in != NULL ? read_all(bytes, error, "standard input", max, in) : AGG_ERR_USAGE;
    }
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) return fail_io(error, path, "open");
    agg_err err = read_all(bytes, error, path, max, stream);
    fclose(stream);
    return err;
}

// The number of this thread: that of the process in its first thread, so that two threads that
// write one file at the same time write two temporary ones.
static unsigned long thread_number(void)
{
#ifdef __wasi__
    return 0;
#else
    return (unsigned long)gettid();
#endif
}

// Returns: the open descriptor of this process that a path names, as /dev/stdout and /dev/fd/3 do;
// -1 for other paths.
static int descriptor_of(const char *path)
{
#ifndef __wasi__
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const char *digits = path + strlen(folders[i]);
        if (strncmp(path, folders[i], strlen(folders[i])) != 0) continue;
        size_t n = strspn(digits, "0123456789");
        if (n > 0 && n <= 6 && digits[n] == '\0') return (int)strtol(digits, NULL, 10);
    }
#else
    (void)path;
#endif
    return -1;
}

bool agg_file_is_special(const char *path)
{
    struct stat status;
    if (descriptor_of(path) >= 0) return true;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

char *agg_file_target(agg_error *error, const char *path)
{
#ifndef __wasi__
    struct stat status;
    char *end = lstat(path, &status) == 0 && S_ISLNK(status.st_mode) ? realpath(path, NULL) : NULL;
    if (end != NULL) return end;
#endif
    char *same = agg_alloc(error, strlen(path) + 1, 1);
    if (same != NULL) strcpy(same, path);
    return same;
}

// Opens what is not replaced. A descriptor of the process goes on where it is, so that what the
// shell sent into the same file before and after stays.
static FILE *open_special(const char *path)
{
#ifndef __wasi__
    int descriptor = descriptor_of(path);
    if (descriptor >= 0) {
        int fd = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
        FILE *stream = fd < 0 ? NULL : fdopen(fd, "wb");
        if (fd >= 0 && stream == NULL) close(fd);
        return stream;
    }
#endif
    return fopen(path, "wb");
}

// Opens a file for writing. A private one is made anew: what a crash left under its name may have
// another mode.
static FILE *open_to_write(const char *path, bool is_private)
{
#ifndef __wasi__
    if (is_private) {
        (void)unlink(path);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        FILE *stream = fd < 0 ? NULL : fdopen(fd, "wb");
        if (fd >= 0 && stream == NULL) close(fd);
        return stream;
    }
#endif
    (void)is_private;
    return fopen(path, "wb");
}

static agg_err create(agg_file *file, agg_error *error, const char *path, bool is_private)
{
    memset(file, 0, sizeof *file);
    file->path = agg_file_target(error, path);
    size_t len = file->path == NULL ? 0 : strlen(file->path);
    file->temporary = agg_alloc(error, len + 32, 1);
    if (file->path == NULL || file->temporary == NULL) {
        agg_file_abandon(file);
        return AGG_ERR_MEMORY;
    }
    bool is_direct = agg_file_is_special(path);
    if (!is_direct) snprintf(file->temporary, len + 32, "%s.tmp-%lu", file->path, thread_number());
    file->stream = is_direct ? open_special(path) : open_to_write(file->temporary, is_private);
    if (file->stream == NULL) {
        agg_err err = fail_io(error, path, is_direct ? "write" : "write beside");
        file->temporary[0] = '\0';
        agg_file_abandon(file);
        return err;
    }
    return SHOAL_OK;
}

agg_err agg_file_create(agg_file *file, agg_error *error, const char *path)
{
    return create(file, error, path, false);
}

agg_err agg_file_create_private(agg_file *file, agg_error *error, const char *path)
{
    return create(file, error, path, true);
}

void agg_file_expect(agg_file *file, uint64_t size)
{
#ifdef FALLOC_FL_KEEP_SIZE
    if (file->temporary[0] == '\0' || (uint64_t)(off_t)size != size) return;
    (void)!fallocate(fileno(file->stream), FALLOC_FL_KEEP_SIZE, 0, (off_t)size); // only a hint
#else
    (void)file;
    (void)size;
#endif
}

void agg_file_begin_sync(FILE *stream, uint64_t first, uint64_t len)
{
#ifdef SYNC_FILE_RANGE_WRITE
    if ((uint64_t)(off_t)(first + len) != first + len) return;
    (void)sync_file_range(fileno(stream), (off_t)first, (off_t)len,
                          SYNC_FILE_RANGE_WRITE); // only a hint
#else
    (void)stream;
    (void)first;
    (void)len;
#endif
}

// Makes the new name durable. WASI cannot open folders, so there the host's file system decides.
static void sync_folder(const char *path)
{
#ifndef __wasi__
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";
    size_t len = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    if (len >= sizeof folder) return;
    if (len > 0) {
        memcpy(folder, path, len);
        folder[len] = '\0';
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
#else
    (void)path;
#endif
}

agg_err agg_file_commit(agg_file *file, agg_error *error)
{
    bool is_direct = file->temporary[0] == '\0'; // nothing to sync or rename
    int failed = fflush(file->stream) != 0 || (!is_direct && fsync(fileno(file->stream)) != 0);
    failed = (fclose(file->stream) != 0) | failed;
    file->stream = NULL;
    agg_err err = SHOAL_OK;
    if (failed || (!is_direct && rename(file->temporary, file->path) != 0)) {
        err = fail_io(error, file->path, "write");
    } else {
        sync_folder(file->path);
        file->temporary[0] = '\0';
    }
    agg_file_abandon(file);
    return err;
}

void agg_file_abandon(agg_file *file)
{
    if (file->stream != NULL) fclose(file->stream);
    if (file->temporary != NULL && file->temporary[0] != '\0') unlink(file->temporary);
    free(file->path);
    free(file->temporary);
    memset(file, 0, sizeof *file);
}
