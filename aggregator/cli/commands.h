// SPDX-License-Identifier: Apache-2.0
// The rows of all commands, each defined in the cmd_*.c file of its name.
#ifndef COMMANDS_H
#define COMMANDS_H

#include "command.h"

extern const cli_command cmd_account, cmd_audit, cmd_changes, cmd_compare, cmd_completion, cmd_demo,
    cmd_discover, cmd_estimate, cmd_funnel, cmd_ingest, cmd_init, cmd_joint, cmd_manifest,
    cmd_merge, cmd_plan, cmd_policy, cmd_recipe, cmd_report, cmd_retention, cmd_round, cmd_simulate,
    cmd_track;
#ifdef SHOAL_WITH_SERVE
extern const cli_command cmd_audit_log, cmd_serve, cmd_store;
#endif
#ifdef SHOAL_WITH_LOG
extern const cli_command cmd_log;
#endif
#ifdef SHOAL_WITH_DAP
extern const cli_command cmd_collect, cmd_dap_key, cmd_upload;
#endif

#endif
