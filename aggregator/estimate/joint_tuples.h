// SPDX-License-Identifier: Apache-2.0
// The likelihood of a joint distribution in its smallest form: distinct likelihood rows, and tuples
// of rows with counts (fanti-2016 section 3.1). joint_data.h makes it from the records of an
// accumulator.
//
// A record's likelihoods under a variable's categories, divided by the largest of them, are its
// likelihood row. Records that share the rows of all variables say the same about the table, so
// that they become one tuple with a count. That is exact. Rows are kept once. Tuples are sorted:
// those with one row of the first variable lie together, and joint_em.h computes once whatever they
// share.
#ifndef JOINT_TUPLES_H
#define JOINT_TUPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "recipe_ref.h"

#define AGG_JOINT_CELLS_MAX 4096u

typedef struct agg_joint_variable {
    uint32_t n;      // categories; the last one is "Other" where has_other
    uint32_t n_rows; // distinct likelihood rows
    bool has_other;
    double *rows; // n_rows * n, each row's largest 1
    // Two categories that no record tells apart, which makes the table non-identifiable; both 0 if
    // there is no such pair.
    uint32_t twins[2];
} agg_joint_variable;

// Cells are numbered with the last variable's category running fastest: with two variables,
// cell = x * variables[1].n + y.
typedef struct agg_joint_data {
    uint32_t n_variables; // 1 .. SHOAL_PARTS_MAX
    agg_joint_variable variables[SHOAL_PARTS_MAX];
    uint32_t n_cells; // product of the variables' n
    uint64_t n;       // reports: sum of the counts
    size_t n_tuples;
    // n_tuples * n_variables: the row of each variable, each tuple once, sorted by the row of the
    // first variable, then of the second, and so on. Rows are numbered in the order in which the
    // tuples use them, so that a walk over tuples reads memory in order.
    uint32_t *tuples;
    uint32_t *counts; // n_tuples, each at least 1
} agg_joint_data;

// The distinct rows of one variable while they are collected, found by their bytes. Begin with n
// set and everything else zero; agg_joint_rows_keep releases it.
typedef struct agg_joint_row_table {
    uint32_t n; // categories of a row
    uint32_t n_rows;
    double *rows;
    size_t cap;
    uint32_t *slots; // row + 1, or 0 for an empty slot
    size_t n_slots;  // a power of two, at least twice n_rows
} agg_joint_row_table;

// One record while tuples are collected: its row of each variable, and zeros behind them.
typedef struct agg_joint_tuple {
    uint32_t rows[SHOAL_PARTS_MAX];
    uint32_t count;
} agg_joint_tuple;

// Begins the data of a table, without categories yet.
// Returns: SHOAL_ERR_RANGE unless n_variables is 1 .. SHOAL_PARTS_MAX.
agg_err agg_joint_data_start(agg_joint_data *data, agg_error *error,
                             uint32_t n_variables) SHOAL_MUST_CHECK;

// Sets the number of a variable's categories; the table's cells are the product of all of them.
// Returns: SHOAL_ERR_RANGE for n = 0 and beyond AGG_JOINT_CELLS_MAX cells.
agg_err agg_joint_data_set_variable(agg_joint_data *data, agg_error *error, uint32_t v,
                                    uint32_t n) SHOAL_MUST_CHECK;

// Finds the number of a row, and adds the row if the table does not hold it.
//   row: table->n likelihoods, the largest of them 1
agg_err agg_joint_row_number(uint32_t *number, agg_error *error, agg_joint_row_table *table,
                             const double *row) SHOAL_MUST_CHECK;

// Hands the table's rows over to the variable, and finds twins among its categories.
void agg_joint_rows_keep(agg_joint_variable *variable, agg_joint_row_table *table);

// Sorts and merges the tuples of all records, and stores them in the data.
//   tuples: n_records, spoilt; those with a count of 0 are left out
agg_err agg_joint_data_keep_tuples(agg_joint_data *data, agg_error *error, agg_joint_tuple *tuples,
                                   size_t n_records) SHOAL_MUST_CHECK;

void agg_joint_data_release(agg_joint_data *data);

// Copies a variable's rows in the order in which the tuples use them, and renumbers the tuples'
// rows accordingly. Whoever changes the order of the tuples needs it.
//   rows: set to variables[v].n_rows * n numbers; release with free. variables[v].rows stays as it
//   is, and the renumbered tuples no longer match it
agg_err agg_joint_data_line_up(double **rows, agg_error *error, agg_joint_data *data,
                               uint32_t v) SHOAL_MUST_CHECK;

// Returns: the likelihood row of a tuple in one variable, variables[v].n numbers.
static inline const double *agg_joint_data_row(const agg_joint_data *data, size_t tuple, uint32_t v)
{
    return data->variables[v].rows +
           (size_t)data->tuples[tuple * data->n_variables + v] * data->variables[v].n;
}

#endif
