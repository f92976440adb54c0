// SPDX-License-Identifier: Apache-2.0
// A whole log, read and checked; see tlog_log.h.
#include "tlog_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "json_walk.h"
#include "tlog_tile.h"

#define BUNDLE_MAX ((size_t)AGG_TLOG_WIDTH * (AGG_TLOG_ENTRY_MAX + 2))
#define TILE_MAX ((size_t)AGG_TLOG_WIDTH * AGG_TLOG_HASH)

// One row a fault: its name, the error's number and exit code.
static const struct {
    const char *name;
    agg_err code;
    int exit_code;
} faults[] = {
    [AGG_TLOG_NONE] = {"none", AGG_ERR_IO, AGG_EXIT_RUNTIME},
    [AGG_TLOG_MISSING] = {"log-missing", AGG_ERR_IO, AGG_EXIT_IO},
    [AGG_TLOG_MALFORMED] = {"log-malformed", SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME},
    [AGG_TLOG_TRUNCATED] = {"log-truncated", SHOAL_ERR_TRUNCATED, AGG_EXIT_RUNTIME},
    [AGG_TLOG_SIGNATURE] = {"log-signature", AGG_ERR_SIGNATURE, AGG_EXIT_PRIVACY},
    [AGG_TLOG_TAMPERED] = {"log-tampered", SHOAL_ERR_CHECKSUM, AGG_EXIT_PRIVACY},
    [AGG_TLOG_ROLLED_BACK] = {"log-rolled-back", SHOAL_ERR_CHECKSUM, AGG_EXIT_PRIVACY},
    [AGG_TLOG_FORK] = {"log-fork", SHOAL_ERR_CHECKSUM, AGG_EXIT_PRIVACY},
    [AGG_TLOG_ENTRY] = {"log-entry", SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME},
    [AGG_TLOG_SERIAL] = {"log-serial", SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME},
    [AGG_TLOG_POINTER] = {"log-pointer", SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME},
};

const char *agg_tlog_fault_name(agg_tlog_fault fault)
{
    return faults[fault].name;
}

agg_err agg_tlog_refuse(agg_tlog *log, agg_error *error, agg_tlog_fault fault, const char *format,
                        ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log->fault = fault;
    return agg_fail(error, faults[fault].code, faults[fault].exit_code, "%s", text);
}

// Takes an error of a reader over, under the fault that it amounts to.
static agg_err take_over(agg_tlog *log, agg_error *error, agg_tlog_fault fault, const char *where)
{
    agg_error own = *error;
    return agg_tlog_refuse(log, error, fault, "%s: %.300s", where, own.text);
}

agg_err agg_tlog_init(agg_tlog *log, agg_error *error)
{
    memset(log, 0, sizeof *log);
    log->keys = agg_alloc(error, 1, sizeof *log->keys);
    log->next = agg_alloc(error, 1, sizeof *log->next);
    void *starts = NULL;
    agg_err err = log->keys == NULL || log->next == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) err = agg_grow(&starts, &log->starts_cap, 1, sizeof *log->starts, error);
    log->starts = starts;
    if (starts != NULL) log->starts[0] = 0;
    return err;
}

void agg_tlog_release(agg_tlog *log)
{
    agg_tlog_tree_release(&log->tree);
    free(log->pool);
    free(log->starts);
    free(log->keys);
    free(log->next);
    memset(log, 0, sizeof *log);
}

// ---- entries ----

const uint8_t *agg_tlog_at(const agg_tlog *log, uint64_t index, size_t *len)
{
    *len = log->starts[index + 1] - log->starts[index];
    return log->pool + log->starts[index];
}

bool agg_tlog_find(uint64_t *index, const agg_tlog *log, const uint8_t *bytes, size_t len)
{
    for (*index = 0; *index < log->tree.n[0]; ++*index) {
        size_t own = 0;
        const uint8_t *at = agg_tlog_at(log, *index, &own);
        if (own == len && memcmp(at, bytes, len) == 0) return true;
    }
    return false;
}

static agg_err keep_entry(agg_tlog *log, agg_error *error, const uint8_t *bytes, size_t len)
{
    void *pool = log->pool, *starts = log->starts;
    uint64_t n = log->tree.n[0];
    uint8_t hash[AGG_TLOG_HASH];
    agg_err err = agg_grow(&pool, &log->pool_cap, log->pool_len + len, 1, error);
    log->pool = pool;
    if (err == SHOAL_OK)
        err = agg_grow(&starts, &log->starts_cap, (size_t)n + 2, sizeof *log->starts, error);
    log->starts = starts;
    if (err != SHOAL_OK) return err;
    agg_tlog_leaf(hash, bytes, len);
    err = agg_tlog_tree_append(&log->tree, error, hash);
    if (err != SHOAL_OK) return err;
    memcpy(log->pool + log->pool_len, bytes, len);
    log->pool_len += len;
    log->starts[n + 1] = log->pool_len;
    return SHOAL_OK;
}

