// SPDX-License-Identifier: Apache-2.0
// Connections and bodies over libmicrohttpd; see http_listener.h.
#include "http_listener.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "agg_size.h"
#include "http_connections.h"

// Bytes of a refused body that are read and discarded, so that the client sees the answer rather
// than a broken connection.
#define DISCARD_MAX ((size_t)8 << 20)
#define CONNECTIONS_MAX 1024
#define CONNECTIONS_MIN 64
#define BODIES_MAX 8                       // bodies of the largest size at once
#define ANSWERS_BYTES ((size_t)16 << 20)   // bytes of large answers at once
#define SMALL_ANSWER ((size_t)4 << 10)     // bytes; smaller answers are not counted
#define CONNECTION_POOL ((size_t)64 << 10) // bytes of headers and of one piece of the body
#define CONNECTION_STATE ((size_t)4 << 10) // bytes of bookkeeping, the library's and ours
#define THREAD_BYTES ((size_t)256 << 10)   // bytes of a thread's stack and small allocations
#define IDLE_S 10
#define ANSWER_S 60              // seconds that any answer may take to be read,
#define ANSWER_BYTES_PER_S 16384 // and more for a long one, at this pace
#define FILES_SPARE 128          // files that the server may open beside its connections

// The Content-Security-Policy of every answer that does not bring its own.
#define POLICY_OF_DATA "default-src 'none';frame-ancestors 'none'"

struct agg_http_listener {
    agg_http_service service;
    struct MHD_Daemon *daemon;
    agg_http_connections *connections;
    int listening;         // the socket after agg_http_listener_quiesce, or -1
    atomic_size_t held;    // bytes of bodies in memory
    atomic_size_t answers; // bytes of large answers on their way
};

agg_http_room agg_http_room_usual(size_t max_body, size_t largest_answer)
{
    return (agg_http_room){CONNECTIONS_MAX,
                           max_body < SIZE_MAX / BODIES_MAX ? BODIES_MAX * max_body : SIZE_MAX,
                           largest_answer > ANSWERS_BYTES ? largest_answer : ANSWERS_BYTES};
}

agg_http_room agg_http_room_least(size_t max_body, size_t largest_answer)
{
    return (agg_http_room){CONNECTIONS_MIN, max_body,
                           largest_answer > SMALL_ANSWER ? largest_answer : SMALL_ANSWER};
}

