// SPDX-License-Identifier: Apache-2.0
// An accumulator holds what was learnt from the records of one recipe, as integers that merge.
//
// It holds sums. Some decoders must know which parts of a record came together (keeps_records of
// core/compound/compound.h); for their recipes it holds the distinct records too (record_set.h),
// until they are forgotten. From then on it holds sums alone.
//
// Adding and merging commute: any split of the records over files, machines and threads, in any
// order, gives the same bytes, apart from the claims. Merging with an accumulator that forgot its
// records gives one without records. An accumulator does not hold the recipe, but its id, its hash
// and the shape of each part, which is enough for merging.
//
// It lists the batches and files of reports that it counts (claims.h), and merging two that share
// one is refused. Who adds records says so: agg_accumulator_begin_claims before, and
// agg_accumulator_claim for what was added. An accumulator of which nobody said so has no claims.
// Where machines share a collection it lists shards of manifests instead (shard_claims.h). The two
// kinds are not merged: nothing shows whether they overlap.
//
// File, little-endian:
//     0    8  magic "shoalacc"
//     8    4  version: 4 where shards of manifests are claimed, and where only some rows are held;
//              3 with claims of ids; without, 2 where records are kept, else 1
//    12    4  number of parts, 1 .. 8
//    16   32  recipe hash
//    48    4  length of the recipe id
//    52   64  recipe id, zero-padded
//   116    8  n, records added
//   124   12  per part: mechanism id, k, m
//   version 3: flags (4 bytes): 1 where records are kept, 2 where some records are claimed by none
//              of the ids; the number of ids (4 bytes); the ids (16 bytes each), ascending
//   version 4: flags (4 bytes), as in version 3; the number of ids, the number of manifests, the
//              first and the last row that the file holds (4 bytes each), both 0 for all rows; the
//              ids; then for each manifest, ascending by name: its name (32 bytes), generation,
//              number of shards and number of earlier manifests (4 bytes each), the names of these
//              (32 bytes each, ascending), and a bit for each shard that is counted
//   then, without records: per part: records per row (4 bytes each, only where the mechanism keeps
//              them), then the cells (4 bytes each)
//   with records: the number of distinct records (8 bytes); then each record, in ascending order of
//              its bytes, and how often it came (4 bytes). Rows and cells are their sums
//   end    8  checksum of everything before it (XXH64)
#ifndef ACCUMULATOR_H
#define ACCUMULATOR_H

#include <stdbool.h>
#include <stdio.h>

#include "agg_error.h"
#include "claims.h"
#include "name.h"
#include "recipe_ref.h"
#include "record_set.h"
#include "shard_claims.h"
#include "sketch.h"

#define AGG_ACCUMULATOR_VERSION 1u
#define AGG_ACCUMULATOR_VERSION_RECORDS 2u
#define AGG_ACCUMULATOR_VERSION_CLAIMS 3u
#define AGG_ACCUMULATOR_VERSION_SHARDS 4u

// Rows first .. last of the sketches, both included. Rows are numbered from 1 through all parts; a
// part whose sketch has one row counts as one. {0, 0}: all rows.
typedef struct agg_rows {
    uint32_t first, last;
} agg_rows;

typedef struct agg_accumulator {
    uint8_t recipe_hash[32];
    char recipe_id[SHOAL_NAME_MAX + 1]; // NUL-terminated
    uint64_t n;                         // records that were added
    uint32_t n_parts;
    uint32_t record_size; // bytes of one record, all parts
    agg_sketch parts[SHOAL_PARTS_MAX];
    agg_record_set set; // record_size 0 where records are not kept
    agg_claims claims;
    agg_shard_claims shards; // instead of claims
    agg_rows rows;           // that the sketches hold; all but where a merge shares the work
} agg_accumulator;

// Returns: whether records are kept.
static inline bool agg_accumulator_keeps_records(const agg_accumulator *acc)
{
    return acc->set.record_size > 0;
}

// Returns: whether every record is claimed by an id of the list or by a shard. An accumulator
// without records has nothing that could be counted twice.
static inline bool agg_accumulator_is_claimed(const agg_accumulator *acc)
{
    return acc->claims.is_complete || acc->shards.n > 0 || acc->n == 0;
}

// Makes an empty accumulator of a finished recipe, without claims. Memory: 4 k m bytes a part, at
// most 1 GiB; records as record_set.h says; 16 bytes a claim.
agg_err agg_accumulator_init(agg_accumulator *acc, agg_error *error,
                             const shoal_recipe *recipe) SHOAL_MUST_CHECK;
void agg_accumulator_release(agg_accumulator *acc);

// Adds records that shoal_batch_open or shoal_record_check accepted. A call is fast when it brings
// several records a row: folder.h collects them.
//   records: count * record_size bytes
// Returns: SHOAL_ERR_OVERFLOW, with nothing added, when a count could no longer be exact or the
// distinct records would be too many to keep.
agg_err agg_accumulator_add(agg_accumulator *acc, agg_error *error, const uint8_t *records,
                            uint32_t count, unsigned n_threads) SHOAL_MUST_CHECK;

