// SPDX-License-Identifier: Apache-2.0
// The listener of `shoal serve`; see serve_http.h. The routes are in serve_route.c.
#include "serve_http.h"

#include <stdlib.h>

#include "agg_size.h"
#include "serve_route.h"

struct serve_http {
    serve_state state;
    agg_http_listener *listener;
};

// The listener allocates a serve_request for each exchange.
static serve_request *request_of(agg_http_exchange *x)
{
    return (serve_request *)(void *)x;
}

static void start(agg_http_exchange *x)
{
    serve_request *r = request_of(x);
    r->state = x->service;
    r->set = serve_sets_hold(r->state->parts.sets);
    serve_route_start(r, x->method, x->url);
}

static void answer(agg_http_exchange *x)
{
    serve_route_answer(request_of(x), x->url);
}

static void finish(agg_http_exchange *x)
{
    serve_request *r = request_of(x);
    agg_http_answer_release(&r->job.answer);
    // A connection that was refused at once has begun no request.
    if (r->set != NULL) serve_sets_release(r->state->parts.sets, r->set);
}

agg_err serve_http_start(serve_http **http, uint16_t *port, agg_error *error,
                         const serve_parts *parts, const serve_config *config)
{
    serve_http *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->state.parts = *parts;
    const agg_http_service service = {.context = &made->state,
                                      .exchange_size = sizeof(serve_request),
                                      .body_name = "a batch",
                                      .body_names = "batches",
                                      .max_body = config->max_body,
                                      .body_timeout_s = config->body_timeout_s,
                                      .threads = config->threads,
                                      .room = parts->room,
                                      .limits = config->limits,
                                      .listen = config->listen,
                                      .address = config->address,
                                      .start = start,
                                      .answer = answer,
                                      .finish = finish};
    agg_err err = agg_http_listener_start(&made->listener, port, error, &service);
    if (err != SHOAL_OK) {
        free(made);
        return err;
    }
    *http = made;
    return SHOAL_OK;
}

void serve_http_quiesce(serve_http *http)
{
    agg_http_listener_quiesce(http->listener);
}

void serve_http_stop(serve_http *http)
{
    if (http == NULL) return;
    agg_http_listener_stop(http->listener);
    free(http);
}
