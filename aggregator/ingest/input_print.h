// SPDX-License-Identifier: Apache-2.0
// The fingerprint of an input: its claim (claims.h) where it holds NDJSON reports, which have no id
// of their own.
//
// Inputs with the same bytes have the same fingerprint. It is made of the number of bytes, of the
// first 256 KiB and of 4 KiB at each MiB, so that it costs a small share of reading the reports.
// Two inputs whose fingerprints agree have all of these in common, which reports do by chance only
// if they are very few. Inputs that share some of their lines have different fingerprints.
#ifndef INPUT_PRINT_H
#define INPUT_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"
#include "checksum.h"
#include "claims.h"

typedef struct agg_input_print {
    uint64_t len;
    shoal_checksum sums[2]; // of the bytes that count; the second begins with a label
} agg_input_print;

void agg_input_print_init(agg_input_print *print);

// Appends the input's next bytes; the split into calls does not change the result.
void agg_input_print_update(agg_input_print *print, const uint8_t *bytes, size_t len);

// Makes the claim of the input so far.
void agg_input_print_claim(uint8_t id[AGG_CLAIM], const agg_input_print *print);

// Takes the fingerprint of a regular file, reading only the bytes that count.
//   *has_lines: whether the file holds NDJSON reports, as reader.h tells; else there is nothing to
//               take
// Returns: AGG_ERR_IO.
agg_err agg_input_print_of_file(agg_input_print *print, bool *has_lines, agg_error *error,
                                const char *path) SHOAL_MUST_CHECK;

#endif
