// SPDX-License-Identifier: Apache-2.0
// The parts of a server that its HTTP side works with.
#ifndef SERVE_PARTS_H
#define SERVE_PARTS_H

#include "audit_log.h"
#include "http_listener.h"
#include "serve_result.h"
#include "serve_set.h"
#include "store_watch.h"

typedef struct serve_parts {
    serve_sets *sets; // recipes, dictionaries, secrets and people
    agg_store *store;
    serve_results *results;
    agg_audit_log *audit;
    const agg_watch *watch; // over the store
    agg_http_room room;     // of the listener
} serve_parts;

#endif
