// SPDX-License-Identifier: Apache-2.0
// Prints changes; see changes_print.h.
#include "changes_print.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "changes_check.h"
#include "guarantee_print.h"
#include "incomplete_print.h"
#include "recipe.h"
#include "result_table.h"
#include "selection_print.h"
#include "table_write.h"
#include "window_picks.h"

static const char *word_of(const agg_changes_row *row)
{
    if (!row->detected) return "";
    return row->score > 0 ? "rose" : "fell";
}

static agg_text text_of(const char *text)
{
    return (agg_text){text, strlen(text)};
}

// ---- rows ----

// A share, z and p are null where they would tell of a side that is below the release threshold.
static const agg_column columns[] = {AGG_COLUMN("value", AGG_COLUMN_TEXT, NULL),
                                     AGG_COLUMN_OR_NULL("share", AGG_COLUMN_NUMBER, NULL),
                                     AGG_COLUMN_OR_NULL("z", AGG_COLUMN_NUMBER, NULL),
                                     AGG_COLUMN_OR_NULL("p", AGG_COLUMN_NUMBER, NULL),
                                     AGG_COLUMN("detected", AGG_COLUMN_FLAG, NULL),
                                     AGG_COLUMN("change", AGG_COLUMN_WORD, NULL),
                                     AGG_COLUMN("shape", AGG_COLUMN_WORD, NULL),
                                     AGG_COLUMN("since", AGG_COLUMN_TEXT, NULL),
                                     AGG_COLUMN("since_low", AGG_COLUMN_TEXT, NULL),
                                     AGG_COLUMN("since_high", AGG_COLUMN_TEXT, NULL),
                                     AGG_COLUMN("before", AGG_COLUMN_NUMBER, NULL),
                                     AGG_COLUMN("before_low", AGG_COLUMN_NUMBER, NULL),
                                     AGG_COLUMN("before_high", AGG_COLUMN_NUMBER, NULL),
                                     AGG_COLUMN("after", AGG_COLUMN_NUMBER, NULL),
                                     AGG_COLUMN("after_low", AGG_COLUMN_NUMBER, NULL),
                                     AGG_COLUMN("after_high", AGG_COLUMN_NUMBER, NULL),
                                     AGG_COLUMN("difference", AGG_COLUMN_NUMBER, NULL),
                                     AGG_COLUMN("stderr", AGG_COLUMN_NUMBER, NULL),
                                     AGG_COLUMN("fcr_low", AGG_COLUMN_NUMBER, NULL),
                                     AGG_COLUMN("fcr_high", AGG_COLUMN_NUMBER, NULL)};
#define N_COLUMNS (sizeof columns / sizeof columns[0])

// Columns from here on are about detected rows only.
#define FIRST_OF_CHANGE 5u

// Fills three cells with a share and its interval.
static void set_level(agg_cell *cells, const agg_changes *c, agg_level level, bool is_missing)
{
    double error = sqrt(level.variance), half = c->selection.quantile * error;
    const double numbers[3] = {level.share, level.share - half, level.share + half};
    for (int i = 0; i < 3; i++)
        cells[i] = (agg_cell){.is_missing = is_missing, .number = numbers[i], .error = error};
}

static void set_date(agg_cell *cell, const agg_changes *c, size_t period, bool is_missing)
{
    cell->is_missing = is_missing;
    if (!is_missing) cell->text = c->periods[period].label;
}

static bool read_row(agg_cell *cells, void *source, size_t i)
{
    const agg_changes *c = source;
    const agg_changes_row *row = &c->rows[i];
    bool is_side_missing = row->before_withheld || row->after_withheld;
    double error = sqrt(row->difference.variance), half = c->selection.quantile * error;
    // A withheld side would follow from the share of all and the other side, and from z.
    bool is_one_shown = row->detected && row->before_withheld != row->after_withheld;
    cells[0].text = row->value;
    cells[1] = (agg_cell){is_one_shown, .number = row->share};
    cells[2] = (agg_cell){is_side_missing, .number = row->score, .error = 1};
    cells[3] = (agg_cell){is_side_missing, .number = row->p};
    cells[4].flag = row->detected;
    cells[5].text = text_of(word_of(row));
    cells[6].text = text_of(agg_change_shape_name(row->shape));
    set_date(&cells[7], c, row->at, !row->detected);
    set_date(&cells[8], c, row->dates.first, row->dates.n == 0);
    set_date(&cells[9], c, row->dates.last, row->dates.n == 0);
    set_level(&cells[10], c, row->before, row->before_withheld);
    set_level(&cells[13], c, row->after, row->after_withheld);
    const double of_change[4] = {row->difference.share, error, row->difference.share - half,
                                 row->difference.share + half};
    for (size_t j = 0; j < 4; j++)
        cells[16 + j] = (agg_cell){is_side_missing, .number = of_change[j], .error = error};
    for (size_t j = FIRST_OF_CHANGE; j < N_COLUMNS && !row->detected; j++)
        cells[j].is_missing = true;
    return true;
}

