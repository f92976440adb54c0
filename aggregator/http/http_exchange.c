// SPDX-License-Identifier: Apache-2.0
// Questions about a request: headers, arguments, tokens, and where it comes from; see
// http_listener.h.
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>

#include "http_fields.h"
#include "http_listener.h"

const char *agg_http_exchange_header(const agg_http_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

// Keeps a header's value, and counts how often it came.
typedef struct only {
    const char *name, *value;
    unsigned n;
} only;

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    (void)kind;
    only *found = context;
    if (strcasecmp(name, found->name) != 0) return MHD_YES;
    found->value = value;
    found->n++;
    return MHD_YES;
}

const char *agg_http_exchange_only_header(const agg_http_exchange *x, const char *name)
{
    only found = {.name = name};
    MHD_get_connection_values(x->connection, MHD_HEADER_KIND, count_header, &found);
    return found.n == 1 ? found.value : NULL;
}

bool agg_http_exchange_peer(const agg_http_exchange *x, struct sockaddr_storage *address)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info == NULL || info->client_addr == NULL) return false;
    int family = info->client_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) return false;
    *address = (struct sockaddr_storage){0};
    memcpy(address, info->client_addr,
           family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
    return true;
}

const char *agg_http_exchange_argument(const agg_http_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *agg_http_exchange_bearer(const agg_http_exchange *x)
{
    const char *value = agg_http_exchange_header(x, "Authorization");
    return value == NULL || strncasecmp(value, "Bearer ", 7) != 0 ? NULL : value + 7;
}

bool agg_http_exchange_has_token(const agg_http_exchange *x, const agg_http_secret *secret)
{
    const char *token = agg_http_exchange_bearer(x);
    if (token == NULL || !agg_http_secret_matches(secret, token, strlen(token))) return false;
    agg_http_exchange_know(x);
    return true;
}

bool agg_http_exchange_is_same_origin(const agg_http_exchange *x)
{
    const char *site = agg_http_exchange_header(x, "Sec-Fetch-Site");
    if (site != NULL) return strcmp(site, "same-origin") == 0;
    return agg_http_origin_is(agg_http_exchange_header(x, "Origin"),
                              agg_http_exchange_header(x, "Host"));
}

void agg_http_exchange_refuse_access(agg_http_exchange *x, const char *challenge,
                                     const char *message)
{
    agg_http_answer_error(&x->answer, 401, "unauthorized", 401, message);
    x->answer.challenge = challenge;
}

bool agg_http_exchange_is_local(const agg_http_exchange *x)
{
    const char *host = agg_http_exchange_header(x, "Host");
    if (host == NULL) return false;
    if (strncmp(host, "[::1]", 5) == 0) return host[5] == '\0' || host[5] == ':';
    size_t len = strcspn(host, ":");
    if (len == 9 && strncasecmp(host, "localhost", 9) == 0) return true;
    if (len < 7 || strncmp(host, "127.", 4) != 0) return false;
    return strspn(host, "0123456789.") == len;
}

void agg_http_exchange_know(const agg_http_exchange *x)
{
    agg_http_connections_know(x->connections, x->slot);
}

unsigned agg_http_exchange_wait(const agg_http_exchange *x)
{
    return agg_http_connections_take(x->connections, x->slot);
}

void agg_http_exchange_charge(const agg_http_exchange *x, uint64_t requests)
{
    agg_http_connections_charge(x->connections, x->slot, requests);
}

void agg_http_exchange_print_turned(FILE *stream, const agg_http_exchange *x, const char *prefix)
{
    agg_http_connections_print_turned(stream, x->connections, prefix);
}
