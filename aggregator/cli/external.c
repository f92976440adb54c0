// SPDX-License-Identifier: Apache-2.0
// External commands; see external.h.
#include "external.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#ifndef __wasi__
#include <sys/stat.h>
#endif
#include <unistd.h>

#include "agg_error.h"

#define PROGRAM_SIZE 32u

static const struct {
    const char *name, *summary;
} programs[] = {{"verify", "checks an installation, from its page to its aggregator"},
                {"dev", "all services and a trial page on this machine"}};
enum { PROGRAMS = sizeof programs / sizeof *programs };

bool external_is(const char *name)
{
    for (int i = 0; i < PROGRAMS; i++)
        if (strcmp(programs[i].name, name) == 0) return true;
    return false;
}

void external_list(FILE *stream)
{
    fputs("\nPrograms of their own, which npm installs:\n", stream);
    for (int i = 0; i < PROGRAMS; i++)
        fprintf(stream, "  %-11s %s\n", programs[i].name, programs[i].summary);
}

static int refuse(const char *name)
{
    fprintf(stderr,
            "shoal: %s: the program shoal-%s is not installed\n"
            "Install it with: npm install shoal-%s (or its release file: npm install "
            "./shoal-%s-" SHOAL_VERSION ".tgz)\n"
            "It is looked for in node_modules/.bin, from this folder upwards, and in PATH.\n",
            name, name, name, name);
    return AGG_EXIT_RUNTIME;
}

#ifdef __wasi__

// A module cannot start a program; js/shoal.js does before the module runs.
int external_run(const char *name, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return refuse(name);
}

#else

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
        char path[PATH_MAX + PROGRAM_SIZE + sizeof "/node_modules/.bin/"];
        snprintf(path, sizeof path, "%s/node_modules/.bin/%s", folder, program);
        if (access(path, X_OK) == 0 && is_trusted(path)) execv(path, argv);
        char *slash = strrchr(folder, '/');
        if (slash == NULL) return;
        *slash = '\0';
    }
}

int external_run(const char *name, int argc, char **argv)
{
    char program[PROGRAM_SIZE], folder[PATH_MAX];
    snprintf(program, sizeof program, "shoal-%s", name);
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (words == NULL) {
        fputs("shoal: out of memory\n", stderr);
        return AGG_EXIT_RUNTIME;
    }
    memcpy(words, argv, (size_t)argc * sizeof *words);
    words[0] = program;
    if (getcwd(folder, sizeof folder) != NULL) run_above(folder, program, words);
    execvp(program, words);
    int why = errno;
    free(words);
    if (why == ENOENT) return refuse(name);
    fprintf(stderr, "shoal: %s: cannot run %s: %s\n", name, program, strerror(why));
    return AGG_EXIT_RUNTIME;
}

#endif
