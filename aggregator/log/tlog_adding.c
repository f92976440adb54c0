// SPDX-License-Identifier: Apache-2.0
// Begins logs and adds entries from files; see tlog_adding.h.
#include "tlog_adding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "agg_file.h"
#include "log.h"
#include "print_text.h"
#include "recipe.h"
#include "recipe_json.h"
#include "recipe_signature.h"
#include "tlog_folder.h"

#define PEM_MAX ((size_t)65536) // bytes of a key file
#define LIST_MAX ((size_t)1 << 20)

static uint32_t today(void)
{
    return (uint32_t)((uint64_t)time(NULL) / 86400);
}

static void wipe_free(char *pem, size_t len)
{
    if (pem != NULL) explicit_bzero(pem, len);
    free(pem);
}

// Writes a file that only its owner may read, and that did not exist.
static agg_err write_private(agg_error *error, const char *path, const char *pem, size_t len)
{
    agg_file file;
    char buffer[BUFSIZ];
    struct stat status;
    if (stat(path, &status) == 0)
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                        "%s exists; a key is never replaced", path);
    agg_err err = agg_file_create(&file, error, path);
    if (err != SHOAL_OK) return err;
    setvbuf(file.stream, buffer, _IOFBF, sizeof buffer);
    if (fchmod(fileno(file.stream), 0600) != 0) {
        agg_file_abandon(&file);
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot be kept from other readers",
                        path);
    }
    (void)fwrite(pem, 1, len, file.stream); // agg_file_commit finds what failed
    err = agg_file_commit(&file, error);
    explicit_bzero(buffer, sizeof buffer);
    return err;
}

agg_err agg_tlog_begin(char verifier[AGG_TLOG_VERIFIER_MAX], agg_error *error, const char *folder,
                       const char *name, const char *key_path)
{
    static const uint8_t none[32] = {0};
    char *pem = NULL;
    size_t len = 0;
    agg_tlog_key key;
    agg_err err = agg_tlog_key_make(&key, error, name, none); // refuses a bad name first
    if (err == SHOAL_OK && agg_tlog_folder_has(folder, "checkpoint"))
        err = agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                       "%s has a log; a log is never begun anew", folder);
    if (err == SHOAL_OK) err = agg_tlog_private_new(&pem, &len, error);
    if (err == SHOAL_OK) err = write_private(error, key_path, pem, len);
    if (err == SHOAL_OK) err = agg_tlog_create(&key, error, folder, name, pem, len);
    wipe_free(pem, len);
    if (err == SHOAL_OK) agg_tlog_key_print(verifier, &key);
    return err;
}

