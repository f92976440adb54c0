// SPDX-License-Identifier: Apache-2.0
// Connections, bodies and access over libmicrohttpd; see serve_http.h. What the routes answer is in serve_route.c.
#include "serve_http.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agg_size.h"
#include "result_page.h"
#include "serve_http_private.h"

// Of a refused body, how much is read to its end so that the client sees the answer rather than a broken connection.
#define DISCARD_MAX ((size_t)8 << 20)
// Bodies held in memory at once, as a multiple of the largest one.
#define HELD_BODIES 8
#define CONNECTIONS_MAX 1024
#define IDLE_S 10

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const char *header(const request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *serve_request_argument(const request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

static void drop_body(request *r)
{
    free(r->body);
    r->body = NULL;
    atomic_fetch_sub(&r->http->held, r->cap);
    r->cap = r->len = 0;
}

// Takes room for `cap` bytes out of what all bodies may hold. Returns: 1, or 0 when there is none.
static int grow_body(request *r, size_t cap)
{
    size_t more = cap - r->cap;
    if (atomic_fetch_add(&r->http->held, more) + more > HELD_BODIES * r->http->rooms.config->max_body) {
        atomic_fetch_sub(&r->http->held, more);
        return 0;
    }
    uint8_t *grown = realloc(r->body, cap);
    if (grown == NULL) {
        atomic_fetch_sub(&r->http->held, more);
        return 0;
    }
    r->body = grown;
    r->cap = cap;
    return 1;
}

static void refuse_body(request *r)
{
    drop_body(r);
    char message[80];
    snprintf(message, sizeof message, "a batch here has at most %zu bytes", r->http->rooms.config->max_body);
    serve_answer_error(&r->answer, 413, "too-large", 413, message);
}

static void refuse_full(request *r)
{
    drop_body(r);
    serve_answer_error(&r->answer, 503, "busy", 503, "too many batches at once; send it again");
    r->answer.retry_after_s = 2;
}

// Keeps the next bytes of a body, or counts them away once the answer is clear.
// Returns: 1, or 0 to end the connection.
static int take_body(request *r, const char *data, size_t len)
{
    if (now_ms() > r->deadline_ms) return 0;
    if (r->answer.status == 0 && len > r->http->rooms.config->max_body - r->len) refuse_body(r);
    if (r->answer.status == 0 && len > r->cap - r->len) {
        size_t cap = r->cap * 2 > r->len + len ? r->cap * 2 : r->len + len;
        if (cap > r->http->rooms.config->max_body) cap = r->http->rooms.config->max_body;
        if (!grow_body(r, cap)) refuse_full(r);
    }
    if (r->answer.status != 0) {
        r->discarded += len;
        return r->discarded <= DISCARD_MAX;
    }
    memcpy(r->body + r->len, data, len);
    r->len += len;
    return 1;
}

static int is_token_of(const request *r, const serve_secret *secret)
{
    const char *value = header(r, "Authorization");
    if (value == NULL || strncasecmp(value, "Bearer ", 7) != 0) return 0;
    return serve_secret_matches(secret, value + 7, strlen(value + 7));
}

// For browsers, that ask for a name and a password: the token is the password, the name is free.
static int is_password_of(const request *r, const serve_secret *secret)
{
    char *password = NULL;
    char *user = MHD_basic_auth_get_username_password(r->connection, &password);
    int matches = password != NULL && serve_secret_matches(secret, password, strlen(password));
    MHD_free(user);
    MHD_free(password);
    return matches;
}

// Whether the request was meant for this machine: the Host is a loopback name, whatever the port.
static int is_local_host(const request *r)
{
    const char *host = header(r, "Host");
    if (host == NULL) return 0;
    if (strncmp(host, "[::1]", 5) == 0) return host[5] == '\0' || host[5] == ':';
    size_t len = strcspn(host, ":");
    if (len == 9 && strncasecmp(host, "localhost", 9) == 0) return 1;
    if (len < 7 || strncmp(host, "127.", 4) != 0) return 0;
    return strspn(host, "0123456789.") == len;
}

static void refuse_access(request *r, const char *challenge, const char *message)
{
    serve_answer_error(&r->answer, 401, "unauthorized", 401, message);
    r->answer.challenge = challenge;
}

void serve_request_check_reader(request *r)
{
    const serve_secret *token = r->http->rooms.read_token;
    if (token == NULL) {
        if (is_local_host(r)) return;
        serve_answer_error(&r->answer, 403, "host", 403,
                           "without a read token only requests to a loopback name are answered; set read_token_file");
        return;
    }
    if (is_token_of(r, token) || is_password_of(r, token)) return;
    refuse_access(r, "Basic realm=\"shoal\", charset=\"UTF-8\"", "the read token is missing or wrong");
}

void serve_request_check_sender(request *r)
{
    const char *type = header(r, "Content-Type");
    const char *length = header(r, "Content-Length");
    if (!is_token_of(r, r->http->rooms.batch_secret)) {
        refuse_access(r, "Bearer", "the batch secret is missing or wrong");
    } else if (type == NULL || strcasecmp(type, "application/octet-stream") != 0) {
        serve_answer_error(&r->answer, 415, "content-type", 415, "a batch is application/octet-stream");
    } else if (length != NULL && strtoull(length, NULL, 10) > r->http->rooms.config->max_body) {
        refuse_body(r);
    } else if (length != NULL && strtoull(length, NULL, 10) > 0 && !grow_body(r, (size_t)strtoull(length, NULL, 10))) {
        refuse_full(r);
    }
}

static unsigned idle_seconds(const serve_config *config)
{
    return config->body_timeout_s < IDLE_S ? config->body_timeout_s : IDLE_S;
}

static enum MHD_Result send_answer(request *r)
{
    serve_answer *answer = &r->answer;
    struct MHD_Response *response = MHD_create_response_from_buffer(answer->len, answer->body, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) return MHD_NO;
    answer->body = NULL; // the response's
    char csp[AGG_PAGE_CSP_SIZE] = "default-src 'none';frame-ancestors 'none'", seconds[24];
    if (answer->is_page) agg_page_csp(csp, 1);
    MHD_add_response_header(response, "Content-Security-Policy", csp);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    // Tells senders when an idle connection ends, so that they do not begin a batch on one that is just closing.
    snprintf(seconds, sizeof seconds, "timeout=%u", idle_seconds(r->http->rooms.config));
    MHD_add_response_header(response, "Keep-Alive", seconds);
    if (answer->type != NULL) MHD_add_response_header(response, "Content-Type", answer->type);
    if (answer->challenge != NULL) MHD_add_response_header(response, "WWW-Authenticate", answer->challenge);
    if (answer->allow != NULL) MHD_add_response_header(response, "Allow", answer->allow);
    if (answer->retry_after_s > 0) {
        snprintf(seconds, sizeof seconds, "%u", answer->retry_after_s);
        MHD_add_response_header(response, "Retry-After", seconds);
    }
    enum MHD_Result queued = MHD_queue_response(r->connection, answer->status, response);
    MHD_destroy_response(response);
    return queued;
}

static request *start_request(serve_http *http, struct MHD_Connection *connection, const char *method, const char *url)
{
    request *r = calloc(1, sizeof *r);
    if (r == NULL) return NULL;
    r->http = http;
    r->connection = connection;
    r->deadline_ms = now_ms() + (int64_t)http->rooms.config->body_timeout_s * 1000;
    serve_route_start(r, method, url);
    return r;
}

// A body so large that reading it away is no courtesy: answered before it comes; the connection then ends.
static int is_hopeless(const request *r)
{
    const char *length = header(r, "Content-Length");
    return r->answer.status != 0 && length != NULL && strtoull(length, NULL, 10) > DISCARD_MAX;
}

// The connection was resumed: the job is answered.
static void take_result(request *r)
{
    r->answer = r->job.answer;
    r->job.answer = (serve_answer){0};
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *len, void **state)
{
    (void)version;
    request *r = *state;
    if (r == NULL) {
        *state = r = start_request(context, connection, method, url);
        if (r == NULL) return MHD_NO;
        return is_hopeless(r) ? send_answer(r) : MHD_YES;
    }
    if (*len > 0) {
        if (!take_body(r, data, *len)) return MHD_NO;
        *len = 0;
        return MHD_YES;
    }
    if (r->is_asked) {
        take_result(r);
    } else if (r->answer.status == 0) {
        if (now_ms() > r->deadline_ms) return MHD_NO;
        serve_route_answer(r, url);
        if (r->is_asked) return MHD_YES; // suspended: the request is the results thread's until it is called again
    }
    drop_body(r);
    return send_answer(r);
}

static void finish(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
    (void)context;
    (void)connection;
    (void)code;
    request *r = *state;
    if (r == NULL) return;
    drop_body(r);
    serve_answer_release(&r->answer);
    serve_answer_release(&r->job.answer);
    free(r);
    *state = NULL;
}

static void resume(void *context)
{
    const request *r = context;
    MHD_resume_connection(r->connection);
}

void serve_request_ask(request *r)
{
    r->job.done = resume;
    r->job.context = r;
    r->is_asked = 1;
    MHD_suspend_connection(r->connection); // before asking: the answer may come at once
    if (serve_results_ask(r->http->rooms.results, &r->job)) return;
    serve_answer_error(&r->job.answer, 503, "busy", 503, "too many questions at once");
    r->job.answer.retry_after_s = 2;
    resume(r);
}

static uint16_t bound_port(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

shoal_err serve_http_start(serve_http **http, uint16_t *port, agg_error *error, const serve_rooms *rooms)
{
    serve_http *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->rooms = *rooms;
    made->listening = -1;
    const serve_config *config = rooms->config;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (config->address.ss_family == AF_INET6) flags |= MHD_USE_IPv6;
    made->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, handle, made, MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)&config->address,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)config->threads, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds(config), MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)64 << 10,
        MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_NOTIFY_COMPLETED, finish, NULL, MHD_OPTION_END);
    if (made->daemon == NULL) {
        free(made);
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot listen on %s", config->listen);
    }
    *port = bound_port(made->daemon);
    *http = made;
    return SHOAL_OK;
}

void serve_http_quiesce(serve_http *http)
{
    http->listening = MHD_quiesce_daemon(http->daemon);
}

void serve_http_stop(serve_http *http)
{
    if (http == NULL) return;
    MHD_stop_daemon(http->daemon);
    if (http->listening >= 0) close(http->listening);
    free(http);
}
