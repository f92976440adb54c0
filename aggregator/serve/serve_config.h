// SPDX-License-Identifier: Apache-2.0
// The configuration file of `shoal serve`: JSON, read strictly. Relative paths in it start at the
// file's own folder.
#ifndef SERVE_CONFIG_H
#define SERVE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "agg_error.h"
#include "http_limits.h"
#include "http_network.h"
#include "period.h"
#include "store_merge.h"

#define SERVE_CONFIG_FILE_MAX ((size_t)1 << 20)

typedef struct serve_dictionary_path {
    char *recipe; // recipe id
    char *name;   // as ?dictionary= calls it; "default" when the file gives only a path
    char *path;
} serve_dictionary_path;

#define SERVE_READERS_MAX 64
#define SERVE_NAME_MAX 65 // bytes of a reader's name with its NUL
#define SERVE_PROXIES_MAX 16

// A list of texts, and how it is released.
typedef struct serve_texts {
    char **list;
    size_t n;
} serve_texts;

// An entry of "readers".
typedef struct serve_reader {
    char *name;              // as the audit log and a proxy call the reader
    char *token_file;        // NULL: only a proxy can name the reader
    bool reads_all;          // every collection
    serve_texts collections; // recipe ids, if not
} serve_reader;

// "proxy": a header that a proxy sets to the name of whoever signed in there.
typedef struct serve_proxy {
    char *header; // NULL: no proxy is believed
    agg_http_network networks[SERVE_PROXIES_MAX];
    size_t n_networks;
    serve_texts admins; // names that administer
} serve_proxy;

typedef struct serve_config {
    char *listen; // as configured, for messages
    struct sockaddr_storage address;
    bool is_loopback;
    char *store;
    char **recipes;
    size_t n_recipes;
    serve_dictionary_path *dictionaries;
    size_t n_dictionaries;
    char *batch_secret_file;
    char *read_token_file;  // NULL when absent; of a reader "reader" of every collection
    char *admin_token_file; // NULL when absent
    serve_reader *readers;
    size_t n_readers;
    serve_proxy proxy;
    char *audit_log;          // folder; NULL: "audit" in the store's folder
    uint64_t audit_log_bytes; // at which a new file begins; default 64 MiB
    agg_period_kind period;   // default day
    agg_retention retention;  // how long questions get days and weeks; default 90 and 13
    double fold_interval_s;   // 0.05 .. 86400; default 2
    double check_interval_s;  // between two looks for damage; default a day
    double growth_alarm; // times the usual reports a day that raise an alarm; default 3; 0: none
    double honest;       // share of honest reports that results assume, 0.01 .. 1; 0: none
    size_t max_body;     // bytes of one batch; default 16 MiB
    uint32_t body_timeout_s; // seconds that a body may take to come in; 1 .. 3600, default 30
    uint32_t threads;        // of the HTTP pool; 1 .. 64, default 4
    agg_http_limits limits;  // of senders without a token
    serve_texts edges;       // URLs of edge workers, to which the page of delivery links
} serve_config;

// Reads and checks the file. Release `config` on OK. Errors name the file and the field.
agg_err serve_config_load(serve_config *config, agg_error *error,
                          const char *path) SHOAL_MUST_CHECK;
void serve_config_release(serve_config *config);

#endif
