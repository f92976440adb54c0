// SPDX-License-Identifier: Apache-2.0
// The configuration's fields of access: who reads, who administers, which proxy is believed, and
// where the audit log is. Only serve_config.c includes this header.
#ifndef SERVE_CONFIG_ACCESS_H
#define SERVE_CONFIG_ACCESS_H

#include "serve_config_read.h"

// Each reads the field of its name.
agg_err serve_config_readers(serve_config_reader *r, const cJSON *json);
agg_err serve_config_read_token_file(serve_config_reader *r, const cJSON *json);
agg_err serve_config_admin_token_file(serve_config_reader *r, const cJSON *json);
agg_err serve_config_proxy(serve_config_reader *r, const cJSON *json);
agg_err serve_config_audit_log(serve_config_reader *r, const cJSON *json);

// Checks what several fields say together: names differ, every reader can be told, and a server
// that others reach has somebody who may read.
agg_err serve_config_check_access(serve_config_reader *r);

void serve_config_release_access(serve_config *config);

#endif
