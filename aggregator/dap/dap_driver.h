// SPDX-License-Identifier: Apache-2.0
// The leader's own work, one step at a time: aggregation jobs and collections. One thread calls it.
//
// A message to the helper is kept in the store before it is sent, and sent again unchanged after a
// crash. The leader's half of a verification is not kept: it is deterministic and computed again.
#ifndef DAP_DRIVER_H
#define DAP_DRIVER_H

#include <stdbool.h>

#include "dap_link.h"

// Does the next step of a task: sends the job or the collection that is under way, or makes a new
// job, or moves a collection.
//   is_more: whether the next call has something to do at once
//   is_eager: make a job of any number of reports; otherwise only a full job, or one for a
//   collection whose interval is over
// Returns: an error when the helper cannot be reached or replies wrongly, or when the store fails.
// Call again later then.
agg_err agg_dap_leader_turn(bool *is_more, agg_error *error, agg_dap_party *party,
                            agg_dap_served *task, const agg_dap_link *link, uint64_t now_s,
                            bool is_eager) SHOAL_MUST_CHECK;

#endif
