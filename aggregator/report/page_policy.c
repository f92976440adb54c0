// SPDX-License-Identifier: Apache-2.0
// Content-Security-Policies of pages; see page_policy.h.
#include "page_policy.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sha256.h"

static void base64_digest(char out[45], const uint8_t digest[32])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t padded[33] = {0};
    memcpy(padded, digest, 32);
    for (int i = 0; i < 11; i++) {
        uint32_t three =
            (uint32_t)padded[3 * i] << 16 | (uint32_t)padded[3 * i + 1] << 8 | padded[3 * i + 2];
        for (int c = 0; c < 4; c++) out[4 * i + c] = letters[three >> (18 - 6 * c) & 63];
    }
    out[43] = '=';
    out[44] = '\0';
}

void agg_page_policy_of(char out[AGG_PAGE_CSP_SIZE], const char *const *sheets, const char *scripts,
                        const char *forms)
{
    uint8_t digest[32];
    char hash[45], sources[AGG_PAGE_SHEETS_MAX * 56] = "";
    size_t len = 0;
    for (; *sheets != NULL; sheets++) {
        shoal_sha256 sha;
        shoal_sha256_init(&sha);
        shoal_sha256_update(&sha, (const uint8_t *)*sheets, strlen(*sheets));
        shoal_sha256_final(digest, &sha);
        base64_digest(hash, digest);
        len += (size_t)snprintf(sources + len, sizeof sources - len, " 'sha256-%s'", hash);
    }
    snprintf(out, AGG_PAGE_CSP_SIZE,
             "default-src 'none';img-src data:;style-src%s%s;base-uri 'none';form-action "
             "'%s';frame-ancestors 'none'",
             sources, scripts, forms);
}
