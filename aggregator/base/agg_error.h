// SPDX-License-Identifier: Apache-2.0
// Errors of the aggregator: a number, the exit code that goes with it, and a sentence for a person.
//
// Functions return the number (SHOAL_OK or not) and fill the caller's agg_error only when they
// fail. The numbers below continue the core's at 100; they never appear in a file or a module. The
// text never holds a private value: records are named by their position, dictionary and counts
// lines by their number.
#ifndef AGG_ERROR_H
#define AGG_ERROR_H

#include "shoal_err.h"

#define AGG_ERR_IO ((shoal_err)100)       // a file could not be read or written
#define AGG_ERR_MEMORY ((shoal_err)101)   // out of memory, or a size that no machine holds
#define AGG_ERR_JSON ((shoal_err)102)     // not JSON
#define AGG_ERR_COHORT ((shoal_err)103)   // fewer reports than the recipe's minimum cohort
#define AGG_ERR_REJECTED ((shoal_err)104) // too many rejected reports
#define AGG_ERR_USAGE ((shoal_err)105)    // the command line is wrong
#define AGG_ERR_SIGNATURE                                                                          \
    ((shoal_err)106) // a recipe's signature is missing, bad, or of another key

// Exit codes of every command.
enum {
    AGG_EXIT_OK = 0,
    AGG_EXIT_RUNTIME = 1,
    AGG_EXIT_USAGE = 2,
    AGG_EXIT_PRIVACY = 3,
    AGG_EXIT_REJECTED = 4,
    AGG_EXIT_IO = 5
};

typedef struct agg_error {
    shoal_err code;
    int exit_code;
    char text[512];
} agg_error;

#if defined(__GNUC__) || defined(__clang__)
#define AGG_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define AGG_PRINTF(text, first)
#endif

// Fills `error`.
//   error: may be NULL
//   exit_code: AGG_EXIT_*
// Returns: code, so that a caller can `return agg_fail(...)`.
shoal_err agg_fail(agg_error *error, shoal_err code, int exit_code, const char *format, ...)
    AGG_PRINTF(4, 5);

// The same for a core error without a better sentence: the text is shoal_err_text(code).
shoal_err agg_fail_core(agg_error *error, shoal_err code, int exit_code);

// Puts "PREFIX: " in front of the text, the way from the inside out: "FILE: line 3: ...".
void agg_error_prefix(agg_error *error, const char *format, ...) AGG_PRINTF(2, 3);

// Returns: a short name, the core's or "io", "memory", "json", "cohort", "rejected", "usage",
// "signature".
const char *agg_err_name(shoal_err code);

#endif
