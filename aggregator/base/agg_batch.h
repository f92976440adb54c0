// SPDX-License-Identifier: Apache-2.0
// Opening batches with the fastest SHA-256 that the build has. The id of a batch of version 2 is a
// hash of all its bytes. libcrypto computes it with the processor's own instructions, four times as
// fast as the core's portable C; builds without libcrypto use the core's.
#ifndef AGG_BATCH_H
#define AGG_BATCH_H

#include "batch.h"

// The same as shoal_batch_open.
shoal_err agg_batch_open(shoal_batch *batch, const uint8_t *bytes, size_t len,
                         const shoal_recipe *recipe, uint32_t *bad_record) SHOAL_MUST_CHECK;

#endif