static void make_table(agg_table *table, const agg_changes *c)
{
    const agg_recipe *first = c->periods[0].recipe;
    *table = (agg_table){.n_rows = c->n_rows, .source = (void *)(uintptr_t)c, .read = read_row};
    for (size_t j = 0; j < N_COLUMNS; j++) {
        agg_column column = columns[j];
        column.may_be_missing = column.may_be_missing || j >= FIRST_OF_CHANGE;
        agg_table_add(table, &column, 1);
    }
    agg_table_state(table, "schema", "1");
    agg_table_state(table, "recipe", first->id);
    agg_table_state(table, "recipe_hash", first->hash_hex);
    agg_table_state_whole(table, "periods", c->n_periods);
    agg_table_state_number(table, "epsilon", first->recipe->cost_micro / 1e6);
    agg_table_state_number(table, "confidence", c->confidence);
    agg_table_state(table, "multiple", agg_multiple_name(c->multiple));
    agg_table_state_whole(table, "withheld", c->n_withheld);
    agg_incomplete_state(table, c->shards, "shards", "shards_missing");
}

// ---- JSON ----

static void print_json_periods(FILE *stream, const agg_changes *c)
{
    size_t before = 0;
    fputs("\"periods\":[", stream);
    for (size_t t = 0; t < c->n_periods; t++) {
        const agg_changes_period *p = &c->periods[t];
        fputs(t == 0 ? "\n{\"label\":" : ",\n{\"label\":", stream);
        agg_print_json_text(stream, p->label.bytes, p->label.len);
        fprintf(stream, ",\"recipe\":\"%s\",\"recipe_hash\":\"%s\",\"n\":%llu}", p->recipe->id,
                p->recipe->hash_hex, (unsigned long long)p->acc->n);
    }
    fputs("],\"gaps\":[", stream);
    for (size_t i = 0; agg_changes_gap(&before, c->periods, c->n_periods, i); i++) {
        fputs(i == 0 ? "{\"after\":" : ",{\"after\":", stream);
        agg_print_json_text(stream, c->periods[before].label.bytes, c->periods[before].label.len);
        fputs(",\"before\":", stream);
        agg_print_json_text(stream, c->periods[before + 1].label.bytes,
                            c->periods[before + 1].label.len);
        fputs("}", stream);
    }
    fputs("],", stream);
}

static void print_json(FILE *stream, const agg_changes_result *result, const agg_table *table)
{
    const agg_changes *c = result->changes;
    fputs("{\"schema\":1,", stream);
    print_json_periods(stream, c);
    agg_incomplete_print_json(stream, c->shards);
    fputs("\"epsilon\":", stream);
    agg_print_number(stream, c->periods[0].recipe->recipe->cost_micro / 1e6);
    fputs(",\"confidence\":", stream);
    agg_print_number(stream, c->confidence);
    fprintf(stream, ",\"multiple\":\"%s\",\"shared_rows\":%s,", agg_multiple_name(c->multiple),
            c->is_shared ? "true" : "false");
    if (c->n_withheld > 0 || c->periods[0].recipe->recipe->release_threshold > 0)
        fprintf(stream, "\"withheld\":%zu,", c->n_withheld);
    if (result->guarantee != NULL) {
        fputs("\"guarantee\":", stream);
        agg_guarantee_print_json(stream, result->guarantee);
        fputs(",", stream);
    }
    agg_selection_print_json(stream, &c->selection);
    fputs("\"rows\":[", stream);
    agg_table_print_json_rows(stream, table, "\n", ",\n", "");
    fputs("\n]}\n", stream);
}

// ---- table ----

static size_t width_of(agg_text text, size_t least)
{
    size_t own = agg_terminal_width(text.bytes, text.len);
    if (own > AGG_TABLE_VALUE_MAX) own = AGG_TABLE_VALUE_MAX;
    return own > least ? own : least;
}

// Returns: the decimals of shares in % that show two digits of the smallest error.
static int decimals_of(const agg_changes *c)
{
    double least = INFINITY;
    for (size_t i = 0; i < c->n_rows; i++)
        if (c->rows[i].detected) least = fmin(least, 100 * sqrt(c->rows[i].difference.variance));
    return isfinite(least) ? agg_error_decimals(least) : 2;
}

static void print_head(FILE *stream, const agg_changes *c)
{
    size_t before = 0;
    double n = c->sums.reports[c->n_periods];
    const agg_changes_period *first = &c->periods[0], *last = &c->periods[c->n_periods - 1];
    fprintf(stream, "%s, %zu periods from ", first->recipe->id, c->n_periods);
    agg_print_terminal_text(stream, first->label.bytes, first->label.len);
    fputs(" to ", stream);
    agg_print_terminal_text(stream, last->label.bytes, last->label.len);
    fprintf(stream, ", %s reports, epsilon %g\n", agg_whole((uint64_t)n).text,
            first->recipe->recipe->cost_micro / 1e6);
    agg_incomplete_print(stream, c->shards);
    for (size_t i = 0; agg_changes_gap(&before, c->periods, c->n_periods, i); i++) {
        fputs("no period between ", stream);
        agg_print_terminal_text(stream, c->periods[before].label.bytes,
                                c->periods[before].label.len);
        fputs(" and ", stream);
        agg_print_terminal_text(stream, c->periods[before + 1].label.bytes,
                                c->periods[before + 1].label.len);
        fputs("\n", stream);
    }
    fprintf(stream, "shares in %%%s, %g %% intervals of picked rows\n\n",
            agg_picks_windows(first->recipe->recipe) ? " of windows" : "", 100 * c->confidence);
}