agg_err agg_tlog_append(agg_tlog *log, agg_error *error, const uint8_t *bytes, size_t len)
{
    char where[32];
    bool has_keys = log->counts[AGG_TLOG_KEYS] > 0;
    snprintf(where, sizeof where, "entry %" PRIu64, log->tree.n[0]);
    agg_err err = agg_tlog_entry_read(log->next, error, (const char *)bytes, len);
    if (err != SHOAL_OK) return take_over(log, error, AGG_TLOG_ENTRY, where);
    if (log->next->type == AGG_TLOG_KEYS) {
        err = agg_tlog_keys_follow(error, has_keys ? log->keys : NULL, log->next, AGG_TLOG_DAY_MAX);
        if (err != SHOAL_OK) return take_over(log, error, AGG_TLOG_SERIAL, where);
    }
    err = keep_entry(log, error, bytes, len);
    if (err != SHOAL_OK) return err;
    log->counts[log->next->type]++;
    if (log->next->type == AGG_TLOG_KEYS) {
        *log->keys = *log->next;
        log->keys_at = log->tree.n[0] - 1;
    }
    return SHOAL_OK;
}

// ---- reading ----

static agg_err read_file(agg_tlog *log, agg_bytes *bytes, agg_error *error,
                         const agg_tlog_source *source, const char *path, size_t max)
{
    agg_err err = source->read(source->context, bytes, error, path, max);
    if (err == SHOAL_OK || err == AGG_ERR_MEMORY) return err;
    return take_over(log, error, err == SHOAL_ERR_RANGE ? AGG_TLOG_MALFORMED : AGG_TLOG_MISSING,
                     path);
}

// Reads a tile or a bundle. A log may drop the part of one that has become full.
//   is_whole: the full one stands in for its part, and has more than was asked for
static agg_err read_tile(agg_tlog *log, agg_bytes *bytes, bool *is_whole, agg_error *error,
                         const agg_tlog_source *source, int level, uint64_t index, unsigned width)
{
    *is_whole = false;
    char path[AGG_TLOG_PATH_MAX];
    agg_error first = {.code = SHOAL_OK};
    size_t max = level == AGG_TLOG_ENTRIES ? BUNDLE_MAX : TILE_MAX;
    agg_tlog_tile_path(path, level, index, width);
    agg_err err = read_file(log, bytes, &first, source, path, max);
    if (err == SHOAL_OK) return SHOAL_OK;
    if (log->fault == AGG_TLOG_MISSING && width < AGG_TLOG_WIDTH) {
        agg_tlog_tile_path(path, level, index, AGG_TLOG_WIDTH);
        if (source->read(source->context, bytes, error, path, max) == SHOAL_OK) {
            log->fault = AGG_TLOG_NONE;
            *is_whole = true;
            return SHOAL_OK;
        }
    }
    if (error != NULL) *error = first;
    return err;
}

static agg_err take_bundle(agg_tlog *log, agg_error *error, const agg_bytes *bundle, bool is_whole,
                           uint64_t index, unsigned width)
{
    char path[AGG_TLOG_PATH_MAX];
    const uint8_t *at = bundle->data, *end = bundle->data + bundle->len, *entry = NULL;
    agg_tlog_tile_path(path, AGG_TLOG_ENTRIES, index, width);
    for (unsigned i = 0; i < width; i++) {
        size_t len = 0;
        if (!agg_tlog_bundle_take(&entry, &len, &at, end))
            return agg_tlog_refuse(log, error, AGG_TLOG_TRUNCATED, "%s: ends within entry %u of %u",
                                   path, i + 1, width);
        agg_err err = agg_tlog_append(log, error, entry, len);
        if (err != SHOAL_OK) {
            agg_error_prefix(error, "%s", path);
            return err;
        }
    }
    if (at < end && !is_whole)
        return agg_tlog_refuse(log, error, AGG_TLOG_TAMPERED, "%s: has %zu bytes after its entries",
                               path, (size_t)(end - at));
    return SHOAL_OK;
}

static unsigned width_of(uint64_t n, uint64_t index)
{
    uint64_t left = n - index * AGG_TLOG_WIDTH;
    return left < AGG_TLOG_WIDTH ? (unsigned)left : AGG_TLOG_WIDTH;
}

