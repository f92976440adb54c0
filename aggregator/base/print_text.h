// SPDX-License-Identifier: Apache-2.0
// Prints texts and numbers into JSON, CSV and terminal output. Values come from the people whose
// reports were collected, so every text is treated as hostile and escaped for its destination.
#ifndef PRINT_TEXT_H
#define PRINT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// The forms in which a command prints its result.
typedef enum agg_format { AGG_TABLE = 0, AGG_JSON, AGG_NDJSON, AGG_CSV, AGG_ARROW } agg_format;

#define AGG_TABLE_VALUE_MAX ((size_t)48) // the widest column, in characters, that values get

// Prints a JSON string literal, quotation marks included. Bytes that are not UTF-8 become U+FFFD;
// <, > and & are escaped, so that the literal may stand inside an HTML page.
void agg_print_json_text(FILE *stream, const char *bytes, size_t len);

// Prints a text for a terminal. Control characters, bidirectional overrides and broken UTF-8 become
// \xHH, so that a value cannot move the cursor or disguise the text around it.
void agg_print_terminal_text(FILE *stream, const char *bytes, size_t len);

// Returns: the number of terminal columns that agg_print_terminal_text takes for the text.
size_t agg_terminal_width(const char *bytes, size_t len);

// Prints a text for a terminal and pads it with blanks to `width` columns. A wider text is printed
// whole.
void agg_print_cell(FILE *stream, const char *bytes, size_t len, size_t width);

// Prints a quoted CSV cell (RFC 4180), escaped as for a terminal. A text that begins with = + - @,
// with the full-width form of one of these, or with a tab or an end of line, which a spreadsheet
// may run as a formula, gets a leading apostrophe. Numbers are printed as they are, also negative
// ones; every text in a CSV file goes through this function.
void agg_print_csv_text(FILE *stream, const char *bytes, size_t len);

// Reads the first character of a text of at least one byte.
//   used: its bytes; 1 if it is none
// Returns: whether it is a character of UTF-8.
bool agg_is_character(size_t *used, const char *bytes, size_t len);

// Prints a text of ours that nobody may overlook: in red where the stream is a terminal and the
// environment variable NO_COLOR is not set.
void agg_print_alert(FILE *stream, const char *text);

#define AGG_NUMBER_TEXT 40u // bytes with a NUL

// Writes the shortest decimal that reads back as the same double.
void agg_number_text(char out[AGG_NUMBER_TEXT], double x);

// Prints the shortest decimal that reads back as the same double.
//   x: finite
void agg_print_number(FILE *stream, double x);

// A number as people read it, with commas between groups of three digits: 1,000,000. JSON and CSV
// have none.
typedef struct agg_digits {
    char text[32];
} agg_digits;

// Returns: a count, grouped.
agg_digits agg_whole(uint64_t n);

// Returns: a number with `decimals` decimals, 0 to 9, its whole part grouped. A number that
// is too long for that has 12 significant digits and an exponent.
agg_digits agg_grouped(double x, int decimals);

// Prints a number into CSV with three significant digits of its error, so that rounding moves it by
// at most 0.5 % of its standard error. Without an error (not finite, or 0), and from 10^15 on, it
// prints the shortest decimal that reads back as the same double.
void agg_print_measured(FILE *stream, double x, double error);

// Returns: the number of decimals, 0 to 9, that show two significant digits of an error.
int agg_error_decimals(double error);

#endif
