// SPDX-License-Identifier: Apache-2.0
// A question about results, and its answer, on the way from the routes to the results thread and
// back.
#ifndef SERVE_JOB_H
#define SERVE_JOB_H

#include <stdbool.h>

#include "audit_log.h"
#include "collection.h"
#include "http_answer.h"
#include "print_text.h"
#include "serve_set.h"
#include "store_close.h"
#include "table_order.h"

#define SERVE_VALUE_MAX 256u // bytes of a value that is asked for alone

// One question and its answer. The caller owns it until `done` is called, from the results thread.
typedef struct serve_job {
    serve_set *set;                     // that the question began with; held until `done` is called
    const serve_collection *collection; // NULL: the page of all collections
    const serve_dictionary *dictionary; // NULL where collection is
    agg_span span;
    char period[32];       // the span as people read it; "" for all
    size_t top;            // rows; 0: all
    agg_table_order order; // of the page's table
    bool is_page;          // HTML instead of rows
    bool shows_periods;    // a page of one collection over its blocks (serve_periods.h)
    bool shows_rounds;     // of them, one of the rounds of an analysis (serve_rounds.h)
    const struct serve_view_kind *view; // that is asked for, as a page or as rows; NULL: none
    uint32_t pair[2];                   // variables whose rows of a joint view are asked for
    agg_format format;                  // of rows: AGG_JSON, AGG_NDJSON, AGG_CSV or AGG_ARROW
    char value[SERVE_VALUE_MAX + 1];    // the one value that is asked for; "" for the dictionary's
    const bool *scope;   // collections that a page of all shows, by number; NULL: every one
    unsigned rights;     // of who asks
    const char *account; // whose session a page is shown in; NULL: none
    char blocks[AGG_AUDIT_BLOCKS_MAX]; // set for the audit log: what the answer was made of
    agg_http_answer answer;
    void (*done)(void *context);
    void *context;
    struct serve_job *next; // private
} serve_job;

// Returns: the media type of rows in a format.
const char *serve_job_type(agg_format format);

// Answers that the server is stopping.
void serve_job_answer_stopping(serve_job *job);

// Notes for the audit log that an answer is made of blocks of a collection, as "words 3-14": their
// numbers in the store's ledger. Blocks that do not fit are left out, which "..." says.
void serve_job_note_blocks(serve_job *job, const serve_collection *collection,
                           const agg_released *released);

#endif
