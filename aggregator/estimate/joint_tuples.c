// SPDX-License-Identifier: Apache-2.0
// Distinct likelihood rows and sorted tuples of them; see joint_tuples.h.
#include "joint_tuples.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "checksum.h"

static size_t slot_of(const agg_joint_row_table *table, const double *row)
{
    size_t bytes = table->n * sizeof *row;
    size_t at = (size_t)shoal_checksum_of((const uint8_t *)row, bytes) & (table->n_slots - 1);
    while (table->slots[at] != 0 &&
           memcmp(table->rows + (size_t)(table->slots[at] - 1) * table->n, row, bytes) != 0)
        at = (at + 1) & (table->n_slots - 1);
    return at;
}

static agg_err widen(agg_joint_row_table *table, agg_error *error)
{
    size_t n_slots = table->n_slots == 0 ? 64 : 2 * table->n_slots;
    uint32_t *slots = agg_alloc(error, n_slots, sizeof *slots);
    if (slots == NULL) return AGG_ERR_MEMORY;
    free(table->slots);
    table->slots = slots;
    table->n_slots = n_slots;
    for (uint32_t i = 0; i < table->n_rows; i++)
        slots[slot_of(table, table->rows + (size_t)i * table->n)] = i + 1;
    return SHOAL_OK;
}

agg_err agg_joint_row_number(uint32_t *number, agg_error *error, agg_joint_row_table *table,
                             const double *row)
{
    agg_err err = 2 * (size_t)table->n_rows >= table->n_slots ? widen(table, error) : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    size_t at = slot_of(table, row);
    if (table->slots[at] == 0) {
        err = agg_grow((void **)&table->rows, &table->cap, ((size_t)table->n_rows + 1) * table->n,
                       sizeof *row, error);
        if (err != SHOAL_OK) return err;
        memcpy(table->rows + (size_t)table->n_rows * table->n, row, table->n * sizeof *row);
        table->slots[at] = ++table->n_rows;
    }
    *number = table->slots[at] - 1;
    return SHOAL_OK;
}

// Returns: whether no row tells the two categories apart.
static bool are_twins(const agg_joint_variable *variable, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < variable->n_rows; i++) {
        double difference =
            variable->rows[i * variable->n + a] - variable->rows[i * variable->n + b];
        if (difference < 0 || difference > 0) return false;
    }
    return true;
}

static void find_twins(agg_joint_variable *variable)
{
    for (uint32_t a = 0; a < variable->n; a++)
        for (uint32_t b = a + 1; b < variable->n; b++) {
            if (!are_twins(variable, a, b)) continue;
            variable->twins[0] = a;
            variable->twins[1] = b;
            return;
        }
}

void agg_joint_rows_keep(agg_joint_variable *variable, agg_joint_row_table *table)
{
    variable->rows = table->rows;
    variable->n_rows = table->n_rows;
    free(table->slots);
    find_twins(variable);
}

static int compare_tuples(const void *a, const void *b)
{
    const agg_joint_tuple *x = a, *y = b;
    for (uint32_t v = 0; v < SHOAL_PARTS_MAX; v++)
        if (x->rows[v] != y->rows[v]) return x->rows[v] < y->rows[v] ? -1 : 1;
    return 0;
}

// Sorts the tuples, merges equal ones and drops those with a count of 0.
// Returns: the number of tuples that are left, at the front.
static size_t merge_tuples(agg_joint_tuple *tuples, size_t n)
{
    size_t kept = 0;
    qsort(tuples, n, sizeof *tuples, compare_tuples);
    for (size_t i = 0; i < n; i++) {
        if (tuples[i].count == 0) continue;
        if (kept > 0 && compare_tuples(&tuples[kept - 1], &tuples[i]) == 0)
            tuples[kept - 1].count += tuples[i].count;
        else
            tuples[kept++] = tuples[i];
    }
    return kept;
}

agg_err agg_joint_data_line_up(double **rows, agg_error *error, agg_joint_data *data, uint32_t v)
{
    const agg_joint_variable *variable = &data->variables[v];
    uint32_t n = variable->n, next = 0,
             *number = agg_alloc(error, variable->n_rows, sizeof *number); // + 1; 0: none yet
    double *lined = agg_alloc(error, (size_t)variable->n_rows * n, sizeof *lined);
    if (number == NULL || lined == NULL) {
        free(number);
        free(lined);
        return AGG_ERR_MEMORY;
    }
    for (size_t k = 0; k < data->n_tuples; k++) {
        uint32_t *row = &data->tuples[k * data->n_variables + v];
        if (number[*row] == 0) {
            memcpy(lined + (size_t)next * n, variable->rows + (size_t)*row * n, n * sizeof *lined);
            number[*row] = ++next;
        }
        *row = number[*row] - 1;
    }
    free(number);
    *rows = lined;
    return SHOAL_OK;
}

static void copy_tuples(agg_joint_data *data, const agg_joint_tuple *tuples)
{
    uint32_t width = data->n_variables;
    for (size_t i = 0; i < data->n_tuples; i++) {
        memcpy(data->tuples + i * width, tuples[i].rows, width * sizeof *data->tuples);
        data->counts[i] = tuples[i].count;
        data->n += tuples[i].count;
    }
}

agg_err agg_joint_data_keep_tuples(agg_joint_data *data, agg_error *error, agg_joint_tuple *tuples,
                                   size_t n_records)
{
    size_t n = merge_tuples(tuples, n_records);
    agg_err err = SHOAL_OK;
    data->tuples = agg_alloc(error, n * data->n_variables,
                             sizeof *data->tuples); // below 2^32 records of at most 8
    data->counts = agg_alloc(error, n, sizeof *data->counts);
    if (data->tuples == NULL || data->counts == NULL) return AGG_ERR_MEMORY;
    data->n_tuples = n;
    copy_tuples(data, tuples);
    for (uint32_t v = 0; err == SHOAL_OK && v < data->n_variables; v++) {
        double *rows = NULL;
        err = agg_joint_data_line_up(&rows, error, data, v);
        if (err != SHOAL_OK) break;
        free(data->variables[v].rows);
        data->variables[v].rows = rows;
    }
    return err;
}

agg_err agg_joint_data_start(agg_joint_data *data, agg_error *error, uint32_t n_variables)
{
    memset(data, 0, sizeof *data);
    if (n_variables < 1 || n_variables > SHOAL_PARTS_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "a table has 1 to %d variables",
                        SHOAL_PARTS_MAX);
    data->n_variables = n_variables;
    data->n_cells = 1;
    return SHOAL_OK;
}

agg_err agg_joint_data_set_variable(agg_joint_data *data, agg_error *error, uint32_t v, uint32_t n)
{
    data->variables[v].n = n;
    if (n < 1)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "variable %u has no category",
                        v + 1);
    if (n > AGG_JOINT_CELLS_MAX / data->n_cells)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "a table has at most %u cells",
                        AGG_JOINT_CELLS_MAX);
    data->n_cells *= n;
    return SHOAL_OK;
}

void agg_joint_data_release(agg_joint_data *data)
{
    for (uint32_t v = 0; v < data->n_variables; v++) free(data->variables[v].rows);
    free(data->tuples);
    free(data->counts);
    memset(data, 0, sizeof *data);
}
