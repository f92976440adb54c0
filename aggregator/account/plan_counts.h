// SPDX-License-Identifier: Apache-2.0
// Reads a plan's frequencies from a counts file: value<TAB>count lines, or numbers that are counted
// by bucket.
#ifndef PLAN_COUNTS_H
#define PLAN_COUNTS_H

#include <stdbool.h>

#include "dictionary.h"
#include "plan.h"

typedef struct agg_plan_counts {
    agg_recipe reader; // accepts any string; the file is read with it
    agg_dictionary counts;
    uint64_t *buckets; // counts by bucket of a number; NULL where values are strings
} agg_plan_counts;

// The source of the counts, and the kind of their values.
typedef struct agg_plan_source {
    const char *path;
    bool is_open;                  // any string may be sent; else one of a list
    bool is_number;                // values are numbers from low to high, in wish->size buckets
    int64_t low_micro, high_micro; // range of a number, in millionths
} agg_plan_source;

// Reads the file and writes wish->law. Also writes wish->size for a list whose size the wish leaves
// open.
//   counts: zeroed; release it whatever is returned
// Returns: AGG_ERR_USAGE for a list that does not fit wish->size; SHOAL_ERR_TYPE for a value that
// is not a number.
agg_err agg_plan_counts_take(agg_plan_counts *counts, agg_plan_wish *wish, agg_error *error,
                             const agg_plan_source *source) SHOAL_MUST_CHECK;
void agg_plan_counts_release(agg_plan_counts *counts);

#endif
