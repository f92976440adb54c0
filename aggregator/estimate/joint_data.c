// SPDX-License-Identifier: Apache-2.0
// From records to distinct likelihood rows and tuples of them; see joint_data.h.
#include "joint_data.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "checksum.h"

// The distinct rows of one variable, found by their bytes.
typedef struct row_table {
    uint32_t n; // categories of a row
    uint32_t n_rows;
    double *rows;
    size_t cap;
    uint32_t *slots; // row + 1, or 0; a power of two, at least twice n_rows
    size_t n_slots, slots_cap;
} row_table;

// What a record becomes: its row of each variable, zeros behind them.
typedef struct tuple {
    uint32_t rows[SHOAL_PARTS_MAX];
    uint32_t count;
} tuple;

static size_t slot_of(const row_table *table, const double *row)
{
    size_t bytes = table->n * sizeof *row;
    size_t at = (size_t)shoal_checksum_of((const uint8_t *)row, bytes) & (table->n_slots - 1);
    while (table->slots[at] != 0 &&
           memcmp(table->rows + (size_t)(table->slots[at] - 1) * table->n, row, bytes) != 0)
        at = (at + 1) & (table->n_slots - 1);
    return at;
}

static agg_err widen(row_table *table, agg_error *error)
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

// Writes the number of a row, a new one where there is none like it.
static agg_err intern(uint32_t *number, agg_error *error, row_table *table, const double *row)
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
static int are_twins(const agg_joint_variable *variable, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < variable->n_rows; i++) {
        double difference =
            variable->rows[i * variable->n + a] - variable->rows[i * variable->n + b];
        if (difference < 0 || difference > 0) return 0;
    }
    return 1;
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

// Hands the table's rows over.
static void keep_rows(agg_joint_variable *variable, row_table *table)
{
    variable->rows = table->rows;
    variable->n_rows = table->n_rows;
    free(table->slots);
    find_twins(variable);
}

static int compare_tuples(const void *a, const void *b)
{
    const tuple *x = a, *y = b;
    for (uint32_t v = 0; v < SHOAL_PARTS_MAX; v++)
        if (x->rows[v] != y->rows[v]) return x->rows[v] < y->rows[v] ? -1 : 1;
    return 0;
}

// Sorts, adds up those that are alike and drops what never came. Returns: how many are left.
static size_t merge_tuples(tuple *tuples, size_t n)
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

static void copy_tuples(agg_joint_data *data, const tuple *tuples)
{
    uint32_t width = data->n_variables;
    for (size_t i = 0; i < data->n_tuples; i++) {
        memcpy(data->tuples + i * width, tuples[i].rows, width * sizeof *data->tuples);
        data->counts[i] = tuples[i].count;
        data->n += tuples[i].count;
    }
}

static agg_err keep_tuples(agg_joint_data *data, agg_error *error, tuple *tuples, size_t n_records)
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

static agg_err start(agg_joint_data *data, agg_error *error, uint32_t n_variables)
{
    memset(data, 0, sizeof *data);
    if (n_variables < 1 || n_variables > SHOAL_PARTS_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "a table has 1 to %d variables",
                        SHOAL_PARTS_MAX);
    data->n_variables = n_variables;
    data->n_cells = 1;
    return SHOAL_OK;
}

// Sets a variable's categories; the table's cells are their product.
static agg_err set_variable(agg_joint_data *data, agg_error *error, uint32_t v, uint32_t n)
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

// -- Of records
// -------------------------------------------------------------------------------------------------------------------------

