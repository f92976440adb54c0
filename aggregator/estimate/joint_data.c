// SPDX-License-Identifier: Apache-2.0
// From records to likelihood rows and tuples; see joint_data.h.
#include "joint_data.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "joint_marks.h"

typedef struct maker {
    const agg_accumulator *acc;
    const shoal_part *parts;
    agg_joint_tuple *tuples; // one for each distinct record
    uint64_t *order;         // row of the current variable << 32 | record
    double *row;             // likelihoods of one record
} maker;

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static const uint8_t *part_of(const maker *m, uint32_t part, size_t record)
{
    const uint8_t *at = agg_record_set_at(&m->acc->set, record);
    for (uint32_t i = 0; i < part; i++) at += m->parts[i].record_size;
    return at;
}

// Sorts records by row, because a law's computations for a row serve all its records.
static void sort_by_row(const maker *m, const agg_joint_law *law, uint32_t part)
{
    size_t n = (size_t)m->acc->set.n_distinct;
    for (size_t i = 0; i < n; i++)
        m->order[i] = (uint64_t)agg_joint_law_row(law, part_of(m, part, i)) << 32 | (uint32_t)i;
    qsort(m->order, n, sizeof *m->order, compare_words);
}

static agg_err weigh_all(const maker *m, agg_error *error, agg_joint_variable *variable,
                         agg_joint_law *law, uint32_t v, uint32_t part)
{
    agg_joint_row_table table = {.n = variable->n};
    agg_err err = SHOAL_OK;
    sort_by_row(m, law, part);
    for (size_t i = 0; err == SHOAL_OK && i < m->acc->set.n_distinct; i++) {
        uint32_t record = (uint32_t)m->order[i];
        agg_joint_law_weigh(m->row, law, part_of(m, part, record));
        err = agg_joint_row_number(&m->tuples[record].rows[v], error, &table, m->row);
    }
    agg_joint_rows_keep(variable, &table);
    return err;
}

static agg_err make_variable(agg_joint_data *data, agg_error *error, const maker *m, uint32_t v,
                             const agg_joint_categories *categories, unsigned n_threads)
{
    agg_joint_law *law = NULL;
    uint32_t part = categories->part;
    agg_err err = agg_joint_law_make(&law, error, &m->parts[part], &m->acc->parts[part], m->acc->n,
                                     categories, n_threads);
    if (err != SHOAL_OK) return err;
    data->variables[v].has_other = categories->has_other != 0;
    err = weigh_all(m, error, &data->variables[v], law, v, part);
    agg_joint_law_free(law);
    return err;
}

static agg_err check(agg_joint_data *data, agg_error *error, const agg_accumulator *acc,
                     const agg_joint_categories *categories, uint32_t n_variables)
{
    uint32_t seen = 0;
    agg_err err = agg_joint_data_start(data, error, n_variables);
    if (err == SHOAL_OK &&
        (!agg_accumulator_keeps_records(acc) || acc->set.n_distinct > UINT32_MAX))
        err = agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE,
                       "the accumulator does not keep its records");
    for (uint32_t v = 0; err == SHOAL_OK && v < n_variables; v++) {
        uint32_t part = categories[v].part;
        if (part >= acc->n_parts || (seen >> part & 1) != 0)
            return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                            "a part does not exist or is named twice");
        seen |= 1u << part;
        err =
            agg_joint_data_set_variable(data, error, v, agg_joint_categories_count(&categories[v]));
    }
    return err;
}

static agg_err start_maker(maker *m, agg_error *error, uint32_t n_cells)
{
    size_t n = (size_t)m->acc->set.n_distinct;
    m->tuples = agg_alloc(error, n, sizeof *m->tuples);
    m->order = agg_alloc(error, n, sizeof *m->order);
    m->row = agg_alloc(error, n_cells, sizeof *m->row);
    if (m->tuples == NULL || m->order == NULL || m->row == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) m->tuples[i].count = m->acc->set.counts[i];
    return SHOAL_OK;
}

agg_err agg_joint_data_make(agg_joint_data *data, agg_error *error, const shoal_part *parts,
                            const agg_accumulator *acc, const agg_joint_categories *categories,
                            uint32_t n_variables, unsigned n_threads)
{
    maker m = {acc, parts, NULL, NULL, NULL};
    agg_err err = check(data, error, acc, categories, n_variables);
    if (err == SHOAL_OK) err = start_maker(&m, error, data->n_cells);
    for (uint32_t v = 0; err == SHOAL_OK && v < n_variables; v++)
        err = make_variable(data, error, &m, v, &categories[v], n_threads);
    if (err == SHOAL_OK)
        err = agg_joint_data_keep_tuples(data, error, m.tuples, (size_t)acc->set.n_distinct);
    free(m.tuples);
    free(m.order);
    free(m.row);
    if (err != SHOAL_OK) agg_joint_data_release(data);
    return err;
}

// Returns: how many rows of likelihoods a variable can have: no more than there are records; of
// bits and sets no more than there are subsets of the columns that a category has, in each row; and
// of one answer than there are cells, with either sign.
static uint64_t most_rows(const shoal_part *part, const agg_joint_categories *categories,
                          uint64_t n_records)
{
    const agg_sketch_kind *kind = agg_sketch_kind_of(part->mechanism);
    uint64_t k = kind->is_one_row ? 1 : part->k, hashes = part->hashes > 0 ? part->hashes : 1;
    uint64_t named = categories->n_items * hashes, rows = 2 * k * part->m;
    const agg_joint_marks *marks = agg_joint_marks_of(part->mechanism);
    bool is_set = marks != NULL && marks->is_set;
    if (kind->is_rows_of_bits || is_set) rows = named < 32 ? k << named : n_records;
    return rows < n_records ? rows : n_records;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

// Memory peaks at one of two times: while tuples are sorted or copied and the records' rows still
// exist, and while everything is copied in EM's order.
uint64_t agg_joint_data_memory(const shoal_part *parts, const agg_accumulator *acc,
                               const agg_joint_categories *categories, uint32_t n_variables)
{
    uint64_t n = acc->set.n_distinct, rows = 0, again = 0;
    for (uint32_t v = 0; v < n_variables; v++) {
        uint32_t part = categories[v].part;
        uint64_t n_rows = most_rows(&parts[part], &categories[v], n);
        uint64_t bytes = n_rows * agg_joint_categories_count(&categories[v]) * sizeof(double);
        rows += bytes;
        again = larger(again, bytes + n_rows * sizeof(uint32_t));
    }
    uint64_t tuples = n * (n_variables + 1) * sizeof(uint32_t),
             records = n * (sizeof(agg_joint_tuple) + sizeof(uint64_t));
    uint64_t sorting = n * 2 * sizeof(void *),
             reordering = tuples + rows + n * 2 * sizeof(uint32_t);
    return rows + larger(records + larger(sorting, tuples + again), tuples + reordering);
}
