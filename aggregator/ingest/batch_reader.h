// SPDX-License-Identifier: Apache-2.0
// Reading batches that follow one another, on one thread or several. Private to ingest/.
//
// Threads check the batches of a group at the same time, a few MiB of them: each thread its share,
// which is then given out in order; or, where order does not matter, one batch after another, which
// the thread that has checked it gives out itself.
#ifndef BATCH_READER_H
#define BATCH_READER_H

#include "reading.h"

// Reads the rest of the stream. A batch that is refused ends it, with an error that names the
// batch; the batches before it are given out.
agg_err agg_batch_reader_run(agg_reading *r) SHOAL_MUST_CHECK;

// Returns: the most bytes of batches of this size that are looked at together.
uint64_t agg_batch_reader_bytes(uint64_t batch_bytes, unsigned n_threads);

#endif
