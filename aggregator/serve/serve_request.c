// SPDX-License-Identifier: Apache-2.0
// Senders, questions to the results thread, and the audit log; see serve_request.h.
#include "serve_request.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

unsigned serve_request_role(const serve_request *r)
{
    return r->person == NULL ? 0 : r->person->rights;
}

serve_collection *serve_request_collection(const serve_request *r, const char *id)
{
    const serve_collections *all = &r->set->collections;
    serve_collection *found = serve_collection_by_id(all, id);
    if (found == NULL || !serve_person_reads(r->person, (size_t)(found - all->list))) return NULL;
    return found;
}

void serve_request_check_sender(serve_request *r)
{
    const char *type = agg_http_exchange_header(&r->x, "Content-Type");
    if (!agg_http_exchange_has_token(&r->x, &r->set->batch_secret)) {
        agg_http_exchange_refuse_access(&r->x, "Bearer", "the batch secret is missing or wrong");
    } else if (type == NULL || strcasecmp(type, "application/octet-stream") != 0) {
        agg_http_answer_error(&r->x.answer, 415, "content-type", 415,
                              "a batch is application/octet-stream");
    } else {
        agg_http_exchange_expect_body(&r->x);
    }
}

// Puts a refusal in the place of an answer that has no line in the audit log.
static void withhold(serve_request *r, const char *code, const char *message)
{
    if (r->session[0] != '\0') serve_sessions_end(r->set->access.sessions, r->session);
    agg_http_answer_error(&r->x.answer, 503, code, 503, message);
    r->x.answer.retry_after_s = 10;
}

// Sends the answer on its way. Called by the audit log's thread.
static void logged(void *context, bool is_written)
{
    serve_request *r = context;
    if (!is_written)
        withhold(r, "audit-log", "the audit log cannot be written, so nothing is answered");
    agg_http_exchange_resume(&r->x);
}

void serve_request_conclude(serve_request *r)
{
    r->entry.who = r->person->name;
    r->entry.via = r->via;
    r->entry.top = r->job.top;
    r->entry.status = r->x.answer.status;
    r->entry.done = logged;
    r->entry.context = r;
    memcpy(r->entry.blocks, r->job.blocks, sizeof r->entry.blocks);
    if (!r->is_held) {
        r->is_held = true;
        agg_http_exchange_suspend(&r->x); // first, because the line may be written at once
    }
    if (agg_audit_log_submit(r->state->parts.audit, &r->entry)) return;
    withhold(r, "stopping", "the server is stopping");
    agg_http_exchange_resume(&r->x);
}

// Called when the job is answered, by any thread.
static void answered(void *context)
{
    serve_request *r = context;
    r->x.answer = r->job.answer;
    r->job.answer = (agg_http_answer){0};
    serve_request_conclude(r);
}

void serve_request_ask(serve_request *r)
{
    r->job.done = answered;
    r->job.set = r->set;
    r->job.context = r;
    r->job.scope = r->person->scope;
    r->job.rights = serve_request_role(r);
    r->job.account = strcmp(r->via, "session") == 0 ? r->person->name : NULL;
    r->is_held = true;
    agg_http_exchange_suspend(&r->x); // first, because the answer may come at once
    if (serve_results_ask(r->state->parts.results, &r->job)) return;
    agg_http_answer_error(&r->job.answer, 503, "busy", 503, "too many questions at once");
    r->job.answer.retry_after_s = 2;
    answered(r);
}

void serve_request_answer_text(serve_request *r, unsigned status, const char *type,
                               const char *text)
{
    FILE *stream = agg_http_answer_open(&r->x.answer);
    if (stream != NULL) fputs(text, stream);
    agg_http_answer_close(&r->x.answer, stream, status, type);
}

agg_err serve_request_statistics(const serve_request *r, agg_store_stats **stats, bool with_batches,
                                 agg_error *error)
{
    const serve_collections *all = &r->set->collections;
    int64_t *numbers = agg_alloc(error, all->n, sizeof *numbers);
    *stats = numbers == NULL ? NULL : agg_alloc(error, all->n, sizeof **stats);
    agg_err err = *stats == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < all->n; i++) numbers[i] = all->list[i].number;
    if (err == SHOAL_OK)
        err = agg_store_statistics_of(r->state->parts.store, *stats, error, numbers, all->n,
                                      with_batches);
    free(numbers);
    return err;
}

void serve_request_redirect(serve_request *r, const char *location)
{
    serve_request_answer_text(r, 303, "text/plain; charset=utf-8", "");
    snprintf(r->x.answer.location, sizeof r->x.answer.location, "%s", location);
}
