// SPDX-License-Identifier: Apache-2.0
// Rounds of fields; see static_steps.h.
#include "static_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "event.h"
#include "item_label.h"
#include "marginal.h"
#include "multiple.h"
#include "normal_law.h"
#include "page_bar.h"
#include "page_text.h"
#include "print_text.h"
#include "recipe.h"
#include "result_page.h"

#define CONFIDENCE 0.95 // the default of shoal estimate
#define ROWS_MAX 100u   // sequences that a step keeps
#define NAMED 12u       // that a page shows where nobody asks for another number

static bool is_number(const shoal_encoded *field)
{
    return field->scheme == SHOAL_SCHEME_NUMBER;
}

static const shoal_encoded *field_of(const agg_step *step)
{
    return &step->recipe->recipe->encoding.fields[step->field];
}

// ---- which field changes ----

static bool is_changed(const shoal_encoded *a, const shoal_encoded *b)
{
    return a->prefixes.count != b->prefixes.count ||
           memcmp(a->prefixes.digest, b->prefixes.digest, sizeof a->prefixes.digest) != 0 ||
           a->n_boundaries != b->n_boundaries ||
           memcmp(a->boundaries, b->boundaries, a->n_boundaries * sizeof *a->boundaries) != 0;
}

static void find_field(agg_step *step, const agg_recipe *other)
{
    const shoal_encoding *own = &step->recipe->recipe->encoding;
    for (uint32_t i = 0; other != NULL && !step->has_field && i < own->n_fields; i++) {
        if (!is_changed(&own->fields[i], &other->recipe->encoding.fields[i])) continue;
        step->field = i;
        step->has_field = true;
    }
}

void agg_step_begin(agg_step *step, const agg_recipe *recipe, const agg_recipe *before,
                    const agg_recipe *next)
{
    *step = (agg_step){.recipe = recipe, .next = next};
    find_field(step, next);
    find_field(step, before);
    const shoal_encoding *own = &recipe->recipe->encoding;
    for (uint32_t i = 0; !step->has_field && i < own->n_fields; i++) {
        step->has_field = own->fields[i].prefixes.count > 0 || is_number(&own->fields[i]);
        step->field = i;
    }
}

// ---- what the counts say ----

// Returns: whether a bucket of tokens is a start and one of the listed tokens.
static bool is_sequence(const shoal_encoded *field, uint32_t bucket)
{
    uint32_t prefix = 0, token = 0;
    return shoal_encoded_next_of(&prefix, &token, field, bucket) && token < field->tokens.count;
}

static agg_step_row row_of(const agg_step *step, const agg_count *counts, uint32_t bucket,
                           double least)
{
    const double z = -agg_normal_quantile((1 - CONFIDENCE) / 2);
    const agg_count *c = &counts[bucket];
    return (agg_step_row){.bucket = bucket,
                          .count = c->count,
                          .low = c->count - z * c->stderr_,
                          .high = c->count + z * c->stderr_,
                          .is_told = c->score >= least,
                          .is_withheld = c->count < step->release};
}

