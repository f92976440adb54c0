// SPDX-License-Identifier: Apache-2.0
// Looks for a program and runs it; see agg_program.h.
#include "agg_program.h"

#include <errno.h>
#ifndef __wasi__
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#ifdef __wasi__

int agg_program_become(const char *program, int argc, char **argv)
{
    (void)program;
    (void)argc;
    (void)argv;
    return ENOENT;
}

#else

#define NAME_SIZE 64u // more than a program's name has

static bool is_own(const struct stat *status)
{
    return status->st_uid == geteuid() || status->st_uid == 0;
}

// Whether the program and its link belong to this user or to root. In a folder such as /tmp/x
// anybody may have put /tmp/node_modules there.
static bool is_trusted(const char *path)
{
    struct stat link, target;
    return lstat(path, &link) == 0 && stat(path, &target) == 0 && is_own(&link) && is_own(&target);
}

// Runs node_modules/.bin/PROGRAM of `folder`, which is shortened to the folders above it.
static void run_above(char *folder, const char *program, char **argv)
{
    for (;;) {
        char path[PATH_MAX + NAME_SIZE + sizeof "/node_modules/.bin/"];
        snprintf(path, sizeof path, "%s/node_modules/.bin/%s", folder, program);
        if (access(path, X_OK) == 0 && is_trusted(path)) execv(path, argv);
        char *slash = strrchr(folder, '/');
        if (slash == NULL) return;
        *slash = '\0';
    }
}

int agg_program_become(const char *program, int argc, char **argv)
{
    char name[NAME_SIZE], folder[PATH_MAX];
    snprintf(name, sizeof name, "%s", program);
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (words == NULL) return ENOMEM;
    memcpy(words, argv, (size_t)argc * sizeof *words);
    words[0] = name;
    if (getcwd(folder, sizeof folder) != NULL) run_above(folder, name, words);
    execvp(name, words);
    int why = errno;
    free(words);
    return why;
}

#endif
