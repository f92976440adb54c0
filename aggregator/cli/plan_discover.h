// SPDX-License-Identifier: Apache-2.0
// shoal plan --discover: which way to find strings that nobody listed, with which parameters, and
// what it will find.
#ifndef PLAN_DISCOVER_H
#define PLAN_DISCOVER_H

#include "agg_error.h"

// Returns: whether the command line asks for --discover.
int plan_is_discover(int argc, char **argv);

// Reads the command line, plans, prints and writes the recipe that is asked for.
//   argv: as cmd_plan's
//   help: set where --help was asked for, and nothing done
agg_err plan_discover(agg_error *error, int argc, char **argv, int *help) SHOAL_MUST_CHECK;

#endif
