// SPDX-License-Identifier: Apache-2.0
// Checked sizes and allocation. All code multiplies sizes and allocates memory through these
// functions, so that an overflow or a lack of memory is an ordinary error.
#ifndef AGG_SIZE_H
#define AGG_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_LINE ((size_t)64) // bytes of a cache line

// Computes a * b.
// Returns: false, with *product untouched, if the product does not fit a size_t.
bool agg_size_multiply(size_t *product, size_t a, size_t b);

// Allocates `count` zeroed elements of `size` bytes. Release with free.
// Returns: the memory, also for a count of 0; NULL with `error` filled on failure.
void *agg_alloc(agg_error *error, size_t count, size_t size);

// Grows *array, if necessary, to hold at least `needed` elements of `size` bytes. It at least
// doubles *cap when it grows. New elements are not zeroed.
//   cap: elements that *array holds
// Returns: AGG_ERR_MEMORY, with the array as it was, on failure.
agg_err agg_grow(void **array, size_t *cap, size_t needed, size_t size,
                 agg_error *error) SHOAL_MUST_CHECK;

// Returns: the first cache line boundary in the memory, so that no vector that is read from there
// spans two lines.
//   memory: with room for AGG_LINE bytes more than are used
static inline void *agg_line_start(void *memory)
{
    return (uint8_t *)memory + (AGG_LINE - (uintptr_t)memory % AGG_LINE) % AGG_LINE;
}

#endif
