// SPDX-License-Identifier: Apache-2.0
// Checks an audit log from its files alone: every line, and that each file continues the one before
// it. A server may go on writing meanwhile.
#ifndef AUDIT_CHECK_H
#define AUDIT_CHECK_H

#include <stddef.h>

#include "audit_chain.h"

#define AGG_AUDIT_PATH_MAX 4096 // with its NUL; for messages

typedef struct agg_audit_report {
    uint64_t files, lines;
    uint64_t torn;    // cut off writes that the log notes
    size_t tail;      // bytes at the end of a write that was cut off, or is under way
    uint8_t head[32]; // hash of the last line
    char before[128]; // the file that comes before the first one given; "" if the log begins there
    bool is_found;    // a line has the wanted hash
    char found_file[AGG_AUDIT_PATH_MAX];
    uint64_t found_line;  // its number in that file, from 1
    uint64_t lines_after; // lines that follow it
} agg_audit_report;

// Checks files in their order.
//   paths: files, or folders that stand for the numbered files in them
//   wanted: a hash that was kept elsewhere, or NULL
// Returns: SHOAL_ERR_CHECKSUM, naming the file and the first line that does not fit.
agg_err agg_audit_check(agg_audit_report *report, agg_error *error, const char *const *paths,
                        size_t n, const uint8_t *wanted) SHOAL_MUST_CHECK;

#endif
