// SPDX-License-Identifier: Apache-2.0
// Views of a collection that take long to make: ?view=joint (serve_joint.h) and ?view=found
// (serve_found.h). Both are made of whole closed blocks, in the background (serve_views.h), and
// kept until the blocks of a question change.
#ifndef SERVE_VIEW_H
#define SERVE_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "serve_job.h"
#include "static_report.h"
#include "store.h"

#define SERVE_VIEW_NOTE_MAX 1024u
#define SERVE_VIEW_MOST_S 600 // after so many seconds a view is given up between two of its steps

// What is to be made, and of which blocks.
typedef struct serve_view_order {
    const struct serve_view_kind *kind;
    serve_set *set; // that the collection and the dictionary belong to; held while it is kept
    const serve_collection *collection;
    const serve_dictionary *dictionary; // of words that are known; NULL for none
    agg_span span;                      // the blocks of it are what the view is made of
    agg_released blocks;                // those blocks
    bool leaves_out;                    // whether the question's span has older blocks
    agg_store *store;
    uint64_t memory;                                  // bytes that making it may take
    bool (*goes_on)(void *context, agg_error *error); // whether to take the next step, or why not
    void *context;
} serve_view_order;

typedef struct serve_view_kind {
    const char *name;            // of ?view=
    const char *title;           // of links to it
    const char *href;            // of links to it from the collection's page
    const char *needs;           // answers a question for a recipe that has no such view
    const char *(*script)(void); // path of the page's script; NULL, or returns NULL, for none
    bool (*has)(const agg_recipe *recipe);
    // Returns: the bytes that making a view takes at most.
    uint64_t (*memory)(const serve_collection *collection);
    // Makes a view. It may move nothing that the order points to.
    agg_err (*make)(void **made, agg_error *error, const serve_view_order *order);
    size_t (*size)(const void *made);
    void (*release)(void *made);
    // Prints the page, or all rows in the job's format. Both take milliseconds.
    agg_err (*page)(FILE *out, agg_error *error, const serve_job *job,
                    const serve_view_order *order, const void *made);
    agg_err (*rows)(FILE *out, agg_error *error, const serve_job *job,
                    const serve_view_order *order, const void *made);
    bool (*sorts_by)(const char *column); // of the page's tables
} serve_view_kind;

// Texts that a page of a view points to.
typedef struct serve_view_texts {
    char home[SHOAL_NAME_MAX + 16], downloads[SHOAL_NAME_MAX + 320], note[160];
} serve_view_texts;

// Fills in what pages of all views have: title, home, links, account, order, and with an order
// where its rows are, and that older blocks are left out.
//   order: NULL for a page that has no view
void serve_view_begin(agg_static_report *report, const serve_job *job,
                      const serve_view_order *order, serve_view_texts *texts);

// Narrows the span of a question to the blocks that a view can be made of: some mechanisms need
// records, which are kept for some days after their block closed. A fold may not have come to those
// that are over. They are left out all the same, so that answers do not depend on it.
agg_span serve_view_within(const serve_collection *collection, agg_span span, int32_t today);

// Finds the bytes that the accumulator of an order's collection takes, with all records.
agg_err serve_view_sum(uint64_t *bytes, agg_error *error,
                       const serve_view_order *order) SHOAL_MUST_CHECK;

// Returns: AGG_ERR_MEMORY, and how much is needed, where the order may not take so many bytes.
agg_err serve_view_check(agg_error *error, const serve_view_order *order,
                         uint64_t bytes) SHOAL_MUST_CHECK;

// Names the blocks that a view is made of: "2 blocks, 2026-11-20 to 2026-11-21".
#define SERVE_VIEW_BLOCKS_MAX 80u
void serve_view_name_blocks(char out[SERVE_VIEW_BLOCKS_MAX], const agg_released *blocks);

// Returns: what a view states of blocks and of honest reports.
agg_release serve_view_release(const serve_view_order *order);

#endif
