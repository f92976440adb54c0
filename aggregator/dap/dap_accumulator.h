// SPDX-License-Identifier: Apache-2.0
// Accumulators from the sums of a collected batch. Devices split their records as
// core/split/split.h says, so the sums are the counters that folding the records would have left.
// Every estimator works on such an accumulator as on any other.
#ifndef DAP_ACCUMULATOR_H
#define DAP_ACCUMULATOR_H

#include <stdbool.h>

#include "accumulator.h"
#include "dap_collect.h"
#include "dap_task.h"
#include "split.h"

// Returns: whether n verified measurements of a VDAF can have these sums, one sum for each of its
// outputs. The sums of two shares of different batches nearly always fail this check.
bool agg_dap_are_sums_of(const shoal_prio3_parameters *vdaf, const uint64_t *sums, size_t n_sums,
                         uint64_t n);

// Makes the accumulator that adding n records one by one would have made.
//   acc: release on OK
//   recipe: finished, of one mechanism
//   split: the recipe's part
//   sums: split->prio3.length sums
// Returns: SHOAL_ERR_RECORD for sums that no n accepted reports have, as of shares of different
// batches; SHOAL_ERR_OVERFLOW for more records than an accumulator counts.
agg_err agg_accumulator_of_sums(agg_accumulator *acc, agg_error *error, const shoal_recipe *recipe,
                                const shoal_split *split, const uint64_t *sums,
                                uint64_t n) SHOAL_MUST_CHECK;

// Makes the accumulator of a collected batch of a recipe's task, which claims it.
//   acc: release on OK
//   query: the interval that was asked for
agg_err agg_dap_accumulator_of(agg_accumulator *acc, agg_error *error, const agg_dap_task *task,
                               const agg_dap_collected *collected,
                               const shoal_dap_interval *query) SHOAL_MUST_CHECK;

#endif
