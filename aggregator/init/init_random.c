// SPDX-License-Identifier: Apache-2.0
// Secrets and seeds; see init_random.h.
#include "init_random.h"

#include <string.h>

#include "recipe_json.h"
#include "recipe_write.h"
#include "sha256.h"

agg_err init_random(char hex[INIT_HEX], agg_error *error, const char *seed, const char *name)
{
    static const char label[] = "shoal init 1";
    uint8_t digest[32];
    shoal_sha256 sha;
    if (seed == NULL) return recipe_fresh_seed(hex, error);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)label, sizeof label); // with its NUL
    shoal_sha256_update(&sha, (const uint8_t *)name, strlen(name) + 1);
    shoal_sha256_update(&sha, (const uint8_t *)seed, strlen(seed));
    shoal_sha256_final(digest, &sha);
    agg_hex(hex, digest, sizeof digest);
    return SHOAL_OK;
}
