// SPDX-License-Identifier: Apache-2.0
// Property: of a cookie or a form's field, what is found is no longer than its source and fits; it
// is found again in the same text with others around it, and no longer once it is given twice; and
// an origin is that of one host.
#include <string.h>

#include "fuzz_recipe.h"
#include "http_fields.h"
#include "http_network.h"

enum { TEXT_MAX = 512 };

static void check_cookie(const char *text)
{
    char out[64], again[64], wrapped[2 * TEXT_MAX + 32];
    if (!agg_http_cookie(out, sizeof out, text, "id")) return;
    PROPERTY(strlen(out) < sizeof out && strlen(out) <= strlen(text));
    PROPERTY(strchr(out, ';') == NULL);
    snprintf(wrapped, sizeof wrapped, "a=1; %s; b=2", text);
    PROPERTY(agg_http_cookie(again, sizeof again, wrapped, "id") && strcmp(out, again) == 0);
    snprintf(wrapped, sizeof wrapped, "%s; %s", text, text);
    PROPERTY(!agg_http_cookie(again, sizeof again, wrapped, "id"));
}

static void check_form(const char *text)
{
    char out[64], again[64], wrapped[2 * TEXT_MAX + 32];
    if (!agg_http_form_field(out, sizeof out, (const uint8_t *)text, strlen(text), "id")) return;
    PROPERTY(strlen(out) < sizeof out && strlen(out) <= strlen(text));
    int len = snprintf(wrapped, sizeof wrapped, "a=1&%s&b=2", text);
    PROPERTY(agg_http_form_field(again, sizeof again, (const uint8_t *)wrapped, (size_t)len, "id"));
    PROPERTY(strcmp(out, again) == 0);
    len = snprintf(wrapped, sizeof wrapped, "%s&%s", text, text);
    PROPERTY(
        !agg_http_form_field(again, sizeof again, (const uint8_t *)wrapped, (size_t)len, "id"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char text[TEXT_MAX], origin[TEXT_MAX + 16];
    agg_http_network network;
    if (len >= sizeof text) return 0;
    memcpy(text, data, len);
    text[len] = '\0';
    check_cookie(text);
    check_form(text);
    (void)agg_http_origin_is(text, "a.example");
    snprintf(origin, sizeof origin, "https://%s", text);
    PROPERTY(agg_http_origin_is(origin, text) == (text[0] != '\0'));
    if (agg_http_network_read(&network, text))
        PROPERTY(network.prefix >= 1 && network.prefix <= 128);
    return 0;
}
