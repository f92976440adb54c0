// SPDX-License-Identifier: Apache-2.0
// The order of variables in which EM is cheap (joint_em.h). Private to estimate/.
//
// What tuples with one row of the first variable have in common is worked out once for all of them:
// so the first should be the variable of the fewest rows. A table of 30 x 2 cells, of bits, takes a
// quarter of the time the other way round.
#ifndef JOINT_ORDER_H
#define JOINT_ORDER_H

#include <stdbool.h>

#include "joint_data.h"

typedef struct agg_joint_order {
    uint32_t of[SHOAL_PARTS_MAX]; // of[i]: which of the given variables is the i-th here
    bool is_copy;
    agg_joint_data data;           // where is_copy is 0, what was given
    double *rows[SHOAL_PARTS_MAX]; // copies of the variables', in the tuples' order; NULL where
                                   // is_copy is 0
} agg_joint_order;

// Orders: by the number of rows, where that of the first is twice the least or more; else as given.
//   data: kept by reference
// Memory: a copy of the data, and 12 bytes a tuple while it is made. Cost: two passes over the
// tuples a variable.
agg_err agg_joint_order_make(agg_joint_order *order, agg_error *error,
                             const agg_joint_data *data) SHOAL_MUST_CHECK;
void agg_joint_order_release(agg_joint_order *order);

// Writes a table of the ordered variables as one of the given ones.
//   given, ordered: n_cells numbers each
void agg_joint_order_back(double *given, const double *ordered, const agg_joint_order *order);

#endif
