// SPDX-License-Identifier: Apache-2.0
// Errors of the aggregator: a number, an exit code, and a sentence for a person.
//
// Functions return the number, SHOAL_OK or not, and fill the caller's agg_error only when they
// fail. The aggregator's own numbers begin at 100, above the core's. They never appear in a file or
// a module.
//
// Privacy: the sentence never contains a private value. It names a record by its position, and a
// line of a dictionary or counts file by its number.
#ifndef AGG_ERROR_H
#define AGG_ERROR_H

#include "shoal_err.h"

// An error number: SHOAL_OK, an error of the core (SHOAL_ERR_*, below 100), or one of those below.
typedef unsigned int agg_err;
enum {
    AGG_ERR_IO = 100,        // a file could not be read or written
    AGG_ERR_MEMORY = 101,    // out of memory, or a size that does not fit a size_t
    AGG_ERR_JSON = 102,      // a text is not JSON
    AGG_ERR_COHORT = 103,    // fewer reports than the recipe's minimum cohort
    AGG_ERR_REJECTED = 104,  // too many rejected reports
    AGG_ERR_USAGE = 105,     // the command line is wrong
    AGG_ERR_SIGNATURE = 106, // a recipe's signature is missing, wrong, or made by another key
    AGG_ERR_ALARM = 107,     // a result raised an alarm, and the caller asked for failure
    AGG_ERR_INCOMPLETE = 108 // shards or rows of an accumulator are missing
};

// The exit codes of all commands.
enum {
    AGG_EXIT_OK = 0,
    AGG_EXIT_RUNTIME = 1,
    AGG_EXIT_USAGE = 2,
    AGG_EXIT_PRIVACY = 3,
    AGG_EXIT_REJECTED = 4,
    AGG_EXIT_IO = 5,
    AGG_EXIT_ALARM = 6 // with --fail-on-alarm
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

// Fills an error with a formatted sentence.
//   error: may be NULL
//   exit_code: AGG_EXIT_*
// Returns: code, so that a caller can `return agg_fail(...)`.
agg_err agg_fail(agg_error *error, agg_err code, int exit_code, const char *format, ...)
    AGG_PRINTF(4, 5);

// Fills an error of the core with the core's own sentence, shoal_err_text(code).
//   error: may be NULL
// Returns: code.
agg_err agg_fail_core(agg_error *error, agg_err code, int exit_code);

// Puts "PREFIX: " in front of the sentence. Callers add their part of the place from the inside
// out, which gives "FILE: line 3: ...".
//   error: may be NULL
void agg_error_prefix(agg_error *error, const char *format, ...) AGG_PRINTF(2, 3);

// Returns: a short name: "io", "memory", "json", "cohort", "rejected", "usage", "signature",
// "alarm" or "incomplete" for the aggregator's numbers, shoal_err_name for the core's.
const char *agg_err_name(agg_err code);

#endif
