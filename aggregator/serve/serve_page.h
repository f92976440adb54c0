// SPDX-License-Identifier: Apache-2.0
// The frame of the server's own pages, operations and books: head, style sheet, account, links, and
// the policy that lets in this sheet and this server's script alone.
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include "serve_request.h"

#define SERVE_PAGE_TIME_MAX 32 // with its NUL

// Prints everything up to the title inside an open <header>. The caller closes it.
//   title: plain text of the program's own; not escaped
void serve_page_begin(FILE *stream, const serve_request *r, const char *title);

// Sets the policy of a page that serve_page_begin began.
void serve_page_protect(agg_http_answer *answer);

// Prints hostile text for an element or a quoted attribute.
void serve_page_text(FILE *stream, const char *text);

// Writes a moment as "2026-11-21 00:00 UTC"; "" for one that has no date.
//   seconds: since 1970-01-01 00:00 UTC
void serve_page_minute(char out[SERVE_PAGE_TIME_MAX], int64_t seconds);

#endif
