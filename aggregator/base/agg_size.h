// SPDX-License-Identifier: Apache-2.0
// The one place where sizes are multiplied and memory is asked for.
#ifndef AGG_SIZE_H
#define AGG_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_LINE ((size_t)64) // bytes of a cache line

// Writes a * b; false (and *product untouched) when it does not fit a size_t.
bool agg_size_multiply(size_t *product, size_t a, size_t b);

// Returns: `count` zeroed elements of `size` bytes, or NULL with `error` filled. count 0 gives a
// pointer that may be freed.
void *agg_alloc(agg_error *error, size_t count, size_t size);

// Grows *array to hold at least `needed` elements of `size` bytes, at least doubling *cap. New
// elements are not zeroed. Returns: SHOAL_OK, or AGG_ERR_MEMORY with the array as it was.
agg_err agg_grow(void **array, size_t *cap, size_t needed, size_t size,
                 agg_error *error) SHOAL_MUST_CHECK;

// Returns: where the first cache line begins in memory that has AGG_LINE bytes more than are used:
// a vector that is read there spans no two lines.
static inline void *agg_line_start(void *memory)
{
    return (uint8_t *)memory + (AGG_LINE - (uintptr_t)memory % AGG_LINE) % AGG_LINE;
}

#endif
