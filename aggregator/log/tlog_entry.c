// SPDX-License-Identifier: Apache-2.0
// The entries of a log; see tlog_entry.h.
#include "tlog_entry.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "json_walk.h"
#include "recipe_json.h"

// The suite that devices seal with: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
#define KEM_X25519 0x0020u
#define KDF_SHA256 0x0001u
#define AEAD_AES128 0x0001u
#define CONFIG_HEAD 37u // bytes before the list of algorithms: id, KEM, public key, length

static const char *const type_names[] = {"recipe", "query", "keys"};

const char *agg_tlog_type_name(agg_tlog_type type)
{
    return type_names[type];
}

// ---- reading ----

static agg_err wrong(agg_error *error, const char *member, const char *want)
{
    return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME, "%s must be %s", member, want);
}

// Reads a whole number of [low, high]; an absent one is `otherwise`, if that is in the range.
static agg_err read_whole(uint32_t *n, agg_error *error, const cJSON *object, const char *name,
                          uint32_t low, uint32_t high, uint32_t otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (item == NULL && otherwise >= low && otherwise <= high) {
        *n = otherwise;
        return SHOAL_OK;
    }
    double x = cJSON_IsNumber(item) ? cJSON_GetNumberValue(item) : -1;
    if (!(x >= low && x <= high) || x != (double)(uint32_t)x)
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME,
                        "%s must be a whole number from %" PRIu32 " to %" PRIu32, name, low, high);
    *n = (uint32_t)x;
    return SHOAL_OK;
}

static agg_err read_digest(uint8_t digest[32], agg_error *error, const cJSON *object,
                           const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text != NULL && agg_unhex(digest, 32, text) ? SHOAL_OK
                                                       : wrong(error, name, "64 hex digits");
}

static uint32_t number_at(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

// Returns: whether the bytes are a configuration of the key `id` that devices can seal to: of their
// KEM, with their algorithms among those it lists.
static bool is_config(const agg_tlog_gateway *g)
{
    const uint8_t *c = g->config;
    bool is_known = false;
    if (g->len < CONFIG_HEAD + 4 || (g->len - CONFIG_HEAD) % 4 != 0) return false;
    if (c[0] != g->id || number_at(c + 1) != KEM_X25519 ||
        number_at(c + CONFIG_HEAD - 2) != g->len - CONFIG_HEAD)
        return false;
    for (size_t i = CONFIG_HEAD; i < g->len; i += 4)
        is_known |= number_at(c + i) == KDF_SHA256 && number_at(c + i + 2) == AEAD_AES128;
    return is_known;
}

static agg_err read_gateway(agg_tlog_gateway *g, agg_error *error, const cJSON *item)
{
    uint32_t id = 0;
    agg_err err = read_whole(&id, error, item, "id", 0, 255, UINT32_MAX);
    const char *hex = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "config"));
    if (err != SHOAL_OK) return err;
    size_t len = hex == NULL ? 1 : strlen(hex);
    g->id = (uint8_t)id;
    g->len = len / 2;
    if (len % 2 != 0 || g->len > AGG_TLOG_CONFIG_MAX || !agg_unhex(g->config, g->len, hex) ||
        !is_config(g))
        return wrong(error, "config",
                     "the hex digits of a key configuration (RFC 9458) of this id, X25519, "
                     "HKDF-SHA256 and AES-128-GCM");
    return SHOAL_OK;
}

static agg_err read_token(agg_tlog_token *t, agg_error *error, const cJSON *item)
{
    agg_err err = read_digest(t->recipe, error, item, "recipe");
    if (err == SHOAL_OK)
        err = read_whole(&t->day, error, item, "day", 0, AGG_TLOG_DAY_MAX, UINT32_MAX);
    return err == SHOAL_OK ? read_digest(t->key, error, item, "key") : err;
}

// Returns: whether the value is an object with only these members.
//   names: ended by NULL
static bool has_only(const cJSON *object, const char *const *names)
{
    const cJSON *item = NULL;
    if (!cJSON_IsObject(object)) return false;
    cJSON_ArrayForEach(item, object)
    {
        size_t i = 0;
        while (names[i] != NULL && strcmp(names[i], item->string) != 0) i++;
        if (names[i] == NULL || agg_json_came_before(object, item)) return false;
    }
    return true;
}

static agg_err read_gateways(agg_tlog_entry *entry, agg_error *error, const cJSON *object)
{
    static const char *const names[] = {"id", "config", NULL};
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "gateway"), *item = NULL;
    if (!cJSON_IsArray(list)) return wrong(error, "gateway", "a list");
    cJSON_ArrayForEach(item, list)
    {
        agg_tlog_gateway *g = &entry->gateways[entry->n_gateways];
        if (entry->n_gateways == AGG_TLOG_GATEWAYS_MAX || !has_only(item, names))
            return wrong(error, "gateway", "at most 16 of {\"id\", \"config\"}");
        agg_err err = read_gateway(g, error, item);
        if (err != SHOAL_OK) return err;
        for (size_t i = 0; i < entry->n_gateways; i++)
            if (entry->gateways[i].id == g->id)
                return wrong(error, "gateway", "a list without an id twice");
        entry->n_gateways++;
    }
    return SHOAL_OK;
}

