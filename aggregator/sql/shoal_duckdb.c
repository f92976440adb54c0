// SPDX-License-Identifier: Apache-2.0
// An extension of DuckDB over libshoal_aggregate: shoal_fold, shoal_merge and shoal_estimate in
// SQL. docs/sql.md says how they are called.
//
// A fold gathers the bytes of its group and adds them when the group is complete: threads split a
// group as they like, and the result does not depend on it.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DUCKDB_EXTENSION_NAME shoal
#define DUCKDB_EXTENSION_API_VERSION_MAJOR 1
#define DUCKDB_EXTENSION_API_VERSION_MINOR 2
#define DUCKDB_EXTENSION_API_VERSION_PATCH 0
#include <duckdb_extension.h>

#include "library_call.h"
#include "recipe.h"
#include "report_order.h"
#include "shoal_aggregate.h"

DUCKDB_EXTENSION_EXTERN

#define MAX_REJECTED 0.01 // share of bad reports, as of `shoal ingest`
#define MESSAGE_MAX (SHOAL_AGG_ERROR_TEXT + 64)

typedef struct span {
    const char *bytes;
    size_t len;
} span;

// One group. DuckDB moves it, so nothing points into it.
typedef struct group {
    shoal_agg_recipe *recipe; // NULL: no row yet
    char *gathered;           // of a fold: report lines, each with a newline, or batches
    size_t len, cap;
    shoal_agg_accumulator *sum; // of a merge
} group;

// Which function runs; the extra information of an aggregate.
typedef enum function { FOLD_REPORTS, FOLD_BATCHES, MERGE } function;

static group *group_of(duckdb_aggregate_state state)
{
    return (group *)(void *)state;
}

// ---- errors ----

static void refuse(duckdb_function_info info, const char *name, const char *text)
{
    char message[MESSAGE_MAX];
    snprintf(message, sizeof message, "%s: %s", name, text);
    duckdb_aggregate_function_set_error(info, message);
}

static const char *name_of(duckdb_function_info info)
{
    const function *f = duckdb_aggregate_function_get_extra_info(info);
    return *f == MERGE ? "shoal_merge" : "shoal_fold";
}

// ---- recipes ----

static span text_at(duckdb_vector vector, idx_t row)
{
    duckdb_string_t *texts = duckdb_vector_get_data(vector);
    return (span){duckdb_string_t_data(&texts[row]), duckdb_string_t_length(texts[row])};
}

static bool is_null(duckdb_vector vector, idx_t row)
{
    uint64_t *validity = duckdb_vector_get_validity(vector);
    return validity != NULL && !duckdb_validity_row_is_valid(validity, row);
}

// Opens a recipe whose records may be stored. Returns: false with `error` filled.
static bool open_recipe(shoal_agg_recipe **recipe, shoal_agg_error *error, span text)
{
    if (shoal_agg_recipe_from_json(recipe, "recipe", text.bytes, text.len, error) != SHOAL_AGG_OK)
        return false;
    if ((*recipe)->recipe.recipe->aggregation == SHOAL_AGGREGATION_REPORTS) return true;
    snprintf(error->text, sizeof error->text,
             "recipe %s: its records may not be stored in tables (aggregation.protocol is not "
             "reports)",
             shoal_agg_recipe_id(*recipe));
    shoal_agg_recipe_free(*recipe);
    *recipe = NULL;
    return false;
}

static bool is_same(const shoal_agg_recipe *recipe, span text)
{
    const char *own = shoal_agg_recipe_json(recipe);
    return strlen(own) == text.len && memcmp(own, text.bytes, text.len) == 0;
}

// Gives a group its recipe, or checks that the row has the same.
static bool take_recipe(group *g, shoal_agg_error *error, span text)
{
    if (g->recipe == NULL) return open_recipe(&g->recipe, error, text);
    if (is_same(g->recipe, text)) return true;
    snprintf(error->text, sizeof error->text, "a group has two recipes: group by recipe");
    return false;
}

// ---- gathering ----

