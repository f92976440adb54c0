// SPDX-License-Identifier: Apache-2.0
// Checks base URLs; see url.h.
#include "url.h"

#include <stdbool.h>
#include <string.h>

#include "sentence.h"

static bool starts_with(const char *text, size_t len, const char *head, size_t head_len)
{
    return len > head_len && memcmp(text, head, head_len) == 0;
}

// Returns whether the host's name ends at `at`.
static bool is_host_end(const char *text, size_t len, size_t at)
{
    return len == at || text[at] == ':' || text[at] == '/';
}

// Returns whether only digits and dots follow "http://127.": 127.0.0.1.example.org is not local.
static bool is_loopback_number(const char *text, size_t len)
{
    size_t i = 11;
    while (i < len && ((text[i] >= '0' && text[i] <= '9') || text[i] == '.')) i++;
    return is_host_end(text, len, i);
}

static bool is_allowed_server(const char *text, size_t len)
{
    if (starts_with(text, len, "https://", 8)) return text[8] != '/' && text[8] != ':';
    if (starts_with(text, len, "http://127.", 11)) return is_loopback_number(text, len);
    if (len >= 16 && memcmp(text, "http://localhost", 16) == 0) return is_host_end(text, len, 16);
    return len >= 12 && memcmp(text, "http://[::1]", 12) == 0 && is_host_end(text, len, 12);
}

static bool is_allowed(char c)
{
    return c > ' ' && c <= '~' && c != '"' && c != '\'' && c != '<' && c != '>' && c != '\\' &&
           c != '?' && c != '#' && c != '@';
}

shoal_err shoal_url_set(shoal_url *url, const char *text, size_t len, const char **why)
{
    *why = SHOAL_SENTENCE("is longer than 200 bytes");
    if (len > SHOAL_URL_MAX) return SHOAL_ERR_RANGE;
    *why = SHOAL_SENTENCE(
        "must be an https URL, or http to this machine, without query and without / at its end");
    if (!is_allowed_server(text, len) || text[len - 1] == '/') return SHOAL_ERR_TYPE;
    for (size_t i = 0; i < len; i++)
        if (!is_allowed(text[i])) return SHOAL_ERR_TYPE;
    url->len = (uint8_t)len;
    memcpy(url->bytes, text, len);
    return SHOAL_OK;
}

bool shoal_url_equal(const shoal_url *a, const shoal_url *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}
