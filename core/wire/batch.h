// SPDX-License-Identifier: Apache-2.0
// A batch is the unit that the edge forwards and the aggregator folds. It is a header and
// fixed-width records, little-endian. This is version 2:
//
//     0   8  magic "shoalbat"
//     8   4  version, 2
//    12   4  record_size
//    16   4  count, 1 .. SHOAL_BATCH_COUNT_MAX
//    20   4  the day on which the batch was sealed: UTC days since 1970, 1 .. SHOAL_BATCH_DAY_MAX
//    24  32  recipe_hash
//    56  16  batch id, by which a repeated delivery counts once: the first 16 bytes of SHA-256 over
//            "shoal batch", a zero byte, header bytes 0 .. 55, the salt and the records
//    72  16  salt, random
//    88      count * record_size bytes of records
//   end   8  checksum of everything before it (XXH64)
//
// So nobody can seal other records under an id that exists. The salt keeps apart two batches whose
// records are equal by chance: without it they would have one id and count once.
//
// In version 1, which is still read and can still be sealed, the u32 at 20 is zero, the id is 16
// random bytes, and the records begin at 72.
//
// A stream of batches is a sequence of batches without gaps, of either version.
#ifndef SHOAL_BATCH_H
#define SHOAL_BATCH_H

#include "record.h"

#define SHOAL_BATCH_HEADER 88
#define SHOAL_BATCH_HEADER_V1 72 // as many bytes are enough for shoal_batch_peek in both versions
#define SHOAL_BATCH_TRAILER 8
#define SHOAL_BATCH_COUNT_MAX 1000000u
#define SHOAL_BATCH_SIZE_MAX (1u << 28)
#define SHOAL_BATCH_DAY_MAX 84370u // 2200-12-31

typedef struct shoal_batch {
    uint32_t version;
    uint32_t day;    // on which it was sealed, in UTC days since 1970; 0 in version 1
    uint32_t header; // bytes before the records
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
// The same arguments and records give the same bytes.
//   len: must be shoal_batch_size(recipe, count)
//   day: 1 .. SHOAL_BATCH_DAY_MAX
//   salt: random, drawn for this batch alone
shoal_err shoal_batch_seal(uint8_t *bytes, size_t len, const shoal_recipe *recipe, uint32_t count,
                           uint32_t day, const uint8_t salt[16]) SHOAL_MUST_CHECK;

// The same of version 1, for aggregators that do not read version 2. The records lie at bytes +
// SHOAL_BATCH_HEADER_V1.
//   id: random
size_t shoal_batch_size_v1(const shoal_recipe *recipe, uint32_t count);
shoal_err shoal_batch_seal_v1(uint8_t *bytes, size_t len, const shoal_recipe *recipe,
                              uint32_t count, const uint8_t id[16]) SHOAL_MUST_CHECK;

// Reads a header of either version, so that a reader of a stream knows how many bytes to wait for.
// Checks only magic, version, sizes and day.
//   bytes: at least SHOAL_BATCH_HEADER_V1; TRUNCATED for fewer
shoal_err shoal_batch_peek(shoal_batch *batch, const uint8_t *bytes, size_t len) SHOAL_MUST_CHECK;

// Checks a whole batch: header, recipe hash, exact length (EXTRA if longer), checksum, every
// record, and in version 2 that the id is the hash. On OK the records are at bytes + batch->header.
//   bad_record: index of the first refused record on SHOAL_ERR_RECORD; may be NULL
shoal_err shoal_batch_open(shoal_batch *batch, const uint8_t *bytes, size_t len,
                           const shoal_recipe *recipe, uint32_t *bad_record) SHOAL_MUST_CHECK;

// The same without the hash, for a caller that compares shoal_batch_id, or a faster form of it,
// with batch->id.
shoal_err shoal_batch_open_unhashed(shoal_batch *batch, const uint8_t *bytes, size_t len,
                                    const shoal_recipe *recipe,
                                    uint32_t *bad_record) SHOAL_MUST_CHECK;

// The bytes that the id of version 2 is the hash of, one piece after the other.
#define SHOAL_BATCH_ID_PIECES 3
typedef struct shoal_batch_piece {
    const uint8_t *bytes;
    size_t len;
} shoal_batch_piece;

//   bytes: a batch of version 2 that `batch` is the header of
void shoal_batch_id_pieces(shoal_batch_piece pieces[SHOAL_BATCH_ID_PIECES],
                           const shoal_batch *batch, const uint8_t *bytes);

// Computes the id of a batch of version 2.
// Cost: SHA-256 over the batch.
void shoal_batch_id(uint8_t id[16], const shoal_batch *batch, const uint8_t *bytes);

#endif
