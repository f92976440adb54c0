// SPDX-License-Identifier: Apache-2.0
// Rows as CSV and as members of JSON; see result_table.h.
#include "result_table.h"

#include <assert.h>
#include <math.h>
#include <stdio_ext.h>
#include <string.h>

#include "print_text.h"

void agg_table_add(agg_table *table, const agg_column *columns, size_t n)
{
    assert(table->n_columns + n <= AGG_TABLE_COLUMNS_MAX);
    memcpy(table->columns + table->n_columns, columns, n * sizeof *columns);
    table->n_columns += n;
}

void agg_table_state(agg_table *table, const char *name, const char *value)
{
    assert(table->n_facts < AGG_TABLE_FACTS_MAX);
    agg_table_fact *fact = &table->facts[table->n_facts++];
    fact->name = name;
    snprintf(fact->value, sizeof fact->value, "%s", value);
}

void agg_table_state_number(agg_table *table, const char *name, double value)
{
    char text[AGG_NUMBER_TEXT];
    agg_number_text(text, value);
    agg_table_state(table, name, text);
}

void agg_table_state_whole(agg_table *table, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    agg_table_state(table, name, text);
}

bool agg_table_read(agg_cell cells[AGG_TABLE_COLUMNS_MAX], const agg_table *table, size_t row)
{
    memset(cells, 0, table->n_columns * sizeof *cells);
    if (!table->read(cells, table->source, row)) return false;
    for (size_t j = 0; j < table->n_columns; j++) {
        const agg_column *column = &table->columns[j];
        if (column->kind == AGG_COLUMN_NUMBER && column->may_be_missing &&
            !isfinite(cells[j].number))
            cells[j].is_missing = true;
    }
    return true;
}

size_t agg_table_count(const agg_table *table)
{
    agg_cell cells[AGG_TABLE_COLUMNS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++) n += (size_t)agg_table_read(cells, table, i);
    return n;
}

// Prints a number with the digits of its column, or the fewest that read back as the same double.
static void print_digits(FILE *stream, const agg_column *column, double x)
{
    if (column->digits == 0 || column->digits == AGG_DIGITS_SHORTEST)
        agg_print_number(stream, x);
    else
        fprintf(stream, "%.*g", column->digits, x);
}

// ---- CSV ----

static void print_csv_number(FILE *stream, const agg_column *column, const agg_cell *cell)
{
    if (column->digits == 0)
        agg_print_measured(stream, cell->number, cell->error);
    else
        print_digits(stream, column, cell->number);
}

static void print_csv_cell(FILE *stream, const agg_column *column, const agg_cell *cell)
{
    if (cell->is_missing) return;
    switch (column->kind) {
    case AGG_COLUMN_TEXT: agg_print_csv_text(stream, cell->text.bytes, cell->text.len); break;
    case AGG_COLUMN_WORD: fwrite(cell->text.bytes, 1, cell->text.len, stream); break;
    case AGG_COLUMN_NUMBER: print_csv_number(stream, column, cell); break;
    case AGG_COLUMN_WHOLE: fprintf(stream, "%llu", (unsigned long long)cell->whole); break;
    case AGG_COLUMN_FLAG:
        if ((column->marks & AGG_CSV_DIGIT) != 0)
            fputc(cell->flag ? '1' : '0', stream);
        else
            fputs(cell->flag ? "true" : "false", stream);
        break;
    }
}

static void print_csv_head(FILE *stream, const agg_table *table)
{
    const char *comma = "";
    for (size_t j = 0; j < table->n_columns; j++) {
        const agg_column *column = &table->columns[j];
        if ((column->marks & AGG_NOT_IN_CSV) != 0) continue;
        fputs(comma, stream);
        comma = ",";
        if ((column->marks & AGG_CSV_QUOTED_NAME) != 0)
            agg_print_csv_text(stream, column->name.bytes, column->name.len);
        else
            fwrite(column->name.bytes, 1, column->name.len, stream);
    }
    fputc('\n', stream);
}

// Once a program has had threads, every call of stdio locks its stream: a third of what printing
// takes. The thread that prints a table has the stream for itself.
// Returns: for stop_alone
static int start_alone(FILE *stream)
{
#ifndef __wasi__ // which has no threads, and no such functions
    flockfile(stream);
#endif
    return __fsetlocking(stream, FSETLOCKING_BYCALLER);
}

static void stop_alone(FILE *stream, int before)
{
    (void)__fsetlocking(stream, before);
#ifndef __wasi__
    funlockfile(stream);
#endif
}

void agg_table_print_csv(FILE *stream, const agg_table *table)
{
    agg_cell cells[AGG_TABLE_COLUMNS_MAX];
    const int locking = start_alone(stream);
    print_csv_head(stream, table);
    for (size_t i = 0; i < table->n_rows; i++) {
        const char *comma = "";
        if (!agg_table_read(cells, table, i)) continue;
        for (size_t j = 0; j < table->n_columns; j++) {
            if ((table->columns[j].marks & AGG_NOT_IN_CSV) != 0) continue;
            fputs(comma, stream);
            comma = ",";
            print_csv_cell(stream, &table->columns[j], &cells[j]);
        }
        fputc('\n', stream);
    }
    stop_alone(stream, locking);
}

// ---- JSON ----

static void print_json_cell(FILE *stream, const agg_column *column, const agg_cell *cell)
{
    if (cell->is_missing) {
        fputs("null", stream);
        return;
    }
    switch (column->kind) {
    case AGG_COLUMN_TEXT:
    case AGG_COLUMN_WORD: agg_print_json_text(stream, cell->text.bytes, cell->text.len); break;
    case AGG_COLUMN_NUMBER: print_digits(stream, column, cell->number); break;
    case AGG_COLUMN_WHOLE: fprintf(stream, "%llu", (unsigned long long)cell->whole); break;
    case AGG_COLUMN_FLAG: fputs(cell->flag ? "true" : "false", stream); break;
    }
}

static void print_json_name(FILE *stream, agg_text name)
{
    agg_print_json_text(stream, name.bytes, name.len);
    fputc(':', stream);
}

static bool is_same(agg_text a, agg_text b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0);
}

static void print_json_row(FILE *stream, const agg_table *table, const agg_cell *cells)
{
    agg_text group = {.len = 0};
    const char *comma = "";
    fputc('{', stream);
    for (size_t j = 0; j < table->n_columns; j++) {
        const agg_column *column = &table->columns[j];
        if ((column->marks & AGG_NOT_IN_JSON) != 0) continue;
        bool is_new = !is_same(group, column->group);
        if (is_new && group.len > 0) fputc('}', stream);
        fputs(comma, stream);
        comma = ",";
        group = column->group;
        if (is_new && group.len > 0) {
            print_json_name(stream, group);
            fputc('{', stream);
        }
        print_json_name(stream, column->name);
        print_json_cell(stream, column, &cells[j]);
    }
    fputs(group.len > 0 ? "}}" : "}", stream);
}

void agg_table_print_json_rows(FILE *stream, const agg_table *table, const char *before,
                               const char *between, const char *after)
{
    agg_cell cells[AGG_TABLE_COLUMNS_MAX];
    const char *separator = before;
    const int locking = start_alone(stream);
    for (size_t i = 0; i < table->n_rows; i++) {
        if (!agg_table_read(cells, table, i)) continue;
        fputs(separator, stream);
        print_json_row(stream, table, cells);
        fputs(after, stream);
        separator = between;
    }
    stop_alone(stream, locking);
}
