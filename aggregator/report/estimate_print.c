// SPDX-License-Identifier: Apache-2.0
// Prints estimates; see estimate_print.h.
#include "estimate_print.h"

#include <stdbool.h>
#include <string.h>

#include "alarm_print.h"
#include "distribution_print.h"
#include "event.h"
#include "guarantee_print.h"
#include "incomplete_print.h"
#include "item_label.h"
#include "print_text.h"
#include "recipe.h"
#include "result_table.h"
#include "selection_print.h"
#include "table_write.h"
#include "window_picks.h"

static void print_field(FILE *stream, const char *name, double x)
{
    fprintf(stream, "\"%s\":", name);
    agg_print_number(stream, x);
}

// The columns of a result between `value` and `detected`, and their numbers in one row.
#define COLUMNS_MAX 5u
typedef struct columns {
    size_t n;
    const char *names[COLUMNS_MAX];
    double numbers[COLUMNS_MAX];
} columns;

static bool is_mean(const agg_estimate *e)
{
    return e->statistic != NULL && strcmp(e->statistic, "mean") == 0;
}

static columns columns_of(const agg_estimate *e, const agg_estimate_row *row)
{
    const agg_estimate_row none = {.count = 0};
    const agg_estimate_row *r = row != NULL ? row : &none;
    if (e->post.rule == AGG_POST_NONE)
        return (columns){4,
                         {is_mean(e) ? "mean" : "count", "stderr", "low", "high"},
                         {r->count, r->stderr_, r->low, r->high}};
    return (columns){5,
                     {"count", "raw", "stderr", "low", "high"},
                     {r->count, r->raw, r->stderr_, r->low, r->high}};
}

// Returns: the variable that is counted in a recipe with several; NULL for other recipes.
static const shoal_name *variable_of(const agg_estimate *e)
{
    const shoal_recipe *r = e->recipe->recipe;
    return r->n_variables > 0 ? &r->variables[r->value_part].name : NULL;
}

// ---- rows ----

// A result while its rows are read. Rows of a recipe with an encoding have the labels of their
// buckets: of every field, or of the one whose buckets are the rows.
typedef struct reading {
    const agg_estimate *e;
    uint32_t n_labels;
    char labels[SHOAL_ENCODED_MAX][AGG_BUCKET_LABEL_MAX];
} reading;

static void read_label(reading *r, agg_cell *cell, uint32_t i, uint32_t field, uint32_t bucket)
{
    cell->text.bytes = r->labels[i];
    cell->text.len =
        agg_recipe_bucket_label(r->labels[i], sizeof r->labels[i], r->e->recipe, field, bucket);
}

static void read_labels(reading *r, agg_cell *cells, uint64_t item)
{
    uint32_t buckets[SHOAL_ENCODED_MAX];
    if (r->n_labels == 0) return;
    if (r->e->by > 0) {
        read_label(r, cells, 0, r->e->by - 1, (uint32_t)item);
        return;
    }
    shoal_encoding_buckets(buckets, &r->e->recipe->recipe->encoding, item);
    for (uint32_t i = 0; i < r->n_labels; i++) read_label(r, &cells[i], i, i, buckets[i]);
}

static bool read_row(agg_cell *cells, void *source, size_t i)
{
    reading *r = source;
    const agg_estimate_row *row = &r->e->rows[i];
    columns c = columns_of(r->e, row);
    (cells++)->text = row->value;
    read_labels(r, cells, row->item);
    cells += r->n_labels;
    for (size_t j = 0; j < c.n; j++, cells++) {
        cells->number = c.numbers[j];
        cells->error = row->stderr_;
    }
    if (!is_mean(r->e)) (cells++)->flag = row->detected;
    if (agg_picks_windows(r->e->recipe->recipe)) (cells++)->text = (agg_text){"windows", 7};
    if (is_mean(r->e)) return true;
    cells[0].number = row->fcr_low;
    cells[1].number = row->fcr_high;
    cells[0].error = cells[1].error = row->stderr_;
    cells[2].whole = row->rank.low;
    cells[3].whole = row->rank.high;
    cells[4].number = row->adjusted.mean;
    cells[5].number = row->adjusted.low;
    cells[6].number = row->adjusted.high;
    cells[4].error = cells[5].error = cells[6].error = row->stderr_;
    return true;
}

