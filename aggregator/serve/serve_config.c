// SPDX-License-Identifier: Apache-2.0
// Reading the configuration; see serve_config.h. The table at the end lists every field; any other
// field is refused.
#include "serve_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "audit_log.h"
#include "batch.h"
#include "guarantee.h"
#include "http_address.h"
#include "json_walk.h"
#include "nearest.h"
#include "serve_config_access.h"
#include "serve_config_read.h"
#include "store_watch.h"

enum { EDGE_URL_MAX = 256 };

typedef agg_err (*read_field)(serve_config_reader *r, const cJSON *json);

typedef struct field {
    const char *name;
    read_field read;
    bool is_required;
} field;

static agg_err read_number(serve_config_reader *r, double *out, const cJSON *json, const char *name,
                           double low, double high)
{
    if (!cJSON_IsNumber(json)) return serve_config_refuse(r, name, "must be a number");
    if (!(json->valuedouble >= low && json->valuedouble <= high)) {
        return agg_fail(r->error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "%s: must be %g to %g", name,
                        low, high);
    }
    *out = json->valuedouble;
    return SHOAL_OK;
}

static agg_err read_whole(serve_config_reader *r, double *out, const cJSON *json, const char *name,
                          double low, double high)
{
    agg_err err = read_number(r, out, json, name, low, high);
    if (err != SHOAL_OK) return err;
    return *out == (double)(uint64_t)*out ? SHOAL_OK
                                          : serve_config_refuse(r, name, "must be a whole number");
}

static agg_err read_listen(serve_config_reader *r, const cJSON *json)
{
    r->config->listen = serve_config_string(r, json, "listen");
    if (r->config->listen == NULL) return r->error->code;
    return agg_http_address_read(&r->config->address, &r->config->is_loopback, r->config->listen)
               ? SHOAL_OK
               : serve_config_refuse(r, "listen", AGG_HTTP_ADDRESS_WHY);
}

static agg_err read_store(serve_config_reader *r, const cJSON *json)
{
    return serve_config_path(r, &r->config->store, json, "store");
}

static agg_err read_batch_secret_file(serve_config_reader *r, const cJSON *json)
{
    return serve_config_path(r, &r->config->batch_secret_file, json, "batch_secret_file");
}

static agg_err read_recipes(serve_config_reader *r, const cJSON *json)
{
    int n = cJSON_IsArray(json) ? cJSON_GetArraySize(json) : 0;
    if (n == 0) return serve_config_refuse(r, "recipes", "must be a list of files, at least one");
    r->config->recipes = agg_alloc(r->error, (size_t)n, sizeof *r->config->recipes);
    if (r->config->recipes == NULL) return AGG_ERR_MEMORY;
    const cJSON *one;
    cJSON_ArrayForEach(one, json)
    {
        agg_err err =
            serve_config_path(r, &r->config->recipes[r->config->n_recipes], one, "recipes");
        if (err != SHOAL_OK) return err;
        r->config->n_recipes++;
    }
    return SHOAL_OK;
}

