// SPDX-License-Identifier: Apache-2.0
// How messages of dap.h are taken apart: a parser that stands still at its first error. Private to
// the core.
#ifndef SHOAL_DAP_PRIVATE_H
#define SHOAL_DAP_PRIVATE_H

#include "bytes.h"
#include "dap.h"

enum { DAP_TIME_INTERVAL = 1 }; // BatchMode
#define DAP_INTERVAL 16         // bytes

// After an error every take gives zeros and nothing moves, so that a message is read without a look
// at each field.
typedef struct shoal_dap_parser {
    shoal_dap_reader at;
    shoal_err err; // the first
} shoal_dap_parser;

static inline shoal_dap_parser shoal_dap_parse(const shoal_dap_reader *r)
{
    return (shoal_dap_parser){*r, SHOAL_OK};
}

static inline shoal_dap_parser shoal_dap_parse_bytes(shoal_bytes bytes)
{
    return (shoal_dap_parser){{bytes.at, bytes.len, 0}, SHOAL_OK};
}

// Notes an error, unless there is one.
static inline void shoal_dap_fail(shoal_dap_parser *p, shoal_err err)
{
    if (p->err == SHOAL_OK) p->err = err;
}

uint64_t shoal_dap_take_number(shoal_dap_parser *p, uint32_t n_bytes);
shoal_bytes shoal_dap_take(shoal_dap_parser *p, size_t len); // {NULL, 0} after an error
// Behind its length in `prefix` bytes; SHOAL_ERR_RANGE below `least` bytes.
shoal_bytes shoal_dap_take_opaque(shoal_dap_parser *p, uint32_t prefix, size_t least);
void shoal_dap_take_copy(uint8_t *out, shoal_dap_parser *p, size_t len);
uint32_t shoal_dap_take_report_error(shoal_dap_parser *p);
shoal_dap_ciphertext shoal_dap_take_ciphertext(shoal_dap_parser *p);
shoal_dap_metadata shoal_dap_take_metadata(shoal_dap_parser *p);
void shoal_dap_put_metadata(shoal_dap_writer *w, const shoal_dap_metadata *metadata);
void shoal_dap_put_interval(shoal_dap_writer *w, const shoal_dap_interval *interval);
shoal_dap_interval shoal_dap_take_interval(shoal_dap_parser *p);

// A list of extensions behind its length: pairs of a type (u16) and bytes behind their length
// (u16).
//   is_ordered: whether each type is above the one before it; may be NULL
shoal_bytes shoal_dap_take_extensions(shoal_dap_parser *p, int *is_ordered);

// The message must end here.
static inline void shoal_dap_take_end(shoal_dap_parser *p)
{
    if (!shoal_dap_is_at_end(&p->at)) shoal_dap_fail(p, SHOAL_ERR_EXTRA);
}

#endif