uint64_t agg_http_listener_memory(const agg_http_room *room, uint32_t threads)
{
    return room->connections * (uint64_t)(CONNECTION_POOL + CONNECTION_STATE + SMALL_ANSWER) +
           room->bodies + room->answers + (threads + 1) * (uint64_t)THREAD_BYTES +
           agg_http_connections_memory(room->connections);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static agg_http_connection *connection_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static void set_phase(const agg_http_exchange *x, agg_http_phase phase, int64_t timeout_ms)
{
    agg_http_connections_set(x->connections, x->slot, phase, timeout_ms);
}

static void drop_body(agg_http_exchange *x)
{
    if (x->cap == 0) return;
    free(x->body);
    x->body = NULL;
    atomic_fetch_sub(&x->listener->held, x->cap);
    x->cap = x->len = 0;
    agg_http_connections_fill(x->connections, x->slot, 0);
}

// Grows a body's buffer, within the room of all bodies together.
// Returns: false when there is no room.
static bool grow_body(agg_http_exchange *x, size_t cap)
{
    agg_http_listener *listener = x->listener;
    size_t more = cap - x->cap;
    if (atomic_fetch_add(&listener->held, more) + more > listener->service.room.bodies) {
        atomic_fetch_sub(&listener->held, more);
        return false;
    }
    uint8_t *grown = realloc(x->body, cap);
    if (grown == NULL) {
        atomic_fetch_sub(&listener->held, more);
        return false;
    }
    x->body = grown;
    x->cap = cap;
    agg_http_connections_fill(x->connections, x->slot, cap);
    return true;
}

static void refuse_body(agg_http_exchange *x)
{
    drop_body(x);
    char message[80];
    snprintf(message, sizeof message, "%s here has at most %zu bytes",
             x->max_body < x->listener->service.max_body ? "a form"
                                                         : x->listener->service.body_name,
             x->max_body);
    agg_http_answer_error(&x->answer, 413, "too-large", 413, message);
}

static void refuse_full(agg_http_exchange *x)
{
    drop_body(x);
    char message[80];
    snprintf(message, sizeof message, "too many %s at once; send it again",
             x->listener->service.body_names);
    agg_http_answer_error(&x->answer, 503, "busy", 503, message);
    x->answer.retry_after_s = 2;
}

// Keeps the next bytes of a body, or discards them when the request has an answer already.
// Returns: false to end the connection.
static bool take_body(agg_http_exchange *x, const char *data, size_t len)
{
    size_t max_body = x->max_body;
    if (now_ms() > x->deadline_ms) return false;
    if (x->answer.status == 0 && len > max_body - x->len) refuse_body(x);
    if (x->answer.status == 0 && len > x->cap - x->len) {
        size_t cap = x->cap * 2 > x->len + len ? x->cap * 2 : x->len + len;
        if (cap > max_body) cap = max_body;
        if (!grow_body(x, cap)) refuse_full(x);
    }
    if (x->answer.status != 0) {
        x->discarded += len;
        return x->discarded <= DISCARD_MAX;
    }
    memcpy(x->body + x->len, data, len);
    x->len += len;
    return true;
}

// Returns: the body's length as Content-Length announces it, or 0.
static unsigned long long announced(const agg_http_exchange *x)
{
    const char *length = agg_http_exchange_header(x, "Content-Length");
    return length == NULL ? 0 : strtoull(length, NULL, 10);
}

void agg_http_exchange_expect_body(agg_http_exchange *x)
{
    unsigned long long len = announced(x);
    if (len > x->max_body) {
        refuse_body(x);
    } else if (len > 0 && !grow_body(x, (size_t)len)) {
        refuse_full(x);
    }
}

void agg_http_exchange_limit_body(agg_http_exchange *x)
{
    if (announced(x) > x->max_body) refuse_body(x);
}

void agg_http_exchange_limit_form(agg_http_exchange *x, size_t max)
{
    if (max < x->max_body) x->max_body = max;
    agg_http_exchange_limit_body(x);
}

static unsigned idle_seconds(const agg_http_service *service)
{
    return service->body_timeout_s < IDLE_S ? service->body_timeout_s : IDLE_S;
}

// Lets pages of other origins read an answer that everybody may have. Their requests carry no
// cookie and no token.
static void open_to_pages(struct MHD_Response *response)
{
    MHD_add_response_header(response, "Access-Control-Allow-Origin", "*");
    MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, POST, PUT");
    MHD_add_response_header(response, "Access-Control-Allow-Headers", "Content-Type");
    MHD_add_response_header(response, "Access-Control-Max-Age", "86400");
}

static void add_headers(struct MHD_Response *response, const agg_http_exchange *x)
{
    const agg_http_answer *answer = &x->answer;
    char text[40];
    MHD_add_response_header(response, "Content-Security-Policy",
                            answer->policy[0] != '\0' ? answer->policy : POLICY_OF_DATA);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy",
                            answer->is_form ? "same-origin" : "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy",
                            answer->is_open ? "cross-origin" : "same-origin");
    snprintf(text, sizeof text, answer->max_age_s > 0 ? "max-age=%u%s" : "no-store",
             answer->max_age_s, answer->is_immutable ? ", immutable" : "");
    MHD_add_response_header(response, "Cache-Control", text);
    if (answer->is_open) open_to_pages(response);
    // A sender learns when an idle connection ends, so that it does not begin a batch on a
    // connection that is closing.
    snprintf(text, sizeof text, "timeout=%u", idle_seconds(&x->listener->service));
    MHD_add_response_header(response, "Keep-Alive", text);
    if (answer->type != NULL) MHD_add_response_header(response, "Content-Type", answer->type);
    if (answer->challenge != NULL)
        MHD_add_response_header(response, "WWW-Authenticate", answer->challenge);
    if (answer->allow != NULL) MHD_add_response_header(response, "Allow", answer->allow);
    if (answer->location[0] != '\0')
        MHD_add_response_header(response, "Location", answer->location);
    if (answer->cookie[0] != '\0') MHD_add_response_header(response, "Set-Cookie", answer->cookie);
    if (answer->retry_after_s > 0) {
        snprintf(text, sizeof text, "%u", answer->retry_after_s);
        MHD_add_response_header(response, "Retry-After", text);
    }
}

