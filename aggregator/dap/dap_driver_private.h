// SPDX-License-Identifier: Apache-2.0
// What the leader's driver is made of: dap_driver.c takes turns, dap_job.c aggregates, dap_batch.c
// collects. Nothing else includes this. Functions with `task` belong to the driver's one thread.
#ifndef DAP_DRIVER_PRIVATE_H
#define DAP_DRIVER_PRIVATE_H

#include "dap_leader.h"

// Ends what agg_dap_begin began, by how it went.
agg_err agg_dap_step_end(agg_dap_store *store, agg_error *error, agg_err err) SHOAL_MUST_CHECK;

void agg_dap_reply_end(agg_dap_reply *reply);
// Says that the helper answered something else than was asked for. Returns: AGG_ERR_IO.
agg_err agg_dap_reply_fail(agg_error *error, const agg_dap_served *task,
                           const agg_dap_reply *reply);

// Sends the job that is kept. *is_under_way: there is one.
agg_err agg_dap_job_resume(int *is_under_way, agg_dap_party *party, agg_error *error,
                           agg_dap_served *task, const agg_dap_link *link) SHOAL_MUST_CHECK;

// Makes a job of the next reports, if any can be aggregated, keeps it and sends it.
agg_err agg_dap_job_run(agg_dap_party *party, agg_error *error, agg_dap_served *task,
                        const agg_dap_link *link) SHOAL_MUST_CHECK;

// Asks the helper for the share of a batch that is being collected. *is_under_way: there is one.
agg_err agg_dap_batch_resume(int *is_under_way, agg_dap_party *party, agg_error *error,
                             agg_dap_served *task, const agg_dap_link *link) SHOAL_MUST_CHECK;

// Moves the first waiting collection on whose reports are all aggregated and that can be decided.
// *is_moved: there was one.
//   is_forced: one whose interval is over is decided with the reports that it has
agg_err agg_dap_batch_advance(int *is_moved, agg_dap_party *party, agg_error *error,
                              const agg_dap_served *task, uint64_t now_s,
                              int is_forced) SHOAL_MUST_CHECK;

// Whether somebody waits for a batch to which nothing can be added any more but what has come late.
// Between begin and commit.
agg_err agg_dap_batch_is_awaited(int *is_so, agg_dap_party *party, agg_error *error,
                                 const agg_dap_served *task, uint64_t now_s) SHOAL_MUST_CHECK;

#endif
