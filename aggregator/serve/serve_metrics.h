// SPDX-License-Identifier: Apache-2.0
// GET /metrics in the text format of Prometheus.
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include "serve_request.h"

// Answers with what the person may see: released records of the collections in scope, and for who
// administers the counters since the start and the live counts of every collection.
void serve_metrics_answer(serve_request *r);

#endif