static agg_err read_tokens(agg_tlog_entry *entry, agg_error *error, const cJSON *object)
{
    static const char *const names[] = {"recipe", "day", "key", NULL};
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "tokens"), *item = NULL;
    if (!cJSON_IsArray(list)) return wrong(error, "tokens", "a list");
    cJSON_ArrayForEach(item, list)
    {
        agg_tlog_token *t = &entry->tokens[entry->n_tokens];
        if (entry->n_tokens == AGG_TLOG_TOKENS_MAX || !has_only(item, names))
            return wrong(error, "tokens", "at most 512 of {\"recipe\", \"day\", \"key\"}");
        agg_err err = read_token(t, error, item);
        if (err != SHOAL_OK) return err;
        for (size_t i = 0; i < entry->n_tokens; i++)
            if (entry->tokens[i].day == t->day &&
                memcmp(entry->tokens[i].recipe, t->recipe, 32) == 0)
                return wrong(error, "tokens", "one key for a recipe and a day");
        entry->n_tokens++;
    }
    return SHOAL_OK;
}

static agg_err read_list(agg_tlog_entry *entry, agg_error *error, const cJSON *object,
                         uint32_t serial)
{
    static const char *const names[] = {"type",    "serial", "from", "until",
                                        "gateway", "tokens", NULL};
    entry->type = AGG_TLOG_KEYS;
    if (!has_only(object, names))
        return wrong(error, "a key list",
                     "an object of type, serial, from, until, gateway and tokens");
    agg_err err =
        read_whole(&entry->serial, error, object, "serial", 1, AGG_TLOG_SERIAL_MAX, serial);
    if (err == SHOAL_OK)
        err = read_whole(&entry->from, error, object, "from", 0, AGG_TLOG_DAY_MAX, UINT32_MAX);
    if (err == SHOAL_OK)
        err = read_whole(&entry->until, error, object, "until", entry->from, AGG_TLOG_DAY_MAX,
                         UINT32_MAX);
    if (err == SHOAL_OK) err = read_gateways(entry, error, object);
    return err == SHOAL_OK ? read_tokens(entry, error, object) : err;
}

static agg_err read_object(agg_tlog_entry *entry, agg_error *error, const cJSON *object)
{
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "type"));
    memset(entry, 0, sizeof *entry);
    if (type != NULL && strcmp(type, "keys") == 0) return read_list(entry, error, object, 0);
    for (int i = AGG_TLOG_RECIPE; i <= AGG_TLOG_QUERY; i++)
        if (type != NULL && strcmp(type, type_names[i]) == 0) {
            entry->type = (agg_tlog_type)i;
            return read_digest(entry->hash, error, object, "hash");
        }
    return wrong(error, "type", "recipe, query or keys");
}

