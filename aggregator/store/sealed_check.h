// SPDX-License-Identifier: Apache-2.0
// Reads an accumulator or a batch whole and compares its checksum, in the memory of one chunk. It
// needs no recipe, so it also checks what no recipe of today's configuration reads. Only this room
// includes this header.
#ifndef SEALED_CHECK_H
#define SEALED_CHECK_H

#include <stdint.h>

#include "agg_error.h"
#include "pace.h"

// What the head of the bytes says.
typedef struct sealed_about {
    uint8_t recipe_hash[32];
    uint64_t n; // records
} sealed_about;

// Bytes that are read one piece after another.
typedef struct sealed_source {
    // Fills `bytes` with the next `len` bytes.
    // Returns: whether all of them were there.
    bool (*read)(void *context, uint8_t *bytes, size_t len);
    void *context;
    uint64_t len;       // of everything
    bool is_sleep_safe; // the pace may sleep between two pieces
} sealed_source;

// Checks magic, version, length and checksum.
//   is_stopped: the pace ended the check, and nothing is known
// Returns: SHOAL_ERR_MAGIC, SHOAL_ERR_VERSION, SHOAL_ERR_TRUNCATED, SHOAL_ERR_CHECKSUM,
// SHOAL_ERR_RANGE.
agg_err sealed_check(sealed_about *about, bool *is_stopped, const sealed_source *source,
                     const agg_pace *pace) SHOAL_MUST_CHECK;

#endif
