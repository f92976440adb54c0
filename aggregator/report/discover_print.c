// SPDX-License-Identifier: Apache-2.0
// Prints discovered strings; see discover_print.h.
#include "discover_print.h"

#include <string.h>

#include "alarm_print.h"
#include "compound.h"
#include "guarantee_print.h"
#include "incomplete_print.h"
#include "print_text.h"
#include "recipe.h"
#include "result_table.h"
#include "selection_print.h"
#include "table_write.h"
#include "window_picks.h"

// The numbers of a row, in the order of the columns.
#define N_COLUMNS 4u
static const char *const column_names[N_COLUMNS] = {"count", "stderr", "low", "high"};

static double column(const agg_found *row, size_t i)
{
    const double numbers[N_COLUMNS] = {row->count, row->stderr_, row->low, row->high};
    return numbers[i];
}

static void print_text(FILE *stream, const char *text)
{
    agg_print_json_text(stream, text, strlen(text));
}

static void print_member(FILE *stream, const char *name, double x)
{
    fprintf(stream, "\"%s\":", name);
    agg_print_number(stream, x);
    fputc(',', stream);
}

// Prints a list of lines, each of AGG_DISCOVERY_NOTE_MAX bytes.
static void print_lines(FILE *stream, const char *name, const char *lines, uint32_t n)
{
    fprintf(stream, "\"%s\":[", name);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0) fputc(',', stream);
        print_text(stream, lines + (size_t)i * AGG_DISCOVERY_NOTE_MAX);
    }
    fputs("],", stream);
}

// ---- rows ----

static bool read_row(agg_cell *cells, void *source, size_t i)
{
    const agg_discovery *d = source;
    const agg_found *row = &d->rows[i];
    cells[0].text = row->value;
    for (size_t j = 0; j < N_COLUMNS; j++) {
        cells[1 + j].number = column(row, j);
        cells[1 + j].error = row->stderr_;
    }
    cells[1 + N_COLUMNS].flag = true;
    cells[2 + N_COLUMNS].text = (agg_text){row->how, strlen(row->how)};
    cells += 3 + N_COLUMNS;
    cells[0].number = row->fcr_low;
    cells[1].number = row->fcr_high;
    cells[0].error = cells[1].error = row->stderr_;
    cells[2].whole = row->rank.low;
    cells[3].whole = row->rank.high;
    for (size_t j = 4; j < 7; j++) cells[j].is_missing = true; // adjusted: see docs/selection.md
    return true;
}

static const char *method(const agg_discovery *d)
{
    const shoal_compound *compound = shoal_compound_by_id(d->recipe->recipe->mechanism);
    return compound != NULL ? compound->name : "";
}

static void make_table(agg_table *table, const agg_discovery_result *result)
{
    const agg_discovery *d = result->discovery;
    static const agg_column value[] = {AGG_COLUMN("value", AGG_COLUMN_TEXT, NULL)};
    static const agg_column found[] = {AGG_COLUMN("detected", AGG_COLUMN_FLAG, NULL),
                                       AGG_COLUMN("found", AGG_COLUMN_TEXT, NULL)};
    *table = (agg_table){.n_rows = d->n_rows, .source = (void *)(uintptr_t)d, .read = read_row};
    agg_table_add(table, value, 1);
    for (size_t j = 0; j < N_COLUMNS; j++) {
        const agg_column number = {.name = {column_names[j], strlen(column_names[j])},
                                   .kind = AGG_COLUMN_NUMBER,
                                   .unit = agg_picks_unit(d->recipe->recipe)};
        agg_table_add(table, &number, 1);
    }
    agg_table_add(table, found, 2);
    agg_selection_columns(table, agg_picks_unit(d->recipe->recipe));
    agg_table_state(table, "schema", "1");
    agg_table_state(table, "recipe", d->recipe->id);
    agg_table_state(table, "recipe_hash", d->recipe->hash_hex);
    agg_table_state_whole(table, "n", d->n);
    agg_table_state_number(table, "epsilon", d->recipe->recipe->cost_micro / 1e6);
    agg_table_state_number(table, "confidence", d->confidence);
    agg_table_state(table, "method", method(d));
    agg_table_state_whole(table, "rounds", result->n_rounds);
    agg_table_state_number(table, "fdr", d->fdr);
    if (d->threshold > 0) agg_table_state_number(table, "threshold", d->threshold);
    agg_table_state_whole(table, "known", d->n_known);
    agg_table_state_whole(table, "candidates", d->n_candidates);
    agg_table_state_whole(table, "reach", d->reach);
    agg_table_state_whole(table, "open", d->n_open);
    agg_table_state_whole(table, "withheld", d->n_withheld);
    agg_incomplete_state(table, result->shards, "shards", "shards_missing");
}

