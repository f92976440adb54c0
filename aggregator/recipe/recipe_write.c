// SPDX-License-Identifier: Apache-2.0
// Seeds and files of recipes; see recipe_write.h.
#include "recipe_write.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifndef __wasi__
#include <sys/random.h>
#endif

#include "agg_file.h"
#include "call_streams.h"
#include "recipe_json.h"

agg_err recipe_fresh_seed(char seed_hex[65], agg_error *error)
{
    uint8_t seed[32];
    if (getentropy(seed, sizeof seed) != 0)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "the system returned no random bytes");
    agg_hex(seed_hex, seed, sizeof seed);
    return SHOAL_OK;
}

agg_err recipe_write(agg_error *error, const char *path, const char *text, size_t len)
{
    agg_file file;
    if (path == NULL || strcmp(path, "-") == 0) {
        fwrite(text, 1, len, agg_out());
        return fflush(agg_out()) == 0
                   ? SHOAL_OK
                   : agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the recipe");
    }
    agg_err err = agg_file_create(&file, error, path);
    if (err != SHOAL_OK) return err;
    fwrite(text, 1, len, file.stream);
    return agg_file_commit(&file, error);
}
