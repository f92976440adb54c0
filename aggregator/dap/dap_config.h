// SPDX-License-Identifier: Apache-2.0
// The configuration file of `shoal serve` as leader or helper: JSON, read strictly. Its member
// `role` tells which. Relative paths in it start at the file's own folder. Loading it also loads
// keys, tasks and secrets.
#ifndef DAP_CONFIG_H
#define DAP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "agg_error.h"
#include "dap_party.h"
#include "dap_task.h"
#include "dap_token.h"
#include "http_limits.h"
#include "http_secret.h"

#define AGG_DAP_CONFIG_MAX ((size_t)1 << 20) // bytes of a configuration file
#define AGG_DAP_TASKS_MAX 256                // tasks of one server

typedef struct agg_dap_config {
    enum shoal_dap_role role;
    char *listen; // as configured, for messages
    struct sockaddr_storage address;
    bool is_loopback;
    char *store; // folder of the database
    agg_dap_task *tasks;
    size_t n_tasks;
    agg_dap_keys keys;
    agg_hpke_key collector;
    uint8_t seed[32]; // seed of the verification keys; the same at both servers
    char helper_token[AGG_DAP_TOKEN_MAX + 1]; // leader: the token that it sends
    agg_http_secret expected_token;     // at the helper the leader's, at the leader the collector's
    agg_http_secret read_token;         // for metrics; n 0: there is no token
    char helper_url[SHOAL_URL_MAX + 1]; // leader: the helper's URL; "": the tasks'
    uint64_t keep_s;                    // seconds for which reports are taken and their ids known
    size_t max_body;                    // most bytes of a request's body
    uint32_t body_timeout_s;
    uint32_t threads;
    agg_http_limits limits;  // of senders without a token
    uint64_t max_pending;    // leader: most reports of a task that may wait
    size_t job_reports;      // leader: most reports of one job
    double job_interval_s;   // leader: how long reports wait for a full job
    double check_interval_s; // between two looks for damage in the store; default a day
} agg_dap_config;

// Returns: whether a configuration file has a "role", as a DAP server's has. False for a file that
// cannot be read.
bool agg_dap_config_is(const char *path);

// Reads and checks the file and the files that it names. Release `config` on OK. Errors name the
// file and the field.
agg_err agg_dap_config_load(agg_dap_config *config, agg_error *error,
                            const char *path) SHOAL_MUST_CHECK;
void agg_dap_config_release(agg_dap_config *config); // wipes

#endif
