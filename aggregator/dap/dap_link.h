// SPDX-License-Identifier: Apache-2.0
// How a leader reaches its helper: a link posts one message and returns the helper's reply. The
// network is behind it, so that tests can stand in for the helper.
#ifndef DAP_LINK_H
#define DAP_LINK_H

#include "dap_party.h"

typedef struct agg_dap_reply {
    unsigned status;
    int problem;   // enum shoal_dap_problem, AGG_DAP_NO_PROBLEM or AGG_DAP_OTHER_PROBLEM
    uint8_t *body; // from malloc; NULL: there is none of the wanted media type
    size_t len;
    char *location; // URL of the resource that the message made, from malloc; or NULL
} agg_dap_reply;

typedef struct agg_dap_link {
    void *self;
    // Posts a message.
    // Returns: SHOAL_OK when a reply of any status came.
    agg_err (*post)(void *self, agg_dap_reply *reply, agg_error *error, const agg_dap_served *task,
                    enum shoal_dap_resource resource, enum shoal_dap_message message,
                    shoal_bytes body, enum shoal_dap_message wanted);
    // Tells the helper that a resource is not needed any more. A failure does not matter.
    void (*remove)(void *self, const char *location);
} agg_dap_link;

void agg_dap_reply_release(agg_dap_reply *reply);

// Fills `error` for a reply that is not what the message asks for.
// Returns: AGG_ERR_IO.
agg_err agg_dap_reply_fail(agg_error *error, const agg_dap_served *task,
                           const agg_dap_reply *reply);

#endif
