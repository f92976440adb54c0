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
    "Usage: shoal dap-key [--id N] -o FILE --public FILE\n"
    "\n"
    "Makes an HPKE key pair (X25519, HKDF-SHA256, AES-128-GCM) for a leader, a helper or a\n"
    "collector. Replaces no file: whoever loses a secret key loses what was sealed to it.\n"
    "\n"
    "  --id N             number by which ciphertexts name the key, 0 to 255, distinct among one\n"
    "                     server's keys; default 1\n"
    "  -o, --output FILE  the secret key, readable by its owner only; it stays on one machine\n"
    "  --public FILE      the public key, for the other parties\n";

static agg_err refuse_existing(agg_error *error, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                    "%s exists; a key is never replaced", path);
}

static agg_err make_key(agg_error *error, const char *id_text, const char *secret,
                        const char *public_half)
{
    uint64_t id = 1;
    agg_hpke_key key;
    char hex[65];
    agg_err err = id_text == NULL ? SHOAL_OK : cli_read_whole(&id, error, "id", id_text, 0, 255);
    if (err == SHOAL_OK && strcmp(secret, public_half) == 0)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "--output and --public name the same file");
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

typedef struct arguments {
    const char *id, *secret, *public_half;
} arguments;

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    (void)words;
    return make_key(error, a->id, a->secret, a->public_half);
}

static const command_option options[] = {OPTION("id", id), REQUIRED_OUTPUT_OPTION(secret),
                                         REQUIRED_OPTION("public", public_half), LAST_OPTION};

const cli_command cmd_dap_key = {
    .name = "dap-key",
    .summary = "make a key pair for one of two servers, or for their collector",
    .help = help_text,
    .example = "  shoal dap-key -o leader.key --public leader.pub\n",
    .options = options,
    .arguments_size = sizeof(arguments),
    .run = run};
