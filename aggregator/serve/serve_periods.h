// SPDX-License-Identifier: Apache-2.0
// The page of one collection over time: its closed blocks by the days in which they closed, the
// largest values over them, and the first day against the last (static_report.h). Every period is a
// whole of closed blocks that can be asked for by itself, so the page shows nothing new.
#ifndef SERVE_PERIODS_H
#define SERVE_PERIODS_H

#include "serve_job.h"

#define SERVE_PERIODS_MAX 60u // the newest ones; older blocks are left out, and the page says so

// Answers a job that shows periods. The page of a span has the blocks of the span.
// Cost: reads the accumulator of each period up to three times.
void serve_periods_answer(serve_job *job, agg_store *store, unsigned n_threads);

#endif