static void add_labels(agg_table *table, reading *r)
{
    const shoal_encoding *encoding = &r->e->recipe->recipe->encoding;
    r->n_labels = r->e->by > 0 && encoding->n_fields > 0 ? 1 : encoding->n_fields;
    for (uint32_t i = 0; i < r->n_labels; i++) {
        const shoal_name *name = &encoding->fields[r->e->by > 0 ? r->e->by - 1 : i].field;
        const agg_column label = {.name = {(const char *)name->bytes, name->len},
                                  .group = {"cell", 4},
                                  .kind = AGG_COLUMN_TEXT,
                                  .marks = AGG_NOT_IN_CSV};
        agg_table_add(table, &label, 1);
    }
}

static void state_facts(agg_table *table, const agg_estimate *e)
{
    const shoal_name *variable = variable_of(e);
    char name[AGG_TABLE_FACT_MAX];
    agg_table_state(table, "schema", "1");
    agg_table_state(table, "recipe", e->recipe->id);
    agg_table_state(table, "recipe_hash", e->recipe->hash_hex);
    agg_table_state_whole(table, "n", e->n);
    agg_table_state_number(table, "epsilon", e->epsilon);
    agg_table_state_number(table, "confidence", e->confidence);
    agg_table_state(table, "multiple", agg_multiple_name(e->multiple));
    agg_table_state(table, "statistic", is_mean(e) ? "mean" : "count");
    if (e->post.rule != AGG_POST_NONE) agg_table_state(table, "post", agg_post_name(e->post.rule));
    if (e->recipe->recipe->release_threshold > 0)
        agg_table_state_whole(table, "withheld", e->n_withheld);
    agg_incomplete_state(table, e->shards, "shards", "shards_missing");
    if (variable != NULL) {
        snprintf(name, sizeof name, "%.*s", (int)variable->len, variable->bytes);
        agg_table_state(table, "variable", name);
    }
    if (e->by > 0) {
        const shoal_name *field = &e->recipe->recipe->encoding.fields[e->by - 1].field;
        snprintf(name, sizeof name, "%.*s", (int)field->len, field->bytes);
        agg_table_state(table, "by", name);
    }
}

static void make_table(agg_table *table, reading *r)
{
    static const agg_column value[] = {AGG_COLUMN("value", AGG_COLUMN_TEXT, NULL)};
    static const agg_column detected[] = {AGG_COLUMN("detected", AGG_COLUMN_FLAG, NULL)};
    static const agg_column unit[] = {
        {.name = {"unit", 4}, .kind = AGG_COLUMN_WORD, .marks = AGG_NOT_IN_JSON}};
    const agg_estimate *e = r->e;
    const columns c = columns_of(e, NULL);
    *table = (agg_table){.n_rows = e->n_rows, .source = r, .read = read_row};
    agg_table_add(table, value, 1);
    add_labels(table, r);
    for (size_t j = 0; j < c.n; j++) {
        const agg_column number = {.name = {c.names[j], strlen(c.names[j])},
                                   .kind = AGG_COLUMN_NUMBER,
                                   .unit = is_mean(e) ? NULL : agg_picks_unit(e->recipe->recipe)};
        agg_table_add(table, &number, 1);
    }
    if (!is_mean(e)) agg_table_add(table, detected, 1);
    if (agg_picks_windows(e->recipe->recipe)) agg_table_add(table, unit, 1);
    if (!is_mean(e)) agg_selection_columns(table, agg_picks_unit(e->recipe->recipe));
    state_facts(table, e);
}

// ---- JSON ----

