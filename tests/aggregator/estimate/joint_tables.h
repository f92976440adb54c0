// SPDX-License-Identifier: Apache-2.0
// Joint data from tables of likelihoods that a test states, in place of records.
#ifndef JOINT_TABLES_H
#define JOINT_TABLES_H

#include <math.h>

#include "agg_test.h"
#include "joint_tuples.h"

static inline agg_err number_rows(agg_joint_variable *variable, agg_error *error,
                                  agg_joint_tuple *tuples, uint32_t v, const double *likelihoods,
                                  size_t n_records)
{
    agg_joint_row_table table = {.n = variable->n};
    double *row = malloc(variable->n * sizeof *row);
    agg_err err = SHOAL_OK;
    assert_non_null(row);
    for (size_t i = 0; err == SHOAL_OK && i < n_records; i++) {
        double largest = 0;
        if (tuples[i].count == 0) continue;
        for (uint32_t c = 0; c < variable->n; c++)
            largest = fmax(largest, likelihoods[i * variable->n + c]);
        assert_true(largest > 0);
        for (uint32_t c = 0; c < variable->n; c++)
            row[c] = likelihoods[i * variable->n + c] / largest;
        err = agg_joint_row_number(&tuples[i].rows[v], error, &table, row);
    }
    free(row);
    agg_joint_rows_keep(variable, &table);
    return err;
}

// Makes the data of a joint likelihood.
//   likelihoods: n_variables tables of n_records * n_categories[v] numbers, at least 0, the largest
//   of each record above 0
//   counts: n_records, how often each record came; records with a count of 0 are left out
// Returns: what agg_joint_data_start and agg_joint_data_set_variable refuse.
static inline agg_err joint_data_of_tables(agg_joint_data *data, agg_error *error,
                                           const double *const *likelihoods,
                                           const uint32_t *n_categories, uint32_t n_variables,
                                           const uint32_t *counts, size_t n_records)
{
    agg_err err = agg_joint_data_start(data, error, n_variables);
    if (err != SHOAL_OK) return err;
    agg_joint_tuple *tuples = calloc(n_records, sizeof *tuples);
    assert_non_null(tuples);
    for (size_t i = 0; i < n_records; i++) tuples[i].count = counts[i];
    for (uint32_t v = 0; err == SHOAL_OK && v < n_variables; v++)
        err = agg_joint_data_set_variable(data, error, v, n_categories[v]);
    for (uint32_t v = 0; err == SHOAL_OK && v < n_variables; v++)
        err = number_rows(&data->variables[v], error, tuples, v, likelihoods[v], n_records);
    if (err == SHOAL_OK) err = agg_joint_data_keep_tuples(data, error, tuples, n_records);
    free(tuples);
    if (err != SHOAL_OK) agg_joint_data_release(data);
    return err;
}

#endif
