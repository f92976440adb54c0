// SPDX-License-Identifier: Apache-2.0
// DAP's resources over HTTP: paths, access, and answers as HTTP sends them. dap_serve.h lists the
// resources.
#ifndef DAP_ROUTE_H
#define DAP_ROUTE_H

#include <stdbool.h>

#include "dap_config.h"
#include "dap_memory.h"
#include "dap_party.h"
#include "http_listener.h"
#include "store_watch.h"

typedef struct agg_dap_http {
    const agg_dap_config *config;
    agg_dap_party *party;
    const agg_watch *watch;   // over the party's store
    const agg_dap_plan *plan; // of memory
    // Tells the driver that there may be work; is_urgent: somebody waits for it.
    void (*wake)(void *context, bool is_urgent);
    void *wake_context;
    atomic_ullong refused; // requests that were answered with an error
} agg_dap_http;

// Fills the routes' part of a service: everything except the address and the limits.
void agg_dap_route_service(agg_http_service *service, agg_dap_http *http);

#endif
