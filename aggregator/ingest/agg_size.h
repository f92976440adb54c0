// SPDX-License-Identifier: Apache-2.0
// The one place where sizes are multiplied and memory is asked for.
#ifndef AGG_SIZE_H
#define AGG_SIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "agg_error.h"

// Writes a * b; false (and *product untouched) when it does not fit a size_t.
bool agg_size_multiply(size_t *product, size_t a, size_t b);

// Returns: `count` zeroed elements of `size` bytes, or NULL with `error` filled. count 0 gives a pointer that may be freed.
void *agg_alloc(agg_error *error, size_t count, size_t size);

// Grows *array to hold at least `needed` elements of `size` bytes, at least doubling *cap. New elements are not zeroed.
// Returns: SHOAL_OK, or AGG_ERR_MEMORY with the array as it was.
shoal_err agg_grow(void **array, size_t *cap, size_t needed, size_t size, agg_error *error) SHOAL_MUST_CHECK;

#endif
