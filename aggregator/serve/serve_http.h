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

#include "collection.h"
#include "http_listener.h"
#include "http_secret.h"
#include "serve_config.h"
#include "serve_result.h"

typedef struct serve_http serve_http;

// What the server works with; outlives it.
typedef struct serve_rooms {
    const serve_config *config;
    agg_store *store;
    const serve_collections *collections;
    serve_results *results;
    const agg_http_secret *batch_secret;
    const agg_http_secret *read_token; // NULL: none
    agg_http_room room;                // of the listener
} serve_rooms;

// Listens.
//   port: the one bound, where the configuration says 0
agg_err serve_http_start(serve_http **http, uint16_t *port, agg_error *error,
                         const serve_rooms *rooms) SHOAL_MUST_CHECK;

// Takes no new connection from here on; what is being answered goes on.
void serve_http_quiesce(serve_http *http);

// Ends; call after serve_results_stop, so that nothing waits for a result.
void serve_http_stop(serve_http *http);

#endif
