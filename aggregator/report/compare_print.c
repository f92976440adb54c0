// SPDX-License-Identifier: Apache-2.0
// Prints comparisons; see compare_print.h.
#include "compare_print.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "guarantee_print.h"
#include "incomplete_print.h"
#include "print_text.h"
#include "recipe.h"
#include "result_table.h"
#include "round_text.h"
#include "selection_print.h"
#include "table_write.h"
#include "window_picks.h"

#define N_NUMBERS 7u // numbers of a row
#define N_SHOWN 6u   // numbers in a table, which leaves out z

static const char *const names[N_NUMBERS] = {"a", "b", "difference", "stderr", "low", "high", "z"};

static void numbers_of(double out[N_NUMBERS], const agg_compare_row *row)
{
    const double numbers[N_NUMBERS] = {row->a,   row->b,    row->difference, row->stderr_,
                                       row->low, row->high, row->z};
    memcpy(out, numbers, sizeof numbers);
}

// Returns: whether a number is withheld. With one side shown, the difference would reveal the
// other.
static bool is_withheld(const agg_compare_row *row, size_t number)
{
    if (number == 0) return row->a_withheld;
    return number == 1 ? row->b_withheld : row->a_withheld || row->b_withheld;
}

static const char *of_name(agg_compare_of of)
{
    switch (of) {
    case AGG_COMPARE_COUNTS: return "count";
    case AGG_COMPARE_MEANS: return "mean";
    case AGG_COMPARE_SHARES: break;
    }
    return "share";
}

// ---- rows ----

static bool read_row(agg_cell *cells, void *source, size_t i)
{
    const agg_compare *c = source;
    const agg_compare_row *row = &c->rows[i];
    double numbers[N_NUMBERS];
    numbers_of(numbers, row);
    cells[0].text = row->value;
    for (size_t j = 0; j < N_NUMBERS; j++) {
        cells[1 + j].number = numbers[j];
        cells[1 + j].error = j + 1 < N_NUMBERS ? row->stderr_ : 1; // z is in standard errors
        cells[1 + j].is_missing = is_withheld(row, j);
    }
    cells[1 + N_NUMBERS].flag = row->detected;
    if (c->of == AGG_COMPARE_MEANS) return true;
    cells += 2 + N_NUMBERS;
    cells[0].number = row->fcr_low;
    cells[1].number = row->fcr_high;
    cells[0].error = cells[1].error = row->stderr_;
    cells[0].is_missing = cells[1].is_missing = row->a_withheld || row->b_withheld;
    return true;
}

// Returns: what the numbers of a comparison are a number of; NULL for means and shares.
static const char *unit_of(const agg_compare *c)
{
    return c->of == AGG_COMPARE_COUNTS ? agg_picks_unit(c->recipe_a->recipe) : NULL;
}

static void state_side(agg_table *table, const agg_recipe *recipe, uint64_t n,
                       agg_shards_about shards, bool is_a)
{
    agg_table_state(table, is_a ? "a_recipe" : "b_recipe", recipe->id);
    agg_table_state(table, is_a ? "a_recipe_hash" : "b_recipe_hash", recipe->hash_hex);
    agg_table_state_whole(table, is_a ? "a_n" : "b_n", n);
    agg_table_state_number(table, is_a ? "a_epsilon" : "b_epsilon",
                           recipe->recipe->cost_micro / 1e6);
    agg_incomplete_state(table, shards, is_a ? "a_shards" : "b_shards",
                         is_a ? "a_shards_missing" : "b_shards_missing");
}

