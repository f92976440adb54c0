// SPDX-License-Identifier: Apache-2.0
// Signs recipes; see recipe_sign.h.
#include "recipe_sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agg_file.h"
#include "log.h"
#include "options.h"
#include "recipe_signature.h"
#include "recipe_write.h"

#define KEY_FILE_MAX 65536 // bytes; a key in PEM has 119

static void warn_of_mode(const char *path)
{
    struct stat status;
    char text[512];
    if (strcmp(path, "-") == 0 || stat(path, &status) != 0 || (status.st_mode & 077) == 0) return;
    snprintf(text, sizeof text, "%s: others may read this key; chmod 600 it", path);
    agg_log_line("recipe", text);
}

static agg_err sign_with(agg_recipe *recipe, agg_error *error, const char *key)
{
    agg_bytes pem;
    agg_err err = agg_file_read(&pem, error, key, KEY_FILE_MAX);
    if (err != SHOAL_OK) return err;
    warn_of_mode(key);
    err = agg_recipe_sign(recipe, error, (const char *)pem.data, pem.len);
    if (err != SHOAL_OK) agg_error_prefix(error, "%s", key);
    explicit_bzero(pem.data, pem.len);
    free(pem.data);
    return err;
}

// Checks the signed text by reading it as any host will read it.
static agg_err check_text(agg_error *error, const char *text, const agg_recipe *recipe)
{
    agg_recipe again;
    agg_err err = agg_recipe_from_bytes(&again, error, "the signed recipe", text, strlen(text));
    if (err != SHOAL_OK) return err;
    err = agg_recipe_verify(error, &again);
    if (err == SHOAL_OK && strcmp(again.hash_hex, recipe->hash_hex) != 0)
        err = agg_fail(error, AGG_ERR_SIGNATURE, AGG_EXIT_PRIVACY,
                       "the signed recipe has another hash");
    agg_recipe_release(&again);
    return err;
}

agg_err recipe_sign(agg_error *error, const char *path, const char *key, const char *output)
{
    agg_recipe recipe;
    char *text = NULL;
    if (!agg_signature_is_built())
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe sign is not part of this build");
    agg_err err = cli_need(error, "key", key);
    if (err == SHOAL_OK) err = agg_recipe_from_file(&recipe, error, path);
    if (err != SHOAL_OK) return err;
    err = sign_with(&recipe, error, key);
    if (err == SHOAL_OK && (text = agg_recipe_signed_text(error, &recipe)) == NULL)
        err = AGG_ERR_MEMORY;
    if (err == SHOAL_OK) err = check_text(error, text, &recipe);
    if (err == SHOAL_OK) err = recipe_write(error, output, text, strlen(text));
    free(text);
    agg_recipe_release(&recipe);
    return err;
}
