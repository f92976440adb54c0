// SPDX-License-Identifier: Apache-2.0
// Prints retention; see retention_print.h.
#include "retention_print.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "alarm_print.h"
#include "guarantee_print.h"
#include "incomplete_print.h"
#include "recipe.h"
#include "table_write.h"

#define LABEL_MIN 10u
#define LABEL_W 16u    // widest column of labels, in characters; a longer one is printed whole
#define AGE_W 9        // characters of a column of the triangle
#define AGES_A_BLOCK 7 // LABEL_W + 7 AGE_W fit 80 columns

// ---- notes ----

bool agg_retention_note(char note[AGG_RETENTION_NOTE_MAX], const agg_retention *r, size_t i)
{
    char line[AGG_ALARM_LINE_MAX];
    for (size_t w = 0; w < r->n_weeks; w++) {
        const agg_retention_total *week = &r->weeks[w];
        bool is_found = false;
        if (week->is_missing) continue;
        if (week->shards.missing > 0 && i-- == 0) {
            agg_incomplete_line(line, week->shards);
            is_found = true;
        }
        for (size_t at = 0; !is_found && agg_alarm_line(line, &week->alarms, at); at++)
            is_found = i-- == 0;
        if (!is_found) continue;
        snprintf(note, AGG_RETENTION_NOTE_MAX, "%.*s: %s",
                 (int)(week->label.len < 48 ? week->label.len : 48), week->label.bytes, line);
        return true;
    }
    return false;
}

// ---- rows ----

typedef struct row_source {
    const agg_retention *retention;
    char age[24]; // of the row that was read last
} row_source;

// The cells, then the last entry of every week.
static bool read_row(agg_cell *cells, void *source, size_t row)
{
    row_source *rows = source;
    const agg_retention *r = rows->retention;
    const agg_retention_cell *cell = row < r->n_cells ? &r->cells[row] : NULL;
    size_t w = cell != NULL ? cell->cohort + cell->age : row - r->n_cells;
    const agg_retention_total *week = &r->weeks[w];
    const agg_retention_count *count = cell != NULL ? &cell->count : &week->or_more;
    cells[0].is_missing = cell == NULL;
    if (cell != NULL) cells[0].text = r->weeks[cell->cohort].label;
    cells[1].text = r->or_more;
    if (cell != NULL) {
        int len = snprintf(rows->age, sizeof rows->age, "%zu", cell->age);
        cells[1].text = (agg_text){rows->age, (size_t)len};
    }
    cells[2].text = week->label;
    cells[3].whole = week->n;
    cells[3].is_missing = week->is_missing;
    const double counts[] = {count->count, count->stderr_, count->low, count->high};
    for (size_t i = 0; i < 4; i++) {
        cells[4 + i].number = counts[i];
        cells[4 + i].error = count->stderr_;
    }
    const double shares[] = {cell != NULL ? cell->share : NAN, cell != NULL ? cell->stderr_ : NAN,
                             cell != NULL ? cell->low : NAN, cell != NULL ? cell->high : NAN};
    for (size_t i = 0; i < 4; i++) {
        cells[8 + i].number = shares[i];
        cells[8 + i].error = shares[1];
    }
    const char *why = cell != NULL ? agg_retention_why_name(cell->why) : "several-ages";
    cells[12].text = (agg_text){why, strlen(why)};
    cells[12].is_missing = cell != NULL && cell->why == AGG_RETENTION_SHOWN;
    return true;
}

