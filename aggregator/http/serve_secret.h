// SPDX-License-Identifier: Apache-2.0
// Secrets from files: one a line, at most two, so that both are valid while one is replaced by the
// other. Kept and compared as SHA-256 digests, in constant time.
#ifndef SERVE_SECRET_H
#define SERVE_SECRET_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define SERVE_SECRETS_MAX 2
#define SERVE_SECRET_LEN_MIN 16 // characters; shorter ones are guessed
#define SERVE_SECRET_LEN_MAX 512

typedef struct serve_secret {
    unsigned n;
    uint8_t digests[SERVE_SECRETS_MAX][32];
} serve_secret;

// Reads a file of one or two lines. Errors name the file and the line, never its content.
agg_err serve_secret_load(serve_secret *secret, agg_error *error,
                          const char *path) SHOAL_MUST_CHECK;

// Returns: whether text is one of the secrets. Timing: depends on len only.
int serve_secret_matches(const serve_secret *secret, const char *text, size_t len);

#endif
