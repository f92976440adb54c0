// SPDX-License-Identifier: Apache-2.0
// External commands; see external.h.
#include "external.h"

#include <errno.h>
#include <string.h>

#include "agg_error.h"
#include "agg_program.h"

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
            "Install it from the files of a release: npm install ./shoal-%s-" SHOAL_VERSION ".tgz\n"
            "It is looked for in node_modules/.bin, from this folder upwards, and in PATH.\n",
            name, name, name);
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

int external_run(const char *name, int argc, char **argv)
{
    char program[PROGRAM_SIZE];
    snprintf(program, sizeof program, "shoal-%s", name);
    int why = agg_program_become(program, argc, argv);
    if (why == ENOENT) return refuse(name);
    fprintf(stderr, "shoal: %s: cannot run %s: %s\n", name, program, strerror(why));
    return AGG_EXIT_RUNTIME;
}

#endif
