// SPDX-License-Identifier: Apache-2.0
// Reads the configuration of a leader or helper; see dap_config.h. The `take_` functions read one
// member of the JSON object; the `load_` functions read a file that a member names.
#include "dap_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agg_file.h"
#include "agg_size.h"
#include "bytes.h"
#include "http_address.h"
#include "json_object.h"
#include "json_walk.h"
#include "recipe_json.h"
#include "store_watch.h"

#define SEED_FILE_MAX 4096u
#define DAY_S 86400u

typedef struct reader {
    agg_dap_config *config;
    agg_object object; // the configuration; object.err keeps the first error
    agg_error *error;
    const char *folder; // starts with the configuration file's folder and its slash
    size_t folder_len;  // 0 if the file's path has no folder
} reader;

// Copies a path. A relative path starts at the configuration file's folder.
// Returns: a string to free; NULL if `text` is NULL, or on failure with r->object.err set.
static char *make_path(reader *r, const char *text)
{
    if (text == NULL) return NULL;
    size_t folder_len = text[0] == '/' ? 0 : r->folder_len, size = folder_len + strlen(text) + 1;
    char *path = agg_alloc(r->error, size, 1);
    if (path == NULL) {
        r->object.err = AGG_ERR_MEMORY;
        return NULL;
    }
    memcpy(path, r->folder, folder_len);
    memcpy(path + folder_len, text, size - folder_len);
    return path;
}

static char *take_path(reader *r, const char *name, bool is_required)
{
    return make_path(r, agg_object_string(&r->object, name, is_required));
}

// Keeps an error in r->object.err unless an earlier one is there.
static void keep(reader *r, agg_err err)
{
    if (r->object.err == SHOAL_OK) r->object.err = err;
}

// Takes a list of 1 .. max file names and calls `load` for each, up to the first error.
// Returns: how many files were loaded.
static size_t take_files(reader *r, const char *name, size_t max,
                         agg_err (*load)(reader *r, const char *path))
{
    const cJSON *list = agg_object_take(&r->object, name), *one;
    size_t n = 0;
    if (r->object.err != SHOAL_OK) return 0;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) == 0 ||
        (size_t)cJSON_GetArraySize(list) > max) {
        (void)agg_object_refuse(&r->object, list == NULL ? SHOAL_ERR_MISSING_FIELD : SHOAL_ERR_TYPE,
                                name, "must be a list of files, at least one and not too many");
        return 0;
    }
    cJSON_ArrayForEach(one, list)
    {
        if (!cJSON_IsString(one) || one->valuestring[0] == '\0') {
            (void)agg_object_refuse(&r->object, SHOAL_ERR_TYPE, name,
                                    "must hold names of files only");
            return n;
        }
        char *path = make_path(r, one->valuestring);
        if (path != NULL) keep(r, load(r, path));
        free(path);
        if (r->object.err != SHOAL_OK) return n;
        n++;
    }
    return n;
}

// Appends the task of a file to config->tasks.
static agg_err load_task(reader *r, const char *path)
{
    agg_dap_config *config = r->config;
    size_t cap = config->n_tasks;
    agg_err err = agg_grow((void **)&config->tasks, &cap, config->n_tasks + 1,
                           sizeof *config->tasks, r->error);
    if (err == SHOAL_OK) err = agg_dap_task_load(&config->tasks[config->n_tasks], r->error, path);
    if (err != SHOAL_OK) return err;
    const shoal_dap_task *task = &config->tasks[config->n_tasks++].task;
    for (size_t i = 0; i + 1 < config->n_tasks; i++) {
        if (memcmp(config->tasks[i].task.id, task->id, sizeof task->id) == 0)
            return agg_fail(r->error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                            "%s: another task has the same id", path);
    }
    return SHOAL_OK;
}

// Appends one of this server's own HPKE keys, with its secret half, to config->keys.
static agg_err load_key(reader *r, const char *path)
{
    agg_dap_keys *keys = &r->config->keys;
    agg_hpke_key key;
    agg_err err = agg_hpke_key_load(&key, r->error, path);
    if (err != SHOAL_OK) return err;
    if (!key.has_secret) {
        err = agg_fail(r->error, SHOAL_ERR_MISSING_FIELD, AGG_EXIT_USAGE,
                       "%s: a server needs its secret key", path);
    } else if (agg_dap_key_of(keys, key.id) != NULL) {
        err = agg_fail(r->error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                       "%s: another key has the id %u", path, key.id);
    } else {
        keys->list[keys->n++] = key;
    }
    agg_hpke_key_wipe(&key);
    return err;
}