// Reserves room for a large answer until it is sent: clients that read slowly must not fill the
// memory with answers.
static void hold_answer(agg_http_exchange *x)
{
    agg_http_answer *answer = &x->answer;
    agg_http_listener *listener = x->listener;
    size_t len = answer->len;
    if (len <= SMALL_ANSWER || x->answer_len > 0) return;
    if (atomic_fetch_add(&listener->answers, len) + len <= listener->service.room.answers) {
        x->answer_len = len;
        return;
    }
    atomic_fetch_sub(&listener->answers, len);
    agg_http_answer_error(answer, 503, "busy", 503,
                          "too many large answers are on their way; ask again");
    answer->retry_after_s = 2;
}

static enum MHD_Result send_answer(agg_http_exchange *x)
{
    agg_http_answer *answer = &x->answer;
    hold_answer(x);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer->len, answer->body, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) return MHD_NO;
    set_phase(x, AGG_HTTP_ANSWER,
              ANSWER_S * 1000 + (int64_t)(answer->len / ANSWER_BYTES_PER_S) * 1000);
    answer->body = NULL; // the response frees it
    add_headers(response, x);
    enum MHD_Result queued = MHD_queue_response(x->connection, answer->status, response);
    MHD_destroy_response(response);
    return queued;
}

static agg_http_exchange *start_exchange(agg_http_listener *listener,
                                         struct MHD_Connection *connection, const char *method,
                                         const char *url)
{
    agg_http_exchange *x = calloc(1, listener->service.exchange_size);
    if (x == NULL) return NULL;
    x->listener = listener;
    x->connection = connection;
    x->connections = listener->connections;
    x->slot = connection_of(connection);
    x->service = listener->service.context;
    x->method = method;
    x->url = url;
    x->max_body = listener->service.max_body;
    x->deadline_ms = now_ms() + (int64_t)listener->service.body_timeout_s * 1000;
    set_phase(x, AGG_HTTP_BODY, (int64_t)listener->service.body_timeout_s * 1000);
    if (agg_http_connections_take_nul(x->connections, x->slot)) {
        agg_http_answer_error(&x->answer, 400, "path", 400, "a request names nothing with a NUL");
    } else {
        listener->service.start(x);
    }
    return x;
}

// Returns: whether a refused body is too large to be read and discarded. Such a request is answered
// before its body comes, and the connection ends.
static bool is_hopeless(const agg_http_exchange *x)
{
    return x->answer.status != 0 && announced(x) > DISCARD_MAX;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *len, void **state)
{
    (void)version;
    agg_http_exchange *x = *state;
    if (x == NULL) {
        *state = x = start_exchange(context, connection, method, url);
        if (x == NULL) return MHD_NO;
        return is_hopeless(x) ? send_answer(x) : MHD_YES;
    }
    x->method = method;
    x->url = url;
    if (*len > 0) {
        if (!take_body(x, data, *len)) return MHD_NO;
        *len = 0;
        return MHD_YES;
    }
    if (!x->is_suspended && x->answer.status == 0) {
        if (now_ms() > x->deadline_ms) return MHD_NO;
        set_phase(x, AGG_HTTP_HELD, 0);
        x->listener->service.answer(x);
        if (x->is_suspended) return MHD_YES; // another thread has the exchange until it resumes it
    }
    drop_body(x);
    return send_answer(x);
}

static void finish(void *context, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode code)
{
    agg_http_exchange *x = *state;
    (void)context;
    (void)connection;
    (void)code;
    if (x == NULL) return;
    drop_body(x);
    agg_http_connections_rest(x->connections, x->slot);
    atomic_fetch_sub(&x->listener->answers, x->answer_len);
    agg_http_answer_release(&x->answer);
    if (x->listener->service.finish != NULL) x->listener->service.finish(x);
    free(x);
    *state = NULL;
}

void agg_http_exchange_suspend(agg_http_exchange *x)
{
    x->is_suspended = true;
    MHD_suspend_connection(x->connection);
}

void agg_http_exchange_resume(agg_http_exchange *x)
{
    hold_answer(x);
    MHD_resume_connection(x->connection);
}

// ---- connections ----

static bool copy_address(struct sockaddr_storage *out, const struct sockaddr *address)
{
    *out = (struct sockaddr_storage){0};
    if (address == NULL) return false;
    if (address->sa_family == AF_INET) memcpy(out, address, sizeof(struct sockaddr_in));
    if (address->sa_family == AF_INET6) memcpy(out, address, sizeof(struct sockaddr_in6));
    return out->ss_family != AF_UNSPEC;
}