// Checks, before anything is added, that every cell can count `more` records exactly. The rule
// depends on n alone, so the order of adding and merging does not decide.
// Returns: SHOAL_ERR_OVERFLOW.
agg_err agg_accumulator_check_room(const agg_accumulator *acc, agg_error *error,
                                   uint64_t more) SHOAL_MUST_CHECK;

// Promises that agg_accumulator_claim will be called for every record that is added from here on.
// Records that were added without a claim before stay without one.
void agg_accumulator_begin_claims(agg_accumulator *acc);

// Notes that the accumulator counts these batches or files of reports, each of at least a record.
//   ids: n of them, in any order
// Returns: SHOAL_ERR_DUPLICATE, naming the id, for one that is claimed already or comes twice;
// SHOAL_ERR_OVERFLOW beyond AGG_CLAIMS_MAX. Nothing is noted then.
agg_err agg_accumulator_claim(agg_accumulator *acc, agg_error *error,
                              const uint8_t (*ids)[AGG_CLAIM], size_t n) SHOAL_MUST_CHECK;

// Replaces the claims by a complete list: these ids claim all records that the accumulator holds.
// For accumulators that come out of a database which knows the ids.
//   ids: n of them, in any order; at least one if there are records, and not more than records
// Returns: as agg_accumulator_claim; the claims are dropped then.
agg_err agg_accumulator_claim_all(agg_accumulator *acc, agg_error *error,
                                  const uint8_t (*ids)[AGG_CLAIM], size_t n) SHOAL_MUST_CHECK;

// Checks that what the accumulator counts and more shards can be claimed together, before the
// records of these are added.
// Returns: as agg_shard_claims_unite; SHOAL_ERR_DUPLICATE where the accumulator counts something
// else than shards.
agg_err agg_accumulator_check_shards(const agg_accumulator *acc, agg_error *error,
                                     const agg_shard_claims *shards) SHOAL_MUST_CHECK;

// Notes that the accumulator counts these shards, whose records were added since
// agg_accumulator_check_shards allowed it.
// Returns: as agg_shard_claims_unite; nothing is noted then.
agg_err agg_accumulator_claim_shards(agg_accumulator *acc, agg_error *error,
                                     const agg_shard_claims *shards) SHOAL_MUST_CHECK;

// Checks that the accumulator counts all shards of the manifests that it counts.
// Returns: AGG_ERR_INCOMPLETE, naming the manifest and what is missing.
agg_err agg_accumulator_check_whole(const agg_accumulator *acc, agg_error *error) SHOAL_MUST_CHECK;

// Checks that two accumulators are of one recipe and hold the same rows, as merging does.
// Returns: SHOAL_ERR_RECIPE_HASH, naming both recipes; SHOAL_ERR_ARGUMENT for other rows.
agg_err agg_accumulator_check_alike(const agg_accumulator *into, agg_error *error,
                                    const agg_accumulator *from) SHOAL_MUST_CHECK;

// Adds another accumulator of the same recipe, with its claims.
// Returns: SHOAL_ERR_RECIPE_HASH, naming both recipes; SHOAL_ERR_DUPLICATE, naming the id, if both
// claim the same, and where one counts shards and the other something else;
// SHOAL_ERR_OVERFLOW. Nothing is added then.
agg_err agg_accumulator_merge(agg_accumulator *into, agg_error *error,
                              const agg_accumulator *from) SHOAL_MUST_CHECK;

// Drops the records that are kept, if any. The sums stay; records and accumulators are added to
// them as before.
void agg_accumulator_forget(agg_accumulator *acc);

// Finds whether an accumulator's file keeps records. Reads its head only.
// Returns: AGG_ERR_IO, SHOAL_ERR_MAGIC, SHOAL_ERR_VERSION, SHOAL_ERR_TRUNCATED.
agg_err agg_accumulator_peek(bool *keeps_records, agg_error *error,
                             const char *path) SHOAL_MUST_CHECK;

// Reads the recipe and the number of records from the first bytes of an accumulator's file. Nothing
// behind them is looked at, and the checksum is not checked.
//   n: records that were added
// Returns: SHOAL_ERR_MAGIC, SHOAL_ERR_VERSION, SHOAL_ERR_TRUNCATED.
agg_err agg_accumulator_read_head(uint8_t recipe_hash[32], uint64_t *n, const uint8_t *bytes,
                                  size_t len) SHOAL_MUST_CHECK;

// What the head of an accumulator's file says of its claims, and which rows it holds.
typedef struct agg_claims_about {
    uint32_t n, n_manifests;
    bool is_complete;
    agg_rows rows;
    uint64_t n_rows; // that the sketches of the recipe have
} agg_claims_about;