typedef struct maker {
    const agg_accumulator *acc;
    const shoal_part *parts;
    tuple *tuples;   // one a distinct record
    uint64_t *order; // row of the variable at hand << 32 | record
    double *row;     // likelihoods of one record
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

// Row by row: what a law works out of a row serves all its records.
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
    row_table table = {variable->n, 0, NULL, 0, NULL, 0, 0};
    agg_err err = SHOAL_OK;
    sort_by_row(m, law, part);
    for (size_t i = 0; err == SHOAL_OK && i < m->acc->set.n_distinct; i++) {
        uint32_t record = (uint32_t)m->order[i];
        agg_joint_law_weigh(m->row, law, part_of(m, part, record));
        err = intern(&m->tuples[record].rows[v], error, &table, m->row);
    }
    keep_rows(variable, &table);
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
    agg_err err = start(data, error, n_variables);
    if (err == SHOAL_OK &&
        (!agg_accumulator_keeps_records(acc) || acc->set.n_distinct > UINT32_MAX))
        err = agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE,
                       "the accumulator does not keep its records");
    for (uint32_t v = 0; err == SHOAL_OK && v < n_variables; v++) {
        uint32_t part = categories[v].part;
        if (part >= acc->n_parts || (seen >> part & 1) != 0)
            return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "no such part, or one twice");
        seen |= 1u << part;
        err = set_variable(data, error, v, agg_joint_categories_count(&categories[v]));
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
    if (err == SHOAL_OK) err = keep_tuples(data, error, m.tuples, (size_t)acc->set.n_distinct);
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
    int is_set = part->mechanism == shoal_subset_id ||
                 part->mechanism == shoal_onehot_symmetric_id ||
                 part->mechanism == shoal_onehot_asymmetric_id;
    if (kind->is_rows_of_bits || is_set) rows = named < 32 ? k << named : n_records;
    return rows < n_records ? rows : n_records;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

// Two times are the largest: when tuples are sorted or copied with what they are made of still
// there, and when all is copied in EM's order.
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
             records = n * (sizeof(tuple) + sizeof(uint64_t));
    uint64_t sorting = n * 2 * sizeof(void *),
             reordering = tuples + rows + n * 2 * sizeof(uint32_t);
    return rows + larger(records + larger(sorting, tuples + again), tuples + reordering);
}

// -- Of tables
// --------------------------------------------------------------------------------------------------------------------------

static agg_err divide_by_largest(double *row, agg_error *error, const double *likelihood,
                                 uint32_t n)
{
    double largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!(likelihood[i] >= 0)) largest = -1;
        if (largest >= 0 && likelihood[i] > largest) largest = likelihood[i];
    }
    if (!(largest > 0) || largest > 1e300)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME, "a record without a likelihood");
    for (uint32_t i = 0; i < n; i++) row[i] = likelihood[i] / largest;
    return SHOAL_OK;
}

static agg_err intern_table(agg_joint_variable *variable, agg_error *error, tuple *tuples,
                            uint32_t v, const double *likelihoods, size_t n_records)
{
    row_table table = {variable->n, 0, NULL, 0, NULL, 0, 0};
    double *row = agg_alloc(error, variable->n, sizeof *row);
    agg_err err = row == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < n_records; i++) {
        if (tuples[i].count == 0) continue;
        err = divide_by_largest(row, error, likelihoods + i * variable->n, variable->n);
        if (err == SHOAL_OK) err = intern(&tuples[i].rows[v], error, &table, row);
    }
    free(row);
    keep_rows(variable, &table);
    return err;
}

static agg_err copy_counts(tuple *tuples, agg_error *error, const uint32_t *counts, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        tuples[i].count = counts[i];
        sum += counts[i];
    }
    return sum <= UINT32_MAX ? SHOAL_OK
                             : agg_fail_core(error, SHOAL_ERR_OVERFLOW, AGG_EXIT_RUNTIME);
}

agg_err agg_joint_data_of_tables(agg_joint_data *data, agg_error *error,
                                 const double *const *likelihoods, const uint32_t *n_categories,
                                 uint32_t n_variables, const uint32_t *counts, size_t n_records)
{
    agg_err err = start(data, error, n_variables);
    if (err != SHOAL_OK) return err;
    tuple *tuples = agg_alloc(error, n_records, sizeof *tuples);
    err = tuples == NULL ? AGG_ERR_MEMORY : copy_counts(tuples, error, counts, n_records);
    for (uint32_t v = 0; err == SHOAL_OK && v < n_variables; v++)
        err = set_variable(data, error, v, n_categories[v]);
    for (uint32_t v = 0; err == SHOAL_OK && v < n_variables; v++)
        err = intern_table(&data->variables[v], error, tuples, v, likelihoods[v], n_records);
    if (err == SHOAL_OK) err = keep_tuples(data, error, tuples, n_records);
    free(tuples);
    if (err != SHOAL_OK) agg_joint_data_release(data);
    return err;
}

void agg_joint_data_release(agg_joint_data *data)
{
    for (uint32_t v = 0; v < data->n_variables; v++) free(data->variables[v].rows);
    free(data->tuples);
    free(data->counts);
    memset(data, 0, sizeof *data);
}
