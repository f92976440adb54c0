// SPDX-License-Identifier: Apache-2.0
// Prints signers; see recipe_signer.h.
#include "recipe_signer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "call_streams.h"
#include "log.h"
#include "recipe_signature.h"

#define KEY_FILE_MAX 65536 // bytes; a key in PEM has 119

static agg_err read_public(uint8_t key[32], agg_error *error, const char *name)
{
    agg_bytes bytes;
    if (agg_unhex(key, 32, name)) return SHOAL_OK;
    agg_err err = agg_file_read(&bytes, error, name, KEY_FILE_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_ed25519_public(key, error, (const char *)bytes.data, bytes.len);
    free(bytes.data);
    if (err != SHOAL_OK) agg_error_prefix(error, "%s", name);
    return err;
}

static agg_err verify(agg_error *error, const agg_recipe *recipe, const char *key)
{
    uint8_t wanted[32];
    char hex[65];
    agg_err err = agg_recipe_verify(error, recipe);
    if (err != SHOAL_OK || key == NULL) return err;
    err = read_public(wanted, error, key);
    if (err != SHOAL_OK || memcmp(wanted, recipe->key, sizeof wanted) == 0) return err;
    agg_hex(hex, recipe->key, sizeof recipe->key);
    return agg_fail(error, AGG_ERR_SIGNATURE, AGG_EXIT_PRIVACY, "is signed by another key, %s",
                    hex);
}

int recipe_verify(const char *path, const char *key)
{
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    agg_recipe recipe;
    char hex[65];
    if (agg_recipe_from_file(&recipe, &error, path) != SHOAL_OK)
        return agg_log_error("recipe", &error);
    agg_err err = verify(&error, &recipe, key);
    agg_hex(hex, recipe.key, sizeof recipe.key);
    agg_recipe_release(&recipe);
    if (err != SHOAL_OK) {
        if (err == AGG_ERR_SIGNATURE) agg_error_prefix(&error, "%s", path);
        return agg_log_error("recipe", &error);
    }
    agg_print("%s: signed by %s\n", path, hex);
    return AGG_EXIT_OK;
}

int recipe_signature_of(recipe_signature *signature, const agg_recipe *recipe)
{
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    *signature = RECIPE_UNSIGNED;
    if (!recipe->has_signature) return AGG_EXIT_OK;
    *signature = RECIPE_NOT_VERIFIED;
    if (!agg_signature_is_built()) return AGG_EXIT_OK;
    *signature = RECIPE_SIGNED;
    if (agg_recipe_verify(&error, recipe) == SHOAL_OK) return AGG_EXIT_OK;
    *signature = RECIPE_MISSIGNED;
    return error.exit_code;
}

const char *recipe_signature_name(recipe_signature signature)
{
    static const char *const names[] = {[RECIPE_UNSIGNED] = "none",
                                        [RECIPE_SIGNED] = "good",
                                        [RECIPE_MISSIGNED] = "bad",
                                        [RECIPE_NOT_VERIFIED] = "not-checked"};
    return names[signature];
}

int recipe_signer_print(const agg_recipe *recipe)
{
    recipe_signature signature;
    char hex[65];
    const int code = recipe_signature_of(&signature, recipe);
    agg_hex(hex, recipe->key, sizeof recipe->key);
    switch (signature) {
    case RECIPE_UNSIGNED: break;
    case RECIPE_SIGNED: agg_print("signature           good: signed by %.8s...\n", hex); break;
    case RECIPE_MISSIGNED:
        agg_print("signature           bad: not signed by %.8s..., which it names\n", hex);
        break;
    case RECIPE_NOT_VERIFIED:
        agg_print(
            "signature           not checked, by key %.8s...: signatures are not part of this "
            "build\n",
            hex);
        break;
    }
    return code;
}
