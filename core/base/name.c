// SPDX-License-Identifier: Apache-2.0
// Checks and compares names; see name.h.
#include "name.h"

#include <stdbool.h>
#include <string.h>

#include "sentence.h"

static bool is_name_char(char c, bool is_first)
{
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) return true;
    return !is_first && (c == '.' || c == '_' || c == '-');
}

shoal_err shoal_name_set(shoal_name *name, const char *text, size_t len, const char **why)
{
    *why = SHOAL_SENTENCE("must have 1 to 64 characters");
    if (len < 1 || len > SHOAL_NAME_MAX) return SHOAL_ERR_RANGE;
    *why = SHOAL_SENTENCE("may hold a-z, 0-9 and, after the first, . _ -");
    for (size_t i = 0; i < len; i++)
        if (!is_name_char(text[i], i == 0)) return SHOAL_ERR_TYPE;
    memset(name, 0, sizeof *name);
    name->len = (uint8_t)len;
    memcpy(name->bytes, text, len);
    return SHOAL_OK;
}

bool shoal_name_equal(const shoal_name *a, const shoal_name *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

bool shoal_text_equal(const char *own, const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && own[n] != '\0' && own[n] == text[n]) n++;
    return n == len && own[n] == '\0';
}
