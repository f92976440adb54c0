// SPDX-License-Identifier: Apache-2.0
// Access, and questions to the results thread; see serve_request.h.
#include "serve_request.h"

#include <string.h>

void serve_request_check_reader(serve_request *r)
{
    const agg_http_secret *token = r->state->parts.read_token;
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

void serve_request_check_sender(serve_request *r)
{
    const char *type = agg_http_exchange_header(&r->x, "Content-Type");
    if (!agg_http_exchange_has_token(&r->x, r->state->parts.batch_secret)) {
        agg_http_exchange_refuse_access(&r->x, "Bearer", "the batch secret is missing or wrong");
    } else if (type == NULL || strcasecmp(type, "application/octet-stream") != 0) {
        agg_http_answer_error(&r->x.answer, 415, "content-type", 415,
                              "a batch is application/octet-stream");
    } else {
        agg_http_exchange_expect_body(&r->x);
    }
}

// Called when the job is answered, by any thread.
static void resume(void *context)
{
    serve_request *r = context;
    r->x.answer = r->job.answer;
    r->job.answer = (agg_http_answer){0};
    agg_http_exchange_resume(&r->x);
}

void serve_request_ask(serve_request *r)
{
    r->job.done = resume;
    r->job.context = r;
    agg_http_exchange_suspend(&r->x); // first, because the answer may come at once
    if (serve_results_ask(r->state->parts.results, &r->job)) return;
    agg_http_answer_error(&r->job.answer, 503, "busy", 503, "too many questions at once");
    r->job.answer.retry_after_s = 2;
    resume(r);
}

void serve_request_answer_text(serve_request *r, unsigned status, const char *type,
                               const char *text)
{
    FILE *stream = agg_http_answer_open(&r->x.answer);
    if (stream != NULL) fputs(text, stream);
    agg_http_answer_close(&r->x.answer, stream, status, type);
}
