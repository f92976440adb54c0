// SPDX-License-Identifier: Apache-2.0
// The `shoal` program: the list of its commands.
#include "commands.h"

static const cli_command *const commands[] = {
    &cmd_demo,       &cmd_init,    &cmd_recipe,    &cmd_policy,   &cmd_simulate, &cmd_ingest,
    &cmd_manifest,   &cmd_merge,   &cmd_estimate,  &cmd_discover, &cmd_joint,    &cmd_track,
    &cmd_retention,  &cmd_funnel,  &cmd_round,     &cmd_plan,     &cmd_audit,    &cmd_account,
    &cmd_compare,    &cmd_changes, &cmd_report,
#ifdef SHOAL_WITH_SERVE
    &cmd_serve,      &cmd_store,   &cmd_audit_log,
#endif
#ifdef SHOAL_WITH_DAP
    &cmd_upload,     &cmd_collect, &cmd_dap_key,
#endif
#ifdef SHOAL_WITH_LOG
    &cmd_log,
#endif
    &cmd_completion, NULL,
};

int main(int argc, char **argv)
{
    return command_main(commands, argc, argv);
}
