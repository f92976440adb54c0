// SPDX-License-Identifier: Apache-2.0
// One request to `shoal serve` on its way, the questions that take their time, and the line of the
// audit log that every answer waits for. Only this room includes this header.
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdatomic.h>

#include "audit_log.h"
#include "http_listener.h"
#include "serve_parts.h"

// Reasons for which a batch is refused; metrics count them by these names.
enum refusal {
    REFUSED_ACCESS,
    REFUSED_TYPE,
    REFUSED_SIZE,
    REFUSED_RECIPE,
    REFUSED_DAMAGED,
    REFUSED_BUSY,
    REFUSAL_COUNT
};

// The parts of the server, and counters since its start, which any thread may add to.
typedef struct serve_state {
    serve_parts parts;
    atomic_ullong refused[REFUSAL_COUNT]; // batches
    atomic_ullong results;                // asked for
} serve_state;

typedef enum route {
    ROUTE_NONE,
    ROUTE_BATCHES,
    ROUTE_RECIPES,
    ROUTE_RECIPE,
    ROUTE_RESULTS,
    ROUTE_SUM,
    ROUTE_PAGE_ALL,
    ROUTE_PAGE_ONE,
    ROUTE_SCRIPT,
    ROUTE_CHART,
    ROUTE_METRICS,
    ROUTE_DELIVERY,
    ROUTE_BOOKS,
    ROUTE_BOOKS_LOG,
    ROUTE_BOOKS_ONE,
    ROUTE_SIGN_IN,
    ROUTE_SIGN_OUT,
    ROUTE_HEALTH
} route;

typedef struct serve_request {
    agg_http_exchange x; // first: the listener allocates the whole struct
    serve_state *state;
    serve_set *set; // in force when the request began
    route route;
    const serve_person *person; // who asks; NULL: nobody known
    const char *via;            // how the person was told; static
    serve_job job;
    agg_audit_entry entry;
    bool is_held;                       // the exchange is suspended
    char session[SERVE_SESSION_ID_MAX]; // that this request began; "" for none
} serve_request;

// Returns: SERVE_READS, SERVE_ADMINISTERS, both, or 0 for nobody known.
unsigned serve_request_role(const serve_request *r);

// Returns: the collection of an id if the person may read it; NULL if there is none or the person
// may not. The two look alike from outside.
//   at: set to its number in the list
serve_collection *serve_request_collection(const serve_request *r, const char *id);

// Answers 401, 413, 415 or 503 unless the request may send a batch.
void serve_request_check_sender(serve_request *r);

// Hands r->job to the results thread and suspends the connection until the job is answered and
// the answer is in the audit log.
void serve_request_ask(serve_request *r);

// Holds the answer back until its line is in the audit log. If the line cannot be written, the
// answer becomes a 503. Nothing may touch the request after this call.
void serve_request_conclude(serve_request *r);

// Answers with a text of a media type.
void serve_request_answer_text(serve_request *r, unsigned status, const char *type,
                               const char *text);

// Reads the counts of every collection from the store.
//   stats: by the collection's number in the list; free it, also after an error
//   with_batches: as in agg_store_statistics_of
agg_err serve_request_statistics(const serve_request *r, agg_store_stats **stats, bool with_batches,
                                 agg_error *error) SHOAL_MUST_CHECK;

// Answers 303.
void serve_request_redirect(serve_request *r, const char *location);

#endif
