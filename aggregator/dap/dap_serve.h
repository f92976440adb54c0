// SPDX-License-Identifier: Apache-2.0
// `shoal serve` as leader or helper: DAP's resources over HTTP, the leader's driver in a thread of
// its own, metrics and health.
//
//     GET  {base}/hpke_config                           both; open to pages
//     POST {base}/tasks/TASK/reports                    leader; open to pages; PUT from clients of
//                                                       DAP-09
//     POST {base}/tasks/TASK/collection_jobs[/ID]       leader; also GET and DELETE of ID; the
//                                                       collector's token
//     POST {base}/tasks/TASK/aggregation_jobs[/ID]      helper; also GET and DELETE of ID; the
//                                                       leader's token
//     POST {base}/tasks/TASK/aggregate_shares[/ID]      helper; also GET and DELETE of ID; the
//                                                       leader's token
//     GET  /metrics, /healthz                           both; metrics for this machine, or with the
//                                                       read token
//
// {base} is the path of the server's URL in a task. It may be left out, because some proxies remove
// it.
#ifndef DAP_SERVE_H
#define DAP_SERVE_H

#include <stdbool.h>

#include "agg_error.h"
#include "dap_memory.h"

// Serves until SIGTERM or SIGINT.
//   is_check: only read and check everything, then return
agg_err agg_dap_serve(agg_error *error, const agg_dap_config *config, const agg_dap_plan *plan,
                      bool is_check) SHOAL_MUST_CHECK;

#endif