static bool append(group *g, shoal_agg_error *error, span bytes, bool is_line)
{
    size_t need = g->len + bytes.len + is_line;
    if (need > g->cap) {
        size_t cap = need < SIZE_MAX / 2 ? 2 * need : need;
        char *grown = realloc(g->gathered, cap);
        if (grown == NULL) {
            snprintf(error->text, sizeof error->text, "out of memory");
            return false;
        }
        g->gathered = grown;
        g->cap = cap;
    }
    if (bytes.len > 0) memcpy(g->gathered + g->len, bytes.bytes, bytes.len);
    if (is_line) g->gathered[need - 1] = '\n';
    g->len = need;
    return true;
}

static bool add_line(group *g, shoal_agg_error *error, span report)
{
    if (memchr(report.bytes, '\n', report.len) == NULL) return append(g, error, report, true);
    snprintf(error->text, sizeof error->text, "a report has one line");
    return false;
}

static bool merge_into(group *g, shoal_agg_error *error, shoal_agg_accumulator *other)
{
    if (g->sum == NULL && shoal_agg_accumulator_new(&g->sum, g->recipe, error) != SHOAL_AGG_OK)
        return false;
    return shoal_agg_accumulator_merge(g->sum, other, error) == SHOAL_AGG_OK;
}

static bool add_sum(group *g, shoal_agg_error *error, span bytes)
{
    shoal_agg_accumulator *other = NULL;
    if (shoal_agg_accumulator_from_bytes(&other, g->recipe, (const uint8_t *)bytes.bytes, bytes.len,
                                         error) != SHOAL_AGG_OK)
        return false;
    bool is_good = merge_into(g, error, other);
    shoal_agg_accumulator_free(other);
    return is_good;
}

static bool add(group *g, shoal_agg_error *error, function f, span bytes)
{
    if (f == MERGE) return add_sum(g, error, bytes);
    return f == FOLD_REPORTS ? add_line(g, error, bytes) : append(g, error, bytes, false);
}

// ---- aggregates ----

static idx_t state_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(group);
}

static void state_init(duckdb_function_info info, duckdb_aggregate_state state)
{
    (void)info;
    *group_of(state) = (group){.recipe = NULL};
}

static void destroy(duckdb_aggregate_state *states, idx_t count)
{
    for (idx_t i = 0; i < count; i++) {
        group *g = group_of(states[i]);
        shoal_agg_accumulator_free(g->sum);
        shoal_agg_recipe_free(g->recipe);
        free(g->gathered);
        *g = (group){.recipe = NULL};
    }
}

static void update(duckdb_function_info info, duckdb_data_chunk input,
                   duckdb_aggregate_state *states)
{
    const function *f = duckdb_aggregate_function_get_extra_info(info);
    duckdb_vector recipes = duckdb_data_chunk_get_vector(input, 0);
    duckdb_vector values = duckdb_data_chunk_get_vector(input, 1);
    const idx_t n = duckdb_data_chunk_get_size(input);
    shoal_agg_error error = {.text = ""};
    for (idx_t row = 0; row < n; row++) {
        group *g = group_of(states[row]);
        if (is_null(recipes, row) || is_null(values, row)) continue;
        if (!take_recipe(g, &error, text_at(recipes, row)) ||
            !add(g, &error, *f, text_at(values, row))) {
            refuse(info, name_of(info), error.text);
            return;
        }
    }
}

// Adds one group to another of the same rows.
static bool combine_two(group *to, shoal_agg_error *error, group *from)
{
    if (from->recipe == NULL) return true;
    const char *json = shoal_agg_recipe_json(from->recipe);
    if (!take_recipe(to, error, (span){json, strlen(json)})) return false;
    if (from->sum != NULL) return merge_into(to, error, from->sum);
    return append(to, error, (span){from->gathered, from->len}, false);
}

static void combine(duckdb_function_info info, duckdb_aggregate_state *source,
                    duckdb_aggregate_state *target, idx_t count)
{
    shoal_agg_error error = {.text = ""};
    for (idx_t i = 0; i < count; i++)
        if (!combine_two(group_of(target[i]), &error, group_of(source[i]))) {
            refuse(info, name_of(info), error.text);
            return;
        }
}

