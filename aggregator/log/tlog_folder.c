// SPDX-License-Identifier: Apache-2.0
// The folder that a log lies in; see tlog_folder.h.
#include "tlog_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agg_size.h"

char *agg_tlog_join(agg_error *error, const char *folder, const char *path)
{
    size_t size = strlen(folder) + strlen(path) + 2;
    char *joined = agg_alloc(error, size, 1);
    if (joined != NULL) snprintf(joined, size, "%s/%s", folder, path);
    return joined;
}

static agg_err read_folder(void *context, agg_bytes *bytes, agg_error *error, const char *path,
                           size_t max)
{
    char *joined = agg_tlog_join(error, context, path);
    if (joined == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_file_read(bytes, error, joined, max);
    free(joined);
    return err;
}

agg_tlog_source agg_tlog_folder(const char *folder)
{
    union {
        const char *text;
        void *context;
    } u = {folder}; // the reader does not write to it
    return (agg_tlog_source){u.context, read_folder};
}

bool agg_tlog_folder_has(const char *folder, const char *path)
{
    struct stat status;
    char *joined = agg_tlog_join(NULL, folder, path);
    bool has = joined != NULL && stat(joined, &status) == 0;
    free(joined);
    return has;
}

// Makes every folder above a path.
static agg_err make_folders(agg_error *error, char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int failed = mkdir(path, 0777) != 0 && errno != EEXIST;
        if (failed)
            return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot make the folder: %s", path,
                            strerror(errno));
        *slash = '/';
    }
    return SHOAL_OK;
}

agg_err agg_tlog_folder_write(agg_error *error, const char *folder, const char *path,
                              const void *bytes, size_t len)
{
    agg_file file;
    char *joined = agg_tlog_join(error, folder, path);
    if (joined == NULL) return AGG_ERR_MEMORY;
    agg_err err = make_folders(error, joined);
    if (err == SHOAL_OK) err = agg_file_create(&file, error, joined);
    if (err == SHOAL_OK) {
        (void)fwrite(bytes, 1, len, file.stream); // agg_file_commit finds what failed
        if (ferror(file.stream)) {
            err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot write: %s", joined,
                           strerror(errno));
            agg_file_abandon(&file);
        } else {
            err = agg_file_commit(&file, error);
        }
    }
    free(joined);
    return err;
}
