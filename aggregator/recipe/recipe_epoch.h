// SPDX-License-Identifier: Apache-2.0
// The recipes of a run's epochs. They differ in `round` alone: the epoch's number, the query hash
// of the epoch before it, and whether that was an update. So one of them makes the others.
#ifndef RECIPE_EPOCH_H
#define RECIPE_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#include "recipe_json.h"

struct cJSON;

typedef struct agg_epoch {
    uint32_t index;          // from 1
    const uint8_t *previous; // query hash of the epoch before, 32 bytes; NULL for none
    bool is_update;          // whether that was an update
} agg_epoch;

// Puts an epoch in the place of a recipe's own, and takes its signature off.
agg_err agg_epoch_put(struct cJSON *root, agg_error *error,
                      const agg_epoch *epoch) SHOAL_MUST_CHECK;

// Makes the recipe of another epoch of a recipe's run. Release it on OK.
agg_err agg_recipe_of_epoch(agg_recipe *out, agg_error *error, const agg_recipe *recipe,
                            const agg_epoch *epoch) SHOAL_MUST_CHECK;

#endif