static void make_table(agg_table *table, row_source *rows)
{
    const agg_retention *r = rows->retention;
    static const char *const names[] = {"count", "stderr",       "low",       "high",
                                        "share", "share_stderr", "share_low", "share_high"};
    static const agg_column first[] = {
        {.name = {"cohort", 6}, .kind = AGG_COLUMN_TEXT, .may_be_missing = true},
        AGG_COLUMN("age", AGG_COLUMN_TEXT, NULL),
        AGG_COLUMN("week", AGG_COLUMN_TEXT, NULL),
        {.name = {"n", 1}, .kind = AGG_COLUMN_WHOLE, .may_be_missing = true, .unit = "reports"}};
    static const agg_column why = {
        .name = {"why", 3}, .kind = AGG_COLUMN_WORD, .may_be_missing = true};
    *table = (agg_table){.n_rows = r->n_cells + (r->or_more.len > 0 ? r->n_weeks : 0),
                         .source = rows,
                         .read = read_row};
    agg_table_add(table, first, 4);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const agg_column number = {.name = {names[i], strlen(names[i])},
                                   .kind = AGG_COLUMN_NUMBER,
                                   .may_be_missing = true,
                                   .unit = i < 4 ? "reports" : "share"};
        agg_table_add(table, &number, 1);
    }
    agg_table_add(table, &why, 1);
    agg_table_state(table, "schema", "1");
    agg_table_state(table, "recipe", r->recipe->id);
    agg_table_state(table, "recipe_hash", r->recipe->hash_hex);
    agg_table_state_number(table, "epsilon", r->recipe->recipe->cost_micro / 1e6);
    agg_table_state_number(table, "confidence", r->confidence);
}

// ---- JSON ----

static void print_number(FILE *stream, const char *before, double x)
{
    fputs(before, stream);
    if (isfinite(x))
        agg_print_number(stream, x);
    else
        fputs("null", stream);
}

static void print_count(FILE *stream, const char *name, const agg_retention_count *count)
{
    fprintf(stream, ",\"%s\":", name);
    if (count->is_missing || count->is_withheld) {
        fputs("null", stream);
        return;
    }
    print_number(stream, "{\"count\":", count->count);
    print_number(stream, ",\"stderr\":", count->stderr_);
    print_number(stream, ",\"low\":", count->low);
    print_number(stream, ",\"high\":", count->high);
    fputc('}', stream);
}

static void print_label(FILE *stream, const char *before, agg_text label)
{
    fputs(before, stream);
    agg_print_json_text(stream, label.bytes, label.len);
}

static void print_json_week(FILE *stream, const agg_retention_total *week)
{
    print_label(stream, "{\"week\":", week->label);
    fputs(",\"n\":", stream);
    if (week->is_missing)
        fputs("null", stream);
    else
        fprintf(stream, "%llu", (unsigned long long)week->n);
    print_count(stream, "new", &week->new_);
    print_count(stream, "returning", &week->returning);
    if (!week->is_missing) {
        fputc(',', stream);
        agg_incomplete_print_json(stream, week->shards);
        agg_alarms_print_json(stream, &week->alarms);
    }
    fputc('}', stream);
}

static void print_json(FILE *stream, const agg_retention *r, const agg_table *table)
{
    fprintf(stream, "{\"schema\":1,\"recipe\":\"%s\",\"recipe_hash\":\"%s\"", r->recipe->id,
            r->recipe->hash_hex);
    print_number(stream, ",\"epsilon\":", r->recipe->recipe->cost_micro / 1e6);
    print_number(stream, ",\"confidence\":", r->confidence);
    fprintf(stream, ",\"ages\":%zu,\"or_more\":", r->n_ages);
    if (r->or_more.len > 0)
        print_label(stream, "", r->or_more);
    else
        fputs("null", stream);
    fputs(",\"weeks\":[", stream);
    for (size_t w = 0; w < r->n_weeks; w++) {
        fputs(w > 0 ? ",\n" : "\n", stream);
        print_json_week(stream, &r->weeks[w]);
    }
    fputs("\n]", stream);
    if (r->guarantee != NULL) {
        fputs(",\"guarantees\":", stream);
        agg_guarantee_print_json(stream, r->guarantee);
    }
    fputs(",\"rows\":[", stream);
    agg_table_print_json_rows(stream, table, "\n", ",\n", "");
    fputs("\n]}\n", stream);
}

// ---- table ----

static size_t label_width(const agg_retention *r)
{
    size_t width = LABEL_MIN;
    for (size_t w = 0; w < r->n_weeks; w++) {
        size_t own = agg_terminal_width(r->weeks[w].label.bytes, r->weeks[w].label.len);
        if (own > width) width = own < LABEL_W ? own : LABEL_W;
    }
    return width;
}

