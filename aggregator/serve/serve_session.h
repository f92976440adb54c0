// SPDX-License-Identifier: Apache-2.0
// Sessions of people who signed in. They live in memory and end with the server.
//
// A session's id is 256 random bits; the table keeps its SHA-256, and compares in constant time. A
// session ends when it is signed out of, when it was not used for SERVE_SESSION_IDLE_S, and in any
// case SERVE_SESSION_LIFE_S after it began. Each reader has room for SERVE_SESSIONS_EACH sessions;
// one more ends the one that was used least recently, so that no reader ends another's.
//
// Time is an argument: seconds on a clock that does not go back.
#ifndef SERVE_SESSION_H
#define SERVE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define SERVE_SESSION_IDLE_S 1800
#define SERVE_SESSION_LIFE_S 43200
#define SERVE_SESSIONS_EACH 16
#define SERVE_SESSION_ID_MAX 65 // 64 hex digits and a NUL
#define SERVE_SESSION_NOBODY SIZE_MAX

typedef struct serve_sessions serve_sessions;

// Makes an empty table.
//   n_people: how many readers there are; sessions name them by their number
agg_err serve_sessions_open(serve_sessions **sessions, agg_error *error,
                            size_t n_people) SHOAL_MUST_CHECK;

// Shares a table with one more owner; each of them closes it.
serve_sessions *serve_sessions_share(serve_sessions *sessions);
void serve_sessions_close(serve_sessions *sessions); // sessions may be NULL

// Begins a session of a reader and writes its id.
// Returns: false if the system has no random bytes.
bool serve_sessions_begin(serve_sessions *sessions, char id[SERVE_SESSION_ID_MAX], size_t person,
                          int64_t now_s);

// Returns: the reader whose session has the id, or SERVE_SESSION_NOBODY.
//   is_use: whether the request shows that somebody is there, which keeps the session from ending
//   as unused
size_t serve_sessions_find(serve_sessions *sessions, const char *id, int64_t now_s, bool is_use);

// Ends a session, if there is one with the id.
void serve_sessions_end(serve_sessions *sessions, const char *id);

// Returns: the bytes of a table.
uint64_t serve_sessions_memory(size_t n_people);

#endif
