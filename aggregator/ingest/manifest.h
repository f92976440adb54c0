// SPDX-License-Identifier: Apache-2.0
// A manifest lists the batches of one generation of a recipe, so that machines that fold them apart
// count each batch once. A late generation names the earlier manifests whose batches it leaves out.
// So the manifests of a recipe that name one another share no batch.
//
// File, little-endian:
//     0    8  magic "shoalman"
//     8    4  version, 1
//    12    4  flags: 1 where a batch of version 1 is listed, whose id is not its hash
//    16    4  generation: 1 without earlier manifests, else 1 more than the highest among them
//    20    4  number of earlier manifests, at most AGG_EARLIER_MAX
//    24    4  number of ids, 1 .. AGG_MANIFEST_IDS_MAX
//    28   32  recipe hash
//    60       hashes of all earlier manifests (32 bytes each), ascending
//             ids of the batches (16 bytes each), ascending
//   end   32  SHA-256 of everything before it: the manifest's name
//
// The same batches and earlier manifests give the same bytes.
#ifndef MANIFEST_H
#define MANIFEST_H

#include <stdbool.h>
#include <stdio.h>

#include "agg_file.h"
#include "shard_claims.h"

#define AGG_MANIFEST_IDS_MAX ((uint32_t)1 << 24)
#define AGG_MANIFEST_HEADER 60u
#define AGG_MANIFEST_FILE_MAX                                                                      \
    (AGG_MANIFEST_HEADER + 32 * (size_t)AGG_EARLIER_MAX +                                          \
     AGG_CLAIM * (size_t)AGG_MANIFEST_IDS_MAX + 32)

typedef struct agg_manifest {
    agg_bytes file; // owns what the pointers below show
    uint8_t name[32];
    uint8_t recipe_hash[32];
    bool has_version_1;
    uint32_t generation, n_earlier, n_ids;
    const uint8_t (*earlier)[32];
    const uint8_t (*ids)[AGG_CLAIM];
} agg_manifest;

// What a manifest is made of.
typedef struct agg_generation {
    const uint8_t *recipe_hash; // 32 bytes
    bool has_version_1;
    const agg_manifest *earlier; // n_earlier of them, in any order
    size_t n_earlier;
    uint8_t (*ids)[AGG_CLAIM]; // n_ids of them; sorted, and made unique and new, by the call
    size_t n_ids;
    uint64_t n_repeated, n_known; // set: ids that came more than once, and ids of earlier manifests
} agg_generation;

// Makes a manifest. Release with agg_manifest_release.
// Returns: SHOAL_ERR_MISSING_FIELD, naming it, for an earlier manifest whose own earlier manifest
// is not given; SHOAL_ERR_DUPLICATE for one that is given twice or for two that list one batch;
// SHOAL_ERR_RECIPE_HASH; SHOAL_ERR_RANGE where no new batch is left, or too many are.
agg_err agg_manifest_make(agg_manifest *manifest, agg_error *error,
                          agg_generation *generation) SHOAL_MUST_CHECK;

// Reads a manifest. Anything but exactly what agg_manifest_make makes is refused. On error nothing
// is left to release.
//   name: of the bytes, for error messages
//   file: on success it belongs to the manifest
// Returns: SHOAL_ERR_MAGIC, SHOAL_ERR_VERSION, SHOAL_ERR_TRUNCATED, SHOAL_ERR_EXTRA,
// SHOAL_ERR_RANGE, SHOAL_ERR_CHECKSUM.
agg_err agg_manifest_read(agg_manifest *manifest, agg_error *error, const char *name,
                          agg_bytes *file) SHOAL_MUST_CHECK;
agg_err agg_manifest_load(agg_manifest *manifest, agg_error *error,
                          const char *path) SHOAL_MUST_CHECK;
void agg_manifest_release(agg_manifest *manifest);

// Checks that manifests of one recipe do not overlap: none is given twice, none lists a batch of
// another, and of any two one names the other.
//   names: of their files, for error messages
// Returns: SHOAL_ERR_DUPLICATE, SHOAL_ERR_RECIPE_HASH, SHOAL_ERR_MISSING_FIELD.
agg_err agg_manifest_check_chain(agg_error *error, const agg_manifest *manifests,
                                 const char *const *names, size_t n) SHOAL_MUST_CHECK;

// Finds an id. Returns: its place on the list, or n_ids where it is not listed.
size_t agg_manifest_find(const agg_manifest *manifest, const uint8_t id[AGG_CLAIM]);

// Returns: the place of the first id that belongs to shard `shard` of n_shards or a later one. So
// shard i has the ids [start of i, start of i + 1).
//   shard: 1 .. n_shards + 1
size_t agg_manifest_shard_start(const agg_manifest *manifest, uint32_t shard, uint32_t n_shards);

#endif