static void print_week_label(FILE *stream, const agg_retention *r, size_t week, size_t width)
{
    agg_print_cell(stream, r->weeks[week].label.bytes, r->weeks[week].label.len, width);
}

// Returns: why a share is not there, in a cell's width.
static const char *brief(agg_retention_why why)
{
    if (why == AGG_RETENTION_SMALL_BASE) return "small";
    return why == AGG_RETENTION_WITHHELD ? "withheld" : "-";
}

static void print_share(FILE *stream, const agg_retention_cell *cell, bool is_interval)
{
    char text[48] = "";
    if (cell != NULL && cell->why != AGG_RETENTION_SHOWN && !is_interval)
        snprintf(text, sizeof text, "%s", brief(cell->why));
    if (cell != NULL && cell->why == AGG_RETENTION_SHOWN) {
        if (is_interval) // rounded to the outside
            snprintf(text, sizeof text, "%.0f..%.0f", floor(100 * cell->low),
                     ceil(100 * cell->high));
        else
            snprintf(text, sizeof text, "%.1f", 100 * cell->share);
    }
    fprintf(stream, "%*s", AGE_W, text);
}

// Prints the line of a cohort's shares, or of their intervals, at the ages first .. end - 1. A line
// without a figure is left out.
static void print_line(FILE *stream, const agg_retention *r, size_t cohort, size_t first,
                       size_t end, size_t width, bool is_interval)
{
    const agg_text label = is_interval ? (agg_text){"", 0} : r->weeks[cohort].label;
    const agg_retention_cell *cell = NULL;
    size_t last = first;
    for (size_t age = first; age < end; age++) {
        cell = agg_retention_find(r, cohort, age);
        if (cell != NULL && (!is_interval || cell->why == AGG_RETENTION_SHOWN)) last = age + 1;
    }
    if (last == first) return;
    agg_print_cell(stream, label.bytes, label.len, width);
    for (size_t age = first; age < last; age++)
        print_share(stream, agg_retention_find(r, cohort, age), is_interval);
    fputc('\n', stream);
}

// Prints the shares after `first` weeks and later, as many as fit a line.
static void print_block(FILE *stream, const agg_retention *r, size_t first, size_t width)
{
    size_t end = first + AGES_A_BLOCK < r->n_ages ? first + AGES_A_BLOCK : r->n_ages;
    if (end > r->n_weeks) end = r->n_weeks;
    fputc('\n', stream);
    agg_print_cell(stream, "first week", 10, width);
    for (size_t age = first; age < end; age++) {
        char text[24];
        snprintf(text, sizeof text, "+%zu", age);
        fprintf(stream, "%*s", AGE_W, text);
    }
    fputc('\n', stream);
    for (size_t c = 0; c < r->n_weeks; c++) {
        print_line(stream, r, c, first, end, width, false);
        print_line(stream, r, c, first, end, width, true);
    }
}

static void print_interval(FILE *stream, const agg_retention_count *count)
{
    char text[112] = "-";
    if (count->is_withheld)
        snprintf(text, sizeof text, "withheld");
    else if (!count->is_missing)
        snprintf(text, sizeof text, "%s  %s..%s", agg_grouped(count->count, 0).text,
                 agg_grouped(floor(count->low), 0).text, agg_grouped(ceil(count->high), 0).text);
    fprintf(stream, "  %24s", text);
}

static void print_totals(FILE *stream, const agg_retention *r, size_t width)
{
    fputc('\n', stream);
    agg_print_cell(stream, "week", 4, width);
    fprintf(stream, " %10s  %24s  %24s\n", "visitors", "new", "returning");
    for (size_t w = 0; w < r->n_weeks; w++) {
        const agg_retention_total *week = &r->weeks[w];
        print_week_label(stream, r, w, width);
        fprintf(stream, " %10s", week->is_missing ? "-" : agg_whole(week->n).text);
        print_interval(stream, &week->new_);
        print_interval(stream, &week->returning);
        fputc('\n', stream);
    }
    if (r->or_more.len == 0) return;
    fputs("\nfirst came ", stream);
    agg_print_terminal_text(stream, r->or_more.bytes, r->or_more.len);
    fputs(" weeks before, of no single cohort\n", stream);
    for (size_t w = 0; w < r->n_weeks; w++) {
        print_week_label(stream, r, w, width);
        fprintf(stream, " %10s", "");
        print_interval(stream, &r->weeks[w].or_more);
        fputc('\n', stream);
    }
}

