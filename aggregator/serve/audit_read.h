// SPDX-License-Identifier: Apache-2.0
// Reads the lines of one day back from an audit log, newest first. The log may be written
// meanwhile: a line without its newline is left out.
//
// Privacy: a reader sees its own lines alone. It pages by the number of its own lines, because a
// place in the file would tell how much others asked.
#ifndef AUDIT_READ_H
#define AUDIT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "audit_line.h"

#define AGG_AUDIT_PAGE_ROWS ((size_t)100) // lines of one page

// The lines that are wanted. NULL or "" takes every text.
typedef struct agg_audit_find {
    const char *who, *what, *value;
    const char *day; // as "2026-11-21"
    size_t skip;     // newer matching lines to leave out
} agg_audit_find;

typedef struct agg_audit_page {
    char *lines[AGG_AUDIT_PAGE_ROWS]; // each ends with NUL, without its newline
    size_t n;
    bool is_more; // there are older matching lines of the day
    size_t seen;  // private
} agg_audit_page;

// Reads a page.
//   page: release it, also after an error
//   folder: of the log
// Returns: AGG_ERR_IO, AGG_ERR_MEMORY.
// Cost: reads the log from its end back to the day; 256 KiB of memory at a time.
agg_err agg_audit_page_read(agg_audit_page *page, agg_error *error, const char *folder,
                            const agg_audit_find *find) SHOAL_MUST_CHECK;
void agg_audit_page_release(agg_audit_page *page);

// Takes the matching lines of a piece of a log, from the last one back. agg_audit_page_read goes
// through the files with it.
//   is_done: set once a line is older than the day, or the page is full
//   bytes: len bytes that begin with a line and end with a newline, or none; changed
// Returns: AGG_ERR_MEMORY.
agg_err agg_audit_page_take(agg_audit_page *page, bool *is_done, agg_error *error,
                            const agg_audit_find *find, char *bytes, size_t len) SHOAL_MUST_CHECK;

// Copies a member of a line, unescaped; a number as its digits. A missing member is "".
//   out: `cap` bytes with the NUL, at least 1; longer texts are cut
void agg_audit_member(char *out, size_t cap, const char *line, const char *name);

#endif