// Loads the collector's public key. Refuses a file that also holds the secret half, which a server
// must not have.
static agg_err load_collector(reader *r, const char *path)
{
    agg_hpke_key key;
    agg_err err = agg_hpke_key_load(&key, r->error, path);
    if (err != SHOAL_OK) return err;
    if (key.has_secret)
        err = agg_fail(
            r->error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_PRIVACY,
            "%s: has the collector's secret key; a server must have the public half only", path);
    r->config->collector = key;
    agg_hpke_key_wipe(&key);
    return err;
}

// Refuses the seed file if its group or others have any access, because it holds a secret of the
// two servers. If the file is missing, reading it reports the error.
static agg_err check_owner_only(agg_error *error, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || (status.st_mode & 077) == 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_PRIVACY, "%s: others may read it; chmod 600", path);
}

// Loads the seed of the verification keys: one line of 64 hex digits.
static agg_err load_seed(reader *r, const char *path)
{
    agg_bytes bytes;
    agg_err err = check_owner_only(r->error, path);
    if (err == SHOAL_OK) err = agg_file_read(&bytes, r->error, path, SEED_FILE_MAX);
    if (err != SHOAL_OK) return err;
    char *text = (char *)bytes.data;
    text[strcspn(text, "\r\n")] = '\0';
    if (!agg_unhex(r->config->seed, sizeof r->config->seed, text))
        err = agg_fail(r->error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE,
                       "%s: must be 64 lower-case hex digits", path);
    wipe(bytes.data, bytes.len);
    free(bytes.data);
    return err;
}

// Loads the token that the leader sends to the helper.
static agg_err load_helper_token(reader *r, const char *path)
{
    return agg_dap_token_load(r->config->helper_token, r->error, path);
}

// Loads the token that this server asks of its caller. The helper's caller is the leader, and the
// leader's is the collector.
static agg_err load_expected_token(reader *r, const char *path)
{
    return agg_http_secret_load(&r->config->expected_token, r->error, path);
}

// Loads the token that readers of the metrics must send.
static agg_err load_read_token(reader *r, const char *path)
{
    return agg_http_secret_load(&r->config->read_token, r->error, path);
}

// Takes one file name and calls `load` for it.
static void take_file(reader *r, const char *name, bool is_required,
                      agg_err (*load)(reader *r, const char *path))
{
    char *path = take_path(r, name, is_required);
    if (path != NULL) keep(r, load(r, path));
    free(path);
}

