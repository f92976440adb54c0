// SPDX-License-Identifier: Apache-2.0
// The leader's own work, one step at a time: aggregation jobs and collections. One thread calls it.
#ifndef DAP_DRIVER_H
#define DAP_DRIVER_H

#include <stdbool.h>

#include "dap_link.h"

// Does the next thing that is due of a task: the job or the collection that is under way, else a
// new job, else a collection.
//   is_more: whether the next call has something to do at once
//   is_eager: make a job of any number of reports; else only of a full one, or where a collection
//   of a time that is over waits
// Returns: an error where the helper could not be reached or said something wrong, or the store
// failed: call again later.
agg_err agg_dap_leader_turn(bool *is_more, agg_error *error, agg_dap_party *party,
                            agg_dap_served *task, const agg_dap_link *link, uint64_t now_s,
                            bool is_eager) SHOAL_MUST_CHECK;

#endif