static void make_table(agg_table *table, const agg_compare *c)
{
    static const agg_column value[] = {AGG_COLUMN("value", AGG_COLUMN_TEXT, NULL)};
    static const agg_column detected[] = {AGG_COLUMN("detected", AGG_COLUMN_FLAG, NULL)};
    *table = (agg_table){.n_rows = c->n_rows, .source = (void *)(uintptr_t)c, .read = read_row};
    agg_table_add(table, value, 1);
    for (size_t j = 0; j < N_NUMBERS; j++) {
        const agg_column number = {.name = {names[j], strlen(names[j])},
                                   .kind = AGG_COLUMN_NUMBER,
                                   .may_be_missing = true,
                                   .unit = j + 1 < N_NUMBERS ? unit_of(c) : NULL};
        agg_table_add(table, &number, 1);
    }
    agg_table_add(table, detected, 1);
    const agg_column selected[] = {{.name = {"fcr_low", 7},
                                    .kind = AGG_COLUMN_NUMBER,
                                    .may_be_missing = true,
                                    .unit = unit_of(c)},
                                   {.name = {"fcr_high", 8},
                                    .kind = AGG_COLUMN_NUMBER,
                                    .may_be_missing = true,
                                    .unit = unit_of(c)}};
    if (c->of != AGG_COMPARE_MEANS) agg_table_add(table, selected, 2);
    agg_table_state(table, "schema", "1");
    state_side(table, c->recipe_a, c->n_a, c->shards_a, true);
    state_side(table, c->recipe_b, c->n_b, c->shards_b, false);
    agg_table_state(table, "of", of_name(c->of));
    agg_table_state_number(table, "confidence", c->confidence);
    agg_table_state(table, "multiple", agg_multiple_name(c->multiple));
    if (c->repeats) agg_table_state(table, "repeated_answers", "true");
    agg_table_state_whole(table, "withheld", c->n_withheld);
}

// ---- JSON ----

static void print_json_side(FILE *stream, const char *name, const agg_recipe *recipe, uint64_t n,
                            agg_shards_about shards)
{
    fprintf(stream, "\"%s\":{\"recipe\":\"%s\",\"recipe_hash\":\"%s\",\"n\":%llu,", name,
            recipe->id, recipe->hash_hex, (unsigned long long)n);
    agg_incomplete_print_json(stream, shards);
    fputs("\"epsilon\":", stream);
    agg_print_number(stream, recipe->recipe->cost_micro / 1e6);
    fputs("},", stream);
}

static void print_json_guarantees(FILE *stream, const agg_compare *c)
{
    char epsilon_text[AGG_ROUND_TEXT_MAX], delta_text[AGG_ROUND_TEXT_MAX];
    double epsilon = 0, delta = 0;
    agg_guarantee_both(&epsilon, &delta, c->guarantee_a, c->guarantee_b);
    fputs("\"guarantees\":{\"a\":", stream);
    agg_guarantee_print_json(stream, c->guarantee_a);
    fputs(",\"b\":", stream);
    agg_guarantee_print_json(stream, c->guarantee_b);
    fprintf(stream, ",\"both\":{\"epsilon\":%s,\"delta\":%s}},",
            agg_upper_text(epsilon_text, epsilon, AGG_DIGITS_JSON, "null"),
            agg_delta_text(delta_text, delta));
}

static void print_json(FILE *stream, const agg_compare *c, const agg_table *table)
{
    fputs("{\"schema\":1,", stream);
    print_json_side(stream, "a", c->recipe_a, c->n_a, c->shards_a);
    print_json_side(stream, "b", c->recipe_b, c->n_b, c->shards_b);
    fprintf(stream, "\"of\":\"%s\",\"confidence\":", of_name(c->of));
    agg_print_number(stream, c->confidence);
    fprintf(stream, ",\"multiple\":\"%s\",", agg_multiple_name(c->multiple));
    if (agg_picks_windows(c->recipe_a->recipe)) fputs("\"unit\":\"windows\",", stream);
    if (c->recipe_a->recipe->release_threshold > 0 || c->recipe_b->recipe->release_threshold > 0)
        fprintf(stream, "\"withheld\":%zu,", c->n_withheld);
    if (c->repeats) fputs("\"repeated_answers\":true,", stream);
    if (c->guarantee_a != NULL) print_json_guarantees(stream, c);
    if (c->of != AGG_COMPARE_MEANS) agg_selection_print_json(stream, &c->selection);
    fputs("\"rows\":[", stream);
    agg_table_print_json_rows(stream, table, "\n", ",\n", "");
    fputs("\n]}\n", stream);
}

