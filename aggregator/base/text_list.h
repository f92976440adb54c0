// SPDX-License-Identifier: Apache-2.0
// Lists of strings out of a JSON file, in order, with an index for look-ups: what the core keeps a
// digest of only.
#ifndef TEXT_LIST_H
#define TEXT_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

typedef struct agg_text {
    const char *bytes; // not NUL-terminated
    size_t len;
} agg_text;

// Returns: below, at or above 0, by bytes; a text comes before those it begins.
int agg_text_compare(agg_text a, agg_text b);

// Bytes of the first n characters (code points) of valid UTF-8. Returns: SIZE_MAX where there are
// fewer.
size_t agg_characters_size(agg_text text, uint32_t n);

typedef struct agg_list {
    uint32_t n;
    agg_text *texts;  // in the file's order
    uint32_t *sorted; // indices of texts by their bytes
    char *pool;       // the texts' bytes
} agg_list;

struct cJSON;

// Copies a JSON array of strings, no two alike.
//   list: empty before; on error nothing is left to release
//   path: what an error calls the array
// Returns: DUPLICATE, naming both entries; MEMORY.
agg_err agg_list_take(agg_list *list, agg_error *error, const char *path,
                      const struct cJSON *array) SHOAL_MUST_CHECK;
// The same of texts that are there already; of no more than UINT32_MAX - 1.
agg_err agg_list_copy(agg_list *list, agg_error *error, const char *path, const agg_text *texts,
                      size_t n) SHOAL_MUST_CHECK;
void agg_list_release(agg_list *list);

#define AGG_NOT_LISTED UINT32_MAX

// Returns: the index of a text, or AGG_NOT_LISTED. Cost: log2(n) comparisons.
uint32_t agg_list_find(const agg_list *list, agg_text text);

#endif
