// SPDX-License-Identifier: Apache-2.0
// Lets a standalone Emscripten program open files for reading, so that a test may read its vectors
// on this build too. Emscripten's own open refuses everything but the standard streams and is weak,
// to be replaced. Test programs only.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <wasi/api.h>

#define FIRST_PREOPEN 3

// Opens a path below a preopened folder of that name; "." holds every relative path.
static long open_below(__wasi_fd_t folder, const char *name, size_t name_len, const char *path)
{
    __wasi_fd_t fd;
    if (name_len == 1 && name[0] == '.') {
        if (path[0] == '/') return -ENOENT;
    } else {
        if (strncmp(path, name, name_len) != 0 || path[name_len] != '/') return -ENOENT;
        path += name_len + 1;
    }
    __wasi_rights_t rights = __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_SEEK | __WASI_RIGHTS_FD_TELL;
    __wasi_errno_t err = __wasi_path_open(folder, __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW, path,
                                          strlen(path), 0, rights, rights, 0, &fd);
    return err == 0 ? (long)fd : -ENOENT;
}

static long open_read(const char *path, long flags)
{
    if ((flags & O_ACCMODE) != O_RDONLY) return -EPERM;
    for (__wasi_fd_t folder = FIRST_PREOPEN;; folder++) {
        __wasi_prestat_t stat;
        uint8_t name[1024];
        if (__wasi_fd_prestat_get(folder, &stat) != 0) return -ENOENT;
        size_t len = stat.u.dir.pr_name_len;
        if (len > sizeof name || __wasi_fd_prestat_dir_name(folder, name, len) != 0) continue;
        long fd = open_below(folder, (const char *)name, len, path);
        if (fd >= 0) return fd;
    }
}

long __syscall_open(const char *path, long flags, ...); // called by Emscripten's C library

long __syscall_open(const char *path, long flags, ...)
{
    return open_read(path, flags);
}
