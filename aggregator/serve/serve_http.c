// SPDX-License-Identifier: Apache-2.0
// Access, and results that take their time, over http_listener.h; see serve_http.h. What the
// routes answer is in serve_route.c.
#include "serve_http.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "serve_http_private.h"

void serve_request_check_reader(request *r)
{
    const agg_http_secret *token = r->http->rooms.read_token;
    if (token == NULL) {
        if (agg_http_exchange_is_local(&r->x)) return;
        agg_http_answer_error(&r->x.answer, 403, "host", 403,
                              "without a read token only requests to a loopback name are answered; "
                              "set read_token_file");
        return;
    }
    if (agg_http_exchange_has_token(&r->x, token) || agg_http_exchange_has_password(&r->x, token))
        return;
    agg_http_exchange_refuse_access(&r->x, "Basic realm=\"shoal\", charset=\"UTF-8\"",
                                    "the read token is missing or wrong");
}

void serve_request_check_sender(request *r)
{
    const char *type = agg_http_exchange_header(&r->x, "Content-Type");
    if (!agg_http_exchange_has_token(&r->x, r->http->rooms.batch_secret)) {
        agg_http_exchange_refuse_access(&r->x, "Bearer", "the batch secret is missing or wrong");
    } else if (type == NULL || strcasecmp(type, "application/octet-stream") != 0) {
        agg_http_answer_error(&r->x.answer, 415, "content-type", 415,
                              "a batch is application/octet-stream");
    } else {
        agg_http_exchange_expect_body(&r->x);
    }
}

// The listener makes each request as a agg_http_exchange, with room for ours behind it.
static request *request_of(agg_http_exchange *x)
{
    return (request *)(void *)x;
}

static void start(agg_http_exchange *x)
{
    request *r = request_of(x);
    r->http = x->service;
    serve_route_start(r, x->method, x->url);
}

static void answer(agg_http_exchange *x)
{
    serve_route_answer(request_of(x), x->url);
}

static void finish(agg_http_exchange *x)
{
    agg_http_answer_release(&request_of(x)->job.answer);
}

// The job is answered.
static void resume(void *context)
{
    request *r = context;
    r->x.answer = r->job.answer;
    r->job.answer = (agg_http_answer){0};
    agg_http_exchange_resume(&r->x);
}

void serve_request_ask(request *r)
{
    r->job.done = resume;
    r->job.context = r;
    agg_http_exchange_suspend(&r->x); // before asking: the answer may come at once
    if (serve_results_ask(r->http->rooms.results, &r->job)) return;
    agg_http_answer_error(&r->job.answer, 503, "busy", 503, "too many questions at once");
    r->job.answer.retry_after_s = 2;
    resume(r);
}

agg_err serve_http_start(serve_http **http, uint16_t *port, agg_error *error,
                         const serve_rooms *rooms)
{
    serve_http *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->rooms = *rooms;
    const serve_config *config = rooms->config;
    const agg_http_service service = {.context = made,
                                      .exchange_size = sizeof(request),
                                      .body_name = "a batch",
                                      .body_names = "batches",
                                      .max_body = config->max_body,
                                      .body_timeout_s = config->body_timeout_s,
                                      .threads = config->threads,
                                      .room = rooms->room,
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
