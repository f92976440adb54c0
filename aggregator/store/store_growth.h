// SPDX-License-Identifier: Apache-2.0
// How fast a collection grows, from its closed blocks alone.
#ifndef STORE_GROWTH_H
#define STORE_GROWTH_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_GROWTH_LEAST 3u // earlier closings without which nothing is usual
#define AGG_GROWTH_MOST 14u // earlier closings that say what is usual

typedef struct agg_store agg_store;

// Records a day. Days without a closing count to the next one.
typedef struct agg_growth {
    double newest; // of the blocks that closed on the last day
    double usual;  // median of the closings before; 0 where they are too few
} agg_growth;

// Compares the blocks that closed last with those before.
//   last_number: the newest block to look at (agg_released); later ones are left out
// Privacy: a function of the sizes of closed blocks, which anybody who may read the collection can
// ask for.
agg_err agg_store_growth(agg_store *store, agg_growth *growth, agg_error *error, int64_t collection,
                         int64_t last_number) SHOAL_MUST_CHECK;

#endif
