// SPDX-License-Identifier: Apache-2.0
// The periods of a collection: the days in which its blocks closed, or the weeks and months that
// retention made of them. Each is a whole of closed blocks that a question for one day gets.
#ifndef SERVE_SPANS_H
#define SERVE_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "period.h"
#include "store_close.h"

typedef struct serve_span {
    agg_span days;                     // one day: a question for it gets these blocks
    uint64_t n;                        // blocks, as agg_released counts them
    int64_t first_number, last_number; // in the ledger
} serve_span;

// Lists the newest periods that have a day within a span, the oldest one first. A merged block
// belongs to each of its days and makes one period.
//   list: `most` entries
// Cost: one question to the database.
agg_err serve_spans_find(serve_span *list, size_t *n, agg_error *error, agg_store *store,
                         int64_t collection, agg_span within, size_t most) SHOAL_MUST_CHECK;

#endif
