// SPDX-License-Identifier: Apache-2.0
// HTTP over libmicrohttpd, for every server of this project: connections, threads, bodies with
// their limits, tokens, and answers with their headers. A service decides what each path means.
//
// Privacy: nothing about a request outlives it, but the bucket of its address for some minutes
// (http_buckets.h). No address, header or time is logged.
#ifndef HTTP_LISTENER_H
#define HTTP_LISTENER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "http_answer.h"
#include "http_connections.h"
#include "http_limits.h"
#include "http_secret.h"

struct MHD_Connection;
struct MHD_Daemon;

typedef struct agg_http_listener agg_http_listener;

// One request on its way. A service's own struct begins with this one.
typedef struct agg_http_exchange {
    agg_http_listener *listener;
    struct MHD_Connection *connection;
    void *service; // the service's context
    const char *method, *url;
    uint8_t *body;
    size_t len;
    agg_http_answer answer; // status 0: no answer yet
    // Private to this room:
    agg_http_connections *connections;
    agg_http_connection *slot; // this connection among them
    size_t cap, discarded;
    size_t max_body;     // bytes; the service's, or fewer for a form
    size_t answer_len;   // bytes of a large answer on its way; 0: not counted
    int64_t deadline_ms; // the body must be complete by then, on the monotonic clock
    bool is_suspended;
} agg_http_exchange;

// How much a listener may hold at once. A request that finds no room is answered 503 and may be
// sent again.
typedef struct agg_http_room {
    unsigned connections;
    size_t bodies;  // bytes of incoming bodies
    size_t answers; // bytes of outgoing answers
} agg_http_room;

// What a listener needs to know of its server. The listener's threads call the functions.
typedef struct agg_http_service {
    void *context;
    size_t exchange_size;               // bytes of the service's own struct
    const char *body_name, *body_names; // as errors call a body: "a batch", "batches"
    size_t max_body;                    // bytes of one body
    uint32_t body_timeout_s;            // seconds that a body may take to come in
    uint32_t threads;
    agg_http_room room;
    agg_http_limits limits;
    const char *listen; // the address as configured, for errors
    struct sockaddr_storage address;
    void (*start)(agg_http_exchange *x);  // after the headers: answers a request that needs no body
    void (*answer)(agg_http_exchange *x); // after the body: answers, or suspends the exchange
    void (*finish)(agg_http_exchange *x); // at the end, answered or not: releases the
                                          // service's own. May be NULL
} agg_http_service;

// Returns: the room of a listener when memory is not short, and the least room that it works with.
agg_http_room agg_http_room_usual(size_t max_body, size_t largest_answer);
agg_http_room agg_http_room_least(size_t max_body, size_t largest_answer);

// Returns: the most bytes that a listener and its threads take, whatever clients send.
uint64_t agg_http_listener_memory(const agg_http_room *room, uint32_t threads);

// Starts to listen.
//   port: the port that was bound, also when the configuration says 0
agg_err agg_http_listener_start(agg_http_listener **listener, uint16_t *port, agg_error *error,
                                const agg_http_service *service) SHOAL_MUST_CHECK;

// Takes no new connections. Requests that have begun are still answered.
void agg_http_listener_quiesce(agg_http_listener *listener);

// Ends the listener. No exchange may be suspended any more. listener may be NULL.
void agg_http_listener_stop(agg_http_listener *listener);

// Returns: a header or a query argument, or NULL.
const char *agg_http_exchange_header(const agg_http_exchange *x, const char *name);
const char *agg_http_exchange_argument(const agg_http_exchange *x, const char *name);

// Returns: a header that came exactly once, or NULL. Use it where a second header of the same name
// could come from somebody else than the first.
const char *agg_http_exchange_only_header(const agg_http_exchange *x, const char *name);

// Writes the address of the other end of the connection: the client's, or a proxy's.
// Returns: false when there is none.
bool agg_http_exchange_peer(const agg_http_exchange *x, struct sockaddr_storage *address);

// Returns: the bearer token of the request, or NULL; and whether it is one of the secrets. A sender
// whose token is one of them is a stranger no more.
const char *agg_http_exchange_bearer(const agg_http_exchange *x);
bool agg_http_exchange_has_token(const agg_http_exchange *x, const agg_http_secret *secret);

// Says that the sender has shown a valid token. Its connection may stay when the server is full,
// and its requests are not counted.
void agg_http_exchange_know(const agg_http_exchange *x);

// Counts a request of a stranger, if its address has limits. Call it for requests that need no
// token.
// Returns: 0, or the seconds after which the address may ask again; answer 429 then.
unsigned agg_http_exchange_wait(const agg_http_exchange *x);
// Counts more for a request that asks for the work of many.
void agg_http_exchange_charge(const agg_http_exchange *x, uint64_t requests);

// Writes, as metrics, how many strangers the listener has turned away since its start, by reason.
//   prefix: of the metric's name: "shoal"
void agg_http_exchange_print_turned(FILE *stream, const agg_http_exchange *x, const char *prefix);

// Returns: whether a page of this server sent the request, by Sec-Fetch-Site or, from browsers
// without that header, by Origin. A request without either header does not count as one.
bool agg_http_exchange_is_same_origin(const agg_http_exchange *x);

// Returns: whether the request was meant for this machine: its Host is a loopback name with any
// port.
bool agg_http_exchange_is_local(const agg_http_exchange *x);

// Answers 401.
void agg_http_exchange_refuse_access(agg_http_exchange *x, const char *challenge,
                                     const char *message);

// Reserves room for the body that Content-Length announces, or answers 413 or 503. Use it only for
// senders with a token: a few senders that announce large bodies and send nothing would take all
// the room.
void agg_http_exchange_expect_body(agg_http_exchange *x);
// Answers 413 to a body that is announced too long. Room is reserved as the bytes come.
void agg_http_exchange_limit_body(agg_http_exchange *x);
// Does the same for a form, which is shorter than the service's other bodies.
//   max: bytes
void agg_http_exchange_limit_form(agg_http_exchange *x, size_t max);

// Holds the answer back until agg_http_exchange_resume. Any thread may call that function, even
// before the service's callback returns, and x->answer must be the answer by then.
void agg_http_exchange_suspend(agg_http_exchange *x);
void agg_http_exchange_resume(agg_http_exchange *x);

#endif
