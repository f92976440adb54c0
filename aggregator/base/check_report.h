// SPDX-License-Identifier: Apache-2.0
// What a check of a configuration found: what is right, what deserves a look, and every problem
// with how to mend it. Printed as lines, or as JSON (docs/schema/check.schema.json).
#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "agg_error.h"

#define AGG_CHECK_ENTRIES_MAX 256 // of a report; later ones are counted only

typedef enum agg_check_kind { AGG_CHECK_RIGHT, AGG_CHECK_NOTE, AGG_CHECK_PROBLEM } agg_check_kind;

typedef struct agg_check_entry {
    agg_check_kind kind;
    char what[512];
    const char *mend; // NULL for what is right
} agg_check_entry;

typedef struct agg_check_report {
    agg_check_entry *entries; // room for AGG_CHECK_ENTRIES_MAX
    size_t n, n_left_out, n_problems;
} agg_check_report;

agg_err agg_check_report_open(agg_check_report *report, agg_error *error) SHOAL_MUST_CHECK;
void agg_check_report_close(agg_check_report *report);

// Adds an entry.
//   mend: outlives the report
void agg_check_right(agg_check_report *report, const char *format, ...) AGG_PRINTF(2, 3);
void agg_check_note(agg_check_report *report, const char *mend, const char *format, ...)
    AGG_PRINTF(3, 4);
void agg_check_problem(agg_check_report *report, const char *mend, const char *format, ...)
    AGG_PRINTF(3, 4);

// Prints the report: what is right on standard output, notes and problems on standard error; or
// all of it as one line of JSON on standard output.
//   program: such as "shoal serve"
//   file: the configuration
void agg_check_report_print(const agg_check_report *report, const char *program, const char *file,
                            bool is_json);

#endif
