// SPDX-License-Identifier: Apache-2.0
// Finds the order of variables in which EM is cheapest (joint_em.h). Private to estimate/.
//
// EM computes once whatever the tuples with one row of the first variable share, so the first
// variable should be the one with the fewest rows. A table of 30 x 2 cells of bits takes a quarter
// of the time the other way round.
#ifndef JOINT_ORDER_H
#define JOINT_ORDER_H

#include <stdbool.h>

#include "joint_data.h"

typedef struct agg_joint_order {
    uint32_t of[SHOAL_PARTS_MAX]; // the given variable that is the i-th in this order
    bool is_copy;
    agg_joint_data data;           // a reordered copy, or the given data if is_copy is false
    double *rows[SHOAL_PARTS_MAX]; // copies of the variables' rows in the tuples' order; NULL if
                                   // is_copy is false
} agg_joint_order;

// Orders the variables by their number of rows if the first has at least twice as many as the
// least; else keeps the given order.
//   data: kept by reference
// Cost: two passes over the tuples a variable; memory for a copy of the data, and 12 bytes a tuple
// while the copy is made.
agg_err agg_joint_order_make(agg_joint_order *order, agg_error *error,
                             const agg_joint_data *data) SHOAL_MUST_CHECK;
void agg_joint_order_release(agg_joint_order *order);

// Converts a table from this order to the given one.
//   given, ordered: n_cells numbers each
void agg_joint_order_back(double *given, const double *ordered, const agg_joint_order *order);

#endif
