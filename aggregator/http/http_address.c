// SPDX-License-Identifier: Apache-2.0
// Addresses; see http_address.h.
#include "http_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_loopback_address(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, address, sizeof six);
        return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
    }
    struct sockaddr_in four;
    memcpy(&four, address, sizeof four);
    return ntohl(four.sin_addr.s_addr) >> 24 == 127;
}

static bool set_address(struct sockaddr_storage *address, bool *is_loopback, char *host,
                        const char *port)
{
    if (host[0] == '[') {
        host[strlen(host) - 1] = '\0';
        host++;
    }
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, port, &hints, &found) != 0)
        return false;
    memcpy(address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    *is_loopback = is_loopback_address(address);
    return true;
}

static bool is_port(const char *text)
{
    size_t len = strspn(text, "0123456789");
    return len >= 1 && len <= 5 && text[len] == '\0' && strtoul(text, NULL, 10) <= 65535;
}

bool agg_http_address_read(struct sockaddr_storage *address, bool *is_loopback, const char *text)
{
    char host[80];
    const char *colon = strrchr(text, ':');
    size_t len = colon == NULL ? 0 : (size_t)(colon - text);
    bool is_bracketed = len >= 2 && text[0] == '[' && text[len - 1] == ']';
    if (len == 0 || len >= sizeof host || !is_port(colon + 1) ||
        is_bracketed != (memchr(text, ':', len) != NULL))
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    return set_address(address, is_loopback, host, colon + 1);
}

void agg_http_address_say(const char *listen, unsigned port)
{
    const char *colon = strrchr(listen, ':');
    fprintf(stderr, "shoal: serve: listening on http://%.*s:%u/\n", (int)(colon - listen), listen,
            port);
}
