// SPDX-License-Identifier: Apache-2.0
// What the files of shoal log share.
#ifndef LOG_ACTIONS_H
#define LOG_ACTIONS_H

#include <stdbool.h>

#include "command.h"

#define INIT_EXAMPLE "  shoal log init --log log --name example.org/log --key log.pem\n"

extern const cli_command log_check_action, log_prove_action;

// Reads the value of --format: table, which is the default, or json.
agg_err log_read_format(bool *is_json, agg_error *error, const char *text) SHOAL_MUST_CHECK;

#endif
