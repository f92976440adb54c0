// SPDX-License-Identifier: Apache-2.0
// Accumulators: everything that was learnt from the records of one recipe, as mergeable integers.
//
// Sums, and for recipes whose decoder must know which parts came together (keeps_records of
// core/compound/compound.h) the distinct records themselves (record_set.h) beside them, until they
// are forgotten: then sums alone, for good.
//
// Adding and merging commute: any split of the records over files, machines and threads, in any
// order, gives the same bytes; what is merged with an accumulator that forgot its records has none.
// An accumulator does not hold the recipe; it holds its id, its hash and the shape of each part,
// enough to be merged without it.
//
// File, little-endian:
//     0    8  magic "shoalacc"
//     8    4  version: 1, or 2 where records are kept
//    12    4  number of parts, 1 .. 8
//    16   32  recipe hash
//    48    4  length of the recipe id
//    52   64  recipe id, zero-padded
//   116    8  n, records added
//   124   12  per part: mechanism id, k, m
//   version 1:  per part: records per row (4 bytes each, only where the mechanism keeps them), then
//   the cells (4 bytes each) version 2:  number of distinct records (8 bytes); each of them, in
//   ascending order of its bytes: the record, how often it came (4 bytes).
//               Cells and rows are what these records sum to
//   end    8  checksum of everything before it (XXH64)
#ifndef ACCUMULATOR_H
#define ACCUMULATOR_H

#include <stdbool.h>
#include <stdio.h>

#include "agg_error.h"
#include "recipe.h"
#include "record_set.h"
#include "sketch.h"

#define AGG_ACCUMULATOR_VERSION 1u
#define AGG_ACCUMULATOR_VERSION_RECORDS 2u

typedef struct agg_accumulator {
    uint8_t recipe_hash[32];
    char recipe_id[SHOAL_NAME_MAX + 1]; // NUL-terminated
    uint64_t n;                         // records added
    uint32_t n_parts;
    uint32_t record_size; // bytes of one record, all parts
    agg_sketch parts[SHOAL_PARTS_MAX];
    agg_record_set set; // record_size 0 where records are not kept
} agg_accumulator;

// Returns: whether records are kept.
static inline bool agg_accumulator_keeps_records(const agg_accumulator *acc)
{
    return acc->set.record_size > 0;
}

// An empty accumulator of a finished recipe. Memory: 4 k m bytes a part, at most 1 GiB; records as
// record_set.h says.
agg_err agg_accumulator_init(agg_accumulator *acc, agg_error *error,
                             const shoal_recipe *recipe) SHOAL_MUST_CHECK;
void agg_accumulator_release(agg_accumulator *acc);

// Adds records that shoal_batch_open or shoal_record_check accepted. Fastest when called with many
// at once (several records a row): collect with folder.h.
//   records: count * record_size bytes
// Returns: SHOAL_ERR_OVERFLOW (nothing added) when a count could no longer be exact, or distinct
// records would be too many to keep.
agg_err agg_accumulator_add(agg_accumulator *acc, agg_error *error, const uint8_t *records,
                            uint32_t count, unsigned n_threads) SHOAL_MUST_CHECK;

// Refuses what some cell could not count exactly, before anything is added: the rule depends on n
// alone, so that no order of adding and merging decides.
//   more: records that would come to those that are there
// Returns: SHOAL_ERR_OVERFLOW.
agg_err agg_accumulator_check_room(const agg_accumulator *acc, agg_error *error,
                                   uint64_t more) SHOAL_MUST_CHECK;

// Adds another accumulator of the same recipe.
// Returns: SHOAL_ERR_RECIPE_HASH naming both recipes, SHOAL_ERR_OVERFLOW; nothing added then.
agg_err agg_accumulator_merge(agg_accumulator *into, agg_error *error,
                              const agg_accumulator *from) SHOAL_MUST_CHECK;

// Drops the records that are kept, if any: what stays are the sums, to which records and
// accumulators are added as before.
void agg_accumulator_forget(agg_accumulator *acc);

// Finds whether the file of an accumulator keeps records, without reading more than its head.
// Returns: AGG_ERR_IO, SHOAL_ERR_MAGIC, SHOAL_ERR_VERSION, SHOAL_ERR_TRUNCATED.
agg_err agg_accumulator_peek(bool *keeps_records, agg_error *error,
                             const char *path) SHOAL_MUST_CHECK;

// Returns: bytes of the accumulator's file.
uint64_t agg_accumulator_size(const agg_accumulator *acc);

// Finds the same for a finished recipe, without making one; of one that keeps records the most that
// it can take.
agg_err agg_accumulator_size_of(uint64_t *size, agg_error *error,
                                const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Writes to a stream; the caller flushes and syncs.
agg_err agg_accumulator_write(FILE *stream, agg_error *error,
                              const agg_accumulator *acc) SHOAL_MUST_CHECK;

// Writes PATH atomically: a temporary file beside it, fsync, rename, fsync of the folder. "-" is
// standard output.
agg_err agg_accumulator_save(const agg_accumulator *acc, agg_error *error,
                             const char *path) SHOAL_MUST_CHECK;

// The same on two threads, where n_threads is 2 or more and it is large.
agg_err agg_accumulator_save_by(const agg_accumulator *acc, agg_error *error, const char *path,
                                unsigned n_threads) SHOAL_MUST_CHECK;

// Reads one, refusing anything but exactly what agg_accumulator_write writes. On error nothing is
// left to release.
//   name: what errors call it
agg_err agg_accumulator_read(agg_accumulator *acc, agg_error *error, const char *name,
                             FILE *stream) SHOAL_MUST_CHECK;
agg_err agg_accumulator_load(agg_accumulator *acc, agg_error *error,
                             const char *path) SHOAL_MUST_CHECK;

// SHOAL_ERR_RECIPE_HASH, naming both, unless the accumulator is of this recipe: by its hash, and by
// its sketches, which decoders read as the recipe's parts say. A file may claim any hash.
agg_err agg_accumulator_check_recipe(const agg_accumulator *acc, agg_error *error,
                                     const shoal_recipe *recipe) SHOAL_MUST_CHECK;

#endif
