// SPDX-License-Identifier: Apache-2.0
// The list of parameters in the help of `shoal recipe new`; see parameter_help.h.
#include "parameter_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_streams.h"
#include "field_table.h"
#include "mechanism.h"
#include "recipe_parameters.h"

#define COLUMN 23u   // where the texts begin
#define WIDTH 96u    // characters of a line at most
#define NAMES_MAX 4u // a parameter that more mechanisms take is listed without their names

// Prints words from column `at` on, breaking lines before those that do not fit.
static void print_words(const char *text, size_t at)
{
    bool is_first = true;
    while (*text != '\0') {
        size_t len = strcspn(text, " ");
        if (!is_first && at + 1 + len > WIDTH) {
            agg_print("\n%*s", (int)COLUMN, "");
            at = COLUMN;
            is_first = true;
        }
        at += (size_t)agg_print("%s%.*s", is_first ? "" : " ", (int)len, text);
        is_first = false;
        text += len + (text[len] == ' ');
    }
    fputc('\n', agg_out());
}

// Any mechanism that counts numbers takes their range, so its row needs no names.
static void print_mechanisms(FILE *stream, uint32_t takes)
{
    const char *name, *names[NAMES_MAX];
    uint32_t taken;
    size_t n = 0;
    bool is_compound;
    if (takes == SHOAL_TAKES_RANGE) return;
    for (size_t i = 0; recipe_mechanism_at(&name, &taken, &is_compound, i); i++) {
        if (name == NULL || !(taken & takes)) continue;
        if (n == NAMES_MAX) return;
        names[n++] = name;
    }
    for (size_t i = 0; i < n; i++) fprintf(stream, "%s%s", names[i], i + 1 < n ? ", " : ": ");
}

// Prints a number of a row as the option takes it.
static void print_number(FILE *stream, const recipe_parameter *p, uint32_t number)
{
    if (p->kind == FIELD_DELTA)
        fprintf(stream, "1e-%u", number);
    else if (p->kind == FIELD_MICRO)
        fprintf(stream, "%g", number / 1e6);
    else
        fprintf(stream, "%u", number);
}

static void print_range(FILE *stream, const recipe_parameter *p)
{
    for (const shoal_choice *c = p->choices; c != NULL && c->name != NULL; c++)
        fprintf(stream, "%s%s", c == p->choices ? "; " : " or ", c->name);
    if (p->max == 0) return;
    fputs("; ", stream);
    print_number(stream, p, p->kind == FIELD_DELTA ? p->max : p->min);
    fputs(" to ", stream);
    print_number(stream, p, p->kind == FIELD_DELTA ? p->min : p->max);
}

static void print_default(FILE *stream, const recipe_parameter *p)
{
    if (p->usual != NULL) {
        fprintf(stream, "; default %s", p->usual);
    } else if (p->choices != NULL) {
        for (const shoal_choice *c = p->choices; c->name != NULL; c++)
            if (c->number == p->initial) fprintf(stream, "; default %s", c->name);
    } else if (p->initial != 0) {
        fputs("; default ", stream);
        print_number(stream, p, p->initial);
    }
    if (p->note != NULL) fprintf(stream, " (%s)", p->note);
}

static const char *value_of(const recipe_parameter *p)
{
    if (p->kind == FIELD_INTEGER) return "N";
    if (p->kind == FIELD_CHOICE) return "NAME";
    return p->kind == FIELD_LIST ? "TEXT" : "X";
}

static void print_parameter(const recipe_parameter *p)
{
    char option[RECIPE_OPTION_SIZE], *text = NULL;
    size_t text_len = 0;
    FILE *stream = open_memstream(&text, &text_len);
    if (stream == NULL) return;
    print_mechanisms(stream, p->takes);
    fputs(p->help, stream);
    print_range(stream, p);
    print_default(stream, p);
    fclose(stream);
    if (text == NULL) return;
    recipe_parameter_option(option, p->name);
    int len = agg_print("  --%s %s", option, value_of(p));
    agg_print("%*s", len < (int)COLUMN - 1 ? (int)COLUMN - len : 1, "");
    print_words(text, len < (int)COLUMN - 1 ? COLUMN : (size_t)len + 1);
    free(text);
}

void parameter_help_print(void)
{
    recipe_parameter p;
    agg_print("\nParameters, by the mechanisms that take them:\n");
    for (size_t i = 0; recipe_parameter_at(&p, i); i++) print_parameter(&p);
}
