// SPDX-License-Identifier: Apache-2.0
// Checked multiplication and allocation; see agg_size.h.
#include "agg_size.h"

#include <stdint.h>
#include <stdlib.h>

bool agg_size_multiply(size_t *product, size_t a, size_t b)
{
    if (b != 0 && a > SIZE_MAX / b) return false;
    *product = a * b;
    return true;
}

static agg_err no_memory(agg_error *error, size_t count, size_t size)
{
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                    "no memory for %zu elements of %zu bytes", count, size);
}

void *agg_alloc(agg_error *error, size_t count, size_t size)
{
    size_t bytes = 0;
    void *memory = agg_size_multiply(&bytes, count, size) ? calloc(bytes > 0 ? bytes : 1, 1) : NULL;
    if (memory == NULL) no_memory(error, count, size);
    return memory;
}

agg_err agg_grow(void **array, size_t *cap, size_t needed, size_t size, agg_error *error)
{
    size_t bytes = 0, wanted = *cap < SIZE_MAX / 2 ? *cap * 2 : SIZE_MAX;
    if (needed <= *cap) return SHOAL_OK;
    if (wanted < needed) wanted = needed;
    if (wanted < 16) wanted = 16;
    if (!agg_size_multiply(&bytes, wanted, size)) return no_memory(error, wanted, size);
    void *grown = realloc(*array, bytes);
    if (grown == NULL) return no_memory(error, wanted, size);
    *array = grown;
    *cap = wanted;
    return SHOAL_OK;
}
