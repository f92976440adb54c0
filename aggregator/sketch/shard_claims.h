// SPDX-License-Identifier: Apache-2.0
// Shard claims list what an accumulator counts by manifests (ingest/manifest.h), where machines
// share one collection: for each manifest its name, into how many shards its batches were split,
// and which of the shards are counted. A list of ids would grow with the batches; this one does
// not. Once all shards are counted, the claim is that of one shard of 1: what is whole has the same
// bytes however it was split.
//
// Two accumulators that count the same shard share batches, and uniting their claims is refused. So
// is uniting shards of different splits of one manifest, and uniting two manifests of which neither
// names the other as an earlier one: nothing shows that they list different batches.
#ifndef SHARD_CLAIMS_H
#define SHARD_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "claims.h"

#define AGG_SHARDS_MAX 65536u    // shards of one manifest
#define AGG_EARLIER_MAX 4096u    // manifests that one names as earlier ones
#define AGG_MANIFESTS_MAX 4096u  // manifests that an accumulator counts
#define AGG_SHARD_CLAIM_HEAD 44u // bytes of a claim before its lists, in a file

typedef struct agg_shard_claim {
    uint8_t manifest[32]; // its name
    uint32_t generation;
    uint32_t n_shards;
    uint32_t n_earlier;
    uint8_t (*earlier)[32]; // names of its earlier manifests, ascending
    uint8_t *held;          // a bit for each shard, least significant first
} agg_shard_claim;

typedef struct agg_shard_claims {
    agg_shard_claim *list; // ascending by name
    size_t n, cap;
} agg_shard_claims;

// Returns: the shard of an id, 1 .. n_shards. A shard is a range of ids.
//   n_shards: 1 .. AGG_SHARDS_MAX
uint32_t agg_shard_of(const uint8_t id[AGG_CLAIM], uint32_t n_shards);

// Reads "i/N", a shard and the number of shards.
// Returns: AGG_ERR_USAGE unless 1 <= i <= N <= AGG_SHARDS_MAX.
agg_err agg_shard_parse(uint32_t *shard, uint32_t *n_shards, agg_error *error,
                        const char *text) SHOAL_MUST_CHECK;

void agg_shard_claims_release(agg_shard_claims *claims);

// Returns: whether a claim holds a shard, 1 .. n_shards.
bool agg_shard_claim_holds(const agg_shard_claim *claim, uint32_t shard);

// Returns: the number of shards that a claim holds.
uint32_t agg_shard_claim_count(const agg_shard_claim *claim);

// Returns: bytes of the bits of n_shards shards.
static inline size_t agg_shard_bits(uint32_t n_shards)
{
    return ((size_t)n_shards + 7) / 8;
}

// Makes the list of a single claim that holds one shard, or no shard yet if `shard` is 0.
//   about: manifest, generation, n_shards and the earlier manifests; copied
agg_err agg_shard_claims_of(agg_shard_claims *claims, agg_error *error,
                            const agg_shard_claim *about, uint32_t shard) SHOAL_MUST_CHECK;

// Makes the union of two lists. Release it with agg_shard_claims_release.
// Returns: SHOAL_ERR_DUPLICATE, naming it, for a shard that both hold, for different splits and for
// manifests that do not name one another; SHOAL_ERR_OVERFLOW beyond AGG_MANIFESTS_MAX.
agg_err agg_shard_claims_unite(agg_shard_claims *sum, agg_error *error, const agg_shard_claims *a,
                               const agg_shard_claims *b) SHOAL_MUST_CHECK;

// Returns: whether two lists are equal.
bool agg_shard_claims_equal(const agg_shard_claims *a, const agg_shard_claims *b);

// Returns: whether a list holds the one shard of another one, by the same split.
//   one: of agg_shard_claims_of
bool agg_shard_claims_hold(const agg_shard_claims *claims, const agg_shard_claims *one);

// How many shards the manifests of a list have in all, and how many of them are not held.
typedef struct agg_shards_about {
    uint64_t n, missing;
} agg_shards_about;
agg_shards_about agg_shard_claims_about(const agg_shard_claims *claims);

// Checks that every shard of every manifest is held.
// Returns: AGG_ERR_INCOMPLETE, naming the manifest and its first missing shards.
agg_err agg_shard_claims_check_whole(const agg_shard_claims *claims,
                                     agg_error *error) SHOAL_MUST_CHECK;

// Returns: the bytes of a claim in a file.
uint64_t agg_shard_claim_size(const agg_shard_claim *claim);

// Writes the first AGG_SHARD_CLAIM_HEAD bytes of a claim: the manifest's name, its generation, the
// number of shards, and the number of earlier manifests. The names of these follow, and the bits.
void agg_shard_claim_print_head(uint8_t bytes[AGG_SHARD_CLAIM_HEAD], const agg_shard_claim *claim);

// Reads such a head, and allocates the memory for what follows it.
// Returns: SHOAL_ERR_RANGE, AGG_ERR_MEMORY.
agg_err agg_shard_claim_read_head(agg_shard_claim *claim, agg_error *error,
                                  const uint8_t bytes[AGG_SHARD_CLAIM_HEAD]) SHOAL_MUST_CHECK;

// Checks a list that was read: its order, the order of the earlier manifests, at least one shard
// for each manifest, all of them only where there is one, no bits beyond the last shard, and that
// the manifests name one another. Returns: SHOAL_ERR_RANGE.
agg_err agg_shard_claims_check_read(const agg_shard_claims *claims) SHOAL_MUST_CHECK;

#define AGG_MANIFEST_TEXT 65 // characters of a printed name, NUL included

// Prints a manifest's name as hex digits. Returns: text.
const char *agg_manifest_print(char text[AGG_MANIFEST_TEXT], const uint8_t name[32]);

#endif
