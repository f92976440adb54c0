// SPDX-License-Identifier: Apache-2.0
// Texts and numbers in HTML pages. Values are hostile: markup is escaped, and characters that are
// invisible or reorder the text around them are replaced.
#ifndef PAGE_TEXT_H
#define PAGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Prints hostile text for an element or a quoted attribute. Characters that cannot be shown become
// U+FFFD.
void agg_page_text(FILE *out, const char *bytes, size_t len);
void agg_page_string(FILE *out, const char *text);

// Prints a number grouped by commas, with a typographic minus sign.
//   decimals: 0 .. 15
void agg_page_number(FILE *out, double x, int decimals);
void agg_page_count(FILE *out, double x);

// Prints ": " and a name, escaped, that tells one of several parts of a page; nothing for NULL.
void agg_page_of(FILE *out, const char *name);

// Prints a list's item: a word, or with `is_start` the start of longer ones, and its count with the
// standard error.
void agg_page_piece(FILE *out, const char *bytes, size_t len, bool is_start, double count,
                    double stderr_);

#endif
