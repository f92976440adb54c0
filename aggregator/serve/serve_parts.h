// SPDX-License-Identifier: Apache-2.0
// The parts of a server that its HTTP side works with.
#ifndef SERVE_PARTS_H
#define SERVE_PARTS_H

#include "audit_log.h"
#include "http_listener.h"
#include "http_secret.h"
#include "serve_access.h"
#include "serve_config.h"
#include "serve_memory.h"
#include "serve_result.h"
#include "serve_set.h"
#include "store_watch.h"

typedef struct serve_parts {
    serve_sets *sets; // recipes, dictionaries, secrets and people
    agg_store *store;
    serve_results *results;
    agg_audit_log *audit;
    const agg_watch *watch; // over the store
    const serve_plan *plan; // of memory
} serve_parts;

#endif
