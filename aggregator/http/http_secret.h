// SPDX-License-Identifier: Apache-2.0
// Secrets from files: one secret a line and at most two, so that both are valid while one replaces
// the other. They are kept as SHA-256 digests and compared in constant time.
#ifndef HTTP_SECRET_H
#define HTTP_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_HTTP_SECRETS_MAX 2
#define AGG_HTTP_SECRET_LEN_MIN 16 // characters; shorter secrets can be guessed
#define AGG_HTTP_SECRET_LEN_MAX 512

typedef struct agg_http_secret {
    unsigned n;
    uint8_t digests[AGG_HTTP_SECRETS_MAX][32];
} agg_http_secret;

// Reads a file of one or two lines. Errors name the file and the line, never its content.
agg_err agg_http_secret_load(agg_http_secret *secret, agg_error *error,
                             const char *path) SHOAL_MUST_CHECK;

// Returns: whether `text` is one of the secrets.
// Timing: depends on len only.
bool agg_http_secret_matches(const agg_http_secret *secret, const char *text, size_t len);

// Writes the digest of a text that is compared with several secrets.
void agg_http_secret_digest(uint8_t digest[32], const char *text, size_t len);

// Returns: whether the digest is that of one of the secrets. A struct of zeros has none.
// Timing: depends on the number of secrets only.
bool agg_http_secret_has(const agg_http_secret *secret, const uint8_t digest[32]);

// Returns: whether two files share a secret.
bool agg_http_secret_overlaps(const agg_http_secret *a, const agg_http_secret *b);

#endif