// ---- table ----

// Returns: the decimals that show two digits of the smallest error, in the table's unit.
static int decimals_of(const agg_compare *c, double unit)
{
    double least = INFINITY;
    for (size_t i = 0; i < c->n_rows; i++) least = fmin(least, unit * c->rows[i].stderr_);
    return agg_error_decimals(least);
}

static const char *verdict(const agg_compare_row *row)
{
    if (!row->detected) return "cannot tell";
    return row->difference > 0 ? "up" : "down";
}

static void print_guarantees(FILE *stream, const agg_compare *c)
{
    char line[AGG_GUARANTEE_LINE_MAX];
    fputc('\n', stream);
    for (size_t i = 0; agg_guarantee_line_of_two(line, c->guarantee_a, c->guarantee_b, i); i++)
        fprintf(stream, "%s\n", line);
}

static void print_table(FILE *stream, const agg_compare *c)
{
    double unit = c->of == AGG_COMPARE_SHARES ? 100 : 1;
    int decimals = decimals_of(c, unit);
    size_t width = sizeof "value" - 1;
    for (size_t i = 0; i < c->n_rows; i++) {
        size_t own = agg_terminal_width(c->rows[i].value.bytes, c->rows[i].value.len);
        if (own > width) width = own < AGG_TABLE_VALUE_MAX ? own : AGG_TABLE_VALUE_MAX;
    }
    fprintf(stream, "a: %s, %s reports, epsilon %g\n", c->recipe_a->id, agg_whole(c->n_a).text,
            c->recipe_a->recipe->cost_micro / 1e6);
    agg_incomplete_print(stream, c->shards_a);
    fprintf(stream, "b: %s, %s reports, epsilon %g\n", c->recipe_b->id, agg_whole(c->n_b).text,
            c->recipe_b->recipe->cost_micro / 1e6);
    agg_incomplete_print(stream, c->shards_b);
    fprintf(stream, "b less a, %s%s, %g %% intervals\n\n",
            c->of == AGG_COMPARE_SHARES   ? "shares in %"
            : c->of == AGG_COMPARE_COUNTS ? agg_picks_unit(c->recipe_a->recipe)
                                          : "means",
            agg_picks_windows(c->recipe_a->recipe) && c->of != AGG_COMPARE_COUNTS ? " of windows"
                                                                                  : "",
            100 * c->confidence);
    agg_print_cell(stream, "value", 5, width);
    for (size_t j = 0; j < N_SHOWN; j++) fprintf(stream, "  %10s", names[j]);
    fputs("  change\n", stream);
    for (size_t i = 0; i < c->n_rows; i++) {
        const agg_compare_row *row = &c->rows[i];
        double numbers[N_NUMBERS];
        numbers_of(numbers, row);
        agg_print_cell(stream, row->value.bytes, row->value.len, width);
        for (size_t j = 0; j < N_SHOWN; j++) {
            if (is_withheld(row, j))
                fprintf(stream, "  %10s", j < 2 ? "withheld" : "-");
            else
                fprintf(stream, "  %10s", agg_grouped(unit * numbers[j], decimals).text);
        }
        fprintf(stream, "  %s\n", verdict(row));
    }
    if (c->n_withheld > 0)
        fprintf(stream, "\n%zu value%s below the release threshold on both sides withheld\n",
                c->n_withheld, c->n_withheld == 1 ? "" : "s");
    agg_selection_print(stream, &c->selection, c->confidence);
    if (c->repeats)
        fputs("\ndevices repeat permanent answers: of those that report on both sides, noise "
              "cancels, and\nstandard errors are too large, not too small\n",
              stream);
    if (c->guarantee_a != NULL) print_guarantees(stream, c);
}

agg_err agg_compare_print(FILE *stream, agg_error *error, const agg_compare *compare,
                          agg_format format)
{
    agg_table table;
    make_table(&table, compare);
    if (format == AGG_TABLE) print_table(stream, compare);
    if (format == AGG_JSON) print_json(stream, compare, &table);
    return agg_table_write(stream, error, &table, format);
}
