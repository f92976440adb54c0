// SPDX-License-Identifier: Apache-2.0
// From the records of an accumulator to the rows and tuples of a joint likelihood (joint_tuples.h).
//
// Memory: 8 bytes a category of each distinct row, 4 bytes a variable of each tuple and 4 a tuple.
// While the data are made, each distinct record takes 44 bytes more, and one variable's rows exist
// twice.
#ifndef JOINT_DATA_H
#define JOINT_DATA_H

#include "accumulator.h"
#include "joint_likelihood.h"
#include "joint_tuples.h"

// Makes the data of a table over some of a record's parts; those that no categories name are summed
// over.
//   parts: of the recipe, as many as the accumulator has
//   acc: keeps its records
//   categories: n_variables, of different parts
// Returns: SHOAL_ERR_RANGE for no variable or too many, a part twice, more than AGG_JOINT_CELLS_MAX
// cells; SHOAL_ERR_ARGUMENT where records are not kept; what agg_joint_law_make refuses. Nothing to
// release then. Cost: one likelihood a distinct record and variable, and a sort.
agg_err agg_joint_data_make(agg_joint_data *data, agg_error *error, const shoal_part *parts,
                            const agg_accumulator *acc, const agg_joint_categories *categories,
                            uint32_t n_variables, unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the bytes that the data take at most while they are made, and while joint_em.h puts them
// in its own order.
uint64_t agg_joint_data_memory(const shoal_part *parts, const agg_accumulator *acc,
                               const agg_joint_categories *categories, uint32_t n_variables);

#endif
