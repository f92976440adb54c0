// SPDX-License-Identifier: Apache-2.0
// The commands. Each takes its own argc and argv (argv[0] is its name) and returns an exit code.
#ifndef COMMANDS_H
#define COMMANDS_H

int cmd_account(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_discover(int argc, char **argv);
int cmd_estimate(int argc, char **argv);
int cmd_ingest(int argc, char **argv);
int cmd_joint(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_policy(int argc, char **argv);
int cmd_recipe(int argc, char **argv);
int cmd_round(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_track(int argc, char **argv);
#ifdef SHOAL_WITH_SERVE
int cmd_serve(int argc, char **argv);
#endif
#ifdef SHOAL_WITH_DAP
int cmd_collect(int argc, char **argv);
int cmd_dap_key(int argc, char **argv);
int cmd_upload(int argc, char **argv);
#endif

#endif
