// SPDX-License-Identifier: Apache-2.0
// The token that a party sends with its requests (Authorization: Bearer): the first line of a file.
// The receiving party accepts the first two lines of its own file, so that a token can be replaced
// without a gap.
#ifndef DAP_TOKEN_H
#define DAP_TOKEN_H

#include "agg_error.h"

#define AGG_DAP_TOKEN_MIN 16
#define AGG_DAP_TOKEN_MAX 512

// Reads the first line: AGG_DAP_TOKEN_MIN .. AGG_DAP_TOKEN_MAX printable characters without spaces.
//   token: NUL-terminated; the caller wipes it
// Errors name the file, never its content.
agg_err agg_dap_token_load(char token[AGG_DAP_TOKEN_MAX + 1], agg_error *error,
                           const char *path) SHOAL_MUST_CHECK;

#endif
