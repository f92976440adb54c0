// SPDX-License-Identifier: Apache-2.0
// The address and port on which a server listens. Addresses are numeric: whether a server needs
// tokens depends on its address, and a name could mean another host tomorrow.
#ifndef HTTP_ADDRESS_H
#define HTTP_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "agg_error.h"

#define AGG_HTTP_ADDRESS_WHY "must be a numeric address and a port, as 127.0.0.1:8080 or [::1]:8080"

// Reads "127.0.0.1:8080", "[::1]:8080" or "localhost:8080". Port 0 stands for any free port.
//   is_loopback: whether only this machine can reach the address
// Returns: false for any other text.
bool agg_http_address_read(struct sockaddr_storage *address, bool *is_loopback, const char *text);

// Prints to stderr where the server listens: the address as configured, with the port that was
// bound.
void agg_http_address_say(const char *listen, unsigned port);

#endif
