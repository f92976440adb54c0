// SPDX-License-Identifier: Apache-2.0
// The form and its answers; see sign_in.h.
#include "sign_in.h"

#include <string.h>

#include "bytes.h"
#include "http_fields.h"
#include "serve_identity.h"
#include "sign_in_page.h"

// A token of 512 characters, each escaped in three, and the field's name.
enum { FORM_MAX = 2048 };

static bool is_post(const serve_request *r)
{
    return strcmp(r->x.method, "POST") == 0;
}

static bool is_form(const serve_request *r)
{
    static const char form[] = "application/x-www-form-urlencoded";
    const char *type = agg_http_exchange_header(&r->x, "Content-Type");
    if (type == NULL || strncasecmp(type, form, sizeof form - 1) != 0) return false;
    return type[sizeof form - 1] == '\0' || type[sizeof form - 1] == ';';
}

static void answer_page(serve_request *r, unsigned status, const char *note)
{
    FILE *stream = agg_http_answer_open(&r->x.answer);
    if (stream != NULL) sign_in_page_write(stream, note);
    agg_http_answer_close(&r->x.answer, stream, status, AGG_HTTP_TYPE_HTML);
    sign_in_page_policy(r->x.answer.policy);
    r->x.answer.is_form = true;
}

// Returns: seconds until the address of the request may try again; 0: now.
static unsigned seconds_to_wait(serve_request *r)
{
    struct sockaddr_storage peer = {0};
    (void)agg_http_exchange_peer(&r->x, &peer);
    return sign_in_limit_wait(&r->set->access.limit, &peer, serve_identity_now_s());
}

static void count_failure(serve_request *r)
{
    struct sockaddr_storage peer = {0};
    (void)agg_http_exchange_peer(&r->x, &peer);
    sign_in_limit_fail(&r->set->access.limit, &peer, serve_identity_now_s());
    agg_audit_log_count_stranger(r->state->parts.audit);
}

static void refuse_often(serve_request *r, unsigned wait_s)
{
    agg_audit_log_count_stranger(r->state->parts.audit);
    answer_page(r, 429, "Too many tokens were wrong. Wait a little, then try again.");
    r->x.answer.retry_after_s = wait_s;
}

void sign_in_start(serve_request *r)
{
    if (!is_post(r)) return;
    if (!agg_http_exchange_is_same_origin(&r->x)) {
        agg_http_answer_error(&r->x.answer, 403, "origin", 403,
                              "only this server's own pages sign in and out");
        return;
    }
    agg_http_exchange_limit_form(&r->x, FORM_MAX);
    if (r->route != ROUTE_SIGN_IN || r->x.answer.status != 0) return;
    unsigned wait_s = seconds_to_wait(r);
    if (wait_s > 0) {
        refuse_often(r, wait_s);
    } else if (!is_form(r)) {
        agg_http_answer_error(&r->x.answer, 415, "content-type", 415,
                              "a form is application/x-www-form-urlencoded");
    }
}

// Ends the session that the browser has, so that a new one never continues it.
static const serve_person *end_session(serve_request *r)
{
    char id[SERVE_SESSION_ID_MAX];
    serve_access *access = &r->set->access;
    if (!serve_identity_session(r, id)) return NULL;
    size_t found = serve_sessions_find(access->sessions, id, serve_identity_now_s(), false);
    if (found == SERVE_SESSION_NOBODY) return NULL;
    serve_sessions_end(access->sessions, id);
    return &access->people[found];
}

static const char *home_of(const serve_person *person)
{
    return (person->rights & SERVE_READS) != 0 ? "/" : "/delivery";
}

static bool begin_session(serve_request *r, const serve_person *person)
{
    serve_access *access = &r->set->access;
    (void)end_session(r);
    if (!serve_sessions_begin(access->sessions, r->session, (size_t)(person - access->people),
                              serve_identity_now_s())) {
        agg_http_answer_error(&r->x.answer, 503, "random", 503, "the system has no random bytes");
        return false;
    }
    r->person = person;
    r->via = "session";
    serve_request_redirect(r, home_of(person));
    serve_identity_set_cookie(r, r->session);
    return true;
}

static bool take_token(serve_request *r)
{
    char token[AGG_HTTP_SECRET_LEN_MAX + 1] = "";
    bool is_read = agg_http_form_field(token, sizeof token, r->x.body, r->x.len, "token");
    const serve_person *person = is_read ? serve_access_by_token(&r->set->access, token) : NULL;
    wipe(token, sizeof token);
    if (r->x.body != NULL) wipe(r->x.body, r->x.len);
    if (person != NULL) return begin_session(r, person);
    count_failure(r);
    answer_page(r, 403, "No reader has this token.");
    return false;
}

bool sign_in_answer(serve_request *r)
{
    if (r->set->access.is_local) {
        serve_request_redirect(r, "/"); // there is nobody to sign in as
        return false;
    }
    if (is_post(r)) return take_token(r);
    answer_page(r, 200, NULL);
    return false;
}

bool sign_out_answer(serve_request *r)
{
    const serve_person *person = end_session(r);
    serve_request_redirect(r, "/sign-in");
    serve_identity_set_cookie(r, NULL);
    if (person == NULL) return false;
    r->person = person;
    r->via = "session";
    return true;
}
