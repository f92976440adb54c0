// SPDX-License-Identifier: Apache-2.0
// Tables that their readers sort and search. Both work without a script: the titles of columns are
// links, and the search is a form, which ask the server for the page in another order.
#ifndef TABLE_ORDER_H
#define TABLE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define AGG_TABLE_FIND_MAX 64u // bytes of the text that is searched for

typedef struct agg_table_column {
    const char *name;  // in the address
    const char *title; // on the page
    const char *class; // of its cells; may be NULL
    bool is_falling;   // the first click puts the largest row on top
} agg_table_column;

// The order of a table, as its page's address asks for it.
typedef struct agg_table_order {
    char column[16];                   // the name of a column; "" for the table's own order
    bool is_falling;                   // the largest row comes first
    char find[AGG_TABLE_FIND_MAX + 1]; // text that shown rows contain; "" for all; hostile
    bool has_days;         // the search offers to choose days, which are then not in "rest"
    char from[11], to[11]; // days as "2026-11-21"; "" for none
    char
        rest[1024]; // the address's other arguments: "period=2026%2DW47&top=50"; values are escaped
} agg_table_order;

// Prints the cell of a column's title: a link that sorts, and the state for screen readers. Without
// an order it is the title alone.
//   roles: whether the table says the roles of its parts, because a phone lays them out as blocks
void agg_table_title(FILE *out, const agg_table_order *order, const agg_table_column *column,
                     bool roles);

// Escapes a text for an address: everything but letters and digits by its number.
//   out: `cap` bytes, at least 3 * strlen(text) + 1
// Returns: the bytes written, without the NUL.
size_t agg_table_escape(char *out, size_t cap, const char *text);

// Prints the form that searches a table, and chooses days where the order has them.
//   label: what is searched for; plain text of the program's own
void agg_table_search(FILE *out, const agg_table_order *order, const char *label);

// Returns: whether a text contains what is searched for. Letters of ASCII match in either case.
bool agg_table_holds(const agg_table_order *order, const char *bytes, size_t len);

// Returns: whether the table is sorted by a column.
bool agg_table_is_by(const agg_table_order *order, const char *column);

// Returns: a comparison in the table's direction, for functions that sort.
int agg_table_directed(const agg_table_order *order, int comparison);

#endif