// ---- JSON ----

// Prints how long a string could be, and a trie's starts behind which no round asked.
static void print_open_json(FILE *stream, const agg_discovery *d)
{
    fprintf(stream, "\"reach\":%u,\"reach_unit\":\"%s\",", d->reach,
            d->is_in_bytes ? "bytes" : "characters");
    if (d->is_in_bytes) return;
    fprintf(stream, "\"open\":%zu,\"open_starts\":[", d->n_open);
    for (size_t i = 0; i < d->n_open && i < AGG_DISCOVERY_OPEN_MAX; i++) {
        const agg_open_start *open = &d->open[i];
        fputs(i > 0 ? ",{\"start\":" : "{\"start\":", stream);
        agg_print_json_text(stream, open->text, open->len);
        fputc(',', stream);
        print_member(stream, "count", open->count);
        fputs("\"stderr\":", stream);
        agg_print_number(stream, open->stderr_);
        fputc('}', stream);
    }
    fputs("],", stream);
}

// Prints how many reports a trie's alphabet could not spell.
static void print_left_out_json(FILE *stream, const agg_left_out *left_out)
{
    if (left_out->characters == 0) return;
    fputs("\"left_out\":{", stream);
    print_member(stream, "share", left_out->share);
    print_member(stream, "stderr", left_out->stderr_);
    print_member(stream, "low", left_out->low);
    print_member(stream, "high", left_out->high);
    fprintf(stream, "\"characters\":%u},", left_out->characters);
}

static void print_json(FILE *stream, const agg_discovery_result *result, const agg_table *table)
{
    const agg_discovery *d = result->discovery;
    fprintf(stream, "{\"schema\":1,\"recipe\":\"%s\",\"recipe_hash\":\"%s\",\"n\":%llu,",
            d->recipe->id, d->recipe->hash_hex, (unsigned long long)d->n);
    agg_incomplete_print_json(stream, result->shards);
    print_member(stream, "epsilon", d->recipe->recipe->cost_micro / 1e6);
    print_member(stream, "confidence", d->confidence);
    fprintf(stream, "\"method\":\"%s\",", method(d));
    if (agg_picks_windows(d->recipe->recipe)) fputs("\"unit\":\"windows\",", stream);
    if (result->n_rounds > 1) fprintf(stream, "\"rounds\":%zu,", result->n_rounds);
    print_member(stream, "fdr", d->fdr);
    if (d->threshold > 0) print_member(stream, "threshold", d->threshold);
    fprintf(stream, "\"known\":%zu,\"candidates\":%zu,", d->n_known, d->n_candidates);
    print_open_json(stream, d);
    print_left_out_json(stream, &d->left_out);
    print_lines(stream, "notes", d->notes[0], d->n_notes);
    print_lines(stream, "cuts", d->cuts[0], d->n_cuts);
    if (d->recipe->recipe->release_threshold > 0)
        fprintf(stream, "\"withheld\":%zu,", d->n_withheld);
    if (result->guarantee != NULL) {
        fputs("\"guarantees\":", stream);
        agg_guarantee_print_json(stream, result->guarantee);
        fputc(',', stream);
    }
    if (d->alarms.is_measured) {
        agg_alarms_print_json(stream, &d->alarms);
        fputc(',', stream);
    }
    agg_selection_print_json(stream, &d->selection);
    fputs("\"rows\":[", stream);
    agg_table_print_json_rows(stream, table, "\n", ",\n", "");
    fputs("\n]}\n", stream);
}

// ---- table ----

static size_t widest(const agg_discovery *d)
{
    size_t width = sizeof "value" - 1;
    for (size_t i = 0; i < d->n_rows; i++) {
        size_t own = agg_terminal_width(d->rows[i].value.bytes, d->rows[i].value.len);
        if (own > width) width = own;
    }
    return width < AGG_TABLE_VALUE_MAX ? width : AGG_TABLE_VALUE_MAX;
}