// Prints a share and half of its interval, or that it is withheld.
static void print_level(FILE *stream, const agg_changes *c, agg_level level, bool is_withheld,
                        int decimals)
{
    char half[40];
    if (is_withheld) {
        fprintf(stream, "  %9s %9s", "withheld", "");
        return;
    }
    snprintf(half, sizeof half, "+-%s",
             agg_grouped(100 * c->selection.quantile * sqrt(level.variance), decimals).text);
    fprintf(stream, "  %9s %9s", agg_grouped(100 * level.share, decimals).text, half);
}

static void print_figures(FILE *stream, const agg_changes *c, const agg_changes_row *row,
                          int decimals)
{
    double half = c->selection.quantile * sqrt(row->difference.variance);
    const double numbers[3] = {row->difference.share, row->difference.share - half,
                               row->difference.share + half};
    print_level(stream, c, row->before, row->before_withheld, decimals);
    print_level(stream, c, row->after, row->after_withheld, decimals);
    for (int i = 0; i < 3; i++)
        fprintf(stream, "  %10s",
                row->before_withheld || row->after_withheld
                    ? "-"
                    : agg_grouped(100 * numbers[i], decimals).text);
}

// Prints "rose since 2025-03 (2025-02 to 2025-04)".
static void print_date(FILE *stream, const agg_changes *c, const agg_changes_row *row)
{
    agg_text at = c->periods[row->at].label;
    fprintf(stream, "  %s", word_of(row));
    if (row->dates.n == 0) {
        fprintf(stream, ", %s",
                row->shape == AGG_CHANGE_GRADUAL ? "gradually" : "in several steps or otherwise");
        return;
    }
    fputs(" since ", stream);
    agg_print_terminal_text(stream, at.bytes, at.len);
    if (row->dates.first == row->dates.last) return;
    const agg_text low = c->periods[row->dates.first].label,
                   high = c->periods[row->dates.last].label;
    fputs(" (", stream);
    agg_print_terminal_text(stream, low.bytes, low.len);
    fputs(" to ", stream);
    agg_print_terminal_text(stream, high.bytes, high.len);
    fputs(")", stream);
}

static void print_notes(FILE *stream, const agg_changes_result *result)
{
    const agg_changes *c = result->changes;
    char line[AGG_GUARANTEE_LINE_MAX];
    fprintf(stream, "\n%zu of %zu value%s changed", c->n_detected, c->n_dictionary,
            c->n_dictionary == 1 ? "" : "s");
    if (c->multiple == AGG_BH)
        fprintf(stream, "; of such findings at most %g %% are false on average",
                100 * (1 - c->confidence));
    fputs("\n", stream);
    if (c->n_withheld > 0)
        fprintf(stream, "%zu value%s below the release threshold withheld\n", c->n_withheld,
                c->n_withheld == 1 ? "" : "s");
    agg_selection_print(stream, &c->selection, c->confidence);
    if (result->guarantee == NULL) return;
    fputs("\n", stream);
    for (size_t i = 0; agg_guarantee_line(line, result->guarantee, i); i++)
        fprintf(stream, "%s\n", line);
    fprintf(stream, "A person with a report in each of the %zu periods: epsilon %g.\n",
            c->n_periods, (double)c->n_periods * (c->periods[0].recipe->recipe->cost_micro / 1e6));
}

static void print_table(FILE *stream, const agg_changes_result *result)
{
    const agg_changes *c = result->changes;
    int decimals = decimals_of(c);
    size_t width = sizeof "value" - 1;
    for (size_t i = 0; i < c->n_rows; i++) width = width_of(c->rows[i].value, width);
    print_head(stream, c);
    agg_print_cell(stream, "value", 5, width);
    fprintf(stream, "  %9s %9s  %9s %9s  %10s  %10s  %10s  change\n", "before", "", "after", "",
            "difference", "low", "high");
    for (size_t i = 0; i < c->n_rows; i++) {
        const agg_changes_row *row = &c->rows[i];
        agg_print_cell(stream, row->value.bytes, row->value.len, width);
        if (row->detected) {
            print_figures(stream, c, row, decimals);
            print_date(stream, c, row);
        } else {
            fprintf(stream, "  %9s %9s  %9s %9s  %10s  %10s  %10s  cannot tell",
                    agg_grouped(100 * row->share, decimals).text, "", "", "", "-", "-", "-");
        }
        fputs("\n", stream);
    }
    print_notes(stream, result);
}

agg_err agg_changes_print(FILE *stream, agg_error *error, const agg_changes_result *result,
                          agg_format format)
{
    agg_table table;
    make_table(&table, result->changes);
    if (format == AGG_TABLE) print_table(stream, result);
    if (format == AGG_JSON) print_json(stream, result, &table);
    return agg_table_write(stream, error, &table, format);
}
