// SPDX-License-Identifier: Apache-2.0
// Property: a configuration of leader or helper either is refused with a text, leaving nothing
// behind, or holds a task, a key, the secrets of its role and numbers within their stated ranges.
// What it may name lies beside it: keys, a task, secrets.
#include <sys/stat.h>
#include <unistd.h>

#include "dap_config.h"
#include "fuzz.h"

static const char task[] =
    "{\"version\":\"dap-18\",\"info\":\"t\",\"leader\":\"https://a.example\",\"helper\":\"https://"
    "b.example\","
    "\"time_precision_s\":3600,\"min_batch_size\":3,\"vdaf\":{\"type\":\"count\"}}";
static char folder[48];

static void path_of(char path[96], const char *name)
{
    snprintf(path, 96, "%s/%s", folder, name);
}

static void write_file(const char *name, const void *bytes, size_t len)
{
    char path[96];
    path_of(path, name);
    FILE *file = fopen(path, "wb");
    PROPERTY(file != NULL && fwrite(bytes, 1, len, file) == len && fclose(file) == 0 &&
             chmod(path, 0600) == 0);
}

static void remove_folder(void)
{
    static const char *const names[] = {"task", "secret", "public", "seed", "token", "config"};
    char path[96];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_of(path, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void make_folder(void)
{
    static const char hex[] = "000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f\n";
    char path[96];
    agg_hpke_key key;
    agg_error error;
    snprintf(folder, sizeof folder, "/tmp/shoal-fuzz-dap-%ld", (long)getpid());
    PROPERTY(mkdir(folder, 0700) == 0 && atexit(remove_folder) == 0);
    write_file("task", task, sizeof task - 1);
    write_file("seed", hex, sizeof hex - 1);
    write_file("token", hex, sizeof hex - 1);
    PROPERTY(agg_hpke_key_new(&key, &error, 1) == SHOAL_OK);
    path_of(path, "secret");
    PROPERTY(agg_hpke_key_save(&key, &error, path, AGG_HPKE_SECRET) == SHOAL_OK);
    path_of(path, "public");
    PROPERTY(agg_hpke_key_save(&key, &error, path, AGG_HPKE_PUBLIC) == SHOAL_OK);
    agg_hpke_key_wipe(&key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char path[96];
    agg_dap_config config;
    agg_error error = {SHOAL_OK, 0, ""};
    if (folder[0] == '\0') make_folder();
    write_file("config", data, len);
    path_of(path, "config");
    int is_one = agg_dap_config_is(path);
    if (agg_dap_config_load(&config, &error, path) != SHOAL_OK) {
        PROPERTY(error.code != SHOAL_OK && error.text[0] != '\0');
        return 0;
    }
    PROPERTY(is_one && (config.role == SHOAL_DAP_LEADER || config.role == SHOAL_DAP_HELPER));
    PROPERTY(config.listen != NULL && config.store != NULL && config.n_tasks >= 1 &&
             config.keys.n >= 1);
    PROPERTY(config.n_tasks <= AGG_DAP_TASKS_MAX && config.expected_token.n >= 1 &&
             !config.collector.has_secret);
    PROPERTY((config.role == SHOAL_DAP_LEADER) == (config.helper_token[0] != '\0'));
    PROPERTY(config.keep_s >= 86400 && config.threads >= 1 && config.threads <= 64 &&
             config.max_body >= 65536);
    PROPERTY(config.body_timeout_s >= 1 && config.body_timeout_s <= 3600);
    PROPERTY(config.job_reports >= 1 && config.job_reports <= 100000 && config.max_pending >= 1);
    PROPERTY(config.check_interval_s >= 0.05 && config.check_interval_s <= 2592000);
    PROPERTY(config.job_interval_s >= 0.05 && config.job_interval_s <= 86400);
    agg_dap_config_release(&config);
    return 0;
}
