// SPDX-License-Identifier: Apache-2.0
// Prints estimates; see estimate_print.h.
#include "estimate_print.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "alarm_print.h"
#include "event.h"
#include "guarantee_print.h"
#include "incomplete_print.h"
#include "item_label.h"
#include "print_text.h"
#include "recipe.h"
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

static void print_bucket(FILE *stream, const agg_recipe *recipe, uint32_t field, uint32_t bucket)
{
    char label[AGG_BUCKET_LABEL_MAX];
    const shoal_name *name = &recipe->recipe->encoding.fields[field].field;
    size_t len = agg_recipe_bucket_label(label, sizeof label, recipe, field, bucket);
    agg_print_json_text(stream, name->bytes, name->len);
    fputc(':', stream);
    agg_print_json_text(stream, label, len);
}

static void print_cell(FILE *stream, const agg_estimate *e, uint64_t item)
{
    const shoal_encoding *encoding = &e->recipe->recipe->encoding;
    uint32_t buckets[SHOAL_ENCODED_MAX];
    if (encoding->n_fields == 0) return;
    fputs(",\"cell\":{", stream);
    if (e->by > 0) {
        print_bucket(stream, e->recipe, e->by - 1, (uint32_t)item);
    } else {
        shoal_encoding_buckets(buckets, encoding, item);
        for (uint32_t i = 0; i < encoding->n_fields; i++) {
            if (i > 0) fputc(',', stream);
            print_bucket(stream, e->recipe, i, buckets[i]);
        }
    }
    fputc('}', stream);
}

static void print_json_row(FILE *stream, const agg_estimate *e, const agg_estimate_row *row)
{
    columns c = columns_of(e, row);
    fputs("{\"value\":", stream);
    agg_print_json_text(stream, row->value.bytes, row->value.len);
    print_cell(stream, e, row->item);
    for (size_t i = 0; i < c.n; i++) {
        fputc(',', stream);
        print_field(stream, c.names[i], c.numbers[i]);
    }
    if (!is_mean(e)) fprintf(stream, ",\"detected\":%s", row->detected ? "true" : "false");
    fputc('}', stream);
}

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

// Returns: the variable that is counted in a recipe with several; NULL for other recipes.
static const shoal_name *variable_of(const agg_estimate *e)
{
    const shoal_recipe *r = e->recipe->recipe;
    return r->n_variables > 0 ? &r->variables[r->value_part].name : NULL;
}

static void print_json(FILE *stream, const agg_estimate *e)
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
    fputs("\"rows\":[", stream);
    for (size_t i = 0; i < e->n_rows; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        print_json_row(stream, e, &e->rows[i]);
    }
    fputs("\n]}\n", stream);
}

static void print_ndjson(FILE *stream, const agg_estimate *e)
{
    for (size_t i = 0; i < e->n_rows; i++) {
        print_json_row(stream, e, &e->rows[i]);
        fputc('\n', stream);
    }
}

// A result of windows has the unit as its last column.
static void print_csv(FILE *stream, const agg_estimate *e)
{
    columns head = columns_of(e, NULL);
    bool is_windows = agg_picks_windows(e->recipe->recipe);
    fputs("value", stream);
    for (size_t j = 0; j < head.n; j++) fprintf(stream, ",%s", head.names[j]);
    fputs(is_mean(e) ? "" : ",detected", stream);
    fputs(is_windows ? ",unit\n" : "\n", stream);
    for (size_t i = 0; i < e->n_rows; i++) {
        const agg_estimate_row *row = &e->rows[i];
        columns c = columns_of(e, row);
        agg_print_csv_text(stream, row->value.bytes, row->value.len);
        for (size_t j = 0; j < c.n; j++) {
            fputc(',', stream);
            agg_print_measured(stream, c.numbers[j], row->stderr_);
        }
        if (!is_mean(e)) fprintf(stream, ",%s", row->detected ? "true" : "false");
        fputs(is_windows ? ",windows\n" : "\n", stream);
    }
}

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
    agg_alarms_print_rest(stream, &e->alarms);
    if (e->guarantee != NULL) print_guarantee(stream, e->guarantee);
}

agg_err agg_estimate_print(FILE *stream, agg_error *error, const agg_estimate *estimate,
                           agg_format format)
{
    switch (format) {
    case AGG_TABLE: print_table(stream, estimate); break;
    case AGG_JSON: print_json(stream, estimate); break;
    case AGG_NDJSON: print_ndjson(stream, estimate); break;
    case AGG_CSV: print_csv(stream, estimate); break;
    }
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result: %s", strerror(errno));
}
