// SPDX-License-Identifier: Apache-2.0
// What strangers may take of a server: how long headers may come in, how many connections one
// address may hold, and how many requests it may make. A stranger is a sender that has shown no
// valid token on its connection.
//
// In a configuration file this is the object "limits", of which every member is optional:
//
//     {"header_timeout_s": 10, "connections_per_address": 128, "requests_per_s": 50,
//      "requests_burst": 6000, "unlimited": ["192.0.2.7/32"]}
#ifndef HTTP_LIMITS_H
#define HTTP_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "agg_error.h"
#include "http_network.h"
#include "json_walk.h"

#define AGG_HTTP_UNLIMITED_MAX 16

typedef struct agg_http_limits {
    uint32_t header_timeout_s;        // 1 .. 3600
    uint32_t connections_per_address; // 0: no limit; up to 65536
    uint32_t requests_per_s;          // of one address; 0: no limit; up to 100000
    uint32_t requests_burst;          // requests of an address that was silent; 1 .. 10000000
    // Networks whose addresses have no limit of their own: proxies, and relays and edges that send
    // for many. Headers and bodies have their deadlines all the same.
    agg_http_network unlimited[AGG_HTTP_UNLIMITED_MAX];
    size_t n_unlimited;
} agg_http_limits;

// Returns: the limits of a configuration that states none. This machine's addresses and private
// ones (RFC 1918, RFC 4193) are unlimited: a proxy in front of the server usually has one, and it
// makes all clients look like a single address.
agg_http_limits agg_http_limits_default(void);

// Reads the object "limits" into limits that have their defaults. A list "unlimited" takes the
// default's place; an empty one limits every address.
// Returns: SHOAL_ERR_UNKNOWN_FIELD, SHOAL_ERR_TYPE, SHOAL_ERR_RANGE or SHOAL_ERR_DUPLICATE; errors
// name the member.
agg_err agg_http_limits_read(agg_http_limits *limits, agg_error *error,
                             const cJSON *json) SHOAL_MUST_CHECK;

// Returns: whether an address has limits of its own.
bool agg_http_limits_apply(const agg_http_limits *limits, const struct sockaddr_storage *address);

#endif
