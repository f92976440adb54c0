// SPDX-License-Identifier: Apache-2.0
// Appends to a log; see tlog_writer.h.
#include "tlog_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agg_size.h"
#include "json_walk.h"
#include "recipe_json.h"
#include "recipe_signature.h"
#include "tlog_folder.h"
#include "tlog_tile.h"

#define PENDING "pending"
#define PENDING_TITLE "shoal log pending 1\n"
#define PENDING_MAX ((size_t)1 << 28) // bytes

static agg_err key_of(agg_tlog_key *key, agg_error *error, const char *name, const char *pem,
                      size_t pem_len)
{
    uint8_t public_key[32], signature[64];
    agg_err err = agg_ed25519_sign(public_key, signature, error, pem, pem_len, signature, 0);
    return err == SHOAL_OK ? agg_tlog_key_make(key, error, name, public_key) : err;
}

static agg_err write_head(agg_error *error, const char *folder, const agg_tlog_key *key,
                          const agg_tlog_head *head, const char *pem, size_t pem_len)
{
    char note[AGG_TLOG_NOTE_MAX];
    agg_err err = agg_tlog_head_sign(note, error, key, head, pem, pem_len);
    return err == SHOAL_OK ? agg_tlog_folder_write(error, folder, "checkpoint", note, strlen(note))
                           : err;
}

agg_err agg_tlog_create(agg_tlog_key *key, agg_error *error, const char *folder, const char *name,
                        const char *pem, size_t pem_len)
{
    static const char no_rows[] = "{\"entries\":[]}\n";
    agg_tlog_tree none = {.n = {0}};
    agg_tlog_head head = {.size = 0};
    if (agg_tlog_folder_has(folder, "checkpoint"))
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                        "%s has a log; a log is never begun anew", folder);
    agg_err err = key_of(key, error, name, pem, pem_len);
    if (err != SHOAL_OK) return err;
    strcpy(head.origin, key->name);
    agg_tlog_tree_root(head.root, &none, 0);
    err = agg_tlog_folder_write(error, folder, "index", no_rows, sizeof no_rows - 1);
    return err == SHOAL_OK ? write_head(error, folder, key, &head, pem, pem_len) : err;
}

// ---- writing ----

static agg_err write_bundle(const agg_tlog_writer *w, agg_error *error, uint64_t first,
                            unsigned width, const char *path, const char *title)
{
    size_t title_len = strlen(title), len = title_len, own = 0;
    for (uint64_t i = first; i < first + width; i++) {
        (void)agg_tlog_at(&w->log, i, &own);
        len += 2 + own;
    }
    uint8_t *bytes = agg_alloc(error, len, 1), *at = bytes;
    if (bytes == NULL) return AGG_ERR_MEMORY;
    memcpy(at, title, title_len);
    at += title_len;
    for (uint64_t i = first; i < first + width; i++) {
        const uint8_t *entry = agg_tlog_at(&w->log, i, &own);
        *at++ = (uint8_t)(own >> 8);
        *at++ = (uint8_t)own;
        memcpy(at, entry, own);
        at += own;
    }
    agg_err err = agg_tlog_folder_write(error, w->folder, path, bytes, len);
    free(bytes);
    return err;
}

