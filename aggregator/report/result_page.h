// SPDX-License-Identifier: Apache-2.0
// Results as an HTML page: a bar for every value, with error whiskers. A pure function of estimates
// to a stream; no network, no clock, no files, so that a command can write the same page as a
// report.
//
// The page has one inline style sheet and no inline script; AGG_PAGE_CSP names the sheet by its
// hash. Values come from reports' collections and are hostile text: they are escaped, and shown
// without control characters.
#ifndef RESULT_PAGE_H
#define RESULT_PAGE_H

#include <stdio.h>

#include "estimate.h"

// One collection's part of a page.
typedef struct agg_page_section {
    const agg_recipe *recipe;
    const agg_estimate *estimate; // NULL: `note` is shown instead
    const char *note; // why there is no estimate; UTF-8, escaped here; may be NULL with an estimate
    const char *period; // the days it covers, as "2026-11-21"; NULL: all
    const char *link;   // path of the collection's own page; NULL: none
    size_t top; // rows shown; 0: all; the estimate's guarantee, where it has one, is shown with it
} agg_page_section;

typedef struct agg_page {
    const char *title;
    const agg_page_section *sections;
    size_t n_sections;
    const char *script; // path of a script of the same origin; NULL: none
    const char *home;   // path that the title links to; NULL: none
} agg_page;

// Writes the whole page.
// Returns: AGG_ERR_IO when the stream fails.
agg_err agg_page_write(FILE *stream, agg_error *error, const agg_page *page) SHOAL_MUST_CHECK;

#define AGG_PAGE_CSP_SIZE 256

// Writes the Content-Security-Policy under which the page works as it should.
//   script: whether scripts and fetches of the same origin are let in
void agg_page_csp(char out[AGG_PAGE_CSP_SIZE], int script);

#endif
