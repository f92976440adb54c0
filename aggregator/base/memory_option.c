// SPDX-License-Identifier: Apache-2.0
// The option --memory; see memory_option.h.
#include "memory_option.h"

#include <stdio.h>
#include <string.h>

#include "log.h"
#include "options.h"

#define MIB ((uint64_t)1 << 20)
#define MUCH (64 * MIB) // from here on a command says what it takes even without --memory
#define MOST ((uint64_t)1 << 50)

agg_err cli_read_memory(uint64_t *limit, agg_error *error, const char *text)
{
    static const char letters[] = "KMG";
    char digits[20];
    *limit = 0;
    if (text == NULL) return SHOAL_OK;
    size_t len = strlen(text);
    const char *letter = len > 0 ? strchr(letters, text[len - 1]) : NULL;
    unsigned shift = letter == NULL ? 0 : 10 * (unsigned)(letter - letters + 1);
    uint64_t number = 0, unit = (uint64_t)1 << shift;
    snprintf(digits, sizeof digits, "%.*s",
             (int)(len < sizeof digits ? len - (letter != NULL) : sizeof digits), text);
    agg_err err = strspn(digits, "0123456789") < strlen(digits)
                      ? AGG_ERR_USAGE // no decimal thousands: K is 1024 here
                      : cli_read_whole(&number, error, "memory", digits, 1, MOST / unit);
    if (err != SHOAL_OK || number * unit < MIB)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--memory must be a number of bytes such as 256M, at least 1M");
    *limit = number * unit;
    return SHOAL_OK;
}

agg_err cli_state_memory(agg_error *error, char *command, uint64_t bytes, uint64_t limit)
{
    char text[64];
    uint64_t all = bytes + CLI_PROGRAM_BYTES;
    unsigned long long mib = (unsigned long long)(all / MIB + (all % MIB > 0)),
                       allowed = limit / MIB;
    if (limit > 0 && all > limit)
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                        "takes up to %llu MiB of memory; --memory allows %llu", mib, allowed);
    if (limit == 0 && all < MUCH) return SHOAL_OK;
    snprintf(text, sizeof text, "takes up to %llu MiB of memory", mib);
    agg_log_line(command, text);
    return SHOAL_OK;
}