// ---- results ----

static bool sort_lines(group *g, shoal_agg_error *error)
{
    if (report_order(&g->gathered, g->len)) {
        g->cap = g->len + 1;
        return true;
    }
    snprintf(error->text, sizeof error->text, "out of memory");
    return false;
}

static bool fold(group *g, shoal_agg_error *error, function f)
{
    if (shoal_agg_accumulator_new(&g->sum, g->recipe, error) != SHOAL_AGG_OK) return false;
    if (f == FOLD_BATCHES)
        return shoal_agg_accumulator_add_batches(g->sum, (const uint8_t *)g->gathered, g->len,
                                                 SHOAL_AGG_REFUSE_HELD, NULL,
                                                 error) == SHOAL_AGG_OK;
    return sort_lines(g, error) &&
           shoal_agg_accumulator_add_reports(g->sum, g->gathered, g->len, MAX_REJECTED, NULL,
                                             error) == SHOAL_AGG_OK;
}

static bool finish(group *g, shoal_agg_error *error, function f, duckdb_vector result, idx_t row)
{
    shoal_agg_bytes bytes = {NULL, 0};
    if (f != MERGE && !fold(g, error, f)) return false;
    if (shoal_agg_accumulator_to_bytes(g->sum, &bytes, error) != SHOAL_AGG_OK) return false;
    duckdb_vector_assign_string_element_len(result, row, (const char *)bytes.data, bytes.len);
    shoal_agg_bytes_free(&bytes);
    return true;
}

// A group without rows is NULL.
static void finalize(duckdb_function_info info, duckdb_aggregate_state *source,
                     duckdb_vector result, idx_t count, idx_t offset)
{
    const function *f = duckdb_aggregate_function_get_extra_info(info);
    shoal_agg_error error = {.text = ""};
    for (idx_t i = 0; i < count; i++) {
        group *g = group_of(source[i]);
        if (g->recipe == NULL) {
            duckdb_vector_ensure_validity_writable(result);
            duckdb_validity_set_row_invalid(duckdb_vector_get_validity(result), offset + i);
        } else if (!finish(g, &error, *f, result, offset + i)) {
            refuse(info, name_of(info), error.text);
            return;
        }
    }
}

// ---- estimates ----

enum { VALUE, COUNT, STDERR, LOW, HIGH, DETECTED, N_MEMBERS };
static const char *members[N_MEMBERS] = {"value", "count", "stderr", "low", "high", "detected"};

static void put_row(duckdb_vector rows, idx_t at, const shoal_agg_columns *c, size_t i)
{
    const double numbers[] = {c->count[i], c->standard_error[i], c->low[i], c->high[i]};
    duckdb_vector_assign_string_element_len(duckdb_struct_vector_get_child(rows, VALUE), at,
                                            c->value[i].bytes, c->value[i].len);
    for (idx_t j = 0; j < 4; j++) {
        double *column = duckdb_vector_get_data(duckdb_struct_vector_get_child(rows, COUNT + j));
        column[at] = numbers[j];
    }
    bool *detected = duckdb_vector_get_data(duckdb_struct_vector_get_child(rows, DETECTED));
    detected[at] = c->detected[i] != 0;
}

// Appends the rows of an estimate to the list of a row. Withheld rows are left out.
static bool put_list(duckdb_vector output, idx_t row, const shoal_agg_columns *c)
{
    duckdb_list_entry *entries = duckdb_vector_get_data(output);
    const idx_t first = duckdb_list_vector_get_size(output);
    idx_t at = first;
    if (duckdb_list_vector_reserve(output, first + c->n_rows) != DuckDBSuccess) return false;
    duckdb_vector rows = duckdb_list_vector_get_child(output);
    for (size_t i = 0; i < c->n_rows; i++)
        if (!c->withheld[i]) put_row(rows, at++, c, i);
    entries[row] = (duckdb_list_entry){first, at - first};
    return duckdb_list_vector_set_size(output, at) == DuckDBSuccess;
}

