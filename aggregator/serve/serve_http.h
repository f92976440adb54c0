// SPDX-License-Identifier: Apache-2.0
// The HTTP side of `shoal serve`: routes, access and bodies.
//
//     POST /v1/batches                    takes a batch; Bearer secret
//     GET  /v1/recipes, /v1/recipes/HASH  recipes
//     GET  /v1/results/ID                 ?dictionary= ?period= | ?from=&to= ?top=
//     GET  /v1/sums/ID                    ?period= | ?from=&to=; the released part of a sum, as an
//                                         accumulator; aggregation "sum" only
//                                         ?view=joint | found: rows of a view (serve_view.h)
//     GET  /, /recipes/ID                 the result page; ?view=periods | joint | found
//     GET  /sign-in, POST /sign-in        for people: a token for a session's cookie
//     POST /sign-out                      ends the session
//     GET  /metrics, /healthz
//
// All other GET routes except /healthz need somebody known (serve_identity.h). A reader sees the
// collections in its scope, and of others the same answers as of collections that do not exist.
// Who administers sees live counts and no result. A server whose configuration names nobody is
// bound to loopback. It answers only requests whose Host is a loopback name: a page of another
// origin could otherwise point its own name at this machine and read results.
//
// Privacy: of a batch nothing outlives the request except its records. A question leaves a line in
// the audit log (audit_log.h). No address and no header is kept or logged.
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "serve_parts.h"

typedef struct serve_http serve_http;

// Starts to listen.
//   port: the port that was bound, also when the configuration says 0
//   parts: copied; what it points to outlives the server
//   config: of the start; what it says of listening is not reloaded
agg_err serve_http_start(serve_http **http, uint16_t *port, agg_error *error,
                         const serve_parts *parts, const serve_config *config) SHOAL_MUST_CHECK;

// Takes no new connections. Requests that have begun are still answered.
void serve_http_quiesce(serve_http *http);

// Ends the server. Call after serve_results_stop, so that no request waits for a result. http may
// be NULL.
void serve_http_stop(serve_http *http);

#endif
