// SPDX-License-Identifier: Apache-2.0
// Cookies, forms and origins; see http_fields.h.
#include "http_fields.h"

#include <string.h>
#include <strings.h>

bool agg_http_cookie(char *out, size_t cap, const char *header, const char *name)
{
    size_t name_len = strlen(name);
    const char *found = NULL;
    size_t found_len = 0;
    if (header == NULL) return false;
    for (const char *at = header; *at != '\0';) {
        at += strspn(at, " \t");
        size_t len = strcspn(at, ";");
        if (len > name_len && at[name_len] == '=' && memcmp(at, name, name_len) == 0) {
            if (found != NULL) return false; // one of the two was set by somebody else
            found = at + name_len + 1;
            found_len = len - name_len - 1;
        }
        at += len + (at[len] == ';');
    }
    while (found_len > 0 && (found[found_len - 1] == ' ' || found[found_len - 1] == '\t'))
        found_len--;
    if (found == NULL || found_len >= cap) return false;
    memcpy(out, found, found_len);
    out[found_len] = '\0';
    return true;
}

// Returns: the value of a hex digit, or -1.
static int digit_of(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool decode(char *out, size_t cap, const uint8_t *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        int c = text[i] == '+' ? ' ' : text[i];
        if (text[i] == '%') {
            int high = i + 2 < len ? digit_of(text[i + 1]) : -1;
            int low = i + 2 < len ? digit_of(text[i + 2]) : -1;
            if (high < 0 || low < 0) return false;
            c = high << 4 | low;
            i += 2;
        }
        if (c == 0 || n + 1 >= cap) return false;
        out[n++] = (char)c;
    }
    out[n] = '\0';
    return true;
}

bool agg_http_form_field(char *out, size_t cap, const uint8_t *body, size_t len, const char *name)
{
    size_t name_len = strlen(name), found_len = 0;
    const uint8_t *found = NULL;
    if (cap == 0) return false;
    for (size_t at = 0; at < len;) {
        const uint8_t *end = memchr(body + at, '&', len - at);
        size_t pair = end == NULL ? len - at : (size_t)(end - (body + at));
        if (pair > name_len && body[at + name_len] == '=' &&
            memcmp(body + at, name, name_len) == 0) {
            if (found != NULL) return false;
            found = body + at + name_len + 1;
            found_len = pair - name_len - 1;
        }
        at += pair + 1;
    }
    return found != NULL && decode(out, cap, found, found_len);
}

bool agg_http_origin_is(const char *origin, const char *host)
{
    if (origin == NULL || host == NULL || host[0] == '\0') return false;
    if (strncasecmp(origin, "https://", 8) == 0) return strcasecmp(origin + 8, host) == 0;
    return strncasecmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0;
}
