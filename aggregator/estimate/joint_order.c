// SPDX-License-Identifier: Apache-2.0
// Reorders variables and tuples; see joint_order.h.
#include "joint_order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

// Returns: whether the order differs from the given one.
static bool choose(uint32_t of[SHOAL_PARTS_MAX], const agg_joint_data *data)
{
    uint32_t n = data->n_variables;
    for (uint32_t i = 0; i < n; i++) of[i] = i;
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t e = i;
             e > 0 && data->variables[of[e]].n_rows < data->variables[of[e - 1]].n_rows; e--) {
            uint32_t swap = of[e];
            of[e] = of[e - 1];
            of[e - 1] = swap;
        }
    if (data->variables[of[0]].n_rows <= data->variables[0].n_rows / 2) return true;
    for (uint32_t i = 0; i < n; i++) of[i] = i;
    return false;
}

// Sorts tuples, given by their numbers, by the row of one variable. The sort is stable.
static agg_err sort_by(uint32_t *sorted, agg_error *error, const uint32_t *numbers,
                       const agg_joint_data *data, uint32_t v)
{
    uint32_t n_rows = data->variables[v].n_rows, width = data->n_variables;
    size_t *start = agg_alloc(error, (size_t)n_rows + 1, sizeof *start);
    if (start == NULL) return AGG_ERR_MEMORY;
    for (size_t k = 0; k < data->n_tuples; k++) start[data->tuples[k * width + v] + 1]++;
    for (uint32_t r = 0; r < n_rows; r++) start[r + 1] += start[r];
    for (size_t k = 0; k < data->n_tuples; k++)
        sorted[start[data->tuples[numbers[k] * (size_t)width + v]]++] = numbers[k];
    free(start);
    return SHOAL_OK;
}

static void copy_tuples(agg_joint_order *order, const agg_joint_data *data, const uint32_t *numbers)
{
    uint32_t width = data->n_variables;
    for (size_t k = 0; k < data->n_tuples; k++) {
        for (uint32_t i = 0; i < width; i++)
            order->data.tuples[k * width + i] =
                data->tuples[numbers[k] * (size_t)width + order->of[i]];
        order->data.counts[k] = data->counts[numbers[k]];
    }
}

static agg_err reorder(agg_joint_order *order, agg_error *error, const agg_joint_data *data)
{
    uint32_t *numbers =
        agg_alloc(error, data->n_tuples, sizeof *numbers); // below 2^32, as the reports are
    uint32_t *sorted = agg_alloc(error, data->n_tuples, sizeof *sorted);
    order->data.tuples =
        agg_alloc(error, data->n_tuples * data->n_variables, sizeof *order->data.tuples);
    order->data.counts = agg_alloc(error, data->n_tuples, sizeof *order->data.counts);
    bool is_there = numbers != NULL && sorted != NULL && order->data.tuples != NULL &&
                    order->data.counts != NULL;
    agg_err err = is_there ? SHOAL_OK : AGG_ERR_MEMORY;
    for (size_t k = 0; err == SHOAL_OK && k < data->n_tuples; k++) numbers[k] = (uint32_t)k;
    for (uint32_t i = data->n_variables; err == SHOAL_OK && i-- > 0;) {
        err = sort_by(sorted, error, numbers, data, order->of[i]);
        uint32_t *swap = numbers;
        numbers = sorted;
        sorted = swap;
    }
    if (err == SHOAL_OK) copy_tuples(order, data, numbers);
    free(numbers);
    free(sorted);
    return err;
}

static agg_err line_up(agg_joint_order *order, agg_error *error)
{
    agg_err err = SHOAL_OK;
    for (uint32_t i = 0; err == SHOAL_OK && i < order->data.n_variables; i++) {
        err = agg_joint_data_line_up(&order->rows[i], error, &order->data, i);
        if (err == SHOAL_OK) order->data.variables[i].rows = order->rows[i];
    }
    return err;
}

agg_err agg_joint_order_make(agg_joint_order *order, agg_error *error, const agg_joint_data *data)
{
    memset(order, 0, sizeof *order);
    order->data = *data;
    order->is_copy = choose(order->of, data);
    for (uint32_t i = 0; i < data->n_variables; i++)
        order->data.variables[i] = data->variables[order->of[i]];
    if (!order->is_copy) return SHOAL_OK;
    agg_err err = reorder(order, error, data);
    if (err == SHOAL_OK) err = line_up(order, error);
    if (err != SHOAL_OK) agg_joint_order_release(order);
    return err;
}

void agg_joint_order_release(agg_joint_order *order)
{
    if (order->is_copy) {
        free(order->data.tuples);
        free(order->data.counts);
    }
    for (uint32_t i = 0; i < SHOAL_PARTS_MAX; i++) free(order->rows[i]);
    memset(order, 0, sizeof *order);
}

void agg_joint_order_back(double *given, const double *ordered, const agg_joint_order *order)
{
    const agg_joint_data *data = &order->data;
    for (uint32_t cell = 0; cell < data->n_cells; cell++) {
        uint32_t category[SHOAL_PARTS_MAX], n[SHOAL_PARTS_MAX], rest = cell, at = 0;
        for (uint32_t i = data->n_variables; i-- > 0; rest /= data->variables[i].n) {
            category[order->of[i]] = rest % data->variables[i].n;
            n[order->of[i]] = data->variables[i].n;
        }
        for (uint32_t v = 0; v < data->n_variables; v++) at = at * n[v] + category[v];
        given[at] = ordered[cell];
    }
}
