// SPDX-License-Identifier: Apache-2.0
// DAP's resources over HTTP: what a path means, who may ask, and answers as HTTP sends them. See
// dap_serve.h for the list.
#ifndef DAP_ROUTE_H
#define DAP_ROUTE_H

#include <stdbool.h>

#include "dap_config.h"
#include "dap_party.h"
#include "http_listener.h"

typedef struct agg_dap_http {
    const agg_dap_config *config;
    agg_dap_party *party;
    // There may be something for the driver; is_urgent: somebody waits for it.
    void (*wake)(void *context, bool is_urgent);
    void *wake_context;
    atomic_ullong refused; // requests that were not answered with what they asked for
} agg_dap_http;

// What of a agg_http_service is the routes': everything but the address and the limits.
void agg_dap_route_service(agg_http_service *service, agg_dap_http *http);

#endif
