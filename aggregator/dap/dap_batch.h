// SPDX-License-Identifier: Apache-2.0
// The leader's collections. The driver's thread calls these functions.
#ifndef DAP_BATCH_H
#define DAP_BATCH_H

#include <stdbool.h>

#include "dap_link.h"

// Asks the helper for its share of the batch that is being collected, if there is one.
//   is_under_way: whether there was one
agg_err agg_dap_batch_resume(bool *is_under_way, agg_dap_party *party, agg_error *error,
                             agg_dap_served *task, const agg_dap_link *link) SHOAL_MUST_CHECK;

// Decides the first waiting collection that can be decided: all of its reports are aggregated.
//   is_moved: whether there was one
//   is_forced: decide a collection whose interval is over although some of its reports still wait
agg_err agg_dap_batch_advance(bool *is_moved, agg_dap_party *party, agg_error *error,
                              const agg_dap_served *task, uint64_t now_s,
                              bool is_forced) SHOAL_MUST_CHECK;

// Finds whether a collection waits whose interval is over, so that only late reports can enter it.
// Call between begin and commit.
agg_err agg_dap_batch_is_awaited(bool *is_so, agg_dap_party *party, agg_error *error,
                                 const agg_dap_served *task, uint64_t now_s) SHOAL_MUST_CHECK;

#endif
