// SPDX-License-Identifier: Apache-2.0
// Loading and comparing secrets; see http_secret.h.
#include "http_secret.h"

#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "bytes.h"
#include "sha256.h"

static void digest_of(uint8_t digest[32], const char *text, size_t len)
{
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)text, len);
    shoal_sha256_final(digest, &sha);
}

static agg_err refuse(agg_error *error, const char *path, unsigned line, const char *why)
{
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "%s: line %u: %s", path, line, why);
}

// Returns: whether an HTTP header carries the text unchanged: printable ASCII without spaces.
static bool is_printable(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '!' || text[i] > '~') return false;
    }
    return true;
}

static agg_err add_line(agg_http_secret *secret, agg_error *error, const char *path, unsigned line,
                        const char *text, size_t len)
{
    if (len > 0 && text[len - 1] == '\r') len--;
    if (len == 0) return SHOAL_OK;
    if (secret->n == AGG_HTTP_SECRETS_MAX)
        return refuse(error, path, line, "a third secret; a file has at most two");
    if (len < AGG_HTTP_SECRET_LEN_MIN)
        return refuse(error, path, line, "a secret needs at least 16 characters");
    if (len > AGG_HTTP_SECRET_LEN_MAX)
        return refuse(error, path, line, "a secret has at most 512 characters");
    if (!is_printable(text, len))
        return refuse(error, path, line, "a secret is printable ASCII without spaces");
    digest_of(secret->digests[secret->n++], text, len);
    return SHOAL_OK;
}

agg_err agg_http_secret_load(agg_http_secret *secret, agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, 4096);
    if (err != SHOAL_OK) return err;
    agg_http_secret loaded = {0};
    const char *text = (const char *)bytes.data;
    size_t at = 0;
    for (unsigned line = 1; err == SHOAL_OK && at < bytes.len; line++) {
        const char *end = memchr(text + at, '\n', bytes.len - at);
        size_t len = end == NULL ? bytes.len - at : (size_t)(end - (text + at));
        err = add_line(&loaded, error, path, line, text + at, len);
        at += len + 1;
    }
    wipe(bytes.data, bytes.len);
    free(bytes.data);
    if (err == SHOAL_OK && loaded.n == 0) err = refuse(error, path, 1, "the file holds no secret");
    if (err == SHOAL_OK) *secret = loaded;
    return err;
}

// Returns: 1 if two digests are equal, else 0, in constant time.
static unsigned is_equal(const uint8_t a[32], const uint8_t b[32])
{
    unsigned differ = 0;
    for (unsigned i = 0; i < 32; i++) differ |= a[i] ^ b[i];
    return (differ - 1) >> 31;
}

void agg_http_secret_digest(uint8_t digest[32], const char *text, size_t len)
{
    digest_of(digest, text, len);
}

bool agg_http_secret_has(const agg_http_secret *secret, const uint8_t digest[32])
{
    unsigned found = 0;
    for (unsigned i = 0; i < secret->n; i++) found |= is_equal(digest, secret->digests[i]);
    return found != 0;
}

bool agg_http_secret_matches(const agg_http_secret *secret, const char *text, size_t len)
{
    uint8_t digest[32];
    digest_of(digest, text, len);
    return agg_http_secret_has(secret, digest);
}

bool agg_http_secret_overlaps(const agg_http_secret *a, const agg_http_secret *b)
{
    bool found = false;
    for (unsigned i = 0; i < b->n; i++) found |= agg_http_secret_has(a, b->digests[i]);
    return found;
}
