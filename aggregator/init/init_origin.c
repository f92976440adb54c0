// SPDX-License-Identifier: Apache-2.0
// Origins; see init_origin.h.
#include "init_origin.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EDGE_PORT 8472u

const char *init_origin_host(const char *origin)
{
    return strstr(origin, "://") + 3;
}

// Returns: whether the text is a port that a browser writes into an origin.
static bool is_port(const char *text, bool is_https)
{
    size_t len = strspn(text, "0123456789");
    unsigned long port = strtoul(text, NULL, 10);
    return len > 0 && len <= 5 && text[len] == '\0' && text[0] != '0' && port <= 65535 &&
           port != (is_https ? 443 : 80);
}

static bool is_host(const char *text, size_t len)
{
    if (len == 0 || len > 200 || text[0] == '.' || text[0] == '-') return false;
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-") >= len;
}

agg_err init_origin_read(char out[SHOAL_URL_MAX + 1], agg_error *error, const char *option,
                         const char *text)
{
    shoal_url url;
    const char *why = NULL;
    size_t len = strlen(text);
    if (len > 0 && text[len - 1] == '/') len--;
    bool is_fit = len <= SHOAL_URL_MAX && shoal_url_set(&url, text, len, &why) == SHOAL_OK;
    if (is_fit) {
        memcpy(out, text, len);
        out[len] = '\0';
        const char *host = init_origin_host(out);
        size_t host_len = strncmp(host, "[::1]", 5) == 0 ? 5 : strcspn(host, ":");
        bool is_own = host_len == 5 && host[0] == '[';
        is_fit = (is_own || is_host(host, host_len)) &&
                 (host[host_len] == '\0' ||
                  (host[host_len] == ':' && is_port(host + host_len + 1, out[4] == 's')));
    }
    if (is_fit) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "--%s is an origin in lower case, such as https://www.example.org: https (or "
                    "http to this machine), no path, no usual port",
                    option);
}

agg_err init_origin_beside(char out[SHOAL_URL_MAX + 1], agg_error *error, const char *site,
                           const char *name)
{
    const char *host = init_origin_host(site);
    if (strncmp(site, "http:", 5) == 0) {
        int host_len = host[0] == '[' ? 5 : (int)strcspn(host, ":");
        snprintf(out, SHOAL_URL_MAX + 1, "http://%.*s:%u", host_len, host, EDGE_PORT);
        return SHOAL_OK;
    }
    if (strncmp(host, "www.", 4) == 0) host += 4;
    if (strlen(host) + strlen(name) + 16 > SHOAL_URL_MAX)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--site is too long");
    snprintf(out, SHOAL_URL_MAX + 1, "https://%s.%s", name, host);
    return SHOAL_OK;
}
