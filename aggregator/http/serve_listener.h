// SPDX-License-Identifier: Apache-2.0
// HTTP over libmicrohttpd, for every server of ours: connections, threads, bodies with their
// limits, tokens, answers with their headers. What a path means is the service's. Nothing about a
// request outlives it: no address, header or time is kept or logged.
#ifndef SERVE_LISTENER_H
#define SERVE_LISTENER_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>

#include "serve_answer.h"
#include "serve_secret.h"

struct MHD_Connection;
struct MHD_Daemon;

typedef struct serve_listener serve_listener;

// One request on its way. A service's own struct begins with it.
typedef struct serve_exchange {
    serve_listener *listener;
    struct MHD_Connection *connection;
    void *service; // the service's context
    const char *method, *url;
    uint8_t *body;
    size_t len;
    serve_answer answer; // status 0: not yet
    // Private to the listener:
    size_t cap, discarded;
    size_t answer_len;   // of the answer under way, where it counts
    int64_t deadline_ms; // monotonic; the body must be there by then
    int is_suspended;
} serve_exchange;

// What a listener may hold at once. Requests that find no room are answered 503, to be sent again.
typedef struct serve_room {
    unsigned connections;
    size_t bodies;  // bytes of bodies that come in
    size_t answers; // bytes of answers that go out
} serve_room;

// What a server does with requests, from the listener's threads.
typedef struct serve_service {
    void *context;
    size_t exchange_size;               // of the service's own struct
    const char *body_name, *body_names; // of what comes in, as errors call it: "a batch", "batches"
    size_t max_body;                    // bytes of one body
    uint32_t body_timeout_s;            // a body must be there by then
    uint32_t threads;
    serve_room room;
    const char *listen; // as written, for errors
    struct sockaddr_storage address;
    void (*start)(serve_exchange *x);  // the headers are there: answers at once what needs no body
    void (*answer)(serve_exchange *x); // the body is there: answers, or suspends the exchange
    void (*finish)(serve_exchange *x); // the end, answered or not: releases what is the service's
                                       // own. May be NULL
} serve_service;

// Returns: the room that a listener has where memory is not short; of the least that it works with.
serve_room serve_room_usual(size_t max_body, size_t largest_answer);
serve_room serve_room_least(size_t max_body, size_t largest_answer);

// Returns: the bytes that a listener takes with its threads, whatever is sent to it.
uint64_t serve_listener_memory(const serve_room *room, uint32_t threads);

// Listens.
//   port: the one bound, where the configuration says 0
agg_err serve_listener_start(serve_listener **listener, uint16_t *port, agg_error *error,
                             const serve_service *service) SHOAL_MUST_CHECK;

// Takes no new connection from here on; what is being answered goes on.
void serve_listener_quiesce(serve_listener *listener);

// Ends; nothing may be suspended any more. listener may be NULL.
void serve_listener_stop(serve_listener *listener);

// Returns: a header or a query argument, or NULL.
const char *serve_exchange_header(const serve_exchange *x, const char *name);
const char *serve_exchange_argument(const serve_exchange *x, const char *name);

// Whether the request has one of the secrets as its bearer token; as its password, for browsers.
int serve_exchange_has_token(const serve_exchange *x, const serve_secret *secret);
int serve_exchange_has_password(const serve_exchange *x, const serve_secret *secret);

// Whether the request was meant for this machine: the Host is a loopback name, whatever the port.
int serve_exchange_is_local(const serve_exchange *x);

// Answers 401.
void serve_exchange_refuse_access(serve_exchange *x, const char *challenge, const char *message);

// Makes room for the body that is announced, or answers 413 or 503. Only for senders with a token:
// a few that announce the most and send nothing would take all the room.
void serve_exchange_expect_body(serve_exchange *x);
// Answers 413 to a body that is too long; room for any other is made as its bytes come.
void serve_exchange_limit_body(serve_exchange *x);

// Holds the answer back until serve_exchange_resume, which any thread may call, even before this
// returns to its caller. By then x->answer is the answer.
void serve_exchange_suspend(serve_exchange *x);
void serve_exchange_resume(serve_exchange *x);

#endif
