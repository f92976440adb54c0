// SPDX-License-Identifier: Apache-2.0
// "Other" over a list: one law for all records (joint_likelihood.h says how it is found). Private
// to estimate/.
#ifndef JOINT_OTHER_LIST_H
#define JOINT_OTHER_LIST_H

#include "joint_mixture.h"

// Makes Other's law. On error *mixture may be released.
//   mixture: zeroed
//   items: of a list
//   sketch: the sums of `n` reports; read where entries lie in blocks
agg_err agg_joint_other_list_make(agg_joint_mixture *mixture, agg_error *error,
                                  const agg_joint_items *items, const agg_sketch *sketch,
                                  uint64_t n, unsigned n_threads) SHOAL_MUST_CHECK;

#endif
