// SPDX-License-Identifier: Apache-2.0
// Prints results as an HTML page: a bar for every value, with error whiskers. Pure: no network, no
// clock, no files, so that a command and the server print the same page.
//
// The page has inline style sheets and no inline script; its Content-Security-Policy names the
// sheets by their hashes. Values are hostile text: they are escaped, and control characters are
// replaced.
#ifndef RESULT_PAGE_H
#define RESULT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "estimate.h"
#include "guarantee.h"
#include "page_policy.h"
#include "table_order.h"

// A link from each page of a server to another one.
typedef struct agg_page_link {
    const char *href, *text; // plain text of the program's own
} agg_page_link;

// The part of one collection in a page.
typedef struct agg_page_section {
    const agg_recipe *recipe;
    const agg_estimate *estimate; // with its guarantee, if set; NULL to print `note` instead
    const char *note; // why there is no estimate: UTF-8, escaped here; may be NULL with an estimate
    const char *period; // its days, such as "2026-11-21"; NULL for all
    const char *link;   // path of the collection's own page; may be NULL
    size_t top;         // rows to print; 0 for all
    // The value that was asked for alone, with its chance of a false alarm; "" for a section that
    // offers to ask for one, and downloads; NULL for neither. UTF-8 or not, escaped here.
    const char *asked;
    // The order of the rows, which the page offers to change; NULL for neither. The estimate has
    // the rows in this order already, unless it is the table's own.
    const agg_table_order *order;
    const char *among; // its name in labels, distinct, if a page has several with figures; or NULL
    size_t n_found;    // rows that hold what the order searches for
    const agg_page_link *views; // of the collection, up to one without href; may be NULL
    const char *rounds;         // name of the link to the rounds of its analysis; NULL for none
} agg_page_section;

typedef struct agg_page {
    const char *title;
    const agg_page_section *sections;
    size_t n_sections;
    const char *script;         // path of a script of the same origin; may be NULL
    const char *home;           // path that the title links to; may be NULL
    const agg_page_link *links; // below the title, up to one without href; may be NULL
    const char *account;        // who is signed in, with a button that signs out; may be NULL
    const char *more_style;     // one more style sheet; may be NULL
} agg_page;

// Print a page in parts, for pages that have more than sections: what comes before the first one,
// its links between pages alone, what picks of a window mean for a recipe, one section, the alarms
// of a result, what was tested for them and its guarantees, and what comes after the last one.
// agg_page_close returns: AGG_ERR_IO if the stream fails.
void agg_page_open(FILE *stream, const agg_page *page);
void agg_page_links_write(FILE *stream, const agg_page_link *links);
void agg_page_picks_write(FILE *stream, const agg_recipe *recipe);
void agg_page_section_write(FILE *stream, const agg_page_section *section);
void agg_page_alarms_write(FILE *stream, const agg_alarms *alarms);
void agg_page_tested_write(FILE *stream, const agg_alarms *alarms);
void agg_page_guarantee_write(FILE *stream, const agg_guarantee *guarantee);
agg_err agg_page_close(FILE *stream, agg_error *error) SHOAL_MUST_CHECK;

// Prints the whole page.
// Returns: AGG_ERR_IO if the stream fails.
agg_err agg_page_write(FILE *stream, agg_error *error, const agg_page *page) SHOAL_MUST_CHECK;

// Writes the Content-Security-Policy under which the page works as it should.
//   script: whether scripts, fetches and forms of the same origin are let in
void agg_page_csp(char out[AGG_PAGE_CSP_SIZE], bool script);

// Writes the policy of a page: with its style sheets and its script, and with forms of the same
// origin where the page has a home, on a server.
void agg_page_csp_of(char out[AGG_PAGE_CSP_SIZE], const agg_page *page);

#endif
