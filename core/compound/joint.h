// SPDX-License-Identifier: Apache-2.0
// A joint recipe has two or more variables of one event. Each is randomized by its own mechanism,
// and all are in one record (fanti-2016 section 3.1: the joint distribution is estimated from
// reports that hold both). Given the values, the parts are independent; the estimators use nothing
// else.
//
// Privacy: the sum of the variables' epsilons for one report, replacement model, for any two events
// whatever their values. A variable that an event lacks is SHOAL_ITEM_NONE, which its mechanism
// answers like any other item.
//
// A record is the parts in order; its text joins them by ';'. Accumulators keep the distinct
// records for keep_days days after their block closed, because a joint estimate needs to know which
// parts came together.
//
// A variable may have any mechanism of mechanisms.def that counts values, but no compound and no
// mean. Two variables with the same seed are refused: permanent coins (permanent.h) would show when
// their values agree.
#ifndef SHOAL_JOINT_H
#define SHOAL_JOINT_H

#include "compound.h"

#endif
