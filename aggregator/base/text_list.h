// SPDX-License-Identifier: Apache-2.0
// The lists of texts in a recipe, in the file's order and with an index for look-ups. The core
// keeps only a digest of each list.
#ifndef TEXT_LIST_H
#define TEXT_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

typedef struct agg_text {
    const char *bytes; // not NUL-terminated
    size_t len;
} agg_text;

// Compares two texts by their bytes. A text comes before the texts that it begins.
// Returns: below, equal to or above 0.
int agg_text_compare(agg_text a, agg_text b);

// Returns: the number of bytes of the first n characters (code points) of the text; SIZE_MAX if the
// text has fewer.
//   text: valid UTF-8
size_t agg_characters_size(agg_text text, uint32_t n);

typedef struct agg_list {
    uint32_t n;
    agg_text *texts;  // in the file's order
    uint32_t *sorted; // indices of texts by their bytes
    char *pool;       // the texts' bytes
} agg_list;

struct cJSON;

// Copies a JSON array of distinct strings.
//   list: empty before; on error nothing is left to release
//   path: the name of the array in errors
// Returns: SHOAL_ERR_DUPLICATE, naming both entries, if two are equal; AGG_ERR_MEMORY.
agg_err agg_list_take(agg_list *list, agg_error *error, const char *path,
                      const struct cJSON *array) SHOAL_MUST_CHECK;

// Copies an array of distinct texts, as agg_list_take does.
//   n: below UINT32_MAX
agg_err agg_list_copy(agg_list *list, agg_error *error, const char *path, const agg_text *texts,
                      size_t n) SHOAL_MUST_CHECK;
void agg_list_release(agg_list *list);

#define AGG_NOT_LISTED UINT32_MAX

// Returns: the index of a text in the file's order, or AGG_NOT_LISTED.
// Cost: log2(n) comparisons.
uint32_t agg_list_find(const agg_list *list, agg_text text);

#endif
