// SPDX-License-Identifier: Apache-2.0
// The parts of a server that its HTTP side works with.
#ifndef SERVE_PARTS_H
#define SERVE_PARTS_H

#include "audit_log.h"
#include "collection.h"
#include "http_listener.h"
#include "http_secret.h"
#include "serve_access.h"
#include "serve_config.h"
#include "serve_result.h"
#include "store_watch.h"

typedef struct serve_parts {
    const serve_config *config;
    agg_store *store;
    const serve_collections *collections;
    serve_results *results;
    const agg_http_secret *batch_secret; // of senders
    serve_access *access;                // everybody else
    agg_audit_log *audit;
    const agg_watch *watch; // over the store
    agg_http_room room;     // of the listener
} serve_parts;

#endif
