// SPDX-License-Identifier: Apache-2.0
// All that the likelihood of a joint distribution needs of a set of records (fanti-2016
// section 3.1), in its smallest form.
//
// A record's likelihoods under a variable's categories, divided by the largest of them, are its
// likelihood row: records that share the rows of all variables say the same of the table and are
// one tuple here, with a count. That is exact. Rows are kept once; tuples are sorted, so that those
// with one row of the first variable lie together and what they share is worked out once for all of
// them (joint_em.h).
//
// Memory: 8 bytes a category of a distinct row, 4 bytes a variable and tuple and 4 a tuple; while
// it is made 44 bytes more a distinct record, and one variable's rows once more.
#ifndef JOINT_DATA_H
#define JOINT_DATA_H

#include "accumulator.h"
#include "joint_likelihood.h"

#define AGG_JOINT_CELLS_MAX 4096u

typedef struct agg_joint_variable {
    uint32_t n;      // categories; the last one is "Other" where has_other
    uint32_t n_rows; // distinct likelihood rows
    int has_other;
    double *rows; // n_rows * n, each row's largest 1
    // Two categories that no record tells apart, which makes the table non-identifiable; both 0
    // where there are none.
    uint32_t twins[2];
} agg_joint_variable;

// Cells are numbered with the last variable's category running fastest: of two, cell = x *
// variables[1].n + y.
typedef struct agg_joint_data {
    uint32_t n_variables; // 1 .. SHOAL_PARTS_MAX
    agg_joint_variable variables[SHOAL_PARTS_MAX];
    uint32_t n_cells; // product of the variables' n
    uint64_t n;       // reports: sum of the counts
    size_t n_tuples;
    // n_tuples * n_variables: the row of each variable, each tuple once. Those of one row of the
    // first variable lie together, and of these those of one row of the second, and so on. Rows are
    // numbered as tuples come to them, so that a walk over tuples is one through memory.
    uint32_t *tuples;
    uint32_t *counts; // n_tuples, each at least 1
} agg_joint_data;

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

// The same from likelihoods given: for tests, and for laws that are not a mechanism's.
//   n_categories: n_variables numbers
//   likelihoods: n_variables tables of n_records * n_categories[v], at least 0, each record's
//   largest above 0 counts: n_records, how often each came; those of 0 are left out
agg_err agg_joint_data_of_tables(agg_joint_data *data, agg_error *error,
                                 const double *const *likelihoods, const uint32_t *n_categories,
                                 uint32_t n_variables, const uint32_t *counts,
                                 size_t n_records) SHOAL_MUST_CHECK;
void agg_joint_data_release(agg_joint_data *data);

// Writes a copy of a variable's rows in the order in which the tuples come to them, and numbers
// them so in the tuples. For what changes the tuples' order.
//   rows: set to variables[v].n_rows * n numbers; release with free. variables[v].rows stays as it
//   is and is of no more use
agg_err agg_joint_data_line_up(double **rows, agg_error *error, agg_joint_data *data,
                               uint32_t v) SHOAL_MUST_CHECK;

// Returns: the likelihood row of a tuple in one variable, variables[v].n numbers.
static inline const double *agg_joint_data_row(const agg_joint_data *data, size_t tuple, uint32_t v)
{
    return data->variables[v].rows +
           (size_t)data->tuples[tuple * data->n_variables + v] * data->variables[v].n;
}

#endif
