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

// An error number: SHOAL_OK, an error of the core (SHOAL_ERR_*, below 100) or one of the
// aggregator's own.
typedef unsigned int agg_err;
enum {
    AGG_ERR_IO = 100,       // a file could not be read or written
    AGG_ERR_MEMORY = 101,   // out of memory, or a size that no machine holds
    AGG_ERR_JSON = 102,     // not JSON
    AGG_ERR_COHORT = 103,   // fewer reports than the recipe's minimum cohort
    AGG_ERR_REJECTED = 104, // too many rejected reports
    AGG_ERR_USAGE = 105,    // the command line is wrong
    AGG_ERR_SIGNATURE = 106 // a recipe's signature is missing, bad, or of another key
};

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
    agg_err code;
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
agg_err agg_fail(agg_error *error, agg_err code, int exit_code, const char *format, ...)
    AGG_PRINTF(4, 5);

// The same for a core error without a better sentence: the text is shoal_err_text(code).
agg_err agg_fail_core(agg_error *error, agg_err code, int exit_code);

// Puts "PREFIX: " in front of the text, the way from the inside out: "FILE: line 3: ...".
void agg_error_prefix(agg_error *error, const char *format, ...) AGG_PRINTF(2, 3);

// Returns: a short name, the core's or "io", "memory", "json", "cohort", "rejected", "usage",
// "signature".
const char *agg_err_name(agg_err code);

#endif