// Prints what counts are a number of. Results without the member are of reports.
static void print_json_unit(FILE *stream, const agg_estimate *e)
{
    if (!agg_picks_windows(e->recipe->recipe)) return;
    fprintf(stream, "\"unit\":\"%s\",", agg_picks_unit(e->recipe->recipe));
    print_field(stream, "design_effect", agg_picks_design(e->recipe->recipe));
    fputc(',', stream);
}

static void print_json_post(FILE *stream, const agg_post *post)
{
    char note[AGG_POST_NOTE_MAX];
    agg_post_note(note, post);
    fprintf(stream, "\"post\":{\"name\":\"%s\",\"note\":", agg_post_name(post->rule));
    agg_print_json_text(stream, note, strlen(note));
    fputs("},", stream);
}

static void print_json(FILE *stream, const agg_estimate *e, const agg_table *table)
{
    const shoal_name *variable = variable_of(e);
    fprintf(stream, "{\"schema\":1,\"recipe\":\"%s\",\"recipe_hash\":\"%s\",\"n\":%llu,",
            e->recipe->id, e->recipe->hash_hex, (unsigned long long)e->n);
    if (e->blocks != NULL)
        fprintf(stream, "\"blocks\":{\"n\":%llu,\"first\":\"%s\",\"last\":\"%s\"},",
                (unsigned long long)e->blocks->n, e->blocks->first, e->blocks->last);
    agg_incomplete_print_json(stream, e->shards);
    print_field(stream, "epsilon", e->epsilon);
    fputc(',', stream);
    print_field(stream, "confidence", e->confidence);
    fprintf(stream, ",\"multiple\":\"%s\",", agg_multiple_name(e->multiple));
    print_json_unit(stream, e);
    if (e->post.rule != AGG_POST_NONE) print_json_post(stream, &e->post);
    if (e->recipe->recipe->release_threshold > 0)
        fprintf(stream, "\"withheld\":%zu,", e->n_withheld);
    if (variable != NULL)
        fprintf(stream, "\"variable\":\"%.*s\",", (int)variable->len, variable->bytes);
    if (e->by > 0) {
        const shoal_name *name = &e->recipe->recipe->encoding.fields[e->by - 1].field;
        fprintf(stream, "\"by\":\"%.*s\",", (int)name->len, name->bytes);
    }
    if (is_mean(e)) fputs("\"statistic\":\"mean\",", stream);
    if (e->guarantee != NULL) {
        fputs("\"guarantees\":", stream);
        agg_guarantee_print_json(stream, e->guarantee);
        fputc(',', stream);
    }
    if (e->alarms.is_measured) {
        agg_alarms_print_json(stream, &e->alarms);
        fputc(',', stream);
    }
    if (!is_mean(e)) {
        agg_selection_print_json(stream, &e->selection);
        fprintf(stream, "\"adjusting\":\"%s\",", agg_adjust_name(e->adjusting));
        if (e->n_picking > 0)
            fprintf(stream, "\"picked_by\":%llu,", (unsigned long long)e->n_picking);
    }
    if (e->distribution != NULL) agg_distribution_print_json(stream, e->distribution);
    fputs("\"rows\":[", stream);
    agg_table_print_json_rows(stream, table, "\n", ",\n", "");
    fputs("\n]}\n", stream);
}

// ---- table ----

static size_t widest(const agg_estimate *e)
{
    size_t width = sizeof "value" - 1;
    for (size_t i = 0; i < e->n_rows; i++) {
        size_t own = agg_terminal_width(e->rows[i].value.bytes, e->rows[i].value.len);
        if (own > width) width = own;
    }
    return width < AGG_TABLE_VALUE_MAX ? width : AGG_TABLE_VALUE_MAX;
}