static agg_err load_entries(agg_tlog *log, agg_error *error, const agg_tlog_source *source)
{
    uint64_t n = log->head.size;
    for (uint64_t i = 0; i * AGG_TLOG_WIDTH < n; i++) {
        agg_bytes bundle;
        bool is_whole;
        unsigned width = width_of(n, i);
        agg_err err = read_tile(log, &bundle, &is_whole, error, source, AGG_TLOG_ENTRIES, i, width);
        if (err != SHOAL_OK) return err;
        err = take_bundle(log, error, &bundle, is_whole, i, width);
        free(bundle.data);
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

static agg_err check_tile(agg_tlog *log, agg_error *error, const agg_bytes *tile, bool is_whole,
                          int level, uint64_t index, unsigned width)
{
    char path[AGG_TLOG_PATH_MAX];
    agg_tlog_tile_path(path, level, index, width);
    if (tile->len < width * (size_t)AGG_TLOG_HASH)
        return agg_tlog_refuse(log, error, AGG_TLOG_TRUNCATED, "%s: has %zu bytes, not %u", path,
                               tile->len, width * AGG_TLOG_HASH);
    if (memcmp(tile->data, log->tree.hashes[level] + index * AGG_TLOG_WIDTH,
               width * (size_t)AGG_TLOG_HASH) != 0)
        return agg_tlog_refuse(log, error, AGG_TLOG_TAMPERED, "%s: is not what the entries make it",
                               path);
    if (!is_whole && tile->len != width * (size_t)AGG_TLOG_HASH)
        return agg_tlog_refuse(log, error, AGG_TLOG_TAMPERED, "%s: has %zu bytes, not %u", path,
                               tile->len, width * AGG_TLOG_HASH);
    return SHOAL_OK;
}

static agg_err check_tiles(agg_tlog *log, agg_error *error, const agg_tlog_source *source)
{
    for (int level = 0; level < AGG_TLOG_LEVELS; level++)
        for (uint64_t i = 0; i * AGG_TLOG_WIDTH < log->tree.n[level]; i++) {
            agg_bytes tile;
            bool is_whole;
            unsigned width = width_of(log->tree.n[level], i);
            agg_err err = read_tile(log, &tile, &is_whole, error, source, level, i, width);
            if (err != SHOAL_OK) return err;
            err = check_tile(log, error, &tile, is_whole, level, i, width);
            free(tile.data);
            if (err != SHOAL_OK) return err;
        }
    return SHOAL_OK;
}

static agg_err read_head(agg_tlog *log, agg_tlog_head *head, agg_error *error, const char *where,
                         const char *note, size_t len, const agg_tlog_key *key)
{
    agg_err err = agg_tlog_head_read(head, error, note, len);
    if (err != SHOAL_OK) return take_over(log, error, AGG_TLOG_MALFORMED, where);
    if (key == NULL) return SHOAL_OK;
    err = agg_tlog_note_verify(error, key, note, len);
    if (err == SHOAL_ERR_TYPE) return take_over(log, error, AGG_TLOG_MALFORMED, where);
    if (err == AGG_ERR_SIGNATURE) return take_over(log, error, AGG_TLOG_SIGNATURE, where);
    if (err == SHOAL_OK && strcmp(head->origin, key->name) != 0)
        return agg_tlog_refuse(log, error, AGG_TLOG_MALFORMED, "%s: is the head of another log, %s",
                               where, head->origin);
    return err;
}

agg_err agg_tlog_load(agg_tlog *log, agg_error *error, const agg_tlog_source *source,
                      const agg_tlog_key *key)
{
    static const char path[] = "checkpoint";
    uint8_t root[AGG_TLOG_HASH];
    agg_bytes note;
    log->fault = AGG_TLOG_NONE;
    agg_err err = read_file(log, &note, error, source, path, AGG_TLOG_NOTE_MAX);
    if (err != SHOAL_OK) return err;
    memcpy(log->note, note.data, note.len);
    log->note[note.len] = '\0';
    log->note_len = note.len;
    free(note.data);
    err = read_head(log, &log->head, error, path, log->note, log->note_len, key);
    if (err != SHOAL_OK) return err;
    if (log->head.size > AGG_TLOG_ENTRIES_MAX)
        return agg_tlog_refuse(log, error, AGG_TLOG_MALFORMED,
                               "%s: has more than %" PRIu64 " entries", path, AGG_TLOG_ENTRIES_MAX);
    err = load_entries(log, error, source);
    if (err == SHOAL_OK) err = check_tiles(log, error, source);
    if (err != SHOAL_OK) return err;
    agg_tlog_tree_root(root, &log->tree, log->head.size);
    if (memcmp(root, log->head.root, sizeof root) != 0)
        return agg_tlog_refuse(log, error, AGG_TLOG_TAMPERED,
                               "%s: the entries and tiles do not make its root", path);
    return SHOAL_OK;
}

agg_err agg_tlog_follows(agg_tlog *log, agg_error *error, const char *note, size_t len,
                         const agg_tlog_key *key)
{
    uint8_t root[AGG_TLOG_HASH];
    agg_tlog_head seen;
    agg_err err = read_head(log, &seen, error, "the head that was seen before", note, len, key);
    if (err != SHOAL_OK) return err;
    if (strcmp(seen.origin, log->head.origin) != 0)
        return agg_tlog_refuse(log, error, AGG_TLOG_MALFORMED,
                               "the head that was seen before is one of another log, %s",
                               seen.origin);
    if (seen.size > log->head.size)
        return agg_tlog_refuse(log, error, AGG_TLOG_ROLLED_BACK,
                               "the log was rolled back: it had %" PRIu64
                               " entries, and now has %" PRIu64,
                               seen.size, log->head.size);
    agg_tlog_tree_root(root, &log->tree, seen.size);
    if (memcmp(root, seen.root, sizeof root) == 0) return SHOAL_OK;
    return agg_tlog_refuse(log, error, AGG_TLOG_FORK,
                           "the log forked: its first %" PRIu64
                           " entries are not those that were seen before. Keep both heads",
                           seen.size);
}

// ---- pointers ----

static agg_err check_keys(agg_tlog *log, agg_error *error, const agg_bytes *file)
{
    size_t len = 0;
    const uint8_t *entry = agg_tlog_at(log, log->keys_at, &len);
    char head[64];
    int n = snprintf(head, sizeof head, "{\"index\":%" PRIu64 ",\"entry\":", log->keys_at);
    if (file->len == (size_t)n + len + 2 && memcmp(file->data, head, (size_t)n) == 0 &&
        memcmp(file->data + n, entry, len) == 0 && memcmp(file->data + n + len, "}\n", 2) == 0)
        return SHOAL_OK;
    return agg_tlog_refuse(log, error, AGG_TLOG_POINTER,
                           "keys: is not the pointer to the newest key list, entry %" PRIu64,
                           log->keys_at);
}

static agg_err check_row(agg_tlog *log, agg_error *error, const cJSON *row, size_t number)
{
    char text[128];
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "type"));
    const char *hash = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "hash"));
    const cJSON *index = cJSON_GetObjectItemCaseSensitive(row, "index");
    double at = cJSON_IsNumber(index) ? cJSON_GetNumberValue(index) : -1;
    if (type != NULL && hash != NULL && at >= 0 && at < (double)log->tree.n[0] &&
        at == (double)(uint64_t)at) {
        size_t len = 0;
        const uint8_t *entry = agg_tlog_at(log, (uint64_t)at, &len);
        int n = snprintf(text, sizeof text, "{\"type\":\"%.16s\",\"hash\":\"%.70s\"}", type, hash);
        if ((size_t)n == len && memcmp(text, entry, len) == 0) return SHOAL_OK;
    }
    return agg_tlog_refuse(log, error, AGG_TLOG_POINTER, "index: row %zu does not name its entry",
                           number);
}

