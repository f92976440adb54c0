// SPDX-License-Identifier: Apache-2.0
// GET /metrics in the text format of Prometheus.
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include "serve_request.h"

// Answers with the counters since the start and the state of the store.
void serve_metrics_answer(serve_request *r);

#endif
