// SPDX-License-Identifier: Apache-2.0
// Locks by flock(2) on a file beside; see file_lock.h.
#include "file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef __wasi__
#include <sys/file.h>
#endif

#include "agg_file.h"
#include "agg_size.h"
#include "log.h"

#define SUFFIX ".lock"

static agg_err fail_io(agg_error *error, const char *path)
{
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot lock: %s", path, strerror(errno));
}

#ifdef __wasi__

static agg_err lock_file(agg_file_lock *lock, agg_error *error, char *command, const char *path)
{
    (void)command;
    (void)path;
    lock->fd = open(lock->path, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (lock->fd >= 0) return SHOAL_OK;
    if (errno != EEXIST) return fail_io(error, lock->path);
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO,
                    "%s exists: another process writes the file, or was killed while it did; if "
                    "none does, remove the lock file",
                    lock->path);
}

#else

static int take(int fd, int how)
{
    int result;
    do result = flock(fd, how);
    while (result != 0 && errno == EINTR);
    return result;
}

// Finds whether the path still names the file that was locked. The process that held the lock may
// have removed it, and another may have made a new one since.
static bool is_still_there(int fd, const char *path)
{
    struct stat ours, named;
    return fstat(fd, &ours) == 0 && stat(path, &named) == 0 && ours.st_dev == named.st_dev &&
           ours.st_ino == named.st_ino;
}

static void say_waiting(char *command, const char *path)
{
    char text[512];
    snprintf(text, sizeof text, "waiting for another process that writes %s", path);
    agg_log_line(command, text);
}

static agg_err lock_file(agg_file_lock *lock, agg_error *error, char *command, const char *path)
{
    for (bool is_told = false;;) {
        lock->fd = open(lock->path, O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
        if (lock->fd < 0) return fail_io(error, lock->path);
        int failed = take(lock->fd, LOCK_EX | LOCK_NB);
        if (failed && errno == EWOULDBLOCK) {
            if (!is_told) say_waiting(command, path);
            is_told = true;
            failed = take(lock->fd, LOCK_EX);
        }
        if (!failed && is_still_there(lock->fd, lock->path)) return SHOAL_OK;
        agg_err err = failed ? fail_io(error, lock->path) : SHOAL_OK;
        close(lock->fd);
        if (err != SHOAL_OK) return err;
    }
}

#endif

agg_err agg_file_lock_take(agg_file_lock *lock, agg_error *error, char *command, const char *path)
{
    *lock = (agg_file_lock){.fd = -1};
    if (strcmp(path, "-") == 0 || agg_file_is_special(path)) return SHOAL_OK;
    char *target = agg_file_target(error, path);
    if (target == NULL) return AGG_ERR_MEMORY;
    lock->path = agg_alloc(error, strlen(target) + sizeof SUFFIX, 1);
    if (lock->path != NULL) {
        strcpy(lock->path, target);
        strcat(lock->path, SUFFIX);
    }
    free(target);
    if (lock->path == NULL) return AGG_ERR_MEMORY;
    agg_err err = lock_file(lock, error, command, path);
    if (err == SHOAL_OK) return SHOAL_OK;
    free(lock->path);
    *lock = (agg_file_lock){.fd = -1};
    return err;
}

// Removes the file while it is locked: a process that waits for it finds it gone, and makes one of
// its own.
void agg_file_lock_release(agg_file_lock *lock)
{
    if (lock->fd >= 0) {
        (void)unlink(lock->path);
        close(lock->fd);
    }
    free(lock->path);
    *lock = (agg_file_lock){.fd = -1};
}
