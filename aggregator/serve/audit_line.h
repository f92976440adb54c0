// SPDX-License-Identifier: Apache-2.0
// The lines of an audit log (audit_log.h), as they are written. Every function writes one line,
// seals it, moves the chain on and returns the line's length, which is at most AGG_AUDIT_LINE_MAX.
#ifndef AUDIT_LINE_H
#define AUDIT_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "audit_chain.h"
#include "audit_log.h"

#define AGG_AUDIT_LINE_MAX ((size_t)4096) // bytes; texts of a request are cut far below

size_t agg_audit_line_entry(char *line, agg_audit_chain *chain, int64_t time_s,
                            const agg_audit_entry *entry);

// The first line of a file.
//   previous_file: "" for the first file of a log
size_t agg_audit_line_begin(char *line, agg_audit_chain *chain, int64_t time_s,
                            const char *previous_file);

// The note of a write that was cut off: the line begins with the newline that ends the piece.
size_t agg_audit_line_torn(char *line, agg_audit_chain *chain, int64_t time_s, size_t len,
                           const uint8_t hash[32]);

// n requests without a known sender.
size_t agg_audit_line_strangers(char *line, agg_audit_chain *chain, int64_t time_s, uint64_t n);

#endif