// Writes the tiles of one level, or the bundles, that entries beyond the first `before` hashes of
// the level changed.
static agg_err write_level(const agg_tlog_writer *w, agg_error *error, int level, uint64_t before)
{
    const agg_tlog_tree *tree = &w->log.tree;
    uint64_t n = tree->n[level == AGG_TLOG_ENTRIES ? 0 : level];
    for (uint64_t i = before / AGG_TLOG_WIDTH; i * AGG_TLOG_WIDTH < n && before < n; i++) {
        char path[AGG_TLOG_PATH_MAX];
        uint64_t first = i * AGG_TLOG_WIDTH;
        unsigned width = n - first < AGG_TLOG_WIDTH ? (unsigned)(n - first) : AGG_TLOG_WIDTH;
        agg_tlog_tile_path(path, level, i, width);
        agg_err err =
            level == AGG_TLOG_ENTRIES
                ? write_bundle(w, error, first, width, path, "")
                : agg_tlog_folder_write(error, w->folder, path, tree->hashes[level] + first,
                                        width * (size_t)AGG_TLOG_HASH);
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

static agg_err write_keys(const agg_tlog_writer *w, agg_error *error)
{
    size_t len = 0;
    if (w->log.counts[AGG_TLOG_KEYS] == 0) return SHOAL_OK;
    const uint8_t *entry = agg_tlog_at(&w->log, w->log.keys_at, &len);
    char *text = agg_alloc(error, AGG_TLOG_KEYS_MAX, 1);
    if (text == NULL) return AGG_ERR_MEMORY;
    int n = snprintf(text, AGG_TLOG_KEYS_MAX, "{\"index\":%" PRIu64 ",\"entry\":%.*s}\n",
                     w->log.keys_at, (int)len, (const char *)entry);
    agg_err err = agg_tlog_folder_write(error, w->folder, "keys", text, (size_t)n);
    free(text);
    return err;
}

static agg_err remove_pending(const agg_tlog_writer *w, agg_error *error)
{
    char *path = agg_tlog_join(error, w->folder, PENDING);
    if (path == NULL) return AGG_ERR_MEMORY;
    agg_err err = SHOAL_OK;
    if (unlink(path) != 0 && errno != ENOENT)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot remove: %s", path,
                       strerror(errno));
    free(path);
    return err;
}

// Writes everything behind `pending` and `index`.
static agg_err publish(agg_tlog_writer *w, agg_error *error)
{
    agg_tlog_head *head = &w->log.head;
    uint64_t before = w->written;
    agg_err err = write_level(w, error, AGG_TLOG_ENTRIES, before);
    for (int level = 0; level < AGG_TLOG_LEVELS && err == SHOAL_OK; level++) {
        err = write_level(w, error, level, before);
        before /= AGG_TLOG_WIDTH;
    }
    if (err == SHOAL_OK && w->log.tree.n[0] > w->written) {
        head->size = w->log.tree.n[0];
        agg_tlog_tree_root(head->root, &w->log.tree, head->size);
        err = write_head(error, w->folder, &w->key, head, w->pem, w->pem_len);
    }
    if (err == SHOAL_OK) err = write_keys(w, error);
    if (err == SHOAL_OK) err = remove_pending(w, error);
    if (err == SHOAL_OK) w->written = head->size;
    return err;
}

// ---- index ----

static cJSON *entries_of(cJSON *rows)
{
    return cJSON_GetObjectItemCaseSensitive(rows, "entries");
}

static agg_err read_index(agg_tlog_writer *w, agg_error *error)
{
    agg_tlog_source source = agg_tlog_folder(w->folder);
    agg_bytes file = {NULL, 0};
    if (agg_tlog_folder_has(w->folder, "index")) {
        agg_err err = source.read(source.context, &file, error, "index", AGG_TLOG_INDEX_MAX);
        if (err != SHOAL_OK) return err;
        w->rows = agg_json_parse(NULL, (const char *)file.data, file.len);
        free(file.data);
    }
    // The index holds only what can be made again, so a damaged one is begun anew.
    if (!cJSON_IsArray(entries_of(w->rows))) {
        cJSON_Delete(w->rows);
        w->rows = cJSON_CreateObject();
        if (cJSON_AddArrayToObject(w->rows, "entries") == NULL)
            return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    }
    return SHOAL_OK;
}

static cJSON *find_row(agg_tlog_writer *w, const char *type, const char *hash)
{
    cJSON *row = NULL;
    cJSON_ArrayForEach(row, entries_of(w->rows))
    {
        const char *own_type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "type"));
        const char *own_hash = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "hash"));
        if (own_type != NULL && own_hash != NULL && strcmp(own_type, type) == 0 &&
            strcmp(own_hash, hash) == 0)
            return row;
    }
    return NULL;
}

static agg_err add_row(agg_tlog_writer *w, agg_error *error, agg_tlog_type type, const char *hash,
                       uint64_t index, uint32_t until)
{
    cJSON *row = find_row(w, agg_tlog_type_name(type), hash);
    if (row != NULL) cJSON_Delete(cJSON_DetachItemViaPointer(entries_of(w->rows), row));
    row = cJSON_CreateObject();
    bool is_made = cJSON_AddStringToObject(row, "type", agg_tlog_type_name(type)) != NULL &&
                   cJSON_AddStringToObject(row, "hash", hash) != NULL &&
                   cJSON_AddNumberToObject(row, "index", (double)index) != NULL &&
                   cJSON_AddNumberToObject(row, "until", until) != NULL &&
                   cJSON_AddItemToArray(entries_of(w->rows), row);
    if (is_made) return SHOAL_OK;
    cJSON_Delete(row);
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
}

