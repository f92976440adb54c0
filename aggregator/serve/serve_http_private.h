// SPDX-License-Identifier: Apache-2.0
// What serve_http.c and serve_route.c share. Nothing else includes this.
#ifndef SERVE_HTTP_PRIVATE_H
#define SERVE_HTTP_PRIVATE_H

#include <stdatomic.h>

#include "http_listener.h"
#include "serve_http.h"

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

struct serve_http {
    serve_rooms rooms;
    agg_http_listener *listener;
    atomic_ullong refused[REFUSAL_COUNT];
    atomic_ullong results;
};

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

typedef struct request {
    agg_http_exchange x; // first: the listener makes the whole
    serve_http *http;
    route route;
    serve_job job;
} request;

// Answer 401, 403, 413 or 415 where the request may not go on.
void serve_request_check_reader(request *r);
void serve_request_check_sender(request *r);

// Suspends the connection until the job is answered.
void serve_request_ask(request *r);

// Finds the route and answers at once what needs no body: unknown paths, methods, no access.
void serve_route_start(request *r, const char *method, const char *url);

// Answers a request whose body is complete, or asks for a result and leaves the status 0.
void serve_route_answer(request *r, const char *url);

#endif
