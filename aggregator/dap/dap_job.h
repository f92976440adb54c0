// SPDX-License-Identifier: Apache-2.0
// The leader's aggregation jobs. The driver's thread calls these functions.
#ifndef DAP_JOB_H
#define DAP_JOB_H

#include <stdbool.h>

#include "dap_link.h"

// Sends the job that is kept, if there is one.
//   is_under_way: whether there was one
agg_err agg_dap_job_resume(bool *is_under_way, agg_dap_party *party, agg_error *error,
                           agg_dap_served *task, const agg_dap_link *link) SHOAL_MUST_CHECK;

// Makes a job of the next reports that can be aggregated, keeps it and sends it.
agg_err agg_dap_job_run(agg_dap_party *party, agg_error *error, agg_dap_served *task,
                        const agg_dap_link *link) SHOAL_MUST_CHECK;

// Returns: the most reports that one job of the task has.
size_t agg_dap_job_full(const agg_dap_party *party, const agg_dap_served *task);

// Returns: the most bytes of one encoded report of the task.
uint64_t agg_dap_report_len(const agg_dap_vdaf *vdaf);

// Returns: the bytes of memory that one report takes in a job.
uint64_t agg_dap_leader_report_bytes(const agg_dap_vdaf *vdaf);

#endif
