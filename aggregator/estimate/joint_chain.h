// SPDX-License-Identifier: Apache-2.0
// A chain of events in a joint distribution, such as the steps of a funnel: how many devices have
// the wanted category in the first k variables, and how many of these have it in the next one too.
// Pure.
//
// Event k is the set of cells whose first k variables have their wanted category, so each event
// holds the next. Its share is the sum of its cells, with the variance that the covariance of the
// cells gives. The rate from event k to event k + 1 has Fieller's interval, with the covariance of
// the two, as agg_joint_rates has.
#ifndef JOINT_CHAIN_H
#define JOINT_CHAIN_H

#include "joint_covariance.h"

// Computes the shares and the rates of a chain over all variables, in their order.
//   reached: a share for each variable: of event 1, 2 and so on
//   onward: a rate for each variable but the last: from its event to the next one
//   astray: the share of all devices that have the wanted category of some variable without that
//   of the one before
//   wanted: a category for each variable
// Returns: AGG_ERR_MEMORY.
agg_err agg_joint_chain(agg_joint_share *reached, agg_joint_share *onward, agg_joint_share *astray,
                        agg_error *error, const agg_joint_covariance *covariance,
                        const uint32_t *wanted, double confidence) SHOAL_MUST_CHECK;

#endif
