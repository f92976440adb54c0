// SPDX-License-Identifier: Apache-2.0
// Growth from the ledger of blocks; see store_growth.h.
#include "store_growth.h"

#include <stdlib.h>

#include "agg_size.h"
#include "store_blocks.h"

// Blocks that closed on one day.
typedef struct closing {
    int32_t day;
    double rate; // records a day since the closing before
} closing;

static int compare_rates(const void *a, const void *b)
{
    const closing *x = a, *y = b;
    return (x->rate > y->rate) - (x->rate < y->rate);
}

static double median(closing *list, size_t n)
{
    qsort(list, n, sizeof *list, compare_rates);
    return (list[(n - 1) / 2].rate + list[n / 2].rate) / 2;
}

// Joins the blocks that closed on one day. The ledger lists them in order.
// Returns: how many closings there are.
static size_t list_closings(closing *list, const agg_block *blocks, size_t n, int64_t last_number)
{
    size_t made = 0;
    int32_t before = n > 0 ? blocks[0].arrival - 1 : 0;
    for (size_t i = 0; i < n && blocks[i].number <= last_number; made++) {
        int32_t day = blocks[i].last_day;
        double records = 0;
        for (; i < n && blocks[i].number <= last_number && blocks[i].last_day == day; i++)
            records += (double)blocks[i].records;
        int32_t days = day > before ? day - before : 1; // the clock may have been set back
        list[made] = (closing){day, records / days};
        before = day;
    }
    return made;
}

agg_err agg_store_growth(agg_store *store, agg_growth *growth, agg_error *error, int64_t collection,
                         int64_t last_number)
{
    agg_block *blocks = NULL;
    size_t n = 0;
    *growth = (agg_growth){0, 0};
    agg_err err = agg_store_list_blocks(store, &blocks, &n, error, collection);
    closing *list = err == SHOAL_OK ? agg_alloc(error, n, sizeof *list) : NULL;
    if (err == SHOAL_OK && list == NULL) err = AGG_ERR_MEMORY;
    if (err == SHOAL_OK && (n = list_closings(list, blocks, n, last_number)) > 0) {
        size_t before = n - 1, used = before < AGG_GROWTH_MOST ? before : AGG_GROWTH_MOST;
        growth->newest = list[before].rate;
        if (before >= AGG_GROWTH_LEAST) growth->usual = median(list + before - used, used);
    }
    free(list);
    free(blocks);
    return err;
}