#define OPEN_SHOWN 5u

static void print_open(FILE *stream, const agg_discovery *d)
{
    fprintf(stream, "\nstrings of up to %u %s could be found", d->reach,
            d->is_in_bytes ? "bytes" : "characters");
    if (d->n_open > 0)
        fprintf(stream, "; %zu start%s of longer ones stand%s out and %s left open:", d->n_open,
                d->n_open == 1 ? "" : "s", d->n_open == 1 ? "s" : "",
                d->n_open == 1 ? "is" : "are");
    fputc('\n', stream);
    for (size_t i = 0; i < d->n_open && i < OPEN_SHOWN; i++) {
        const agg_open_start *open = &d->open[i];
        fputs("  ", stream);
        agg_print_terminal_text(stream, open->text, open->len);
        fprintf(stream, "...  %s", agg_grouped(open->count, 0).text);
        fprintf(stream, ", stderr %s\n", agg_grouped(open->stderr_, 0).text);
    }
    if (d->n_open > OPEN_SHOWN)
        fprintf(stream, "  and %zu more, weaker ones\n", d->n_open - OPEN_SHOWN);
}

static void print_left_out(FILE *stream, const agg_discovery *d)
{
    char text[AGG_LEFT_OUT_TEXT];
    if (d->left_out.characters == 0) return;
    agg_left_out_say(text, &d->left_out);
    fprintf(stream, "left out: %s\n", text);
}

static void print_table(FILE *stream, const agg_discovery_result *result)
{
    const agg_discovery *d = result->discovery;
    size_t width = widest(d);
    char line[AGG_GUARANTEE_LINE_MAX], note[AGG_PICKS_NOTE_MAX];
    agg_alarms_print_raised(stream, &d->alarms);
    fprintf(stream, "%s: %s reports", d->recipe->id, agg_whole(d->n).text);
    if (result->n_rounds > 1) fprintf(stream, " of %zu rounds", result->n_rounds);
    fprintf(stream, ", epsilon %g a report, %g %% intervals, false-discovery rate %g %%\n",
            d->recipe->recipe->cost_micro / 1e6, 100 * d->confidence, 100 * d->fdr);
    agg_incomplete_print(stream, result->shards);
    for (size_t i = 0; agg_picks_note(note, d->recipe->recipe, i); i++)
        fprintf(stream, "%s\n", note);
    fputc('\n', stream);
    if (d->n_rows == 0) fputs("nothing stands out from the noise\n", stream);
    if (d->n_rows > 0) {
        agg_print_cell(stream, "value", 5, width);
        for (size_t i = 0; i < N_COLUMNS; i++)
            fprintf(stream, i == 1 ? "  %10s" : "  %12s", column_names[i]);
        fputs("  found\n", stream);
    }
    for (size_t i = 0; i < d->n_rows; i++) {
        const agg_found *row = &d->rows[i];
        agg_print_cell(stream, row->value.bytes, row->value.len, width);
        for (size_t j = 0; j < N_COLUMNS; j++)
            fprintf(stream, "  %*s", j == 1 ? 10 : 12, agg_grouped(column(row, j), 0).text);
        fputs("  ", stream);
        agg_print_terminal_text(stream, row->how, strlen(row->how));
        fputc('\n', stream);
    }
    print_open(stream, d);
    print_left_out(stream, d);
    if (d->n_withheld > 0)
        fprintf(stream, "\n%zu string%s below the release threshold of %s withheld\n",
                d->n_withheld, d->n_withheld == 1 ? "" : "s",
                agg_whole(d->recipe->recipe->release_threshold).text);
    agg_selection_print(stream, &d->selection, d->confidence);
    agg_alarms_print_rest(stream, &d->alarms);
    if (result->guarantee == NULL) return;
    fputc('\n', stream);
    for (size_t i = 0; agg_guarantee_line(line, result->guarantee, i); i++)
        fprintf(stream, "%s\n", line);
}

agg_err agg_discovery_print(FILE *stream, agg_error *error, const agg_discovery_result *result,
                            agg_format format)
{
    agg_table table;
    make_table(&table, result);
    if (format == AGG_TABLE) print_table(stream, result);
    if (format == AGG_JSON) print_json(stream, result, &table);
    return agg_table_write(stream, error, &table, format);
}