// Copies the texts of a list. Returns: NULL for out of memory.
static shoal_agg_text *values_of(duckdb_vector lists, idx_t row, size_t *n)
{
    const duckdb_list_entry *entries = duckdb_vector_get_data(lists);
    duckdb_vector child = duckdb_list_vector_get_child(lists);
    shoal_agg_text *values = malloc((entries[row].length + 1) * sizeof *values);
    *n = 0;
    for (idx_t i = 0; values != NULL && i < entries[row].length; i++) {
        if (is_null(child, entries[row].offset + i)) continue;
        duckdb_string_t *texts = duckdb_vector_get_data(child);
        duckdb_string_t *text = &texts[entries[row].offset + i];
        values[(*n)++] =
            (shoal_agg_text){duckdb_string_t_data(text), duckdb_string_t_length(*text)};
    }
    return values;
}

static bool estimate(duckdb_data_chunk input, duckdb_vector output, idx_t row,
                     shoal_agg_error *error)
{
    const bool has_values = duckdb_data_chunk_get_column_count(input) == 3;
    const span blob = text_at(duckdb_data_chunk_get_vector(input, 1), row);
    shoal_agg_recipe *recipe = NULL;
    shoal_agg_accumulator *sum = NULL;
    shoal_agg_estimate *made = NULL;
    shoal_agg_text *values = NULL;
    size_t n = 0;
    shoal_agg_columns c = {.size = sizeof c};
    if (has_values) values = values_of(duckdb_data_chunk_get_vector(input, 2), row, &n);
    bool is_good =
        open_recipe(&recipe, error, text_at(duckdb_data_chunk_get_vector(input, 0), row)) &&
        shoal_agg_accumulator_from_bytes(&sum, recipe, (const uint8_t *)blob.bytes, blob.len,
                                         error) == SHOAL_AGG_OK &&
        shoal_agg_estimate_new(&made, sum, values, n, NULL, error) == SHOAL_AGG_OK &&
        shoal_agg_estimate_columns(&c, made, error) == SHOAL_AGG_OK;
    if (is_good && !put_list(output, row, &c)) {
        snprintf(error->text, sizeof error->text, "out of memory");
        is_good = false;
    }
    shoal_agg_estimate_free(made);
    shoal_agg_accumulator_free(sum);
    shoal_agg_recipe_free(recipe);
    free(values);
    return is_good;
}

static void estimate_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const idx_t n = duckdb_data_chunk_get_size(input);
    const idx_t n_columns = duckdb_data_chunk_get_column_count(input);
    shoal_agg_error error = {.text = ""};
    for (idx_t row = 0; row < n; row++) {
        bool lacks = false;
        for (idx_t j = 0; j < n_columns; j++)
            lacks = lacks || is_null(duckdb_data_chunk_get_vector(input, j), row);
        if (lacks) {
            duckdb_list_entry *entries = duckdb_vector_get_data(output);
            entries[row] = (duckdb_list_entry){duckdb_list_vector_get_size(output), 0};
            duckdb_vector_ensure_validity_writable(output);
            duckdb_validity_set_row_invalid(duckdb_vector_get_validity(output), row);
        } else if (!estimate(input, output, row, &error)) {
            char message[MESSAGE_MAX];
            snprintf(message, sizeof message, "shoal_estimate: %s", error.text);
            duckdb_scalar_function_set_error(info, message);
            return;
        }
    }
}

// ---- registration ----

static function kinds[] = {FOLD_REPORTS, FOLD_BATCHES, MERGE};

static duckdb_aggregate_function make_aggregate(function *kind)
{
    duckdb_aggregate_function f = duckdb_create_aggregate_function();
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type blob = duckdb_create_logical_type(DUCKDB_TYPE_BLOB);
    duckdb_aggregate_function_set_name(f, *kind == MERGE ? "shoal_merge" : "shoal_fold");
    duckdb_aggregate_function_add_parameter(f, text);
    duckdb_aggregate_function_add_parameter(f, *kind == FOLD_REPORTS ? text : blob);
    duckdb_aggregate_function_set_return_type(f, blob);
    duckdb_aggregate_function_set_functions(f, state_size, state_init, update, combine, finalize);
    duckdb_aggregate_function_set_destructor(f, destroy);
    duckdb_aggregate_function_set_extra_info(f, kind, NULL);
    duckdb_destroy_logical_type(&text);
    duckdb_destroy_logical_type(&blob);
    return f;
}

