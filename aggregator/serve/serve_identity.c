// SPDX-License-Identifier: Apache-2.0
// Tokens, proxies and cookies of requests; see serve_identity.h.
#include "serve_identity.h"

#include <string.h>
#include <time.h>

#include "http_fields.h"

int64_t serve_identity_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

// Under a loopback name there is no TLS, and browsers refuse the prefix __Host- without Secure.
// Every other name must be reached by TLS: a browser keeps no Secure cookie without it.
static const char *cookie_name(const serve_request *r)
{
    return agg_http_exchange_is_local(&r->x) ? "shoal-session" : "__Host-shoal-session";
}

bool serve_identity_session(const serve_request *r, char id[SERVE_SESSION_ID_MAX])
{
    return agg_http_cookie(id, SERVE_SESSION_ID_MAX, agg_http_exchange_header(&r->x, "Cookie"),
                           cookie_name(r));
}

void serve_identity_set_cookie(serve_request *r, const char *id)
{
    snprintf(r->x.answer.cookie, sizeof r->x.answer.cookie,
             "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%d%s", cookie_name(r),
             id == NULL ? "" : id, id == NULL ? 0 : SERVE_SESSION_LIFE_S,
             agg_http_exchange_is_local(&r->x) ? "" : "; Secure");
}

static void find_local(serve_request *r)
{
    if (agg_http_exchange_is_local(&r->x)) {
        r->person = &r->set->access.people[0];
        r->via = "local";
        return;
    }
    agg_http_answer_error(&r->x.answer, 403, "host", 403,
                          "without a read token only requests to a loopback name are answered; "
                          "set read_token_file");
}

// Returns: whether the request comes from a proxy that is believed and names somebody.
static bool has_proxy_name(const serve_request *r, const char **name)
{
    struct sockaddr_storage peer;
    const serve_proxy *proxy = &r->set->config.proxy;
    if (proxy->header == NULL || !agg_http_exchange_peer(&r->x, &peer)) return false;
    for (size_t i = 0; i < proxy->n_networks; i++) {
        if (!agg_http_network_holds(&proxy->networks[i], &peer)) continue;
        *name = agg_http_exchange_only_header(&r->x, proxy->header);
        return *name != NULL;
    }
    return false;
}

static void find_proxied(serve_request *r, const char *name)
{
    r->person = serve_access_by_name(&r->set->access, name);
    r->via = "proxy";
    if (r->person != NULL) return;
    agg_http_answer_error(&r->x.answer, 403, "unknown-reader", 403,
                          "the proxy names somebody who may not read here");
}

static void find_session(serve_request *r)
{
    char id[SERVE_SESSION_ID_MAX];
    serve_access *access = &r->set->access;
    const char *made_for = agg_http_exchange_header(&r->x, "Sec-Fetch-Dest");
    // The page's script asks every few seconds. Only what a person does keeps a session alive.
    bool is_use = made_for == NULL || strcmp(made_for, "empty") != 0;
    if (!serve_identity_session(r, id)) return;
    size_t found = serve_sessions_find(access->sessions, id, serve_identity_now_s(), is_use);
    if (found == SERVE_SESSION_NOBODY) return;
    r->person = &access->people[found];
    r->via = "session";
}

// Returns: whether a browser asks for something that a person will look at.
static bool wants_page(const serve_request *r)
{
    const char *accept = agg_http_exchange_header(&r->x, "Accept");
    bool is_page = r->route == ROUTE_PAGE_ALL || r->route == ROUTE_PAGE_ONE ||
                   r->route == ROUTE_METRICS || r->route == ROUTE_DELIVERY ||
                   r->route == ROUTE_RESULTS || r->route == ROUTE_BOOKS ||
                   r->route == ROUTE_BOOKS_ONE || r->route == ROUTE_BOOKS_LOG;
    return is_page && accept != NULL && strstr(accept, "text/html") != NULL;
}

void serve_identity_find(serve_request *r)
{
    const char *name, *token = agg_http_exchange_bearer(&r->x);
    serve_access *access = &r->set->access;
    if (access->is_local) {
        find_local(r);
    } else if (token != NULL) {
        r->person = serve_access_by_token(access, token);
        r->via = "bearer";
    } else if (has_proxy_name(r, &name)) {
        find_proxied(r, name);
    } else {
        find_session(r);
        if (r->person == NULL && wants_page(r)) {
            serve_request_redirect(r, "/sign-in");
            return; // nobody was refused anything yet
        }
    }
    if (r->person == NULL && r->x.answer.status == 0)
        agg_http_exchange_refuse_access(&r->x, "Bearer realm=\"shoal\"",
                                        "the read token is missing or wrong");
    // Who asks from this machine, where nobody is configured, has shown nothing.
    if (r->person != NULL && !access->is_local) agg_http_exchange_know(&r->x);
    if (r->person == NULL) agg_audit_log_count_stranger(r->state->parts.audit);
}

void serve_identity_check(serve_request *r, unsigned rights)
{
    if ((r->person->rights & rights) != 0) return;
    agg_http_answer_error(&r->x.answer, 403, "role", 403,
                          rights == SERVE_ADMINISTERS ? "this needs the admin token"
                                                      : "the admin token reads no results");
}
