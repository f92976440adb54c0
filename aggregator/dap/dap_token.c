// SPDX-License-Identifier: Apache-2.0
// Tokens from files; see dap_token.h.
#include "dap_token.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "bytes.h"

#define FILE_MAX 4096u

agg_err agg_dap_token_load(char token[AGG_DAP_TOKEN_MAX + 1], agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, FILE_MAX);
    if (err != SHOAL_OK) return err;
    const char *line = (const char *)bytes.data;
    size_t len = 0;
    while (len < bytes.len && line[len] > ' ' && line[len] <= '~') len++;
    bool is_end = len == bytes.len || line[len] == '\n' ||
                  (line[len] == '\r' && len + 1 < bytes.len && line[len + 1] == '\n');
    if (!is_end)
        err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                       "%s: a token is printable ASCII without spaces", path);
    else if (len < AGG_DAP_TOKEN_MIN || len > AGG_DAP_TOKEN_MAX)
        err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                       "%s: a token has 16 to 512 characters, on the first line", path);
    else {
        memcpy(token, line, len);
        token[len] = '\0';
    }
    wipe(bytes.data, bytes.len);
    free(bytes.data);
    return err;
}