static bool register_fold(duckdb_connection connection)
{
    duckdb_aggregate_function_set set = duckdb_create_aggregate_function_set("shoal_fold");
    bool is_good = true;
    for (size_t i = 0; i < 2; i++) {
        duckdb_aggregate_function f = make_aggregate(&kinds[i]);
        is_good = duckdb_add_aggregate_function_to_set(set, f) == DuckDBSuccess && is_good;
        duckdb_destroy_aggregate_function(&f);
    }
    is_good = duckdb_register_aggregate_function_set(connection, set) == DuckDBSuccess && is_good;
    duckdb_destroy_aggregate_function_set(&set);
    return is_good;
}

static bool register_merge(duckdb_connection connection)
{
    duckdb_aggregate_function f = make_aggregate(&kinds[2]);
    bool is_good = duckdb_register_aggregate_function(connection, f) == DuckDBSuccess;
    duckdb_destroy_aggregate_function(&f);
    return is_good;
}

static duckdb_logical_type make_rows_type(void)
{
    duckdb_logical_type types[N_MEMBERS];
    for (int i = 0; i < N_MEMBERS; i++)
        types[i] = duckdb_create_logical_type(i == VALUE      ? DUCKDB_TYPE_VARCHAR
                                              : i == DETECTED ? DUCKDB_TYPE_BOOLEAN
                                                              : DUCKDB_TYPE_DOUBLE);
    duckdb_logical_type row = duckdb_create_struct_type(types, members, N_MEMBERS);
    duckdb_logical_type rows = duckdb_create_list_type(row);
    duckdb_destroy_logical_type(&row);
    for (int i = 0; i < N_MEMBERS; i++) duckdb_destroy_logical_type(&types[i]);
    return rows;
}

static duckdb_scalar_function make_estimate(bool has_values)
{
    duckdb_scalar_function f = duckdb_create_scalar_function();
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type blob = duckdb_create_logical_type(DUCKDB_TYPE_BLOB);
    duckdb_logical_type texts = duckdb_create_list_type(text), rows = make_rows_type();
    duckdb_scalar_function_set_name(f, "shoal_estimate");
    duckdb_scalar_function_add_parameter(f, text);
    duckdb_scalar_function_add_parameter(f, blob);
    if (has_values) duckdb_scalar_function_add_parameter(f, texts);
    duckdb_scalar_function_set_return_type(f, rows);
    duckdb_scalar_function_set_special_handling(f);
    duckdb_scalar_function_set_function(f, estimate_rows);
    duckdb_destroy_logical_type(&text);
    duckdb_destroy_logical_type(&blob);
    duckdb_destroy_logical_type(&texts);
    duckdb_destroy_logical_type(&rows);
    return f;
}

static bool register_estimate(duckdb_connection connection)
{
    duckdb_scalar_function_set set = duckdb_create_scalar_function_set("shoal_estimate");
    bool is_good = true;
    for (int i = 0; i < 2; i++) {
        duckdb_scalar_function f = make_estimate(i == 1);
        is_good = duckdb_add_scalar_function_to_set(set, f) == DuckDBSuccess && is_good;
        duckdb_destroy_scalar_function(&f);
    }
    is_good = duckdb_register_scalar_function_set(connection, set) == DuckDBSuccess && is_good;
    duckdb_destroy_scalar_function_set(&set);
    return is_good;
}

DUCKDB_EXTENSION_ENTRYPOINT(duckdb_connection connection, duckdb_extension_info info,
                            struct duckdb_extension_access *access)
{
    if (register_fold(connection) && register_merge(connection) && register_estimate(connection))
        return true;
    access->set_error(info, "shoal: its functions cannot be registered");
    return false;
}