static void take_listen(reader *r)
{
    const char *text = agg_object_string(&r->object, "listen", AGG_REQUIRED);
    if (text == NULL) return;
    r->config->listen = strdup(text);
    if (r->config->listen == NULL) {
        keep(r, agg_fail(r->error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory"));
    } else if (!agg_http_address_read(&r->config->address, &r->config->is_loopback, text)) {
        (void)agg_object_refuse(&r->object, SHOAL_ERR_TYPE, "listen", AGG_HTTP_ADDRESS_WHY);
    }
}

static void take_helper_url(reader *r)
{
    shoal_url url;
    const char *why, *text = agg_object_string(&r->object, "helper_url", AGG_OPTIONAL);
    if (text == NULL) return;
    if (shoal_url_set(&url, text, strlen(text), &why) != SHOAL_OK) {
        (void)agg_object_refuse(&r->object, SHOAL_ERR_TYPE, "helper_url", why);
        return;
    }
    memcpy(r->config->helper_url, url.bytes, url.len);
    r->config->helper_url[url.len] = '\0';
}

// Takes seconds, which need not be whole.
static void take_seconds(double *seconds, reader *r, const char *name, double low, double high)
{
    char why[64];
    const cJSON *json = agg_object_take(&r->object, name);
    if (json == NULL) return;
    if (cJSON_IsNumber(json) && json->valuedouble >= low && json->valuedouble <= high) {
        *seconds = json->valuedouble;
    } else {
        snprintf(why, sizeof why, "must be %g to %.0f", low, high);
        (void)agg_object_refuse(&r->object, SHOAL_ERR_RANGE, name, why);
    }
}

// Takes the limits of senders without a token.
static void take_limits(reader *r)
{
    const cJSON *json = agg_object_take(&r->object, "limits");
    if (json != NULL) keep(r, agg_http_limits_read(&r->config->limits, r->error, json));
}

// Takes the numbers. A job is the reports that the leader sends to the helper together, so only a
// leader has the numbers about jobs. The default of keep_days is here; agg_dap_config_load has the
// other defaults.
static void take_numbers(reader *r)
{
    agg_dap_config *config = r->config;
    uint64_t days = 14, max_body = config->max_body, timeout_s = config->body_timeout_s,
             threads = config->threads;
    uint64_t job_reports = config->job_reports;
    agg_object_whole(&days, &r->object, "keep_days", 1, 3650, AGG_OPTIONAL);
    agg_object_whole(&max_body, &r->object, "max_body", 65536, (uint64_t)1 << 30, AGG_OPTIONAL);
    agg_object_whole(&timeout_s, &r->object, "body_timeout_s", 1, 3600, AGG_OPTIONAL);
    agg_object_whole(&threads, &r->object, "threads", 1, 64, AGG_OPTIONAL);
    if (config->role == SHOAL_DAP_LEADER) {
        agg_object_whole(&job_reports, &r->object, "job_size", 1, 100000, AGG_OPTIONAL);
        agg_object_whole(&config->max_pending, &r->object, "max_pending", 1, (uint64_t)1 << 40,
                         AGG_OPTIONAL);
        take_seconds(&config->job_interval_s, r, "job_interval_s", 0.05, DAY_S);
    }
    take_seconds(&config->check_interval_s, r, "check_interval_s", AGG_WATCH_INTERVAL_S_MIN,
                 AGG_WATCH_INTERVAL_S_MAX);
    config->keep_s = days * DAY_S;
    config->max_body = (size_t)max_body;
    config->body_timeout_s = (uint32_t)timeout_s;
    config->threads = (uint32_t)threads;
    config->job_reports = (size_t)job_reports;
}

static agg_err read_object(reader *r, const cJSON *json)
{
    static const char *const roles[] = {"leader", "helper", NULL};
    agg_object_begin(&r->object, r->error, json, "", "the configuration");
    int role = agg_object_word(&r->object, "role", roles, AGG_REQUIRED);
    r->config->role = role == 0 ? SHOAL_DAP_LEADER : SHOAL_DAP_HELPER;
    take_listen(r);
    r->config->store = take_path(r, "store", AGG_REQUIRED);
    (void)take_files(r, "tasks", AGG_DAP_TASKS_MAX, load_task);
    (void)take_files(r, "hpke_keys", AGG_DAP_KEYS_MAX, load_key);
    take_file(r, "collector_key", AGG_REQUIRED, load_collector);
    take_file(r, "verify_key_seed_file", AGG_REQUIRED, load_seed);
    if (r->config->role == SHOAL_DAP_LEADER) {
        take_file(r, "helper_token_file", AGG_REQUIRED, load_helper_token);
        take_file(r, "collector_token_file", AGG_REQUIRED, load_expected_token);
        take_helper_url(r);
    } else {
        take_file(r, "helper_token_file", AGG_REQUIRED, load_expected_token);
    }
    take_file(r, "read_token_file", AGG_OPTIONAL, load_read_token);
    take_numbers(r);
    take_limits(r);
    return agg_object_end(&r->object);
}

agg_err agg_dap_config_load(agg_dap_config *config, agg_error *error, const char *path)
{
    *config = (agg_dap_config){.max_body = (size_t)16 << 20,
                               .body_timeout_s = 30,
                               .threads = 4,
                               .limits = agg_http_limits_default(),
                               .job_reports = 256,
                               .max_pending = 1000000,
                               .job_interval_s = 2,
                               .check_interval_s = AGG_WATCH_INTERVAL_S};
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, AGG_DAP_CONFIG_MAX);
    if (err != SHOAL_OK) return err;
    const char *slash = strrchr(path, '/');
    reader r = {.config = config,
                .error = error,
                .folder = path,
                .folder_len = slash == NULL ? 0 : (size_t)(slash - path) + 1};
    cJSON *json = agg_json_parse(error, (const char *)bytes.data, bytes.len);
    err = json == NULL ? error->code : read_object(&r, json);
    cJSON_Delete(json);
    free(bytes.data);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_error_prefix(error, "%s", path);
    agg_dap_config_release(config);
    return err;
}

void agg_dap_config_release(agg_dap_config *config)
{
    for (size_t i = 0; i < config->n_tasks; i++) agg_dap_task_release(&config->tasks[i]);
    free(config->tasks);
    free(config->listen);
    free(config->store);
    wipe(config, sizeof *config);
}

bool agg_dap_config_is(const char *path)
{
    agg_bytes bytes;
    agg_error ignored;
    if (agg_file_read(&bytes, &ignored, path, AGG_DAP_CONFIG_MAX) != SHOAL_OK) return false;
    cJSON *json = agg_json_parse(&ignored, (const char *)bytes.data, bytes.len);
    bool is_one = cJSON_IsObject(json) && cJSON_GetObjectItemCaseSensitive(json, "role") != NULL;
    cJSON_Delete(json);
    free(bytes.data);
    return is_one;
}