static agg_err write_index(agg_tlog_writer *w, agg_error *error, uint32_t today)
{
    cJSON *row = entries_of(w->rows)->child;
    while (row != NULL) {
        cJSON *next = row->next;
        if (!(cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(row, "until")) >= today))
            cJSON_Delete(cJSON_DetachItemViaPointer(entries_of(w->rows), row));
        row = next;
    }
    char *text = cJSON_PrintUnformatted(w->rows);
    size_t len = text == NULL ? 0 : strlen(text);
    if (text == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    text[len] = '\n'; // in place of the NUL
    agg_err err = len < AGG_TLOG_INDEX_MAX
                      ? agg_tlog_folder_write(error, w->folder, "index", text, len + 1)
                      : agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                                 "the log would have too many recipes and queries in force");
    cJSON_free(text);
    return err;
}

// ---- appending ----

agg_err agg_tlog_writer_add(agg_tlog_writer *w, uint64_t *index, bool *is_new, agg_error *error,
                            agg_tlog_type type, const uint8_t hash[32], uint32_t until)
{
    char hex[65], text[128];
    agg_hex(hex, hash, 32);
    int len = snprintf(text, sizeof text, "{\"type\":\"%s\",\"hash\":\"%s\"}",
                       agg_tlog_type_name(type), hex);
    *is_new = !agg_tlog_find(index, &w->log, (const uint8_t *)text, (size_t)len);
    agg_err err =
        *is_new ? agg_tlog_append(&w->log, error, (const uint8_t *)text, (size_t)len) : SHOAL_OK;
    return err == SHOAL_OK ? add_row(w, error, type, hex, *index, until) : err;
}

bool agg_tlog_writer_is_newest(const agg_tlog_writer *w, const agg_tlog_entry *keys)
{
    size_t len = 0, own_len = 0;
    char *text = agg_alloc(NULL, AGG_TLOG_ENTRY_MAX + 1, 1);
    bool is_newest = false;
    if (text != NULL && w->log.counts[AGG_TLOG_KEYS] > 0 &&
        agg_tlog_entry_print(text, &len, NULL, keys) == SHOAL_OK) {
        const uint8_t *own = agg_tlog_at(&w->log, w->log.keys_at, &own_len);
        is_newest = own_len == len && memcmp(own, text, len) == 0;
    }
    free(text);
    return is_newest;
}

agg_err agg_tlog_writer_add_keys(agg_tlog_writer *w, uint64_t *index, bool *is_new,
                                 agg_error *error, const agg_tlog_entry *keys, uint32_t today)
{
    const agg_tlog_entry *before = w->log.counts[AGG_TLOG_KEYS] > 0 ? w->log.keys : NULL;
    size_t len = 0;
    *is_new = !agg_tlog_writer_is_newest(w, keys);
    *index = *is_new ? w->log.tree.n[0] : w->log.keys_at;
    if (!*is_new) return SHOAL_OK;
    agg_err err = agg_tlog_keys_follow(error, before, keys, today);
    if (err != SHOAL_OK) return err;
    if (keys->from > today || keys->until < today)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "the list is not in force today, day %" PRIu32
                        ": devices take the newest list only",
                        today);
    char *text = agg_alloc(error, AGG_TLOG_ENTRY_MAX + 1, 1);
    if (text == NULL) return AGG_ERR_MEMORY;
    err = agg_tlog_entry_print(text, &len, error, keys);
    if (err == SHOAL_OK) err = agg_tlog_append(&w->log, error, (const uint8_t *)text, len);
    free(text);
    return err;
}

