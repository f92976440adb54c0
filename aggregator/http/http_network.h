// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses, as 192.0.2.0/24 or 2001:db8::/32, and whether an address lies in one.
#ifndef HTTP_NETWORK_H
#define HTTP_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

// An IPv4 range is kept as the IPv6 range of its mapped addresses (RFC 4291, section 2.5.5.2), so
// that an address matches in whichever form a socket gives it.
typedef struct agg_http_network {
    uint8_t bytes[16];
    unsigned prefix; // bits, 0 .. 128
} agg_http_network;

#define AGG_HTTP_NETWORK_WHY                                                                       \
    "must be a numeric address with the length of its prefix, as 127.0.0.1/32 or ::1/128"

// Reads a range. The bits behind the prefix must be zero, and the prefix must not be empty: a range
// of all addresses is a mistake wherever ranges say whom to believe.
// Returns: false for any other text.
bool agg_http_network_read(agg_http_network *network, const char *text);

// Returns: whether the address lies in the range; false for addresses of other families.
bool agg_http_network_holds(const agg_http_network *network,
                            const struct sockaddr_storage *address);

// Writes the address in 16 bytes, an IPv4 address as its mapped IPv6 address.
// Returns: false for addresses of other families.
bool agg_http_network_bytes(uint8_t bytes[16], const struct sockaddr_storage *address);

// Hashes an address under a key: the name by which limits know it. The addresses of an IPv6 network
// of 64 bits have one hash, because its owner can send from each of them.
uint64_t agg_http_network_hash(const uint8_t key[32], const struct sockaddr_storage *address);

#endif
