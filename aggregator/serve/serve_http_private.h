// SPDX-License-Identifier: Apache-2.0
// What serve_http.c and serve_route.c share. Nothing else includes this.
#ifndef SERVE_HTTP_PRIVATE_H
#define SERVE_HTTP_PRIVATE_H

#include <stdatomic.h>

#include "serve_http.h"

struct MHD_Connection;
struct MHD_Daemon;

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
    struct MHD_Daemon *daemon;
    int listening;      // the socket once quiesced, or -1
    atomic_size_t held; // bytes of bodies in memory
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
    serve_http *http;
    struct MHD_Connection *connection;
    route route;
    int64_t deadline_ms; // monotonic; the body must be there by then
    uint8_t *body;
    size_t len, cap, discarded;
    serve_answer answer; // status 0: not yet
    serve_job job;
    int is_asked; // the job was handed over
} request;

// Returns: a query argument, or NULL.
const char *serve_request_argument(const request *r, const char *name);

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