agg_err agg_tlog_writer_commit(agg_tlog_writer *w, agg_error *error, uint32_t today)
{
    uint64_t n = w->log.tree.n[0] - w->written;
    char title[64];
    agg_err err = SHOAL_OK;
    snprintf(title, sizeof title, PENDING_TITLE "%" PRIu64 "\n", w->written);
    if (n > 0) err = write_bundle(w, error, w->written, (unsigned)n, PENDING, title);
    if (err == SHOAL_OK) err = write_index(w, error, today);
    return err == SHOAL_OK ? publish(w, error) : err;
}

// ---- opening ----

static agg_err bad_pending(agg_error *error)
{
    return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME,
                    PENDING ": does not fit the log; an append of another log left it");
}

// Appends the entries of `pending` to the log in memory, or finds that the log has them.
static agg_err take_pending(agg_tlog_writer *w, agg_error *error, const agg_bytes *file)
{
    const size_t title = sizeof PENDING_TITLE - 1;
    char *behind = NULL;
    const uint8_t *at, *end = file->data + file->len, *entry;
    size_t len = 0;
    if (file->len < title || memcmp(file->data, PENDING_TITLE, title) != 0)
        return bad_pending(error);
    uint64_t index = strtoull((const char *)file->data + title, &behind, 10);
    if (*behind != '\n' || index > w->written) return bad_pending(error);
    at = (const uint8_t *)behind + 1;
    while (at < end) {
        if (!agg_tlog_bundle_take(&entry, &len, &at, end)) return bad_pending(error);
        size_t own_len = 0;
        if (index < w->written) {
            const uint8_t *own = agg_tlog_at(&w->log, index++, &own_len);
            if (own_len != len || memcmp(own, entry, len) != 0) return bad_pending(error);
            continue;
        }
        agg_err err = agg_tlog_append(&w->log, error, entry, len);
        if (err != SHOAL_OK) return err;
        w->repaired++;
    }
    return SHOAL_OK;
}

static agg_err repair(agg_tlog_writer *w, agg_error *error)
{
    agg_tlog_source source = agg_tlog_folder(w->folder);
    agg_bytes file;
    if (!agg_tlog_folder_has(w->folder, PENDING)) return SHOAL_OK;
    agg_err err = source.read(source.context, &file, error, PENDING, PENDING_MAX);
    if (err != SHOAL_OK) return err;
    err = take_pending(w, error, &file);
    free(file.data);
    return err == SHOAL_OK ? publish(w, error) : err;
}

// Finds the name of the log in its head, and with it the key that must have signed the head.
static agg_err find_key(agg_tlog_writer *w, agg_error *error, const agg_tlog_source *source)
{
    agg_tlog_head head;
    agg_bytes note;
    agg_err err = source->read(source->context, &note, error, "checkpoint", AGG_TLOG_NOTE_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_tlog_head_read(&head, error, (const char *)note.data, note.len);
    free(note.data);
    return err == SHOAL_OK ? key_of(&w->key, error, head.origin, w->pem, w->pem_len) : err;
}

agg_err agg_tlog_writer_open(agg_tlog_writer *w, agg_error *error, const char *folder,
                             const char *pem, size_t pem_len)
{
    agg_tlog_source source = agg_tlog_folder(folder);
    char command[] = "log";
    *w = (agg_tlog_writer){
        .folder = folder, .pem = pem, .pem_len = pem_len, .lock = {.fd = -1, .path = NULL}};
    agg_err err = agg_tlog_init(&w->log, error);
    if (err == SHOAL_OK && !agg_tlog_folder_has(folder, "checkpoint"))
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: holds no log; shoal log init makes one",
                       folder);
    char *path = err == SHOAL_OK ? agg_tlog_join(error, folder, "checkpoint") : NULL;
    if (err == SHOAL_OK)
        err = path == NULL ? AGG_ERR_MEMORY : agg_file_lock_take(&w->lock, error, command, path);
    free(path);
    if (err == SHOAL_OK) err = find_key(w, error, &source);
    if (err == SHOAL_OK) err = agg_tlog_load(&w->log, error, &source, &w->key);
    if (err != SHOAL_OK) return err;
    w->written = w->log.head.size;
    err = read_index(w, error);
    return err == SHOAL_OK ? repair(w, error) : err;
}

void agg_tlog_writer_close(agg_tlog_writer *w)
{
    cJSON_Delete(w->rows);
    agg_tlog_release(&w->log);
    agg_file_lock_release(&w->lock);
    w->rows = NULL;
}
