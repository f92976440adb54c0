// SPDX-License-Identifier: Apache-2.0
// The open connections of a listener: which of them may stay. Nobody may hold a connection by
// sending slowly, so each has a deadline for what it is doing now, and a thread ends those that
// are late. When the connections are nearly all in use, a newcomer displaces the stranger whose
// request began first; a connection that has shown a valid token is never displaced.
//
// Privacy: an address is kept only as a keyed hash, as long as its connection is open.
//
// Every function may be called by any thread.
#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "http_limits.h"

typedef struct agg_http_connections agg_http_connections;
typedef struct agg_http_connection agg_http_connection;

// What a connection is doing.
typedef enum agg_http_phase {
    AGG_HTTP_HEADERS, // waits for the headers of a request
    AGG_HTTP_BODY,    // waits for a body
    AGG_HTTP_ANSWER,  // its answer is on the way
    AGG_HTTP_HELD     // its answer is being made; it may take its time
} agg_http_phase;

// Why strangers were turned away, since the start.
typedef enum agg_http_turned {
    AGG_HTTP_LATE_HEADERS,
    AGG_HTTP_LATE_BODY,
    AGG_HTTP_LATE_ANSWER, // it did not read its answer
    AGG_HTTP_NO_ROOM,     // displaced by a newcomer, or by the bodies of others
    AGG_HTTP_ADDRESS,     // its address holds as many connections as it may
    AGG_HTTP_REQUESTS,    // its address made as many requests as it may; answered 429
    AGG_HTTP_TURNED
} agg_http_turned;

// Returns: the bytes that the table of so many connections takes, with its thread's own data.
uint64_t agg_http_connections_memory(unsigned max);

// Makes the table and starts its thread.
//   limits: are copied
//   max: most open connections
//   bodies: bytes of all bodies together
//   idle_s: seconds that a connection may wait for its next request
agg_err agg_http_connections_open(agg_http_connections **table, agg_error *error,
                                  const agg_http_limits *limits, unsigned max, size_t bodies,
                                  unsigned idle_s) SHOAL_MUST_CHECK;
// Ends the thread. No connection may be open any more. table may be NULL.
void agg_http_connections_close(agg_http_connections *table);

// Returns: whether one more connection of this address may open.
bool agg_http_connections_admits(agg_http_connections *table,
                                 const struct sockaddr_storage *address);

// Enters a connection; removes it before its socket is closed, because the thread shuts sockets
// down.
// Returns: the connection, or NULL when the table is full.
agg_http_connection *agg_http_connections_add(agg_http_connections *table, int fd,
                                              const struct sockaddr_storage *address);
void agg_http_connections_remove(agg_http_connections *table, agg_http_connection *connection);

// Says what a connection does from now on.
//   timeout_ms: how long it may; of no meaning when it is held
void agg_http_connections_set(agg_http_connections *table, agg_http_connection *connection,
                              agg_http_phase phase, int64_t timeout_ms);
// Says that a connection waits for another request.
void agg_http_connections_rest(agg_http_connections *table, agg_http_connection *connection);

// Says that a connection has shown a valid token.
void agg_http_connections_know(agg_http_connections *table, agg_http_connection *connection);

// Says how many bytes of a body are in memory. When all bodies together come near their room,
// strangers with unfinished bodies are displaced, the oldest first.
void agg_http_connections_fill(agg_http_connections *table, agg_http_connection *connection,
                               size_t bytes);

// Marks and finds a request whose path holds an escaped NUL, which would end the path early.
void agg_http_connections_mark_nul(agg_http_connections *table, agg_http_connection *connection);
bool agg_http_connections_take_nul(agg_http_connections *table, agg_http_connection *connection);

// Takes one request of a stranger from its address's bucket.
// Returns: 0, or the seconds after which it may ask again.
unsigned agg_http_connections_take(agg_http_connections *table, agg_http_connection *connection);
// Charges a stranger's address for more.
void agg_http_connections_charge(agg_http_connections *table, agg_http_connection *connection,
                                 uint64_t requests);

// Writes, as metrics, how many were turned away.
void agg_http_connections_print_turned(FILE *stream, const agg_http_connections *table,
                                       const char *prefix);

#endif
