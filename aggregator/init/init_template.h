// SPDX-License-Identifier: Apache-2.0
// Templates: texts with named places. {{name}} is written so that it stands for itself in the file,
// whatever it holds; {{{name}}} is written as it is, for texts that this program made.
#ifndef INIT_TEMPLATE_H
#define INIT_TEMPLATE_H

#include <stdio.h>

#include "agg_error.h"

// How a text is written so that it stands for itself.
typedef enum init_kind {
    INIT_PLAIN,    // as it is
    INIT_JSON,     // a JSON string with its quotation marks; JavaScript and YAML read it, too
    INIT_HTML,     // text or attribute: & < > " ' as entities
    INIT_MARKDOWN, // every mark that means something has a backslash
} init_kind;

typedef struct init_value {
    const char *name, *text; // a NULL name ends a list
} init_value;

// Writes a text as one of its kind. Control characters and marks that reorder text become U+FFFD.
void init_write_text(FILE *stream, init_kind kind, const char *bytes, size_t len);

// Fills a template.
//   parts: its text in pieces, ended by NULL; a place lies in one piece
// Returns: AGG_ERR_USAGE for a place that no value fills, which is a defect of the template.
agg_err init_fill(FILE *stream, agg_error *error, init_kind kind, const char *const *parts,
                  const init_value *values) SHOAL_MUST_CHECK;

// Fills a template into a text. Returns: with SHOAL_OK a text to free.
agg_err init_fill_text(char **text, agg_error *error, init_kind kind, const char *const *parts,
                       const init_value *values) SHOAL_MUST_CHECK;

#endif
