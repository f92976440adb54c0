// SPDX-License-Identifier: Apache-2.0
// The labels by which results name buckets, cells and items of a closed domain. A label may contain
// entries of a recipe's lists, which are hostile text: print it as such (print_text.h).
#ifndef ITEM_LABEL_H
#define ITEM_LABEL_H

#include <stddef.h>
#include <stdint.h>

#include "recipe_json.h"

#define AGG_LABEL_MAX 64

// Writes the label of bucket i of a histogram: "[low, high)" in exact decimals, low being the least
// number that lies in it; the last one is closed, "[low, high]". Returns: its length.
int agg_bucket_print(char out[AGG_LABEL_MAX], const shoal_recipe *recipe, uint32_t i);

#define AGG_BUCKET_LABEL_MAX (2 * SHOAL_TOKEN_TEXT_MAX + 2) // bytes with a NUL
#define AGG_CELL_LABEL_MAX (SHOAL_ENCODED_MAX * (2 * SHOAL_TOKEN_TEXT_MAX + 1 + 3)) // the same

// What a bucket of a field is called: "[20,30)", "[80,inf)", "hello world a", "hello world <end>",
// "hello world <oov>", a listed value, of characters "cov<end>", "cov<oov>", "covid" and, where the
// word ends before the step does, "covi<end>"; "<oov>" for bucket 0 ("<none>" where the prefix is
// the empty one). And an item: the labels of its buckets, in order, between " | ". Lists are
// hostile text: print it as such.
//   out: cut short at cap - 1 bytes, NUL-terminated
// Returns: bytes of the whole label.
size_t agg_recipe_bucket_label(char *out, size_t cap, const agg_recipe *recipe, uint32_t field,
                               uint32_t bucket);
size_t agg_recipe_label(char *out, size_t cap, const agg_recipe *recipe, uint64_t item);

#endif
