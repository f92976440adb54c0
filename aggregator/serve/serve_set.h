// SPDX-License-Identifier: Apache-2.0
// What a configuration names, loaded: recipes, dictionaries, secrets and people. A reload puts a
// new set in the place of the one in force, whole or not at all.
//
// Whoever works with a set holds it, so a request is answered under the set that it began with. The
// last one who lets go of a replaced set frees it. Counters live longer than sets (serve_live).
#ifndef SERVE_SET_H
#define SERVE_SET_H

#include <stdint.h>

#include "collection.h"
#include "http_secret.h"
#include "serve_access.h"
#include "serve_config.h"
#include "serve_memory.h"

typedef struct serve_set {
    serve_config config;
    agg_http_secret batch_secret; // of senders
    serve_access access;          // everybody else
    serve_collections collections;
    serve_plan plan;  // of memory
    uint64_t number;  // 1 for the first set of a server, one more for each that replaces it
    size_t n_holders; // private
} serve_set;

typedef struct serve_sets serve_sets;

// How reloads went, for metrics and /healthz.
typedef struct serve_reloads {
    int64_t since_s;         // when the set in force was loaded, seconds since 1970
    uint64_t taken, refused; // since the start
    bool is_refused;         // the last reload was refused
} serve_reloads;

// Loads a set and checks all of it. It enters nothing in the store; see serve_set_enter.
//   path: the configuration file
//   set: release it with serve_set_free on OK
agg_err serve_set_load(serve_set **set, agg_error *error, const char *path) SHOAL_MUST_CHECK;

// Enters the recipes in the store, and plans the memory. Call when nothing else can refuse the set
// any more.
//   limit: bytes for data, 0: no limit
agg_err serve_set_enter(serve_set *set, agg_error *error, agg_store *store,
                        uint64_t limit) SHOAL_MUST_CHECK;
void serve_set_free(serve_set *set); // set may be NULL

// Makes the sets of a server with its first one, which it owns from then on, also after an error.
agg_err serve_sets_open(serve_sets **sets, agg_error *error, serve_set *first) SHOAL_MUST_CHECK;

// Frees the sets. Nobody may hold one any more. sets may be NULL.
void serve_sets_close(serve_sets *sets);

// Returns: the set in force. Let go of it with serve_sets_release.
serve_set *serve_sets_hold(serve_sets *sets);
void serve_sets_release(serve_sets *sets, serve_set *set); // set may be NULL

// Holds a set once more, for somebody who already holds it.
void serve_sets_hold_again(serve_sets *sets, serve_set *set);

// Refuses a set that changes what only a restart changes, and names the field.
//   now: the set in force
agg_err serve_set_check_fixed(agg_error *error, const serve_set *now,
                              const serve_set *next) SHOAL_MUST_CHECK;

// Puts a set in force, which `sets` owns from then on, also after an error.
agg_err serve_sets_replace(serve_sets *sets, agg_error *error, serve_set *next) SHOAL_MUST_CHECK;

void serve_sets_count_refused(serve_sets *sets);
serve_reloads serve_sets_reloads(serve_sets *sets);

#endif
