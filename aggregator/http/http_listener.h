// SPDX-License-Identifier: Apache-2.0
// HTTP over libmicrohttpd, for every server of ours: connections, threads, bodies with their
// limits, tokens, answers with their headers. What a path means is the service's. Nothing about a
// request outlives it: no address, header or time is kept or logged.
#ifndef HTTP_LISTENER_H
#define HTTP_LISTENER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "http_answer.h"
#include "http_secret.h"

struct MHD_Connection;
struct MHD_Daemon;

typedef struct agg_http_listener agg_http_listener;

// One request on its way. A service's own struct begins with it.
typedef struct agg_http_exchange {
    agg_http_listener *listener;
    struct MHD_Connection *connection;
    void *service; // the service's context
    const char *method, *url;
    uint8_t *body;
    size_t len;
    agg_http_answer answer; // status 0: not yet
    // Private to the listener:
    size_t cap, discarded;
    size_t answer_len;   // of the answer under way, where it counts
    int64_t deadline_ms; // monotonic; the body must be there by then
    bool is_suspended;
} agg_http_exchange;

// What a listener may hold at once. Requests that find no room are answered 503, to be sent again.
typedef struct agg_http_room {
    unsigned connections;
    size_t bodies;  // bytes of bodies that come in
    size_t answers; // bytes of answers that go out
} agg_http_room;

// What a server does with requests, from the listener's threads.
typedef struct agg_http_service {
    void *context;
    size_t exchange_size;               // of the service's own struct
    const char *body_name, *body_names; // of what comes in, as errors call it: "a batch", "batches"
    size_t max_body;                    // bytes of one body
    uint32_t body_timeout_s;            // a body must be there by then
    uint32_t threads;
    agg_http_room room;
    const char *listen; // as written, for errors
    struct sockaddr_storage address;
    void (*start)(
        agg_http_exchange *x); // the headers are there: answers at once what needs no body
    void (*answer)(agg_http_exchange *x); // the body is there: answers, or suspends the exchange
    void (*finish)(agg_http_exchange *x); // the end, answered or not: releases what is the
                                          // service's own. May be NULL
} agg_http_service;

// Returns: the room that a listener has where memory is not short; of the least that it works with.
agg_http_room agg_http_room_usual(size_t max_body, size_t largest_answer);
agg_http_room agg_http_room_least(size_t max_body, size_t largest_answer);

// Returns: the bytes that a listener takes with its threads, whatever is sent to it.
uint64_t agg_http_listener_memory(const agg_http_room *room, uint32_t threads);

// Listens.
//   port: the one bound, where the configuration says 0
agg_err agg_http_listener_start(agg_http_listener **listener, uint16_t *port, agg_error *error,
                                const agg_http_service *service) SHOAL_MUST_CHECK;

// Takes no new connection from here on; what is being answered goes on.
void agg_http_listener_quiesce(agg_http_listener *listener);

// Ends; nothing may be suspended any more. listener may be NULL.
void agg_http_listener_stop(agg_http_listener *listener);

// Returns: a header or a query argument, or NULL.
const char *agg_http_exchange_header(const agg_http_exchange *x, const char *name);
const char *agg_http_exchange_argument(const agg_http_exchange *x, const char *name);

// Whether the request has one of the secrets as its bearer token; as its password, for browsers.
bool agg_http_exchange_has_token(const agg_http_exchange *x, const agg_http_secret *secret);
bool agg_http_exchange_has_password(const agg_http_exchange *x, const agg_http_secret *secret);

// Whether the request was meant for this machine: the Host is a loopback name, whatever the port.
bool agg_http_exchange_is_local(const agg_http_exchange *x);

// Answers 401.
void agg_http_exchange_refuse_access(agg_http_exchange *x, const char *challenge,
                                     const char *message);

// Makes room for the body that is announced, or answers 413 or 503. Only for senders with a token:
// a few that announce the most and send nothing would take all the room.
void agg_http_exchange_expect_body(agg_http_exchange *x);
// Answers 413 to a body that is too long; room for any other is made as its bytes come.
void agg_http_exchange_limit_body(agg_http_exchange *x);

// Holds the answer back until agg_http_exchange_resume, which any thread may call, even before this
// returns to its caller. By then x->answer is the answer.
void agg_http_exchange_suspend(agg_http_exchange *x);
void agg_http_exchange_resume(agg_http_exchange *x);

#endif
