// SPDX-License-Identifier: Apache-2.0
// A result as rows and columns. A command describes its columns once, and this room prints the rows
// as CSV, as members of JSON, and as Arrow (arrow_table.h).
#ifndef RESULT_TABLE_H
#define RESULT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agg_error.h"
#include "text_list.h"

typedef enum agg_column_kind {
    AGG_COLUMN_TEXT,   // may hold any bytes; quoted and escaped in CSV
    AGG_COLUMN_WORD,   // one of our own words, bare in CSV
    AGG_COLUMN_NUMBER, // a double
    AGG_COLUMN_WHOLE,  // a whole number below 2^63
    AGG_COLUMN_FLAG    // true or false
} agg_column_kind;

// Forms that lack a column.
#define AGG_NOT_IN_CSV 1u
#define AGG_NOT_IN_JSON 2u
// How CSV prints a column.
#define AGG_CSV_QUOTED_NAME 4u // the name comes from a recipe: quoted and escaped
#define AGG_CSV_DIGIT 8u       // a flag is 1 or 0

#define AGG_DIGITS_SHORTEST 17 // `digits`: the fewest that read back as the same double

typedef struct agg_column {
    agg_text name;
    agg_text group; // JSON nests neighbours of one group in an object of that name; Arrow names
                    // them "group.name"; empty: no group
    agg_column_kind kind;
    bool may_be_missing; // then a cell may be null, empty in CSV
    unsigned marks;      // AGG_NOT_IN_*, AGG_CSV_*
    int digits;          // of a number in texts: significant digits; 0: by the cell's
                         // error in CSV (agg_print_measured), the shortest in JSON
    const char *unit;    // of the numbers, such as "reports"; NULL: none
} agg_column;

// A column of one of our own names.
#define AGG_COLUMN(text, kind_, unit_)                                                             \
    {                                                                                              \
        .name = {(text), sizeof(text) - 1}, .kind = (kind_), .unit = (unit_)                       \
    }

// The same for a column whose cells may be null.
#define AGG_COLUMN_OR_NULL(text, kind_, unit_)                                                     \
    {                                                                                              \
        .name = {(text), sizeof(text) - 1}, .kind = (kind_), .unit = (unit_),                      \
        .may_be_missing = true                                                                     \
    }

typedef struct agg_cell {
    bool is_missing;
    agg_text text; // of a text or a word
    double number; // of a number; its cell is missing if it is not finite and may be missing
    double error;  // the standard error that tells CSV how many digits the number has
    uint64_t whole;
    bool flag;
} agg_cell;

#define AGG_TABLE_COLUMNS_MAX 24u
#define AGG_TABLE_FACTS_MAX 24u
#define AGG_TABLE_FACT_MAX 160u // bytes of a value with a NUL

// What holds for all rows, such as the recipe: the metadata of an Arrow schema.
typedef struct agg_table_fact {
    const char *name;
    char value[AGG_TABLE_FACT_MAX];
} agg_table_fact;

typedef struct agg_table {
    agg_column columns[AGG_TABLE_COLUMNS_MAX];
    size_t n_columns;
    agg_table_fact facts[AGG_TABLE_FACTS_MAX];
    size_t n_facts;
    size_t n_rows;
    void *source; // passed on to `read`
    // Fills the cells of a row, which are zeros before. The texts live until the next call.
    // Returns: false if the row is left out.
    bool (*read)(agg_cell *cells, void *source, size_t row);
} agg_table;

// Adds columns. Their total is at most AGG_TABLE_COLUMNS_MAX.
void agg_table_add(agg_table *table, const agg_column *columns, size_t n);

// Adds a fact. Their total is at most AGG_TABLE_FACTS_MAX. A longer value is cut.
//   name: kept
void agg_table_state(agg_table *table, const char *name, const char *value);
void agg_table_state_number(agg_table *table, const char *name, double value);
void agg_table_state_whole(agg_table *table, const char *name, uint64_t value);

// Returns: the cells of a row in `cells`; false if the row is left out. Numbers that are not finite
// are missing where they may be.
bool agg_table_read(agg_cell cells[AGG_TABLE_COLUMNS_MAX], const agg_table *table, size_t row);

// Returns: the number of rows that are not left out.
size_t agg_table_count(const agg_table *table);

// Prints the header and the rows (RFC 4180).
void agg_table_print_csv(FILE *stream, const agg_table *table);

// Prints the rows as JSON objects.
//   before, between: printed before the first row and before every other
//   after: printed after every row
void agg_table_print_json_rows(FILE *stream, const agg_table *table, const char *before,
                               const char *between, const char *after);

#endif
