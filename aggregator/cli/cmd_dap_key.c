// SPDX-License-Identifier: Apache-2.0
// shoal dap-key: a fresh key pair for a server or a collector, in two files.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "hpke.h"
#include "log.h"
#include "options.h"
#include "recipe_json.h"

static const char help_text[] =
    "Usage: shoal dap-key [--id N] -o FILE --public FILE\n\n"
    "Makes an HPKE key pair (X25519, HKDF-SHA256, AES-128-GCM) for a leader, a helper or a "
    "collector.\n"
    "No file is replaced: whoever loses a secret key loses what was sealed to it.\n\n"
    "  --id N             what ciphertexts call the key, 0 to 255; default 1. Distinct among one "
    "server's keys\n"
    "  -o, --output FILE  the secret key, readable by its owner only; it stays on one machine\n"
    "  --public FILE      the public key, for the other parties\n";

static agg_err refuse_existing(agg_error *error, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE, "%s exists; a key is not replaced",
                    path);
}

static agg_err make_key(agg_error *error, const char *id_text, const char *secret,
                        const char *public_half)
{
    uint64_t id = 1;
    agg_hpke_key key;
    char hex[65];
    agg_err err = id_text == NULL ? SHOAL_OK : cli_read_whole(&id, error, "id", id_text, 0, 255);
    if (err == SHOAL_OK && strcmp(secret, public_half) == 0)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--output and --public are one file");
    if (err == SHOAL_OK) err = refuse_existing(error, secret);
    if (err == SHOAL_OK) err = refuse_existing(error, public_half);
    if (err == SHOAL_OK) err = agg_hpke_key_new(&key, error, (uint8_t)id);
    if (err != SHOAL_OK) return err;
    err = agg_hpke_key_save(&key, error, secret, AGG_HPKE_SECRET);
    if (err == SHOAL_OK) err = agg_hpke_key_save(&key, error, public_half, AGG_HPKE_PUBLIC);
    agg_hex(hex, key.public_key, sizeof key.public_key);
    agg_hpke_key_wipe(&key);
    if (err == SHOAL_OK)
        printf("id                  %u\npublic key          %s\n", (unsigned)id, hex);
    return err;
}

int cmd_dap_key(int argc, char **argv)
{
    const char *id = NULL, *secret = NULL, *public_half = NULL;
    const cli_option options[] = {{"id", 0, &id, NULL},
                                  {"output", 'o', &secret, NULL},
                                  {"public", 0, &public_half, NULL},
                                  {NULL, 0, NULL, NULL}};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    int help = 0;
    agg_err err = cli_options_read_only(options, &error, argc, argv, &help);
    if (err == SHOAL_OK && help) {
        fputs(help_text, stdout);
        return AGG_EXIT_OK;
    }
    if (err == SHOAL_OK) err = cli_need(&error, "output", secret);
    if (err == SHOAL_OK) err = cli_need(&error, "public", public_half);
    if (err == SHOAL_OK) err = make_key(&error, id, secret, public_half);
    return err == SHOAL_OK ? AGG_EXIT_OK : agg_log_error("dap-key", &error);
}
