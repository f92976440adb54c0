// SPDX-License-Identifier: Apache-2.0
// Finds the ids of the batches that a new manifest lists: from batches, from folders of them, or
// from a list of their names, so that an object store need not be downloaded.
#ifndef MANIFEST_GATHER_H
#define MANIFEST_GATHER_H

#include "claims.h"
#include "recipe_json.h"

typedef struct agg_gathered {
    uint8_t (*ids)[AGG_CLAIM]; // in any order; one may come several times
    size_t n, cap;
    bool has_version_1;
    uint64_t n_other; // files of folders whose names are not those of batches
} agg_gathered;

void agg_gathered_release(agg_gathered *gathered);

// Refuses a recipe whose reports must not lie in a shared store: aggregation "sum" or "dap".
// Returns: AGG_ERR_USAGE.
agg_err agg_manifest_check_recipe(agg_error *error, const agg_recipe *recipe) SHOAL_MUST_CHECK;

// Opens every batch of a file, or of all files NAME.batch, NAME.batch.zst and NAME.batch.gz of a
// folder and the folders in it. Opening checks that the id of each batch is its hash.
//   allows_version_1: lists batches of version 1 too, whose ids their senders drew; else they are
//   refused
// Returns: what readers refuse; SHOAL_ERR_VERSION for a batch of version 1; SHOAL_ERR_TYPE for a
// file of lines.
agg_err agg_gather_path(agg_gathered *gathered, agg_error *error, const agg_recipe *recipe,
                        const char *path, bool allows_version_1) SHOAL_MUST_CHECK;

// Reads names, one a line: an id of 32 hex digits, or the key of an object
//     [PREFIX/]<recipe hash>/<YYYY-MM-DD>/<first 2 digits of the id>/<id>.batch[.zst|.gz]
//   path: "-" is standard input
// Returns: SHOAL_ERR_TYPE, naming the line, for anything else; SHOAL_ERR_RECIPE_HASH for a key of
// another recipe.
agg_err agg_gather_names(agg_gathered *gathered, agg_error *error, const agg_recipe *recipe,
                         const char *path) SHOAL_MUST_CHECK;

#endif
