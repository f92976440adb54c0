// SPDX-License-Identifier: Apache-2.0
// The hash chain of an audit log. A log is a row of files of JSON lines. Each line ends in a hash:
//
//     BODY,"hash":"64 hex digits"}        hash = SHA-256(hash of the line before || BODY)
//
// BODY begins with {"seq":N, and N counts the lines of the whole log. The first line of a file has
// "what":"begin" and names the file before it and that file's last hash; the first file of a log
// names 64 zeros.
//
// A write that was cut off leaves a piece of a line. The next start of the server keeps the piece,
// ends it with a newline, and notes it in a line with "what":"torn", the piece's bytes and its
// SHA-256. A piece that lacks nothing but the newline is a line.
//
// What the chain does not prove: it has no key. Whoever can write the files can write them anew
// from any line on, with hashes that fit. Only a hash that is kept elsewhere shows that, or shows
// that lines at the end are missing.
#ifndef AUDIT_CHAIN_H
#define AUDIT_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_AUDIT_SEAL 76u // bytes that a hash and the newline add to a line's body

typedef struct agg_audit_chain {
    uint8_t head[32]; // hash of the last line
    uint64_t next;    // number of the next line
    bool is_started;  // false: the first file of a scan sets both from its first line
} agg_audit_chain;

// What a scan of one file found.
typedef struct agg_audit_scan {
    uint64_t lines; // that fit the chain
    uint64_t torn;  // cut off writes that a later line notes
    size_t good;    // bytes up to the end of the last line that fits
    size_t tail;    // bytes after it: a write that was cut off and is not noted yet
    bool is_open;   // the last line is whole but for its newline
    bool is_found;  // a line has the wanted hash
    uint64_t found; // that line's number in the file, from 1, and how many fit up to it
    uint64_t found_lines;
    char before[128]; // the file that the first line names as its predecessor; "" for none
} agg_audit_scan;

// Ends a line's body with its hash and a newline, and moves the chain on.
//   line: `len` bytes of body, with room for AGG_AUDIT_SEAL bytes more
// Returns: the line's length.
size_t agg_audit_chain_seal(agg_audit_chain *chain, char *line, size_t len);

// Checks one file against the chain and moves the chain to the file's last line.
//   name: of the file, for errors
//   wanted: a hash to look for, or NULL
// Returns: SHOAL_ERR_CHECKSUM, naming the first line that does not fit; the chain is then useless.
agg_err agg_audit_chain_scan(agg_audit_chain *chain, agg_audit_scan *scan, agg_error *error,
                             const char *name, const uint8_t *bytes, size_t len,
                             const uint8_t *wanted) SHOAL_MUST_CHECK;

// Writes 64 hex digits and a NUL; reads exactly 64 lower-case hex digits.
void agg_audit_hash_print(char text[65], const uint8_t hash[32]);
bool agg_audit_hash_parse(uint8_t hash[32], const char *text);

#endif
