// SPDX-License-Identifier: Apache-2.0
// Files of backups; see backup_file.h.
#include "backup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes.h"

#define MAGIC "shoalbk1"
#define CHUNK ((size_t)1 << 16)
enum { HEAD = 16, DIGEST = 32 };

static agg_err fail(const agg_backup_file *file, agg_error *error)
{
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", file->path, strerror(errno));
}

// ---- writing ----

static agg_err put(agg_backup_file *file, agg_error *error, const void *bytes, size_t len)
{
    shoal_sha256_update(&file->sha, bytes, len);
    return fwrite(bytes, 1, len, file->stream) == len ? SHOAL_OK : fail(file, error);
}

agg_err agg_backup_create(agg_backup_file *file, agg_error *error, const char *path, int64_t time_s)
{
    uint8_t head[HEAD] = MAGIC;
    *file = (agg_backup_file){.path = path};
    shoal_sha256_init(&file->sha);
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return fail(file, error);
    file->stream = fdopen(fd, "wb");
    if (file->stream == NULL) {
        close(fd);
        return fail(file, error);
    }
    store64_le(head + 8, (uint64_t)time_s);
    return put(file, error, head, sizeof head);
}

static agg_err put_head(agg_backup_file *file, agg_error *error, const char *name, uint64_t len)
{
    uint8_t size[2], bytes[8];
    size_t n = strlen(name);
    size[0] = (uint8_t)n;
    size[1] = (uint8_t)(n >> 8);
    store64_le(bytes, len);
    agg_err err = put(file, error, size, sizeof size);
    if (err == SHOAL_OK) err = put(file, error, name, n);
    return err == SHOAL_OK ? put(file, error, bytes, sizeof bytes) : err;
}

agg_err agg_backup_add(agg_backup_file *file, agg_error *error, const char *name, FILE *from,
                       uint64_t len)
{
    uint8_t bytes[CHUNK];
    agg_err err = put_head(file, error, name, len);
    while (err == SHOAL_OK && len > 0) {
        size_t some = len < CHUNK ? (size_t)len : CHUNK;
        if (fread(bytes, 1, some, from) != some)
            return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot be read whole", name);
        err = put(file, error, bytes, some);
        len -= some;
    }
    return err;
}

agg_err agg_backup_finish(agg_backup_file *file, agg_error *error)
{
    uint8_t digest[DIGEST];
    const uint8_t end[2] = {0, 0};
    agg_err err = put(file, error, end, sizeof end);
    shoal_sha256_final(digest, &file->sha);
    if (err != SHOAL_OK) return err;
    if (fwrite(digest, 1, sizeof digest, file->stream) != sizeof digest ||
        fflush(file->stream) != 0 || fsync(fileno(file->stream)) != 0)
        return fail(file, error);
    agg_backup_close(file);
    return SHOAL_OK;
}

// ---- reading ----

static agg_err refuse(const agg_backup_file *file, agg_error *error, const char *why)
{
    return agg_fail(error, SHOAL_ERR_CHECKSUM, AGG_EXIT_IO, "%s: %s", file->path, why);
}

static agg_err take(agg_backup_file *file, agg_error *error, void *bytes, size_t len)
{
    return fread(bytes, 1, len, file->stream) == len ? SHOAL_OK
                                                     : refuse(file, error, "the backup is cut off");
}

// Compares the digest at the end with that of everything before it.
static agg_err check_digest(agg_backup_file *file, agg_error *error, uint64_t len)
{
    uint8_t bytes[CHUNK], stated[DIGEST], found[DIGEST];
    agg_err err = SHOAL_OK;
    shoal_sha256_init(&file->sha);
    while (err == SHOAL_OK && len > 0) {
        size_t some = len < CHUNK ? (size_t)len : CHUNK;
        err = take(file, error, bytes, some);
        shoal_sha256_update(&file->sha, bytes, some);
        len -= some;
    }
    shoal_sha256_final(found, &file->sha);
    if (err == SHOAL_OK) err = take(file, error, stated, sizeof stated);
    if (err != SHOAL_OK || memcmp(stated, found, sizeof found) == 0) return err;
    return refuse(file, error, "the checksum is wrong: the backup was changed or cut off");
}

static agg_err read_head(agg_backup_file *file, agg_error *error, int64_t *time_s)
{
    uint8_t head[HEAD];
    rewind(file->stream);
    agg_err err = take(file, error, head, sizeof head);
    if (err != SHOAL_OK) return err;
    if (memcmp(head, MAGIC, 7) != 0) return refuse(file, error, "this is no backup of a store");
    if (head[7] != MAGIC[7])
        return agg_fail(error, SHOAL_ERR_VERSION, AGG_EXIT_IO,
                        "%s: a newer shoal wrote this backup", file->path);
    *time_s = (int64_t)load64_le(head + 8);
    return SHOAL_OK;
}

agg_err agg_backup_open(agg_backup_file *file, agg_error *error, const char *path, int64_t *time_s)
{
    struct stat status;
    *file = (agg_backup_file){.path = path, .stream = fopen(path, "rb")};
    if (file->stream == NULL || fstat(fileno(file->stream), &status) != 0) return fail(file, error);
    if (!S_ISREG(status.st_mode) || status.st_size < HEAD + 2 + DIGEST)
        return refuse(file, error, "this is no backup of a store");
    agg_err err = read_head(file, error, time_s); // names what it is before the checksum does
    rewind(file->stream);
    if (err == SHOAL_OK) err = check_digest(file, error, (uint64_t)status.st_size - DIGEST);
    return err == SHOAL_OK ? read_head(file, error, time_s) : err;
}

agg_err agg_backup_next(agg_backup_file *file, agg_error *error, char name[AGG_BACKUP_NAME_MAX],
                        uint64_t *len)
{
    uint8_t size[2], bytes[8];
    name[0] = '\0';
    agg_err err = take(file, error, size, sizeof size);
    size_t n = (size_t)size[0] | (size_t)size[1] << 8;
    if (err != SHOAL_OK || n == 0) return err;
    if (n >= AGG_BACKUP_NAME_MAX) return refuse(file, error, "a name is too long");
    err = take(file, error, name, n);
    name[n] = '\0';
    if (err == SHOAL_OK) err = take(file, error, bytes, sizeof bytes);
    if (err == SHOAL_OK) *len = load64_le(bytes);
    return err;
}

agg_err agg_backup_copy(agg_backup_file *file, agg_error *error, FILE *to, uint64_t len)
{
    uint8_t bytes[CHUNK];
    agg_err err = SHOAL_OK;
    while (err == SHOAL_OK && len > 0) {
        size_t some = len < CHUNK ? (size_t)len : CHUNK;
        err = take(file, error, bytes, some);
        if (err == SHOAL_OK && fwrite(bytes, 1, some, to) != some)
            err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot be written out: %s",
                           file->path, strerror(errno));
        len -= some;
    }
    return err;
}

void agg_backup_close(agg_backup_file *file)
{
    if (file->stream != NULL) fclose(file->stream);
    file->stream = NULL;
}