static void print_reasons(FILE *stream, const agg_retention *r)
{
    bool has[AGG_RETENTION_WITHHELD + 1] = {false};
    char note[AGG_RETENTION_NOTE_MAX];
    for (size_t i = 0; i < r->n_cells; i++)
        if (r->cells[i].age > 0) has[r->cells[i].why] = true;
    if (has[AGG_RETENTION_NO_WEEK] || has[AGG_RETENTION_SMALL_BASE] || has[AGG_RETENTION_WITHHELD])
        fputc('\n', stream);
    if (has[AGG_RETENTION_NO_WEEK])
        fputs("-: no accumulator of the first week or of the later one\n", stream);
    if (has[AGG_RETENTION_SMALL_BASE])
        fputs("small: the cohort cannot be told from zero, so no share of it can be\n", stream);
    if (has[AGG_RETENTION_WITHHELD])
        fputs("withheld: a count is below the recipe's release threshold\n", stream);
    for (size_t i = 0; agg_retention_note(note, r, i); i++) {
        agg_print_terminal_text(stream, note, strlen(note));
        fputc('\n', stream);
    }
}

// A person may have a report in every week.
static void print_guarantee(FILE *stream, const agg_retention *r)
{
    char line[AGG_GUARANTEE_LINE_MAX];
    double weeks = 0;
    if (r->guarantee == NULL) return;
    for (size_t w = 0; w < r->n_weeks; w++) weeks += !r->weeks[w].is_missing;
    fputc('\n', stream);
    for (size_t i = 0; agg_guarantee_line(line, r->guarantee, i); i++)
        fprintf(stream, "%s\n", line);
    fprintf(stream, "A person with a report in each of the %.0f weeks: epsilon %g.\n", weeks,
            weeks * (r->recipe->recipe->cost_micro / 1e6));
}

static void print_table(FILE *stream, const agg_retention *r)
{
    size_t width = label_width(r);
    fprintf(stream,
            "%s: %zu weeks, epsilon %g a report\nof those who first came in a week, the share in "
            "%% that came again so many weeks\nlater, with %g %% intervals\n",
            r->recipe->id, r->n_weeks, r->recipe->recipe->cost_micro / 1e6, 100 * r->confidence);
    for (size_t first = 1; first < r->n_ages && first < r->n_weeks; first += AGES_A_BLOCK)
        print_block(stream, r, first, width);
    print_totals(stream, r, width);
    print_reasons(stream, r);
    print_guarantee(stream, r);
}

agg_err agg_retention_print(FILE *stream, agg_error *error, const agg_retention *r,
                            agg_retention_format format)
{
    static const agg_format formats[] = {
        [AGG_RETENTION_TABLE] = AGG_TABLE,   [AGG_RETENTION_JSON] = AGG_JSON,
        [AGG_RETENTION_NDJSON] = AGG_NDJSON, [AGG_RETENTION_CSV] = AGG_CSV,
        [AGG_RETENTION_ARROW] = AGG_ARROW,   [AGG_RETENTION_SVG] = AGG_TABLE};
    agg_table table;
    row_source rows = {.retention = r};
    make_table(&table, &rows);
    if (format == AGG_RETENTION_TABLE) print_table(stream, r);
    if (format == AGG_RETENTION_JSON) print_json(stream, r, &table);
    if (format == AGG_RETENTION_SVG) {
        agg_err err = agg_retention_draw(stream, error, r);
        if (err != SHOAL_OK) return err;
    }
    return agg_table_write(stream, error, &table, formats[format]);
}
