// SPDX-License-Identifier: Apache-2.0
// The labels by which results name buckets, cells and items of a closed domain. A label may contain
// entries of a recipe's lists, which are hostile text: print it as such (print_text.h).
#ifndef ITEM_LABEL_H
#define ITEM_LABEL_H

#include <stddef.h>
#include <stdint.h>

#include "recipe_json.h"

#define AGG_LABEL_MAX 64 // bytes with a NUL

// Writes the label of bucket i of a histogram in exact decimals: "[low, high)", or "[low, high]"
// for the last bucket. `low` is the least number in the bucket. Returns: the label's length.
int agg_bucket_print(char out[AGG_LABEL_MAX], const shoal_recipe *recipe, uint32_t i);

// Bytes of the label of a bucket and of a cell, with a NUL.
#define AGG_BUCKET_LABEL_MAX (2 * SHOAL_TOKEN_TEXT_MAX + 2)
#define AGG_CELL_LABEL_MAX (SHOAL_ENCODED_MAX * (2 * SHOAL_TOKEN_TEXT_MAX + 1 + 3))

// Writes the label of a bucket of one field of the encoding:
//   a number        "[20,30)", "[80,inf)"
//   tokens          "hello world a", "hello world <end>", "hello world <oov>"
//   characters      "covid", "cov<end>", "cov<oov>"; "covi<end>" if the word ends within the step
//   a listed value  the value
//   bucket 0        "<oov>"; "<none>" if the only prefix is the empty one
//   out: cut short at cap - 1 bytes, NUL-terminated; may be NULL if cap is 0
// Returns: the length of the whole label.
size_t agg_recipe_bucket_label(char *out, size_t cap, const agg_recipe *recipe, uint32_t field,
                               uint32_t bucket);

// Writes the label of an item: the labels of its buckets, in order, with " | " between two.
size_t agg_recipe_label(char *out, size_t cap, const agg_recipe *recipe, uint64_t item);

#endif
