// SPDX-License-Identifier: Apache-2.0
// The rows of an estimate in the order that a page asks for.
#ifndef ROW_ORDER_H
#define ROW_ORDER_H

#include "estimate.h"
#include "table_order.h"

// Finds the first rows in an order.
//   picked: `cap` indices of rows; the first ones are set
//   n_found: how many rows hold what is searched for, also beyond `cap`; may be NULL
// Returns: how many are set.
// Cost: n_rows times the logarithm of cap; no memory.
size_t agg_row_order_pick(size_t *picked, size_t cap, size_t *n_found, const agg_estimate *estimate,
                          const agg_table_order *order);

// Returns: whether rows are sorted by a column of this name: value, estimate or interval, which
// stands for its lower end.
bool agg_row_order_has(const char *column);

#endif
