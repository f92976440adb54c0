// SPDX-License-Identifier: Apache-2.0
// Joint recipes: two or more variables of one event, each randomized by a mechanism of its own, in
// one record (fanti-2016 section 3.1: the joint distribution is estimated from reports that hold
// both). Given the values, parts are independent: that is all the estimators use.
//
// Privacy: the sum of the variables' epsilons for one report, replacement model, as for any two
// events whatever their values. A variable that an event lacks is SHOAL_ITEM_NONE, which its
// mechanism answers like any other item. Record: the parts in order; text: joined by ';'.
// Accumulators keep the distinct records for keep_days days beyond their period: a joint estimate
// needs to know which parts came together. Of a variable's mechanism: any of mechanisms.def that
// counts values; no compound, and no mean. Variables of one seed are refused: permanent coins
// (permanent.h) would show when two of them agree.
#ifndef SHOAL_JOINT_H
#define SHOAL_JOINT_H

#include "compound.h"

#endif