// Finds how many claims a file lists. Reads its head only, and checks nothing else.
// Returns: as agg_accumulator_peek.
agg_err agg_accumulator_peek_claims(agg_claims_about *about, agg_error *error,
                                    const char *path) SHOAL_MUST_CHECK;

// Reads the claims of a file and nothing behind them; the checksum is not checked. Release with
// agg_claims_release and agg_shard_claims_release.
agg_err agg_accumulator_load_claims(agg_claims *claims, agg_shard_claims *shards, agg_error *error,
                                    const char *path) SHOAL_MUST_CHECK;

// Returns: bytes of the accumulator's file.
uint64_t agg_accumulator_size(const agg_accumulator *acc);

// Returns: bytes of memory that the accumulator holds. A file of records has no sums, and memory
// has both.
uint64_t agg_accumulator_memory(const agg_accumulator *acc);

// Finds the size of the file of a finished recipe's accumulator without claims, without making one.
// Where records are kept it is the most that the file can take.
agg_err agg_accumulator_size_of(uint64_t *size, agg_error *error,
                                const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Writes to a stream; the caller flushes and syncs.
agg_err agg_accumulator_write(FILE *stream, agg_error *error,
                              const agg_accumulator *acc) SHOAL_MUST_CHECK;

// Writes PATH atomically: a temporary file beside it, fsync, rename, fsync of the folder. "-" is
// standard output.
agg_err agg_accumulator_save(const agg_accumulator *acc, agg_error *error,
                             const char *path) SHOAL_MUST_CHECK;

// As agg_accumulator_save, with mode 0600 whatever the umask.
agg_err agg_accumulator_save_private(const agg_accumulator *acc, agg_error *error,
                                     const char *path) SHOAL_MUST_CHECK;

// As agg_accumulator_save on two threads, if n_threads is at least 2 and the file is 1 MiB or
// larger.
agg_err agg_accumulator_save_by(const agg_accumulator *acc, agg_error *error, const char *path,
                                unsigned n_threads) SHOAL_MUST_CHECK;

// Reads an accumulator. Anything but exactly what agg_accumulator_write writes is refused, and so
// is one that holds some rows only (AGG_ERR_INCOMPLETE). On error nothing is left to release.
//   name: of the stream, for error messages
agg_err agg_accumulator_read(agg_accumulator *acc, agg_error *error, const char *name,
                             FILE *stream) SHOAL_MUST_CHECK;
agg_err agg_accumulator_load(agg_accumulator *acc, agg_error *error,
                             const char *path) SHOAL_MUST_CHECK;

// Reads some rows of an accumulator that holds all, or one that holds these rows and no others. All
// of the file is read and its checksum checked. What it returns can be merged and written, and
// nothing else.
//   rows: {0, 0}: all that the file holds
// Returns: also SHOAL_ERR_ARGUMENT for a file of other rows, for rows that the sketches do not
// have, and for a file that keeps records.
agg_err agg_accumulator_read_rows(agg_accumulator *acc, agg_error *error, const char *name,
                                  FILE *stream, agg_rows rows) SHOAL_MUST_CHECK;
agg_err agg_accumulator_load_rows(agg_accumulator *acc, agg_error *error, const char *path,
                                  agg_rows rows) SHOAL_MUST_CHECK;

// Copies the rows of one accumulator into another one that holds all rows.
//   whole: of the same recipe
void agg_accumulator_put_rows(agg_accumulator *whole, const agg_accumulator *from);

// Makes an accumulator of the recipe, the count and the claims of another one, which are taken from
// it. It holds all rows, which are zeros.
agg_err agg_accumulator_init_like(agg_accumulator *acc, agg_error *error,
                                  agg_accumulator *like) SHOAL_MUST_CHECK;

// Returns: how many rows the sketches of an accumulator have, held or not.
uint32_t agg_accumulator_row_count(const agg_accumulator *acc);

// Checks that the accumulator belongs to this recipe: its hash, and also the shapes of its
// sketches, since a file may claim any hash and decoders read sketches as the recipe's parts say.
// Returns: SHOAL_ERR_RECIPE_HASH, naming both recipes.
agg_err agg_accumulator_check_recipe(const agg_accumulator *acc, agg_error *error,
                                     const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Whether a result may be shown though shards of manifests are missing.
typedef enum agg_wholeness { AGG_WHOLE_ONLY, AGG_MAY_BE_INCOMPLETE } agg_wholeness;

// Reads an accumulator whose result is to be shown. Every command that shows one reads it here.
// Returns: also as agg_accumulator_check_recipe, and with AGG_WHOLE_ONLY as
// agg_accumulator_check_whole, both behind the path. On error nothing is left to release.
agg_err agg_accumulator_load_result(agg_accumulator *acc, agg_error *error, const char *path,
                                    const shoal_recipe *recipe,
                                    agg_wholeness wholeness) SHOAL_MUST_CHECK;

#endif
