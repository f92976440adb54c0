// SPDX-License-Identifier: Apache-2.0
// What the help of shoal plan says of --distribution, --discover and --track.
#ifndef PLAN_MODES_HELP_H
#define PLAN_MODES_HELP_H

extern const char agg_plan_modes_help[]; // lines

#endif