static int by_count(const void *a, const void *b)
{
    const agg_step_row *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

// Finds the count below which buckets are withheld.
static double find_release(const agg_step *step, const agg_count *counts, uint32_t n)
{
    double release = (double)step->recipe->recipe->release_threshold, next = HUGE_VAL;
    uint32_t n_below = 0;
    if (!(release > 0)) return -HUGE_VAL;
    for (uint32_t i = 0; i < n; i++) {
        n_below += counts[i].count < release;
        if (counts[i].count >= release) next = fmin(next, counts[i].count);
    }
    return n_below == 1 && isfinite(next) ? nextafter(next, HUGE_VAL) : release;
}

// Keeps the rows that a page may show. The rest is counted only.
static agg_err take_rows(agg_step *step, agg_error *error, const agg_count *counts, double least)
{
    const shoal_encoded *field = field_of(step);
    agg_step_row *rows = agg_alloc(error, field->size, sizeof *rows);
    if (rows == NULL) return AGG_ERR_MEMORY;
    for (uint32_t b = is_number(field) ? 0 : 1; b < field->size; b++) {
        const agg_step_row row = row_of(step, counts, b, least);
        const bool is_asked = is_number(field) || is_sequence(field, b);
        step->n_asked += is_asked;
        step->n_told += is_asked && row.is_told && !row.is_withheld;
        step->n_withheld += row.is_withheld;
        if (is_number(field) || !row.is_withheld) rows[step->n_rows++] = row;
    }
    if (!is_number(field)) {
        step->none = row_of(step, counts, 0, least);
        if (step->n_rows > 0) qsort(rows, step->n_rows, sizeof *rows, by_count);
        if (step->n_rows > ROWS_MAX) step->n_rows = ROWS_MAX;
    }
    agg_step_row *shorter = realloc(rows, (step->n_rows > 0 ? step->n_rows : 1) * sizeof *rows);
    step->rows = shorter != NULL ? shorter : rows;
    return SHOAL_OK;
}

static agg_err find_least(double *least, agg_error *error, const agg_count *counts, uint32_t n)
{
    double *scores = agg_alloc(error, n, sizeof *scores);
    if (scores == NULL) return AGG_ERR_MEMORY;
    for (uint32_t i = 0; i < n; i++) scores[i] = counts[i].score;
    agg_err err = agg_multiple_least(least, error, scores, n, AGG_BONFERRONI, 1 - CONFIDENCE);
    free(scores);
    return err;
}

// Returns: why a round's counts are not shown, or OK.
static agg_err check(agg_step *step)
{
    const shoal_recipe *recipe = step->recipe->recipe;
    agg_error *why = &step->why_not;
    if (!step->has_field)
        return agg_fail(why, AGG_ERR_USAGE, AGG_EXIT_USAGE, "no field of it changes");
    // A sum over cells and the cells that are shown would tell what a withheld cell has.
    if (recipe->release_threshold > 0 && recipe->encoding.n_fields > 1)
        return agg_fail(why, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "the recipe has a release threshold and asks several fields, and sums over "
                        "them would tell what is withheld");
    return agg_marginal_check(why, recipe, step->field);
}

agg_err agg_step_count(agg_step *step, agg_error *error, const agg_accumulator *acc,
                       unsigned n_threads)
{
    double least = HUGE_VAL;
    step->has_reports = true;
    step->n = acc->n;
    agg_err err = agg_alarms_test(&step->alarms, error, step->recipe->recipe, acc);
    if (err != SHOAL_OK) return err;
    agg_alarms_finish(&step->alarms);
    if (check(step) != SHOAL_OK) return SHOAL_OK;
    step->why_not.code = SHOAL_OK;
    const uint32_t size = field_of(step)->size;
    agg_count *counts = agg_alloc(error, size, sizeof *counts);
    if (counts == NULL) return AGG_ERR_MEMORY;
    err = agg_marginal(counts, error, step->recipe->recipe, acc, step->field, n_threads);
    if (err == SHOAL_OK) err = find_least(&least, error, counts, size);
    if (err == SHOAL_OK) step->release = find_release(step, counts, size);
    if (err == SHOAL_OK) err = take_rows(step, error, counts, least);
    free(counts);
    return err;
}

size_t agg_step_size(const agg_step *step)
{
    return sizeof *step + step->n_rows * sizeof *step->rows;
}

void agg_step_release(agg_step *step)
{
    free(step->rows);
    *step = (agg_step){0};
}

uint64_t agg_step_memory(const agg_recipe *recipe, unsigned n_threads)
{
    const shoal_encoding *encoding = &recipe->recipe->encoding;
    uint64_t most = 0;
    for (uint32_t i = 0; i < encoding->n_fields; i++) {
        uint64_t one = agg_marginal_memory(recipe->recipe, i, n_threads) +
                       encoding->fields[i].size *
                           (uint64_t)(sizeof(agg_count) + sizeof(double) + sizeof(agg_step_row));
        if (one > most) most = one;
    }
    const uint64_t testing = agg_alarms_memory(recipe->recipe);
    return most > testing ? most : testing;
}

// ---- what becomes of a row in the next round ----

// Returns: whether the next round asks what follows a sequence.
static bool goes_on(const agg_step *step, const agg_step_row *row)
{
    char label[AGG_BUCKET_LABEL_MAX];
    if (step->next == NULL || !is_sequence(field_of(step), row->bucket)) return false;
    size_t len =
        agg_recipe_bucket_label(label, sizeof label, step->recipe, step->field, row->bucket);
    const agg_list *kept = &step->next->lists[step->field][SHOAL_LIST_PREFIXES];
    return len < sizeof label && kept->n > 0 &&
           agg_list_find(kept, (agg_text){label, len}) != AGG_NOT_LISTED;
}

static bool has_boundary(const shoal_encoded *field, int64_t at)
{
    for (uint32_t i = 0; i < field->n_boundaries; i++)
        if (field->boundaries[i] == at) return true;
    return false;
}

static void put_pieces(FILE *out, const agg_step *step, const agg_step_row *row)
{
    const shoal_encoded *now = field_of(step),
                        *then = &step->next->recipe->encoding.fields[step->field];
    if (row->bucket == 0 || row->bucket >= now->n_boundaries) { // an open end, which stays
        fputs("stays", out);
        return;
    }
    const int64_t low = now->boundaries[row->bucket - 1], high = now->boundaries[row->bucket];
    uint32_t n = 1;
    for (uint32_t i = 0; i < then->n_boundaries; i++)
        n += then->boundaries[i] > low && then->boundaries[i] < high;
    if (!has_boundary(then, low) || !has_boundary(then, high))
        fputs("joined", out);
    else if (n > 1)
        fprintf(out, "cut into %u", n);
    else
        fputs("stays", out);
}

// ---- what is said ----

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void put_field_name(FILE *out, const shoal_encoded *field)
{
    fputs("<i>", out);
    agg_page_text(out, field->field.bytes, field->field.len);
    fputs("</i>", out);
}

// Says what a recipe asks of the field that changes.
static void put_question(FILE *out, const agg_recipe *recipe, uint32_t index)
{
    const shoal_encoded *field = &recipe->recipe->encoding.fields[index];
    if (is_number(field)) {
        char from[AGG_MICRO_MAX], to[AGG_MICRO_MAX];
        agg_micro_print(from, field->boundaries[0]);
        agg_micro_print(to, field->boundaries[field->n_boundaries - 1]);
        fputs("how ", out);
        put_field_name(out, field);
        fprintf(out, " is spread over %u bucket%s from %s to %s and the two ends",
                field->n_boundaries - 1, plural(field->n_boundaries - 1), from, to);
        return;
    }
    fprintf(out, "which of %s token%s ", agg_whole(field->tokens.count).text,
            plural(field->tokens.count));
    put_field_name(out, field);
    if (field->depth == 0)
        fputs(" begins with", out);
    else
        fprintf(out, " has after %s start%s of %u token%s", agg_whole(field->prefixes.count).text,
                plural(field->prefixes.count), field->depth, plural(field->depth));
}

static void put_asked(FILE *out, const agg_step *step)
{
    const shoal_recipe *recipe = step->recipe->recipe;
    fputs("<p><b>Asked</b> ", out);
    if (step->has_field) put_question(out, step->recipe, step->field);
    for (uint32_t i = 0, n = 0; i < recipe->encoding.n_fields; i++) {
        if (step->has_field && i == step->field) continue;
        fputs(n++ > 0 ? ", " : "; together with ", out);
        put_field_name(out, &recipe->encoding.fields[i]);
    }
    if (recipe->sample_micro < 1000000)
        fprintf(out, "; of %.3g\xe2\x80\xaf%% of the devices", (double)recipe->sample_micro / 1e4);
    fputs(". ", out);
    if (step->has_reports)
        fprintf(out, "%s report%s came.</p>\n", agg_whole(step->n).text, plural(step->n));
    else
        fputs("No report of it may be shown yet.</p>\n", out);
}

static void put_came(FILE *out, const agg_step *step)
{
    if (!step->has_reports) return;
    fputs("<p><b>Came</b> ", out);
    if (step->why_not.code != SHOAL_OK) {
        fputs("no figure that may be shown here: ", out);
        agg_page_string(out, step->why_not.text);
        fputs(".</p>\n", out);
        return;
    }
    const bool is_buckets = is_number(field_of(step));
    fprintf(out, "%s of %s %s%s can be told from zero",
            step->n_told > 0 ? agg_whole(step->n_told).text : "none", agg_whole(step->n_asked).text,
            is_buckets ? "bucket" : "sequence", plural(step->n_asked));
    if (step->n_withheld > 0)
        fprintf(out, "; %zu %s withheld, for the release threshold", step->n_withheld,
                step->n_withheld == 1 ? "is" : "are");
    fputs(".", out);
    if (!is_buckets && !step->none.is_withheld) {
        fputs(field_of(step)->depth == 0 ? " Without such a text: about "
                                         : " Beginning with none of the starts: about ",
              out);
        agg_page_count(out, step->none.count);
        fputs(", from ", out);
        agg_page_count(out, step->none.low);
        fputs(" to ", out);
        agg_page_count(out, step->none.high);
        fputs(".", out);
    }
    fputs("</p>\n", out);
}

static void put_row(FILE *out, const agg_step *step, const agg_page_axis *axis,
                    const agg_step_row *row)
{
    char label[AGG_BUCKET_LABEL_MAX];
    size_t len =
        agg_recipe_bucket_label(label, sizeof label, step->recipe, step->field, row->bucket);
    if (len >= sizeof label) len = sizeof label - 1;
    fprintf(out, "<tr%s><td class=\"value\" title=\"",
            row->is_told && !row->is_withheld ? "" : " class=\"mute\"");
    agg_page_text(out, label, len);
    fputs("\">", out);
    agg_page_text(out, label, len);
    if (row->is_withheld) {
        fputs("</td><td class=\"chart\"></td><td class=\"count\"></td><td "
              "class=\"interval\">withheld</td><td class=\"how\">",
              out);
    } else {
        agg_page_count_cells_write(out, axis, row->count, row->low, row->high);
        fputs("</td><td class=\"how\">", out);
    }
    if (step->next != NULL && is_number(field_of(step)))
        put_pieces(out, step, row);
    else if (goes_on(step, row))
        fputs("goes on", out);
    fputs("</td></tr>\n", out);
}

static void put_table(FILE *out, const agg_step *step, size_t top)
{
    const bool is_buckets = is_number(field_of(step));
    size_t n = step->n_rows, n_mute = 0;
    agg_page_axis axis = {0, 0, 1, 0};
    if (!is_buckets && n > (top > 0 ? top : NAMED)) n = top > 0 ? top : NAMED;
    if (n == 0) return;
    for (size_t i = 0; i < n; i++) {
        const agg_step_row *row = &step->rows[i];
        n_mute += !row->is_told || row->is_withheld;
        if (row->is_withheld) continue;
        axis.low = fmin(axis.low, row->low);
        axis.high = fmax(axis.high, row->high);
    }
    agg_page_axis_settle(&axis);
    fprintf(out,
            "<table><thead><tr><th class=\"value\" scope=\"col\">%s</th><th class=\"axis\" "
            "scope=\"col\">",
            is_buckets ? "bucket" : "sequence");
    agg_page_axis_write(out, &axis);
    fputs("</th><th class=\"count\" scope=\"col\">estimate</th><th class=\"interval\" "
          "scope=\"col\">interval</th><th class=\"how\" scope=\"col\">next round</th></tr></thead>"
          "<tbody>\n",
          out);
    for (size_t i = 0; i < n; i++) put_row(out, step, &axis, &step->rows[i]);
    fputs("</tbody></table>\n", out);
    agg_page_bar_key_write(out, n_mute);
    if (!is_buckets && step->n_rows > n)
        fprintf(out, "<p class=\"note\">The %zu largest are shown.</p>\n", n);
}

// Says what is asked after a round.
static void put_next(FILE *out, const agg_step *step, bool has_come)
{
    fputs("<p><b>Next</b> ", out);
    if (step->next == NULL) {
        fputs("nothing so far: no recipe that follows this one is here.</p>\n", out);
        return;
    }
    put_question(out, step->next, step->field);
    fputs(has_come ? ".</p>\n" : ". No report of it is here yet.</p>\n", out);
}

static void put_step(FILE *out, const agg_step *step, const agg_step *after, size_t top)
{
    const uint32_t index = step->recipe->recipe->round_index;
    fputs("<li><h3>", out);
    if (index > 0)
        fprintf(out, "Round %u</h3>\n", index);
    else
        fputs("First round</h3>\n", out);
    if (step->has_reports) agg_page_alarms_write(out, &step->alarms);
    put_asked(out, step);
    put_came(out, step);
    if (step->has_reports && step->why_not.code == SHOAL_OK) put_table(out, step, top);
    put_next(out, step, after != NULL && after->has_reports);
    fputs("</li>\n", out);
}

// Says what the labels mean that are no text of the recipe's.
static void put_key(FILE *out, bool is_buckets)
{
    if (is_buckets)
        fputs("<p class=\"note\">\xe2\x80\x9c&lt;oov&gt;\xe2\x80\x9d: below the first boundary, or "
              "no such field. \xe2\x80\x9cstays\xe2\x80\x9d, \xe2\x80\x9c"
              "cut\xe2\x80\x9d and \xe2\x80\x9cjoined\xe2\x80\x9d: what the next recipe does "
              "with the bucket.</p>\n",
              out);
    else
        fputs("<p class=\"note\">\xe2\x80\x9c&lt;end&gt;\xe2\x80\x9d: the text ends there. "
              "\xe2\x80\x9c&lt;oov&gt;\xe2\x80\x9d: it goes on with a token that is not in the "
              "list. \xe2\x80\x9cgoes on\xe2\x80\x9d: the next recipe asks what follows.</p>\n",
              out);
}

void agg_steps_write(FILE *out, const agg_step *steps, size_t n, size_t top)
{
    const bool is_buckets = steps[0].has_field && is_number(field_of(&steps[0]));
    fputs("<section class=\"found\"><h2>How the rounds went</h2>\n<p class=\"said\">", out);
    if (is_buckets)
        fputs("Each round asks the number in buckets that the round before it made finer where "
              "more is, and coarser where less is.",
              out);
    else
        fputs("Each round asks what follows the starts that the round before it kept. A device "
              "with nothing that begins so answers with a random cell, so every count holds its "
              "part of those answers; <code>shoal round next</code> takes them off before it "
              "decides what goes on.",
              out);
    fputs(" Counts are reports of the round, each with its 95\xe2\x80\xaf% interval.</p>\n"
          "<ol class=\"rounds\">\n",
          out);
    for (size_t i = 0; i < n; i++) put_step(out, &steps[i], i + 1 < n ? &steps[i + 1] : NULL, top);
    fputs("</ol>\n", out);
    put_key(out, is_buckets);
    fputs("</section>\n", out);
}