// Other spaces, members or numbers of the same value would make another hash of the same entry.
static agg_err check_form(agg_error *error, const agg_tlog_entry *entry, const char *bytes,
                          size_t len)
{
    size_t again_len = 0;
    char *again = agg_alloc(error, AGG_TLOG_ENTRY_MAX + 1, 1);
    if (again == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_tlog_entry_print(again, &again_len, error, entry);
    if (err == SHOAL_OK && (again_len != len || memcmp(again, bytes, len) != 0))
        err = wrong(error, "an entry", "written without spaces, with its members in their order");
    free(again);
    return err;
}

agg_err agg_tlog_entry_read(agg_tlog_entry *entry, agg_error *error, const char *bytes, size_t len)
{
    cJSON *json = agg_json_parse(error, bytes, len);
    if (json == NULL) return agg_json_refusal(error);
    agg_err err = read_object(entry, error, json);
    cJSON_Delete(json);
    return err == SHOAL_OK ? check_form(error, entry, bytes, len) : err;
}

agg_err agg_tlog_keys_read(agg_tlog_entry *entry, agg_error *error, const char *text, size_t len,
                           uint32_t serial)
{
    cJSON *json = agg_json_parse(error, text, len);
    if (json == NULL) return agg_json_refusal(error);
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(json, "type");
    const char *name = cJSON_GetStringValue(type);
    memset(entry, 0, sizeof *entry);
    agg_err err = type == NULL || (name != NULL && strcmp(name, "keys") == 0)
                      ? read_list(entry, error, json, serial)
                      : wrong(error, "type", "keys");
    cJSON_Delete(json);
    return err;
}

// ---- writing ----

// Text that grows up to the length of an entry; `len` counts on beyond it.
typedef struct printing {
    char *out;
    size_t len;
} printing;

static void put(printing *p, const char *format, ...) AGG_PRINTF(2, 3);

static void put(printing *p, const char *format, ...)
{
    size_t used = p->len < AGG_TLOG_ENTRY_MAX ? p->len : AGG_TLOG_ENTRY_MAX;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(p->out + used, AGG_TLOG_ENTRY_MAX + 1 - used, format, args);
    va_end(args);
    if (n > 0) p->len += (size_t)n;
}

static void put_hex(printing *p, const char *before, const uint8_t *bytes, size_t len)
{
    char hex[2 * AGG_TLOG_CONFIG_MAX + 1];
    agg_hex(hex, bytes, len);
    put(p, "%s\"%s\"", before, hex);
}

agg_err agg_tlog_entry_print(char *out, size_t *len, agg_error *error, const agg_tlog_entry *entry)
{
    printing p = {out, 0};
    put(&p, "{\"type\":\"%s\"", type_names[entry->type]);
    if (entry->type != AGG_TLOG_KEYS) put_hex(&p, ",\"hash\":", entry->hash, 32);
    if (entry->type == AGG_TLOG_KEYS) {
        put(&p, ",\"serial\":%" PRIu32 ",\"from\":%" PRIu32 ",\"until\":%" PRIu32 ",\"gateway\":[",
            entry->serial, entry->from, entry->until);
        for (size_t i = 0; i < entry->n_gateways; i++) {
            put(&p, "%s{\"id\":%u", i == 0 ? "" : ",", entry->gateways[i].id);
            put_hex(&p, ",\"config\":", entry->gateways[i].config, entry->gateways[i].len);
            put(&p, "}");
        }
        put(&p, "],\"tokens\":[");
        for (size_t i = 0; i < entry->n_tokens; i++) {
            put_hex(&p, i == 0 ? "{\"recipe\":" : ",{\"recipe\":", entry->tokens[i].recipe, 32);
            put(&p, ",\"day\":%" PRIu32, entry->tokens[i].day);
            put_hex(&p, ",\"key\":", entry->tokens[i].key, 32);
            put(&p, "}");
        }
        put(&p, "]");
    }
    put(&p, "}");
    *len = p.len;
    return p.len <= AGG_TLOG_ENTRY_MAX
               ? SHOAL_OK
               : agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                          "an entry has at most %u bytes, and this one has %zu", AGG_TLOG_ENTRY_MAX,
                          p.len);
}

// ---- lists that follow each other ----

static agg_err refuse(agg_error *error, const char *text)
{
    return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME, "%s", text);
}

static agg_err gateways_follow(agg_error *error, const agg_tlog_entry *before,
                               const agg_tlog_entry *after)
{
    size_t common = 0;
    for (size_t i = 0; i < before->n_gateways; i++)
        for (size_t j = 0; j < after->n_gateways; j++) {
            const agg_tlog_gateway *a = &before->gateways[i], *b = &after->gateways[j];
            if (a->id != b->id) continue;
            if (a->len != b->len || memcmp(a->config, b->config, a->len) != 0)
                return refuse(error, "an id of the gateway's keys names another key than in the "
                                     "list before");
            common++;
        }
    if (common == 0 && before->n_gateways > 0 && after->n_gateways > 0)
        return refuse(error, "no key of the gateway is in the list before too: devices seal to "
                             "those that they saw, so list the old and the new one first");
    return SHOAL_OK;
}

static agg_err tokens_follow(agg_error *error, const agg_tlog_entry *before,
                             const agg_tlog_entry *after, uint32_t today)
{
    for (size_t i = 0; i < before->n_tokens; i++) {
        const agg_tlog_token *a = &before->tokens[i], *b = NULL;
        for (size_t j = 0; j < after->n_tokens && b == NULL; j++)
            if (after->tokens[j].day == a->day &&
                memcmp(after->tokens[j].recipe, a->recipe, 32) == 0)
                b = &after->tokens[j];
        if (b == NULL && a->day >= today)
            return refuse(error, "a token key of today or later is missing: devices may hold "
                                 "tokens of it");
        if (b != NULL && memcmp(a->key, b->key, 32) != 0)
            return refuse(error, "a recipe and a day have another token key than in the list "
                                 "before");
    }
    return SHOAL_OK;
}

agg_err agg_tlog_keys_follow(agg_error *error, const agg_tlog_entry *before,
                             const agg_tlog_entry *after, uint32_t today)
{
    uint32_t serial = before == NULL ? 1 : before->serial + 1;
    if (after->serial != serial)
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME,
                        "the serial of this list must be %" PRIu32 ", not %" PRIu32, serial,
                        after->serial);
    if (before == NULL) return SHOAL_OK;
    if (after->from < before->from) return refuse(error, "the list begins before the one before");
    agg_err err = gateways_follow(error, before, after);
    return err == SHOAL_OK ? tokens_follow(error, before, after, today) : err;
}
