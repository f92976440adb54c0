// SPDX-License-Identifier: Apache-2.0
// Strict JSON; see json_walk.h.
#include "json_walk.h"

#include <math.h>
#include <string.h>
#include <utf8proc.h>

int agg_utf8_is_valid(const char *bytes, size_t len)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)bytes;
    utf8proc_int32_t point;
    while (len > 0) {
        utf8proc_ssize_t used = *at < 0x80 ? 1 : utf8proc_iterate(at, (utf8proc_ssize_t)len, &point);
        if (used <= 0) return 0;
        at += used;
        len -= (size_t)used;
    }
    return 1;
}

// Escaped NULs would end a C string early: "a\u0000b" must not pass for "a".
static int holds_nul(const char *text, size_t len)
{
    if (memchr(text, 0, len) != NULL) return 1;
    for (size_t i = 0; i + 1 < len; i++) {
        if (text[i] != '\\') continue;
        if (len - i >= 6 && memcmp(text + i + 1, "u0000", 5) == 0) return 1;
        i++;
    }
    return 0;
}

static int is_space(const char *text, const char *end)
{
    for (; text < end; text++)
        if (*text != ' ' && *text != '\n' && *text != '\r' && *text != '\t') return 0;
    return 1;
}

static size_t line_of(const char *text, const char *at)
{
    size_t line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

cJSON *agg_json_parse(agg_error *error, const char *text, size_t len)
{
    const char *end = text;
    if (!agg_utf8_is_valid(text, len)) {
        agg_fail(error, AGG_ERR_JSON, AGG_EXIT_RUNTIME, "is not UTF-8");
        return NULL;
    }
    if (holds_nul(text, len)) {
        agg_fail(error, AGG_ERR_JSON, AGG_EXIT_RUNTIME, "holds a NUL character");
        return NULL;
    }
    cJSON *json = cJSON_ParseWithLengthOpts(text, len, &end, 0);
    if (json != NULL && is_space(end, text + len)) return json;
    cJSON_Delete(json);
    if (end < text || end > text + len) end = text;
    agg_fail(error, AGG_ERR_JSON, AGG_EXIT_RUNTIME, "line %zu: is not JSON", line_of(text, end));
    return NULL;
}

int agg_json_micro(int64_t *micro, double x)
{
    if (!(x >= -9e12 && x <= 9e12)) return 0;
    double v = round(x * 1e6);
    if (v / 1e6 != x) return 0;
    *micro = (int64_t)v;
    return 1;
}
