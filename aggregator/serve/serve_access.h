// SPDX-License-Identifier: Apache-2.0
// Who may do what on a server: readers, each with the collections that it may read, and
// administrators, who see live counts but no result. Senders are apart: they have the batch secret.
//
// Where the configuration names nobody, the server is bound to loopback, and whoever asks from this
// machine under a loopback name both reads and administers.
#ifndef SERVE_ACCESS_H
#define SERVE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collection.h"
#include "http_secret.h"
#include "serve_config.h"
#include "serve_session.h"
#include "sign_in_limit.h"

enum { SERVE_READS = 1, SERVE_ADMINISTERS = 2 };

typedef struct serve_person {
    const char *name;
    const char *field;     // of the configuration, for errors
    unsigned rights;       // SERVE_READS, SERVE_ADMINISTERS, or both
    bool *scope;           // by the collection's number in the list; NULL: every collection
    agg_http_secret token; // n is 0 where only a proxy names the person
    bool is_proxied;       // a proxy's header may name the person
} serve_person;

typedef struct serve_access {
    serve_person *people;
    size_t n;
    bool is_local;            // nobody is configured; people[0] is "local"
    serve_sessions *sessions; // of people, by their number
    sign_in_limit limit;
    const serve_config *config;
    bool is_open; // private
} serve_access;

// Reads the token files. Tokens must differ from one another and from the batch secret: else one
// person's rights would be another's.
//   access: release it on OK
//   config: outlives the access
agg_err serve_access_open(serve_access *access, agg_error *error, const serve_config *config,
                          const agg_http_secret *batch_secret) SHOAL_MUST_CHECK;
void serve_access_release(serve_access *access);

// Finds the collections that readers name.
// Returns: SHOAL_ERR_UNKNOWN_FIELD if there is no such recipe.
agg_err serve_access_find_scopes(serve_access *access, agg_error *error,
                                 const serve_collections *collections) SHOAL_MUST_CHECK;

// Lets the people of a new configuration keep their sessions, if they are the same people with the
// same rights and tokens. Else every session ends: who lost a token or a right is signed out.
void serve_access_keep_sessions(serve_access *access, const serve_access *before);

// Returns: the person who has the token, or NULL.
// Timing: depends on the token's length and the number of people only.
const serve_person *serve_access_by_token(const serve_access *access, const char *token);

// Returns: the person that a proxy's header names, or NULL.
const serve_person *serve_access_by_name(const serve_access *access, const char *name);

// Returns: whether a person may read the collection of a number.
bool serve_person_reads(const serve_person *person, size_t collection);

// Returns: the bytes that the access of a configuration takes.
uint64_t serve_access_memory(const serve_config *config);

#endif
