// SPDX-License-Identifier: Apache-2.0
// Writes a recipe's JSON text from the parameters of one part, for the recommendation of a plan and
// for tests and benchmarks.
#ifndef PART_RECIPE_H
#define PART_RECIPE_H

#include <stdio.h>

#include "mechanism.h"
#include "recipe_json.h"

// The members of a recipe besides its mechanism and parameters. Texts are written unescaped and
// must hold no quotes.
typedef struct agg_recipe_frame {
    const char *id, *analysis, *stream,
        *value;             // `value` is "number" for a number or a histogram of one
    const char *seed_hex;   // 64 digits; written only where the mechanism takes a seed
    const char *low, *high; // the range, where `value` is "number"
    const char *expires;    // "YYYY-MM-DD"
    uint32_t per_day;
    uint32_t batch_minimum;  // 0: left out
    uint32_t cohort_minimum; // 0: left out
    uint32_t block_minimum;  // 0: left out
    const char *send;        // the text of `send`, such as AGG_SEND_DAY; NULL: left out
    const char *text;        // the text of `text`, such as {"max": 64}; NULL: left out
    const agg_text *values;  // the part's `size` listed values; NULL: the size is written instead
} agg_recipe_frame;

// `send` of a recipe whose reports answer for one event of a window.
#define AGG_SEND_VISIT "{\"pick\": \"uniform\", \"window\": \"visit\", \"delay_s\": 0}"
#define AGG_SEND_DAY "{\"pick\": \"uniform\", \"window\": \"day\"}"

// Writes the recipe.
//   part: with its mechanism's own fields set, as agg_account.propose gives it; it need not be
//   prepared
void agg_part_recipe_print(FILE *stream, const shoal_part *part, const agg_recipe_frame *frame);

#endif
