// SPDX-License-Identifier: Apache-2.0
// The leader's collections. The driver's thread calls these functions.
#ifndef DAP_BATCH_H
#define DAP_BATCH_H

#include <stdbool.h>

#include "dap_link.h"

// Asks the helper for the share of a batch that is being collected. *is_under_way: there is one.
agg_err agg_dap_batch_resume(bool *is_under_way, agg_dap_party *party, agg_error *error,
                             agg_dap_served *task, const agg_dap_link *link) SHOAL_MUST_CHECK;

// Moves the first waiting collection on whose reports are all aggregated and that can be decided.
// *is_moved: there was one.
//   is_forced: one whose interval is over is decided with the reports that it has
agg_err agg_dap_batch_advance(bool *is_moved, agg_dap_party *party, agg_error *error,
                              const agg_dap_served *task, uint64_t now_s,
                              bool is_forced) SHOAL_MUST_CHECK;

// Whether somebody waits for a batch to which nothing can be added any more but what has come late.
// Between begin and commit.
agg_err agg_dap_batch_is_awaited(bool *is_so, agg_dap_party *party, agg_error *error,
                                 const agg_dap_served *task, uint64_t now_s) SHOAL_MUST_CHECK;

#endif