agg_err agg_tlog_adding_open(agg_tlog_adding *w, agg_error *error, const char *folder,
                             const char *key, bool is_json)
{
    w->is_json = is_json;
    agg_err err = agg_file_read(&w->pem, error, key, PEM_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_tlog_writer_open(&w->writer, error, folder, (const char *)w->pem.data, w->pem.len);
    if (err != SHOAL_OK && error->exit_code == AGG_EXIT_USAGE) // it is the key that is wrong
        agg_error_prefix(error, "%s", key);
    if (w->writer.repaired > 0) {
        char command[] = "log", text[96];
        snprintf(text, sizeof text, "an append was cut short: its %" PRIu64 " entries are added",
                 w->writer.repaired);
        agg_log_line(command, text);
    }
    return err;
}

void agg_tlog_adding_close(agg_tlog_adding *w)
{
    agg_tlog_writer_close(&w->writer);
    wipe_free((char *)w->pem.data, w->pem.len);
}

static void tell_added(agg_tlog_adding *w, const char *what, uint64_t index, bool is_new)
{
    if (w->is_json) {
        printf("%s{\"entry\":", w->n_added++ == 0 ? "{\"entries\":[" : ",");
        agg_print_json_text(stdout, what, strlen(what));
        printf(",\"index\":%" PRIu64 ",\"new\":%s}", index, is_new ? "true" : "false");
        return;
    }
    printf("%s %" PRIu64 "  %s\n", is_new ? "added as entry" : "is already entry", index, what);
}

agg_err agg_tlog_adding_finish(agg_tlog_adding *w, agg_error *error)
{
    agg_err err = agg_tlog_writer_commit(&w->writer, error, today());
    if (err == SHOAL_OK && w->is_json) printf("],\"size\":%" PRIu64 "}\n", w->writer.log.head.size);
    if (err == SHOAL_OK && !w->is_json)
        printf("entries in the log: %" PRIu64 "\n", w->writer.log.head.size);
    return err;
}

static agg_err check_recipe(agg_error *error, const agg_recipe *recipe, const uint8_t *signer)
{
    agg_err err = agg_recipe_verify(error, recipe);
    if (err == SHOAL_OK && signer != NULL && memcmp(recipe->key, signer, 32) != 0)
        err = agg_fail(error, AGG_ERR_SIGNATURE, AGG_EXIT_PRIVACY, "is signed by another key");
    if (err == SHOAL_OK && recipe->recipe->expires_day < today())
        err = agg_fail(error, SHOAL_ERR_EXPIRED, AGG_EXIT_USAGE, "has expired");
    return err;
}

agg_err agg_tlog_add_recipe(agg_tlog_adding *w, agg_error *error, const char *path,
                            const uint8_t *signer)
{
    agg_recipe recipe;
    uint64_t index = 0;
    bool is_new = false;
    char hex[65], what[96];
    agg_err err = agg_recipe_from_file(&recipe, error, path);
    if (err != SHOAL_OK) return err;
    agg_tlog_type type = recipe.recipe->version != 0 ? AGG_TLOG_QUERY : AGG_TLOG_RECIPE;
    err = check_recipe(error, &recipe, signer);
    if (err == SHOAL_OK)
        err = agg_tlog_writer_add(&w->writer, &index, &is_new, error, type,
                                  recipe.recipe->query_hash, recipe.recipe->expires_day);
    if (err != SHOAL_OK) agg_error_prefix(error, "%s", path);
    agg_hex(hex, recipe.recipe->query_hash, 32);
    snprintf(what, sizeof what, "%s %s", agg_tlog_type_name(type), hex);
    if (err == SHOAL_OK) tell_added(w, what, index, is_new);
    agg_recipe_release(&recipe);
    return err;
}

agg_err agg_tlog_read_signer(uint8_t key[32], agg_error *error, const char *text)
{
    agg_bytes file = {NULL, 0};
    if (strlen(text) == 64 && agg_unhex(key, 32, text)) return SHOAL_OK;
    agg_err err = agg_file_read(&file, error, text, PEM_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_ed25519_public(key, error, (const char *)file.data, file.len);
    if (err != SHOAL_OK) agg_error_prefix(error, "%s", text);
    free(file.data);
    return err;
}

agg_err agg_tlog_add_list(agg_tlog_adding *w, agg_error *error, const char *path)
{
    static agg_tlog_entry list;
    const agg_tlog *log = &w->writer.log;
    agg_bytes file;
    uint64_t index = 0;
    bool is_new = false;
    char what[48];
    uint32_t serial = log->counts[AGG_TLOG_KEYS] > 0 ? log->keys->serial : 0;
    agg_err err = agg_file_read(&file, error, path, LIST_MAX);
    if (err != SHOAL_OK) return err;
    // A list without a serial may be the newest one itself, else it is the next.
    err = agg_tlog_keys_read(&list, error, (const char *)file.data, file.len, serial);
    if (serial == 0 || (err == SHOAL_OK && !agg_tlog_writer_is_newest(&w->writer, &list)))
        err = agg_tlog_keys_read(&list, error, (const char *)file.data, file.len, serial + 1);
    if (err == SHOAL_OK)
        err = agg_tlog_writer_add_keys(&w->writer, &index, &is_new, error, &list, today());
    free(file.data);
    if (err != SHOAL_OK) {
        agg_error_prefix(error, "%s", path);
        return err;
    }
    snprintf(what, sizeof what, "keys %" PRIu32, list.serial);
    tell_added(w, what, index, is_new);
    return SHOAL_OK;
}
