// SPDX-License-Identifier: Apache-2.0
// Reads the vector files of the folder that SHOAL_SHARED names, for tests that run on every build
// and so have no JSON library. Only for those files: well-formed, no escapes. A value is where its
// text starts; NULL is a value that is not there.
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

// Reads a file below SHOAL_SHARED. Returns: NULL where there is none, said aloud, and a failure
// under SHOAL_REQUIRE_SHARED.
static inline const char *scan_shared(char *text, size_t cap, const char *name)
{
    const char *shared = getenv("SHOAL_SHARED");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", shared == NULL ? "" : shared, name);
    FILE *file = shared == NULL ? NULL : fopen(path, "rb");
    if (file == NULL) {
        printf("SKIPPED: %s, which is looked for in the folder that SHOAL_SHARED names\n", name);
        CHECK(getenv("SHOAL_REQUIRE_SHARED") == NULL);
        return NULL;
    }
    size_t len = fread(text, 1, cap, file);
    fclose(file);
    if (!CHECK(len < cap)) return NULL;
    text[len] = '\0';
    return text;
}

// Loops in place of strspn, strcspn, strchr and strtoull: the address sanitizer makes each call of
// those read to the end of the file.
static inline bool scan_is_one_of(char byte, const char *bytes)
{
    while (*bytes != '\0' && *bytes != byte) bytes++;
    return *bytes != '\0';
}

static inline const char *scan_next(const char *at)
{
    while (scan_is_one_of(*at, " \r\n\t,:")) at++;
    return at;
}

// Returns: where the text after the value starts.
static inline const char *scan_past(const char *value)
{
    size_t depth = 0;
    do {
        value = scan_next(value);
        if (*value == '"') {
            for (value++; *value != '"'; value++) {
            }
            value++;
        } else if (*value == '{' || *value == '[')
            value++, depth++;
        else if (*value == '}' || *value == ']')
            value++, depth--;
        else
            while (*value != '\0' && !scan_is_one_of(*value, " \r\n\t,:]}")) value++;
    } while (depth > 0 && *value != '\0');
    return value;
}

static inline const char *scan_member(const char *object, const char *name)
{
    size_t len = strlen(name);
    if (object == NULL) return NULL;
    for (const char *at = scan_next(object + 1); *at == '"'; at = scan_next(scan_past(at))) {
        const char *value = scan_next(scan_past(at));
        if (strncmp(at + 1, name, len) == 0 && at[1 + len] == '"') return value;
        at = value;
    }
    return NULL;
}

static inline const char *scan_item(const char *list, size_t i)
{
    if (list == NULL) return NULL;
    const char *at = scan_next(list + 1);
    for (; i > 0 && *at != ']'; i--) at = scan_next(scan_past(at));
    return *at == ']' ? NULL : at;
}

static inline size_t scan_count(const char *list)
{
    size_t n = 0;
    while (scan_item(list, n) != NULL) n++;
    return n;
}

// Returns: a number, or 1 for true; 0 for what is not there.
static inline uint64_t scan_number(const char *value)
{
    uint64_t number = 0;
    if (value == NULL) return 0;
    if (*value == 't') return 1;
    for (; *value >= '0' && *value <= '9'; value++) number = 10 * number + (uint64_t)(*value - '0');
    return number;
}

static inline int scan_is(const char *value, const char *text)
{
    size_t len = strlen(text);
    return value != NULL && strncmp(value + 1, text, len) == 0 && value[1 + len] == '"';
}

// Reads a string of hexadecimal digits. Returns: how many bytes; a failed check and 0 where that is
// impossible.
static inline size_t scan_hex(uint8_t *bytes, size_t cap, const char *value)
{
    size_t n = 0;
    if (!CHECK(value != NULL && *value == '"')) return 0;
    for (value++; *value != '"'; value += 2, n++) {
        const char pair[3] = {value[0], value[1], '\0'};
        if (!CHECK(n < cap && strspn(pair, "0123456789abcdef") == 2)) return 0;
        bytes[n] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return n;
}

#endif
