// SPDX-License-Identifier: Apache-2.0
// shoal plan --track: what a run over epochs (thresh, heavythresh) costs, and which changes it will
// see how late.
#ifndef PLAN_TRACK_H
#define PLAN_TRACK_H

#include "agg_error.h"

// Returns: whether the command line asks for --track.
int plan_is_track(int argc, char **argv);

// Reads the command line and prints.
//   argv: as cmd_plan's
//   help: set where --help was asked for, and nothing done
// Returns: AGG_ERR_USAGE for a run that cannot be, with the smallest group and number of users that
// could.
agg_err plan_track(agg_error *error, int argc, char **argv, int *help) SHOAL_MUST_CHECK;

#endif