static agg_err check_index(agg_tlog *log, agg_error *error, const agg_bytes *file)
{
    cJSON *json = agg_json_parse(error, (const char *)file->data, file->len);
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(json, "entries"), *row = NULL;
    size_t number = 0;
    agg_err err = SHOAL_OK;
    if (!cJSON_IsArray(rows))
        err = agg_tlog_refuse(log, error, AGG_TLOG_MALFORMED, "index: has no list of entries");
    else
        cJSON_ArrayForEach(row, rows)
        {
            if (err == SHOAL_OK) err = check_row(log, error, row, ++number);
        }
    cJSON_Delete(json);
    return err;
}

agg_err agg_tlog_check_pointers(agg_tlog *log, agg_error *error, const agg_tlog_source *source)
{
    agg_bytes file;
    agg_err err = read_file(log, &file, error, source, "index", AGG_TLOG_INDEX_MAX);
    if (err != SHOAL_OK) return err;
    err = check_index(log, error, &file);
    free(file.data);
    if (err != SHOAL_OK || log->counts[AGG_TLOG_KEYS] == 0) return err;
    err = read_file(log, &file, error, source, "keys", AGG_TLOG_KEYS_MAX);
    if (err != SHOAL_OK) return err;
    err = check_keys(log, error, &file);
    free(file.data);
    return err;
}
