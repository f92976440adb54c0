// SPDX-License-Identifier: Apache-2.0
// A parser for the messages of dap.h, which stops at its first error. The header is private to the
// core.
#ifndef SHOAL_DAP_PRIVATE_H
#define SHOAL_DAP_PRIVATE_H

#include <stdbool.h>

#include "bytes.h"
#include "dap.h"

enum { DAP_TIME_INTERVAL = 1 }; // BatchMode
#define DAP_INTERVAL 16         // bytes

// After an error every take returns zeros and the parser does not move. A message can therefore be
// read without a check after each field.
typedef struct shoal_dap_parser {
    shoal_dap_reader at;
    shoal_err err; // the first error
} shoal_dap_parser;

static inline shoal_dap_parser shoal_dap_parse(const shoal_dap_reader *r)
{
    return (shoal_dap_parser){*r, SHOAL_OK};
}

static inline shoal_dap_parser shoal_dap_parse_bytes(shoal_bytes bytes)
{
    return (shoal_dap_parser){{bytes.at, bytes.len, 0}, SHOAL_OK};
}

// Records an error, unless there is one already.
static inline void shoal_dap_fail(shoal_dap_parser *p, shoal_err err)
{
    if (p->err == SHOAL_OK) p->err = err;
}

uint64_t shoal_dap_take_number(shoal_dap_parser *p, uint32_t n_bytes);
shoal_bytes shoal_dap_take(shoal_dap_parser *p, size_t len); // {NULL, 0} after an error
// Takes bytes after a length prefix of `prefix` bytes; SHOAL_ERR_RANGE for fewer than `least`
// bytes.
shoal_bytes shoal_dap_take_opaque(shoal_dap_parser *p, uint32_t prefix, size_t least);
void shoal_dap_take_copy(uint8_t *out, shoal_dap_parser *p, size_t len);
uint32_t shoal_dap_take_report_error(shoal_dap_parser *p);
shoal_dap_ciphertext shoal_dap_take_ciphertext(shoal_dap_parser *p);
shoal_dap_metadata shoal_dap_take_metadata(shoal_dap_parser *p);
void shoal_dap_put_metadata(shoal_dap_writer *w, const shoal_dap_metadata *metadata);
void shoal_dap_put_interval(shoal_dap_writer *w, const shoal_dap_interval *interval);
shoal_dap_interval shoal_dap_take_interval(shoal_dap_parser *p);

// Takes a list of extensions with a length prefix. An extension is a type (u16) and bytes with a
// length prefix (u16).
//   is_ordered: whether each type is above the one before it; may be NULL
shoal_bytes shoal_dap_take_extensions(shoal_dap_parser *p, bool *is_ordered);

// Checks that the message ends here.
static inline void shoal_dap_take_end(shoal_dap_parser *p)
{
    if (!shoal_dap_is_at_end(&p->at)) shoal_dap_fail(p, SHOAL_ERR_EXTRA);
}

#endif
