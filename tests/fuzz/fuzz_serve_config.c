// SPDX-License-Identifier: Apache-2.0
// Property: a configuration file either is refused with a text, leaving nothing behind, or holds
// numbers within their stated ranges and everything that a server cannot do without.
#include <string.h>
#include <unistd.h>

#include "audit_log.h"
#include "fuzz.h"
#include "serve_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static char path[64];
    serve_config config;
    agg_error error = {0};
    if (path[0] == '\0') snprintf(path, sizeof path, "/tmp/shoal-fuzz-config-%ld", (long)getpid());
    FILE *file = fopen(path, "wb");
    PROPERTY(file != NULL && fwrite(data, 1, len, file) == len && fclose(file) == 0);
    shoal_err err = serve_config_load(&config, &error, path);
    unlink(path);
    if (err != SHOAL_OK) {
        PROPERTY(error.text[0] != '\0');
        return 0;
    }
    PROPERTY(config.listen != NULL && config.store != NULL && config.batch_secret_file != NULL &&
             config.n_recipes >= 1);
    PROPERTY(config.is_loopback || config.read_token_file != NULL || config.n_readers > 0);
    PROPERTY(config.n_readers <= SERVE_READERS_MAX);
    for (size_t i = 0; i < config.n_readers; i++) {
        const serve_reader *reader = &config.readers[i];
        PROPERTY(reader->name != NULL && strlen(reader->name) < SERVE_NAME_MAX);
        PROPERTY(reader->reads_all || reader->collections.n > 0);
        PROPERTY(reader->token_file != NULL || config.proxy.header != NULL);
    }
    PROPERTY(config.proxy.n_networks <= SERVE_PROXIES_MAX);
    PROPERTY((config.proxy.header == NULL) == (config.proxy.n_networks == 0));
    PROPERTY(config.audit_log_bytes >= AGG_AUDIT_ROTATE_MIN &&
             config.audit_log_bytes <= AGG_AUDIT_ROTATE_MAX);
    PROPERTY(config.check_interval_s >= 0.05 && config.check_interval_s <= 2592000);
    PROPERTY(config.fold_interval_s >= 0.05 && config.fold_interval_s <= 86400 &&
             config.max_body >= 1);
    PROPERTY(config.body_timeout_s >= 1 && config.body_timeout_s <= 3600 && config.threads >= 1 &&
             config.threads <= 64);
    const agg_http_limits *limits = &config.limits;
    PROPERTY(limits->header_timeout_s >= 1 && limits->header_timeout_s <= 3600 &&
             limits->connections_per_address <= 65536 && limits->requests_per_s <= 100000 &&
             limits->requests_burst >= 1 && limits->n_unlimited <= AGG_HTTP_UNLIMITED_MAX);
    for (size_t i = 0; i < config.n_dictionaries; i++)
        PROPERTY(config.dictionaries[i].recipe != NULL && config.dictionaries[i].name != NULL &&
                 config.dictionaries[i].path != NULL);
    serve_config_release(&config);
    return 0;
}