static agg_err add_dictionary(serve_config_reader *r, const char *recipe, const char *name,
                              const cJSON *path)
{
    size_t cap = r->config->n_dictionaries;
    agg_err err = agg_grow((void **)&r->config->dictionaries, &cap, cap + 1,
                           sizeof *r->config->dictionaries, r->error);
    if (err != SHOAL_OK) return err;
    serve_dictionary_path *slot = &r->config->dictionaries[r->config->n_dictionaries++];
    *slot = (serve_dictionary_path){strdup(recipe), strdup(name),
                                    serve_config_copy_path(r, path, "dictionaries")};
    if (slot->path == NULL) return r->error->code;
    if (slot->recipe != NULL && slot->name != NULL) return SHOAL_OK;
    return agg_fail(r->error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
}

// Reads {"recipe id": "file"} or {"recipe id": {"name": "file", ...}}.
static agg_err read_dictionaries(serve_config_reader *r, const cJSON *json)
{
    if (!cJSON_IsObject(json))
        return serve_config_refuse(r, "dictionaries", "must be an object of recipe ids");
    agg_err err = serve_config_refuse_repeated(r, json, "dictionaries.");
    for (const cJSON *recipe = json->child; err == SHOAL_OK && recipe != NULL;
         recipe = recipe->next) {
        if (!cJSON_IsObject(recipe)) {
            err = add_dictionary(r, recipe->string, "default", recipe);
            continue;
        }
        err = serve_config_refuse_repeated(r, recipe, "dictionaries: ");
        for (const cJSON *one = recipe->child; err == SHOAL_OK && one != NULL; one = one->next) {
            err = add_dictionary(r, recipe->string, one->string, one);
        }
    }
    return err;
}

static agg_err read_period(serve_config_reader *r, const cJSON *json)
{
    if (cJSON_IsString(json) && agg_period_kind_parse(&r->config->period, json->valuestring))
        return SHOAL_OK;
    return serve_config_refuse(r, "period", "must be \"day\", \"week\" or \"all\"");
}

static agg_err read_retention(serve_config_reader *r, const cJSON *json)
{
    agg_retention *retention = &r->config->retention;
    if (!cJSON_IsObject(json)) return serve_config_refuse(r, "retention", "must be an object");
    agg_err err = serve_config_refuse_repeated(r, json, "retention.");
    for (const cJSON *one = json->child; err == SHOAL_OK && one != NULL; one = one->next) {
        bool is_days = strcmp(one->string, "days") == 0;
        double value = 0;
        if (!is_days && strcmp(one->string, "weeks") != 0)
            return agg_fail_unknown_field(r->error, "retention.", one->string,
                                          (const char *const[]){"days", "weeks"}, 2);
        err = read_whole(r, &value, one, is_days ? "retention.days" : "retention.weeks",
                         is_days ? 1 : 0, 36500);
        *(is_days ? &retention->days : &retention->weeks) = (uint32_t)value;
    }
    return err;
}

static agg_err read_fold_interval_s(serve_config_reader *r, const cJSON *json)
{
    return read_number(r, &r->config->fold_interval_s, json, "fold_interval_s", 0.05, 86400);
}

static agg_err read_check_interval_s(serve_config_reader *r, const cJSON *json)
{
    return read_number(r, &r->config->check_interval_s, json, "check_interval_s",
                       AGG_WATCH_INTERVAL_S_MIN, AGG_WATCH_INTERVAL_S_MAX);
}

static agg_err read_honest(serve_config_reader *r, const cJSON *json)
{
    return read_number(r, &r->config->honest, json, "honest", AGG_HONEST_MIN, 1);
}

static agg_err read_growth_alarm(serve_config_reader *r, const cJSON *json)
{
    agg_err err = read_number(r, &r->config->growth_alarm, json, "growth_alarm", 0, 1e6);
    if (err != SHOAL_OK || r->config->growth_alarm == 0 || r->config->growth_alarm > 1) return err;
    return serve_config_refuse(r, "growth_alarm", "must be 0 or above 1");
}

static agg_err read_max_body(serve_config_reader *r, const cJSON *json)
{
    double value = 0;
    agg_err err = read_whole(r, &value, json, "max_body", 1024, SHOAL_BATCH_SIZE_MAX);
    if (err == SHOAL_OK) r->config->max_body = (size_t)value;
    return err;
}

static agg_err read_body_timeout_s(serve_config_reader *r, const cJSON *json)
{
    double value = 0;
    agg_err err = read_whole(r, &value, json, "body_timeout_s", 1, 3600);
    if (err == SHOAL_OK) r->config->body_timeout_s = (uint32_t)value;
    return err;
}

static agg_err read_threads(serve_config_reader *r, const cJSON *json)
{
    double value = 0;
    agg_err err = read_whole(r, &value, json, "threads", 1, 64);
    if (err == SHOAL_OK) r->config->threads = (uint32_t)value;
    return err;
}

static agg_err read_limits(serve_config_reader *r, const cJSON *json)
{
    return agg_http_limits_read(&r->config->limits, r->error, json);
}

// Returns: whether a text is a URL of http or https without anything that HTML would have to
// escape.
static bool is_base_url(const char *text)
{
    static const char alphabet[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/[]%";
    size_t len = strlen(text), scheme = strncmp(text, "https://", 8) == 0  ? 8
                                        : strncmp(text, "http://", 7) == 0 ? 7
                                                                           : len;
    return scheme < len && len <= EDGE_URL_MAX && text[len - 1] != '/' &&
           strspn(text, alphabet) == len;
}

static agg_err read_edges(serve_config_reader *r, const cJSON *json)
{
    agg_err err = serve_config_texts(r, &r->config->edges, json, "edges");
    for (size_t i = 0; err == SHOAL_OK && i < r->config->edges.n; i++)
        if (!is_base_url(r->config->edges.list[i]))
            err = serve_config_refuse(r, "edges",
                                      "must be a list of http or https URLs, each "
                                      "without / at its end");
    return err;
}

static agg_err read_audit_log_bytes(serve_config_reader *r, const cJSON *json)
{
    double value = 0;
    agg_err err =
        read_whole(r, &value, json, "audit_log_bytes", AGG_AUDIT_ROTATE_MIN, AGG_AUDIT_ROTATE_MAX);
    if (err == SHOAL_OK) r->config->audit_log_bytes = (uint64_t)value;
    return err;
}

static const field fields[] = {
    {"listen", read_listen, 1},
    {"store", read_store, 1},
    {"recipes", read_recipes, 1},
    {"dictionaries", read_dictionaries, 0},
    {"batch_secret_file", read_batch_secret_file, 1},
    {"readers", serve_config_readers, 0},
    {"read_token_file", serve_config_read_token_file, 0},
    {"admin_token_file", serve_config_admin_token_file, 0},
    {"proxy", serve_config_proxy, 0},
    {"audit_log", serve_config_audit_log, 0},
    {"audit_log_bytes", read_audit_log_bytes, 0},
    {"period", read_period, 0},
    {"retention", read_retention, 0},
    {"fold_interval_s", read_fold_interval_s, 0},
    {"check_interval_s", read_check_interval_s, 0},
    {"honest", read_honest, 0},
    {"growth_alarm", read_growth_alarm, 0},
    {"max_body", read_max_body, 0},
    {"body_timeout_s", read_body_timeout_s, 0},
    {"threads", read_threads, 0},
    {"limits", read_limits, 0},
    {"edges", read_edges, 0},
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static agg_err refuse_unknown(serve_config_reader *r, const char *name)
{
    const char *names[FIELD_COUNT];
    for (int i = 0; i < FIELD_COUNT; i++) names[i] = fields[i].name;
    return agg_fail_unknown_field(r->error, "", name, names, FIELD_COUNT);
}

static agg_err read_object(serve_config_reader *r, const cJSON *json)
{
    if (!cJSON_IsObject(json))
        return serve_config_refuse(r, "configuration", "must be a JSON object");
    agg_err err = serve_config_refuse_repeated(r, json, "");
    uint32_t seen = 0;
    for (const cJSON *one = json->child; err == SHOAL_OK && one != NULL; one = one->next) {
        int i = 0;
        while (i < FIELD_COUNT && strcmp(fields[i].name, one->string) != 0) i++;
        if (i == FIELD_COUNT) return refuse_unknown(r, one->string);
        seen |= 1u << i;
        err = fields[i].read(r, one);
    }
    for (int i = 0; err == SHOAL_OK && i < FIELD_COUNT; i++) {
        if (!fields[i].is_required || seen >> i & 1) continue;
        err = agg_fail(r->error, SHOAL_ERR_MISSING_FIELD, AGG_EXIT_USAGE, "%s: missing",
                       fields[i].name);
    }
    if (err == SHOAL_OK) err = serve_config_check_access(r);
    return err;
}

// Refuses a file that is none: a pipe would hold a reload up until somebody writes into it.
static agg_err check_file(agg_error *error, const char *path)
{
    if (path == NULL || !agg_file_is_special(path)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: is a folder, a pipe or a device, no file",
                    path);
}

static agg_err check_files(agg_error *error, const serve_config *config)
{
    const char *const single[] = {config->batch_secret_file, config->read_token_file,
                                  config->admin_token_file};
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < sizeof single / sizeof *single; i++)
        err = check_file(error, single[i]);
    for (size_t i = 0; err == SHOAL_OK && i < config->n_recipes; i++)
        err = check_file(error, config->recipes[i]);
    for (size_t i = 0; err == SHOAL_OK && i < config->n_dictionaries; i++)
        err = check_file(error, config->dictionaries[i].path);
    for (size_t i = 0; err == SHOAL_OK && i < config->n_readers; i++)
        err = check_file(error, config->readers[i].token_file);
    return err;
}

agg_err serve_config_load(serve_config *config, agg_error *error, const char *path)
{
    *config = (serve_config){.period = AGG_PERIOD_DAY,
                             .retention = AGG_RETENTION_DEFAULT,
                             .fold_interval_s = 2,
                             .check_interval_s = AGG_WATCH_INTERVAL_S,
                             .growth_alarm = 3,
                             .max_body = (size_t)16 << 20,
                             .body_timeout_s = 30,
                             .threads = 4,
                             .limits = agg_http_limits_default(),
                             .audit_log_bytes = (uint64_t)64 << 20};
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, SERVE_CONFIG_FILE_MAX);
    if (err != SHOAL_OK) return err;
    const char *slash = strrchr(path, '/');
    serve_config_reader r = {config, error, path, slash == NULL ? 0 : (size_t)(slash - path) + 1};
    cJSON *json = agg_json_parse(error, (const char *)bytes.data, bytes.len);
    err = json == NULL ? error->code : read_object(&r, json);
    cJSON_Delete(json);
    free(bytes.data);
    if (err == SHOAL_OK) err = check_files(error, config);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_error_prefix(error, "%s", path);
    serve_config_release(config);
    return err;
}

void serve_config_release(serve_config *config)
{
    for (size_t i = 0; i < config->n_recipes; i++) free(config->recipes[i]);
    for (size_t i = 0; i < config->n_dictionaries; i++) {
        free(config->dictionaries[i].recipe);
        free(config->dictionaries[i].name);
        free(config->dictionaries[i].path);
    }
    free(config->recipes);
    free(config->dictionaries);
    free(config->listen);
    free(config->store);
    free(config->batch_secret_file);
    serve_config_release_texts(&config->edges);
    serve_config_release_access(config);
    *config = (serve_config){0};
}
