// SPDX-License-Identifier: Apache-2.0
// The HTTP side of `shoal serve`: routes, access, bodies. Nothing about a request but its answer's
// counts outlives it: no address, header or time is kept or logged.
//
//     POST /v1/batches                    a batch in; Bearer secret
//     GET  /v1/recipes, /v1/recipes/HASH  recipes out
//     GET  /v1/results/ID                 ?dictionary= ?period= | ?from=&to= ?top=
//     GET  /v1/sums/ID                    ?period= | ?from=&to=   of aggregation "sum": what is
//     released, as an accumulator GET  /, /recipes/ID                 the result page GET /metrics,
//     /healthz
//
// All GET routes but /healthz need the read token (Bearer, or Basic with the token as password, for
// browsers). Without a token the server is bound to loopback, and answers only requests whose Host
// is a loopback name, so that a page of another origin cannot read results by pointing its own name
// at this machine.
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "serve_parts.h"

typedef struct serve_http serve_http;

// Listens.
//   port: the one bound, where the configuration says 0
agg_err serve_http_start(serve_http **http, uint16_t *port, agg_error *error,
                         const serve_parts *parts) SHOAL_MUST_CHECK;

// Takes no new connection from here on; what is being answered goes on.
void serve_http_quiesce(serve_http *http);

// Ends; call after serve_results_stop, so that nothing waits for a result.
void serve_http_stop(serve_http *http);

#endif
