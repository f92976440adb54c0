// SPDX-License-Identifier: Apache-2.0
// What each route of `shoal serve` answers; serve_http.h lists the routes. Only this room includes
// this header.
#ifndef SERVE_ROUTE_H
#define SERVE_ROUTE_H

#include "serve_request.h"

// Finds the route and answers at once what needs no body: unknown paths and methods, and requests
// without access.
void serve_route_start(serve_request *r, const char *method, const char *url);

// Answers a request whose body is complete, or asks for a result and leaves the status 0.
void serve_route_answer(serve_request *r, const char *url);

#endif
