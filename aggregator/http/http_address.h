// SPDX-License-Identifier: Apache-2.0
// Where a server listens: a numeric address and a port. Names could mean another host tomorrow, and
// whether tokens are needed hangs on it.
#ifndef HTTP_ADDRESS_H
#define HTTP_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "agg_error.h"

#define AGG_HTTP_ADDRESS_WHY "must be a numeric address and a port, as 127.0.0.1:8080 or [::1]:8080"

// Reads "127.0.0.1:8080", "[::1]:8080" or "localhost:8080"; port 0 takes a free one.
// Returns: 1, or 0 for anything else.
bool agg_http_address_read(struct sockaddr_storage *address, bool *is_loopback, const char *text);

// Tells on stderr that a server listens: the address as configured, with the port that was bound.
void agg_http_address_say(const char *listen, unsigned port);

#endif