static enum MHD_Result admit(void *context, const struct sockaddr *address, socklen_t len)
{
    const agg_http_listener *listener = context;
    struct sockaddr_storage copy;
    (void)len;
    bool is_admitted =
        !copy_address(&copy, address) || agg_http_connections_admits(listener->connections, &copy);
    return is_admitted ? MHD_YES : MHD_NO;
}

static void note_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode code)
{
    const agg_http_listener *listener = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        agg_http_connections_remove(listener->connections, *socket_context);
        *socket_context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *address = MHD_get_connection_info(
                                       connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS),
                                   *fd = MHD_get_connection_info(connection,
                                                                 MHD_CONNECTION_INFO_CONNECTION_FD);
    struct sockaddr_storage copy;
    (void)copy_address(&copy, address == NULL ? NULL : address->client_addr);
    if (fd != NULL)
        *socket_context = agg_http_connections_add(listener->connections, fd->connect_fd, &copy);
}

// Looks at a request's target as it came: an escaped NUL would end the path early, so that
// "/healthz%00x" would pass for "/healthz".
// Returns: the exchange, of which there is none yet.
static void *note_target(void *context, const char *target, struct MHD_Connection *connection)
{
    const agg_http_listener *listener = context;
    if (strstr(target, "%00") != NULL)
        agg_http_connections_mark_nul(listener->connections, connection_of(connection));
    return NULL;
}

static uint16_t bound_port(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

// Lets the process have as many files as connections and store need. Strangers could otherwise use
// up the files that the store opens. Where the system does not allow so many, there are fewer
// connections.
// Returns: the connections that there may be.
static unsigned allow_files(unsigned connections)
{
    struct rlimit limit;
    const rlim_t needed = (rlim_t)connections + FILES_SPARE;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return connections;
    limit.rlim_cur = limit.rlim_max >= needed ? needed : limit.rlim_max; // infinity is the largest
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return connections;
    return limit.rlim_cur > FILES_SPARE ? (unsigned)(limit.rlim_cur - FILES_SPARE) : 0;
}

static struct MHD_Daemon *start_daemon(agg_http_listener *listener)
{
    const agg_http_service *service = &listener->service;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (service->address.ss_family == AF_INET6) flags |= MHD_USE_IPv6;
    return MHD_start_daemon(
        flags, 0, admit, listener, handle, listener, MHD_OPTION_SOCK_ADDR,
        (const struct sockaddr *)&service->address, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned)service->threads, MHD_OPTION_CONNECTION_LIMIT, service->room.connections,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds(service), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        CONNECTION_POOL, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_NOTIFY_COMPLETED,
        finish, NULL, MHD_OPTION_NOTIFY_CONNECTION, note_connection, listener,
        MHD_OPTION_URI_LOG_CALLBACK, note_target, listener, MHD_OPTION_END);
}

agg_err agg_http_listener_start(agg_http_listener **listener, uint16_t *port, agg_error *error,
                                const agg_http_service *service)
{
    const unsigned connections = allow_files(service->room.connections);
    if (connections < CONNECTIONS_MIN)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO,
                        "the system allows too few open files (ulimit -n): %d are needed",
                        CONNECTIONS_MIN + FILES_SPARE);
    agg_http_listener *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->service = *service;
    made->service.room.connections = connections;
    made->listening = -1;
    agg_err err =
        agg_http_connections_open(&made->connections, error, &service->limits, connections,
                                  service->room.bodies, idle_seconds(service));
    if (err == SHOAL_OK) made->daemon = start_daemon(made);
    if (err == SHOAL_OK && made->daemon == NULL)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot listen on %s", service->listen);
    if (err != SHOAL_OK) {
        agg_http_connections_close(made->connections);
        free(made);
        return err;
    }
    *port = bound_port(made->daemon);
    *listener = made;
    return SHOAL_OK;
}

void agg_http_listener_quiesce(agg_http_listener *listener)
{
    listener->listening = MHD_quiesce_daemon(listener->daemon);
}

void agg_http_listener_stop(agg_http_listener *listener)
{
    if (listener == NULL) return;
    MHD_stop_daemon(listener->daemon);
    if (listener->listening >= 0) close(listener->listening);
    agg_http_connections_close(listener->connections);
    free(listener);
}
