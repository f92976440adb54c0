// SPDX-License-Identifier: Apache-2.0
// Reads and writes front-coded lists; see front_coded.h.
#include "front_coded.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

#define SHARED_MAX 61u

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// A position in a front-coded string: the last entry and the rest of the string.
typedef struct cursor {
    agg_text rest;
    char entry[AGG_FRONT_ENTRY_MAX];
    size_t len; // bytes of the entry
} cursor;

static agg_err refuse(agg_error *error, agg_err err, const char *path, const char *why)
{
    return agg_fail(error, err, AGG_EXIT_USAGE, "%s %s", path, why);
}

// Takes the next entry off the string; it replaces the last one.
// Returns: NULL, or why the string is not front-coded.
static const char *take_entry(cursor *c)
{
    const char *space = memchr(c->rest.bytes, ' ', c->rest.len);
    agg_text word = {c->rest.bytes, space != NULL ? (size_t)(space - c->rest.bytes) : c->rest.len};
    const char *digit = word.len > 0 ? memchr(digits, word.bytes[0], SHARED_MAX + 1) : NULL;
    if (digit == NULL)
        return "must be entries with one space between them, each beginning with a digit";
    size_t shared = agg_characters_size((agg_text){c->entry, c->len}, (uint32_t)(digit - digits));
    if (shared == SIZE_MAX)
        return "shares more characters with the entry before it than that entry has";
    if (word.len - 1 > sizeof c->entry - shared) return "holds an entry over 256 bytes";
    memcpy(c->entry + shared, word.bytes + 1, word.len - 1);
    c->len = shared + word.len - 1;
    size_t used = word.len + (space != NULL);
    // A space at the end lacks the entry that it separates.
    if (space != NULL && used == c->rest.len) return "ends with a space";
    c->rest = (agg_text){c->rest.bytes + used, c->rest.len - used};
    return NULL;
}

static agg_err measure(size_t *n, size_t *bytes, agg_error *error, const char *path, agg_text coded)
{
    cursor c = {.rest = coded};
    *n = *bytes = 0;
    if (coded.len == 0) return refuse(error, SHOAL_ERR_MISSING_FIELD, path, "holds no entry");
    for (; c.rest.len > 0; (*n)++, *bytes += c.len) {
        const char *why = take_entry(&c);
        if (why != NULL) return refuse(error, SHOAL_ERR_TYPE, path, why);
    }
    return SHOAL_OK;
}

static agg_err reserve(agg_texts *out, agg_error *error, size_t n, size_t bytes)
{
    *out = (agg_texts){0, agg_alloc(error, n, sizeof *out->texts), agg_alloc(error, bytes, 1)};
    if (out->texts != NULL && out->pool != NULL) return SHOAL_OK;
    agg_texts_release(out);
    return AGG_ERR_MEMORY;
}

agg_err agg_front_decode(agg_texts *out, agg_error *error, const char *path, agg_text coded)
{
    cursor c = {.rest = coded};
    size_t n, bytes;
    agg_err err = measure(&n, &bytes, error, path, coded);
    if (err == SHOAL_OK) err = reserve(out, error, n, bytes);
    if (err != SHOAL_OK) return err;
    char *at = out->pool;
    for (; out->n < n; at += c.len) {
        (void)take_entry(&c); // cannot fail: measure has read the whole string
        if (c.len > 0) memcpy(at, c.entry, c.len);
        out->texts[out->n++] = (agg_text){at, c.len};
    }
    return SHOAL_OK;
}

agg_err agg_characters_split(agg_texts *out, agg_error *error, const char *path, agg_text row)
{
    if (row.len == 0) return refuse(error, SHOAL_ERR_MISSING_FIELD, path, "holds no character");
    agg_err err = reserve(out, error, row.len, row.len);
    if (err != SHOAL_OK) return err;
    memcpy(out->pool, row.bytes, row.len);
    for (size_t at = 0, len; at < row.len; at += len) {
        len = agg_characters_size((agg_text){out->pool + at, row.len - at}, 1);
        out->texts[out->n++] = (agg_text){out->pool + at, len};
    }
    return SHOAL_OK;
}

void agg_texts_release(agg_texts *texts)
{
    free(texts->texts);
    free(texts->pool);
    memset(texts, 0, sizeof *texts);
}

// Returns: the number of leading characters that two entries share, at most SHARED_MAX.
static uint32_t count_shared(size_t *bytes, agg_text a, agg_text b)
{
    uint32_t n = 0;
    *bytes = 0;
    for (; n < SHARED_MAX && *bytes < a.len && *bytes < b.len; n++) {
        size_t size = agg_characters_size((agg_text){a.bytes + *bytes, a.len - *bytes}, 1);
        agg_text left = {b.bytes + *bytes, b.len - *bytes};
        if (agg_characters_size(left, 1) != size || memcmp(a.bytes + *bytes, left.bytes, size) != 0)
            break;
        *bytes += size;
    }
    return n;
}

agg_err agg_front_encode(char **out, size_t *len, agg_error *error, const agg_text *texts, size_t n)
{
    size_t room = n;
    agg_text before = {NULL, 0};
    if (n == 0) return refuse(error, SHOAL_ERR_ARGUMENT, "the list", "holds no entry");
    for (size_t i = 0; i < n; i++) {
        if (texts[i].len > AGG_FRONT_ENTRY_MAX ||
            (texts[i].len > 0 && memchr(texts[i].bytes, ' ', texts[i].len)))
            return refuse(error, SHOAL_ERR_ARGUMENT, "the list",
                          "holds an entry that has a space or over 256 bytes");
        if (room > SIZE_MAX - texts[i].len - 1) return AGG_ERR_MEMORY;
        room += texts[i].len + 1;
    }
    char *at = *out = agg_alloc(error, room, 1);
    if (at == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < n; before = texts[i++]) {
        size_t shared;
        if (i > 0) *at++ = ' ';
        *at++ = digits[count_shared(&shared, before, texts[i])];
        if (texts[i].len > shared) at = mempcpy(at, texts[i].bytes + shared, texts[i].len - shared);
    }
    *len = (size_t)(at - *out);
    return SHOAL_OK;
}
