// SPDX-License-Identifier: Apache-2.0
// The HTTP side of `shoal serve`: routes, access and bodies.
//
//     POST /v1/batches                    takes a batch; Bearer secret
//     GET  /v1/recipes, /v1/recipes/HASH  recipes
//     GET  /v1/results/ID                 ?dictionary= ?period= | ?from=&to= ?top=
//     GET  /v1/sums/ID                    ?period= | ?from=&to=; the released part of a sum, as an
//                                         accumulator; aggregation "sum" only
//     GET  /, /recipes/ID                 the result page
//     GET  /metrics, /healthz
//
// All GET routes except /healthz need the read token, as Bearer or, for browsers, as the password
// of Basic. A server without a token is bound to loopback. It answers only requests whose Host is a
// loopback name: a page of another origin could otherwise point its own name at this machine and
// read results.
//
// Privacy: nothing about a request outlives it except counts. No address, header or time is kept or
// logged.
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "serve_parts.h"

typedef struct serve_http serve_http;

// Starts to listen.
//   port: the port that was bound, also when the configuration says 0
//   parts: copied; what it points to outlives the server
agg_err serve_http_start(serve_http **http, uint16_t *port, agg_error *error,
                         const serve_parts *parts) SHOAL_MUST_CHECK;

// Takes no new connections. Requests that have begun are still answered.
void serve_http_quiesce(serve_http *http);

// Ends the server. Call after serve_results_stop, so that no request waits for a result. http may
// be NULL.
void serve_http_stop(serve_http *http);

#endif
