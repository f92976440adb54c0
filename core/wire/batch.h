// SPDX-License-Identifier: Apache-2.0
// A batch is the unit that the edge forwards and the aggregator folds. It is a header and
// fixed-width records, little-endian.
//
//     0   8  magic "shoalbat"
//     8   4  version, 1
//    12   4  record_size
//    16   4  count, 1 .. SHOAL_BATCH_COUNT_MAX
//    20   4  zero
//    24  32  recipe_hash
//    56  16  batch id, random, by which a repeated delivery counts once
//    72      count * record_size bytes of records
//   end   8  checksum of everything before it (XXH64)
//
// A stream of batches is a sequence of batches without gaps.
#ifndef SHOAL_BATCH_H
#define SHOAL_BATCH_H

#include "record.h"

#define SHOAL_BATCH_HEADER 72
#define SHOAL_BATCH_TRAILER 8
#define SHOAL_BATCH_COUNT_MAX 1000000u
#define SHOAL_BATCH_SIZE_MAX (1u << 28)

typedef struct shoal_batch {
    uint32_t count;
    uint32_t record_size;
    uint8_t recipe_hash[32];
    uint8_t id[16];
    uint64_t size; // bytes of the whole batch, header and trailer included
} shoal_batch;

// Returns: bytes of a batch of `count` records of this recipe, or 0 if it would exceed
// SHOAL_BATCH_SIZE_MAX or count is out of range.
size_t shoal_batch_size(const shoal_recipe *recipe, uint32_t count);

// Writes header and trailer around `count` records that already lie at bytes + SHOAL_BATCH_HEADER.
//   len: must be shoal_batch_size(recipe, count)
shoal_err shoal_batch_seal(uint8_t *bytes, size_t len, const shoal_recipe *recipe, uint32_t count,
                           const uint8_t id[16]) SHOAL_MUST_CHECK;

// Reads a header, so that a reader of a stream knows how many bytes to wait for. Checks only magic,
// version and sizes.
//   bytes: at least SHOAL_BATCH_HEADER; TRUNCATED for fewer
shoal_err shoal_batch_peek(shoal_batch *batch, const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

// Checks a whole batch: header, recipe hash, exact length (EXTRA if longer), checksum, and every
// record. On OK the records are at bytes + SHOAL_BATCH_HEADER.
//   bad_record: index of the first refused record on SHOAL_ERR_RECORD; may be NULL
shoal_err shoal_batch_open(shoal_batch *batch, const uint8_t *bytes, size_t len,
                           const shoal_recipe *recipe, uint32_t *bad_record) SHOAL_MUST_CHECK;

#endif