static void print_table_head(FILE *stream, const agg_estimate *e, size_t width)
{
    columns c = columns_of(e, NULL);
    const shoal_recipe *r = e->recipe->recipe;
    const shoal_name *variable = variable_of(e);
    char note[AGG_PICKS_NOTE_MAX];
    agg_alarms_print_raised(stream, &e->alarms);
    fprintf(stream, "%s: %s reports, epsilon %g, %g %% intervals\n", e->recipe->id,
            agg_whole(e->n).text, e->epsilon, 100 * e->confidence);
    agg_incomplete_print(stream, e->shards);
    if (variable != NULL) fprintf(stream, "variable %.*s\n", (int)variable->len, variable->bytes);
    if (e->by > 0)
        fprintf(stream, "by %.*s, over all else\n", (int)r->encoding.fields[e->by - 1].field.len,
                r->encoding.fields[e->by - 1].field.bytes);
    if (is_mean(e))
        fprintf(stream, "mean of numbers from %.10g to %.10g\n", (double)r->low_micro / 1e6,
                (double)r->high_micro / 1e6);
    for (size_t i = 0; agg_picks_note(note, r, i); i++) fprintf(stream, "%s\n", note);
    fputc('\n', stream);
    agg_print_cell(stream, "value", 5, width);
    for (size_t i = 0; i < c.n; i++)
        fprintf(stream, strcmp(c.names[i], "stderr") == 0 ? "  %10s" : "  %12s", c.names[i]);
    agg_adjusted_print(stream, e, NULL);
    fputc('\n', stream);
}

static void print_guarantee(FILE *stream, const agg_guarantee *guarantee)
{
    char line[AGG_GUARANTEE_LINE_MAX];
    fputc('\n', stream);
    for (size_t i = 0; agg_guarantee_line(line, guarantee, i); i++) fprintf(stream, "%s\n", line);
}

static void print_table(FILE *stream, const agg_estimate *e)
{
    size_t width = widest(e);
    char note[AGG_POST_NOTE_MAX];
    print_table_head(stream, e, width);
    for (size_t i = 0; i < e->n_rows; i++) {
        const agg_estimate_row *row = &e->rows[i];
        columns c = columns_of(e, row);
        int decimals = is_mean(e) ? agg_error_decimals(row->stderr_) : 0;
        agg_print_cell(stream, row->value.bytes, row->value.len, width);
        for (size_t j = 0; j < c.n; j++)
            fprintf(stream, "  %*s", strcmp(c.names[j], "stderr") == 0 ? 10 : 12,
                    agg_grouped(c.numbers[j], decimals).text);
        agg_adjusted_print(stream, e, row);
        fputs(row->detected || is_mean(e) ? "\n" : "  not distinguishable from zero\n", stream);
    }
    if (e->post.rule != AGG_POST_NONE) {
        agg_post_note(note, &e->post);
        fprintf(stream, "\n%s: %s\n", agg_post_name(e->post.rule), note);
    }
    if (e->n_withheld > 0)
        fprintf(stream, "\n%zu value%s below the release threshold of %s withheld\n", e->n_withheld,
                e->n_withheld == 1 ? "" : "s",
                agg_whole(e->recipe->recipe->release_threshold).text);
    if (e->distribution != NULL) agg_distribution_print(stream, e->distribution);
    if (e->n_picking > 0)
        fprintf(
            stream,
            "\n%s other reports picked the rows and their order, so counts and intervals hold as "
            "they are\n",
            agg_whole(e->n_picking).text);
    agg_selection_print(stream, &e->selection, e->confidence);
    if (e->selection.n_selected < e->selection.n_all) agg_adjusted_print_note(stream, e);
    agg_alarms_print_rest(stream, &e->alarms);
    if (e->guarantee != NULL) print_guarantee(stream, e->guarantee);
}

agg_err agg_estimate_print(FILE *stream, agg_error *error, const agg_estimate *estimate,
                           agg_format format)
{
    reading r = {.e = estimate};
    agg_table table;
    bool is_rows_only = format != AGG_TABLE && format != AGG_JSON;
    if (is_rows_only && estimate->distribution != NULL && estimate->distribution->rows > 0)
        return agg_distribution_write(stream, error, estimate->distribution, format);
    make_table(&table, &r);
    if (format == AGG_TABLE) print_table(stream, estimate);
    if (format == AGG_JSON) print_json(stream, estimate, &table);
    return agg_table_write(stream, error, &table, format);
}
