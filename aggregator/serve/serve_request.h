// SPDX-License-Identifier: Apache-2.0
// One request to `shoal serve` on its way, who may send it, and the questions that take their time.
// Only this room includes this header.
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdatomic.h>

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
    ROUTE_METRICS,
    ROUTE_HEALTH
} route;

typedef struct serve_request {
    agg_http_exchange x; // first: the listener allocates the whole struct
    serve_state *state;
    route route;
    serve_job job;
} serve_request;

// Answers 401 or 403 unless the request may read results.
void serve_request_check_reader(serve_request *r);

// Answers 401, 413, 415 or 503 unless the request may send a batch.
void serve_request_check_sender(serve_request *r);

// Hands r->job to the results thread and suspends the connection until the job is answered.
void serve_request_ask(serve_request *r);

// Answers with a text of a media type.
void serve_request_answer_text(serve_request *r, unsigned status, const char *type,
                               const char *text);

#endif
