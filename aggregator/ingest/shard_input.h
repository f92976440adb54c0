// SPDX-License-Identifier: Apache-2.0
// One shard of a manifest while its batches are folded: every batch that the manifest lists for the
// shard, once, and no other.
#ifndef SHARD_INPUT_H
#define SHARD_INPUT_H

#include "manifest.h"
#include "reader.h"

typedef struct agg_shard_input {
    agg_manifest manifest;
    const char *path; // of the manifest
    uint32_t shard, n_shards, record_size;
    size_t first, end;       // the shard's ids are [first, end) of the manifest's
    size_t n_seen;           // of them
    bool *seen;              // for each of them
    uint64_t *sums;          // checksums of the records, where version 1 is allowed
    agg_shard_claims claims; // what the accumulator will claim
    uint64_t n_repeated;
} agg_shard_input;

// Loads a manifest for a shard. Release it also after an error.
// Returns: SHOAL_ERR_RECIPE_HASH for a manifest of another recipe; AGG_ERR_USAGE for a recipe
// whose batches must not be shared.
agg_err agg_shard_input_open(agg_shard_input *input, agg_error *error, const agg_recipe *recipe,
                             const char *path, uint32_t shard, uint32_t n_shards) SHOAL_MUST_CHECK;
void agg_shard_input_release(agg_shard_input *input);

// Notes a batch. *is_fresh: whether it did not come before, and is to be counted.
//   file: that it came in, for error messages
// Returns: SHOAL_ERR_ARGUMENT, naming the batch, for one that the shard does not have;
// SHOAL_ERR_TYPE for lines; SHOAL_ERR_VERSION for version 1 unless the manifest allows it;
// SHOAL_ERR_BATCH_ID for other records under the id of an earlier batch.
agg_err agg_shard_input_take(agg_shard_input *input, agg_error *error, const agg_run *run,
                             const char *file, bool *is_fresh) SHOAL_MUST_CHECK;

// Checks that every batch of the shard came.
// Returns: SHOAL_ERR_MISSING_FIELD, naming the first one that did not.
agg_err agg_shard_input_check_all(const agg_shard_input *input, agg_error *error) SHOAL_MUST_CHECK;

#endif
