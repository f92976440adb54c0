// SPDX-License-Identifier: Apache-2.0
// The modes of shoal plan that take options of their own.
#ifndef PLAN_MODES_H
#define PLAN_MODES_H

#include "command.h"

extern const cli_command plan_discover, plan_distribution, plan_track;

#endif
