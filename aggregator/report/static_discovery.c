// SPDX-License-Identifier: Apache-2.0
// Strings that nobody listed; see static_discovery.h.
#include "static_discovery.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "compound.h"
#include "estimate.h"
#include "incomplete_print.h"
#include "known_texts.h"
#include "least_share.h"
#include "page_bar.h"
#include "page_text.h"
#include "print_text.h"
#include "recipe.h"
#include "result_page.h"

#define OPEN_SHOWN 12u // open starts that the page names

// ---- finding ----

static void add_shards(agg_static_found *found, const agg_discover_round *rounds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        agg_shards_about own = agg_shard_claims_about(&rounds[i].acc->shards);
        found->shards.n += own.n;
        found->shards.missing += own.missing;
    }
}

// Returns: the chance that two reports hold the same of the strings found.
static double chance_of_same(const agg_discovery *d)
{
    double sum = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        double share = d->rows[i].count / fmax(1, (double)d->n);
        sum += share * share;
    }
    return fmin(1, sum);
}

agg_err agg_static_found_make(agg_static_found *found, agg_error *error, const agg_static_report *r,
                              const agg_discover_round *rounds, size_t n_rounds)
{
    const agg_discover_options options = {.confidence = r->options.confidence,
                                          .known = r->known,
                                          .n_threads = r->options.n_threads,
                                          .release = r->release};
    *found = (agg_static_found){.n_rounds = n_rounds};
    agg_err err = agg_discover_run(&found->discovery, error, rounds, n_rounds, &options);
    if (err != SHOAL_OK) return err;
    err = agg_discover_guarantee(&found->guarantee, error, rounds, n_rounds, &r->release);
    if (err != SHOAL_OK) {
        agg_static_found_release(found);
        return err;
    }
    add_shards(found, rounds, n_rounds);
    double same = chance_of_same(&found->discovery);
    for (size_t i = 0; i < n_rounds; i++) {
        double n = fmax(1, (double)rounds[i].acc->n);
        found->least =
            fmax(found->least, agg_least_share(rounds[i].recipe, n, found->discovery.fdr, same));
    }
    // An empty discovery has said its own figure, which counts what these reports have.
    if (found->discovery.found_from > 0) found->least = fmin(1, found->discovery.found_from);
    return SHOAL_OK;
}

// ---- since when ----

static agg_err add_period(agg_accumulator *sum, agg_error *error, const agg_static_report *r,
                          size_t i)
{
    agg_accumulator one;
    if (i == 0) return r->load(r->context, sum, error, 0);
    agg_err err = r->load(r->context, &one, error, i);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_merge(sum, error, &one);
    agg_accumulator_release(&one);
    return err;
}

// Notes the words that stand out in the reports so far, and did not before.
static agg_err note_period(agg_static_found *found, agg_error *error, const agg_static_report *r,
                           const agg_accumulator *sum, const agg_dictionary *words, size_t period)
{
    agg_estimate e;
    const agg_estimate_options options = {.confidence = r->options.confidence,
                                          .multiple = r->options.multiple,
                                          .n_threads = r->options.n_threads};
    agg_err err = agg_estimate_run(&e, error, r->recipe, sum, words, &options);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < e.n_rows; i++) {
        const agg_discovery *d = &found->discovery;
        if (!e.rows[i].detected) continue;
        for (size_t k = 0; k < found->n_since; k++)
            if (found->since[k] == AGG_STATIC_NOT_ALONE &&
                agg_text_compare(d->rows[k].value, e.rows[i].value) == 0)
                found->since[k] = period;
    }
    agg_estimate_release(&e);
    return SHOAL_OK;
}

agg_err agg_static_found_date(agg_static_found *found, agg_error *error, const agg_static_report *r,
                              const agg_dictionary *words)
{
    agg_accumulator sum;
    agg_err err = SHOAL_OK;
    bool has_sum = false;
    if (words->n == 0) return SHOAL_OK;
    found->since = agg_alloc(error, words->n, sizeof *found->since);
    if (found->since == NULL) return AGG_ERR_MEMORY;
    found->n_since = words->n < found->discovery.n_rows ? words->n : found->discovery.n_rows;
    for (size_t i = 0; i < found->n_since; i++) found->since[i] = AGG_STATIC_NOT_ALONE;
    for (size_t i = 0; err == SHOAL_OK && i < r->n; i++) {
        err = add_period(&sum, error, r, i);
        has_sum = has_sum || err == SHOAL_OK;
        if (err == SHOAL_OK) err = note_period(found, error, r, &sum, words, i);
    }
    if (has_sum) agg_accumulator_release(&sum);
    return err;
}

size_t agg_static_found_size(const agg_static_found *found)
{
    return found->discovery.rows_cap * sizeof *found->discovery.rows + found->discovery.pool_cap +
           found->n_since * sizeof *found->since;
}

void agg_static_found_release(agg_static_found *found)
{
    agg_discovery_release(&found->discovery);
    free(found->since);
    *found = (agg_static_found){0};
}

// ---- what is said ----

static void put_facts(FILE *out, const agg_static_found *found, const char *period)
{
    const agg_discovery *d = &found->discovery;
    char line[AGG_INCOMPLETE_LINE_MAX];
    fputs("<ul class=\"facts\"><li><b>", out);
    agg_page_count(out, (double)d->n);
    fprintf(out,
            "</b> reports</li><li><b>\xce\xb5 = %g</b> per report</li><li><b>%g\xe2\x80\xaf%%"
            "</b> intervals</li><li>",
            d->recipe->recipe->cost_micro / 1e6, 100 * d->confidence);
    agg_page_string(out, period);
    fputs("</li></ul>\n", out);
    if (found->shards.missing > 0) {
        fputs("<p class=\"note warn\">", out);
        agg_page_string(out, agg_incomplete_line(line, found->shards));
        fputs("</p>\n", out);
    }
    agg_page_picks_write(out, d->recipe);
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

// Says how many of the rows may be false.
static void put_rate(FILE *out, const agg_discovery *d)
{
    if (agg_discover_bounds_any(d->recipe)) {
        fprintf(out, "The chance that nobody sent one of them is at most %g\xe2\x80\xaf%%.",
                100 * d->fdr);
        return;
    }
    double expected = d->fdr * (double)d->n_rows;
    fprintf(out,
            "The false-discovery rate is %g\xe2\x80\xaf%%: on average at most that share of what "
            "is found was sent by nobody, here ",
            100 * d->fdr);
    if (expected < 1)
        fputs("less than one word.", out);
    else
        fprintf(out, "up to %.0f.", expected);
}

static void put_share(FILE *out, double share)
{
    fprintf(out, "%.2g\xe2\x80\xaf%%", 100 * share);
}

static void put_nothing(FILE *out, const agg_static_found *found)
{
    fputs("<p class=\"said\"><b>Nothing stands out from the noise.</b> That does not mean that "
          "there are no new words. ",
          out);
    if (found->least >= 1) {
        fputs("So few reports cannot show any word, however frequent it is.</p>\n", out);
        return;
    }
    fputs("These reports show a word in half of the cases if ", out);
    put_share(out, found->least);
    fputs(" of them hold it, and rarer words mostly not.</p>\n", out);
}

static void put_left_out(FILE *out, const agg_discovery *d)
{
    if (d->n_known == 0 && d->n_withheld == 0) return;
    fputs("<p class=\"note\">", out);
    if (d->n_known > 0)
        fprintf(out, "%zu more %s found, but %s in the list of known words. ", d->n_known,
                d->n_known == 1 ? "was" : "were", d->n_known == 1 ? "is" : "are");
    if (d->n_withheld > 0)
        fprintf(out, "%zu more %s below the release threshold of %s and withheld.", d->n_withheld,
                d->n_withheld == 1 ? "is" : "are",
                agg_whole(d->recipe->recipe->release_threshold).text);
    fputs("</p>\n", out);
}

static void put_summary(FILE *out, const agg_static_found *found)
{
    const agg_discovery *d = &found->discovery;
    if (d->n_rows == 0) {
        put_nothing(out, found);
    } else {
        fprintf(out, "<p class=\"said\"><b>%s word%s</b> stand%s out from the noise. ",
                agg_whole(d->n_rows).text, plural(d->n_rows), d->n_rows == 1 ? "s" : "");
        put_rate(out, d);
        fputs(" The texts are whatever people typed: read them like a stranger\xe2\x80\x99s "
              "mail.</p>\n",
              out);
    }
    put_left_out(out, d);
}

// ---- the table ----

static int compare_texts(const agg_found *a, const agg_found *b)
{
    return agg_text_compare(a->value, b->value);
}

typedef struct ordered {
    const agg_found *row;
    const agg_table_order *order;
} ordered;

static int compare_rows(const void *first, const void *second)
{
    const ordered *x = first, *y = second;
    const agg_found *a = x->row, *b = y->row;
    int by = 0;
    if (agg_table_is_by(x->order, "value")) by = compare_texts(a, b);
    if (agg_table_is_by(x->order, "estimate")) by = (a->count > b->count) - (a->count < b->count);
    if (agg_table_is_by(x->order, "found")) by = strcmp(a->how, b->how);
    by = agg_table_directed(x->order, by);
    return by != 0 ? by : (a > b) - (a < b);
}

bool agg_static_found_sorts_by(const char *column)
{
    return strcmp(column, "value") == 0 || strcmp(column, "estimate") == 0 ||
           strcmp(column, "found") == 0;
}

// Picks the rows that hold what is searched for, in the order that is asked for.
// Returns: an array to free; NULL where memory is short.
static ordered *pick_rows(const agg_discovery *d, const agg_table_order *order, size_t *n)
{
    ordered *rows = agg_alloc(NULL, d->n_rows, sizeof *rows);
    *n = 0;
    for (size_t i = 0; rows != NULL && i < d->n_rows; i++) {
        const agg_text *value = &d->rows[i].value;
        if (order != NULL && !agg_table_holds(order, value->bytes, value->len)) continue;
        rows[(*n)++] = (ordered){&d->rows[i], order};
    }
    if (rows != NULL && order != NULL && agg_static_found_sorts_by(order->column))
        qsort(rows, *n, sizeof *rows, compare_rows);
    return rows;
}

// Says after which period a word stood out by itself.
static void put_since(FILE *out, const agg_static_report *r, const agg_static_found *found,
                      const agg_found *row)
{
    size_t i = (size_t)(row - found->discovery.rows);
    if (i >= found->n_since) return;
    fputs("<span>", out);
    if (found->since[i] == AGG_STATIC_NOT_ALONE) {
        fputs("only by all periods", out);
    } else {
        fputs("since ", out);
        agg_page_string(out, r->names[found->since[i]]);
    }
    fputs("</span>", out);
}

static void put_row(FILE *out, const agg_static_report *r, const agg_static_found *found,
                    const agg_page_axis *axis, const agg_found *row)
{
    fputs("<tr><td class=\"value\" title=\"", out);
    agg_page_text(out, row->value.bytes, row->value.len);
    fputs("\">", out);
    agg_page_text(out, row->value.bytes, row->value.len);
    agg_page_count_cells_write(out, axis, row->count, row->low, row->high);
    fputs("</td><td class=\"how\">", out);
    agg_page_string(out, row->how);
    put_since(out, r, found, row);
    fputs("</td></tr>\n", out);
}

static void put_head(FILE *out, const agg_table_order *order, const agg_page_axis *axis)
{
    static const agg_table_column value = {"value", "word", "value", false},
                                  count = {"estimate", "estimate", "count", true},
                                  how = {"found", "how it was found", "how", false};
    fprintf(out, "<table%s><thead><tr>", order != NULL ? " class=\"sorted\"" : "");
    agg_table_title(out, order, &value, false);
    fputs("<th class=\"axis\" scope=\"col\">", out);
    agg_page_axis_write(out, axis);
    fputs("</th>", out);
    agg_table_title(out, order, &count, false);
    fputs("<th class=\"interval\" scope=\"col\">interval</th>", out);
    agg_table_title(out, order, &how, false);
    fputs("</tr></thead><tbody>\n", out);
}

// Says how many rows are shown. What is picked from all that was tested has intervals that miss
// more often.
static void put_shown(FILE *out, const agg_discovery *d, size_t n_shown, size_t n_found)
{
    char selected[AGG_SELECTION_NOTE_MAX];
    const size_t n_all = d->n_candidates > d->n_rows ? d->n_candidates : d->n_rows;
    const agg_selection selection = agg_selection_of(n_shown, n_all, d->confidence);
    if (n_found < d->n_rows)
        fprintf(out, "<p class=\"note\">%zu of %zu words that hold the text shown, of %zu.</p>\n",
                n_shown, n_found, d->n_rows);
    else
        fprintf(out, "<p class=\"note\">%zu of %zu words shown.</p>\n", n_shown, d->n_rows);
    if (n_shown == 0 || !agg_selection_note(selected, &selection, d->confidence)) return;
    selected[0] = (char)toupper((unsigned char)selected[0]);
    fputs("<p class=\"note\">", out);
    agg_page_string(out, selected);
    fputs(".</p>\n", out);
}

static void put_table(FILE *out, const agg_static_report *r, const agg_static_found *found)
{
    const agg_discovery *d = &found->discovery;
    size_t n = 0;
    agg_page_axis axis = {0, 0, 1, 0};
    ordered *rows = pick_rows(d, r->order, &n);
    if (rows == NULL) {
        fputs("<p class=\"note warn\">Out of memory.</p>\n", out);
        return;
    }
    size_t n_shown = r->options.top > 0 && r->options.top < n ? r->options.top : n;
    for (size_t i = 0; i < n_shown; i++) {
        axis.low = fmin(axis.low, rows[i].row->low);
        axis.high = fmax(axis.high, rows[i].row->high);
    }
    agg_page_axis_settle(&axis);
    if (r->order != NULL) {
        fputs("<div class=\"tools\">", out);
        agg_table_search(out, r->order, "Words with");
        fputs("</div>\n", out);
    }
    put_head(out, r->order, &axis);
    for (size_t i = 0; i < n_shown; i++) put_row(out, r, found, &axis, rows[i].row);
    fputs("</tbody></table>\n", out);
    agg_page_bar_key_write(out, 0);
    put_shown(out, d, n_shown, n);
    if (found->n_since > 0)
        fputs("<p class=\"note\">\xe2\x80\x9cSince\xe2\x80\x9d names the period after which "
              "all reports up to then were enough to tell the word from nothing.</p>\n",
              out);
    free(rows);
}

// ---- what could be found ----

static void put_open(FILE *out, const agg_static_report *r, const agg_discovery *d)
{
    size_t n = d->n_open < OPEN_SHOWN ? d->n_open : OPEN_SHOWN;
    if (d->n_open == 0) return;
    fprintf(out,
            "<p class=\"said\">%s start%s of longer words stand%s out, and %s:</p>\n"
            "<ul class=\"starts\">",
            agg_whole(d->n_open).text, plural(d->n_open), d->n_open == 1 ? "s" : "",
            r->next != NULL ? "the next round asks what follows"
                            : "no round has asked what follows");
    for (size_t i = 0; i < n; i++) {
        const agg_open_start *open = &d->open[i];
        agg_page_piece(out, open->text, open->len, true, open->count, open->stderr_);
    }
    fputs("</ul>\n<p class=\"note\">Each with its standard error", out);
    if (d->n_open > n) fprintf(out, "; %zu weaker ones are not named", d->n_open - n);
    fputs(".</p>\n", out);
}

static void put_reach(FILE *out, const agg_static_report *r, const agg_static_found *found)
{
    const agg_discovery *d = &found->discovery;
    fprintf(out,
            "<h3>What could be found</h3>\n<p class=\"said\">Words of up to %u %s. A longer one is "
            "not missing for being rare: nobody asked for it. ",
            d->reach, d->is_in_bytes ? "bytes" : "characters");
    if (d->n_rows > 0 && found->least < 1) {
        fputs("A word that about ", out);
        put_share(out, found->least);
        fputs(" of the reports hold is found in half of the cases; rarer ones mostly are not.",
              out);
    }
    fputs("</p>\n", out);
    put_open(out, r, d);
}

static void put_lines(FILE *out, const char lines[][AGG_DISCOVERY_NOTE_MAX], uint32_t n,
                      const char *before)
{
    for (uint32_t i = 0; i < n; i++) {
        fprintf(out, "<p>%s", before);
        agg_page_string(out, lines[i]);
        fputs(".</p>", out);
    }
}

static void put_steps(FILE *out, const agg_discovery *d)
{
    if (d->n_notes + d->n_cuts == 0) return;
    fputs("<details class=\"note\"><summary>How the words were searched for</summary>", out);
    put_lines(out, d->notes, d->n_notes, "");
    put_lines(out, d->cuts, d->n_cuts, "Left out, to bound the work: ");
    fputs("</details>\n", out);
}

// Prints links to all rows in each format, on a server.
static void put_downloads(FILE *out, const agg_static_report *r)
{
    static const char *const formats[] = {"csv", "json", "arrow"};
    if (r->downloads == NULL) return;
    fputs("<p class=\"note\">All words:", out);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        fputs(" <a download href=\"", out);
        agg_page_string(out, r->downloads);
        fprintf(out, "&amp;format=%s\">%s</a>", formats[i], formats[i]);
    }
    fputs("</p>\n", out);
}

void agg_static_found_write(FILE *out, const agg_static_report *r, const agg_static_found *found,
                            const char *period)
{
    const agg_discovery *d = &found->discovery;
    fputs("<section class=\"found\"><h2>Words that nobody listed", out);
    agg_page_of(out, r->among);
    fputs("</h2>\n", out);
    agg_page_alarms_write(out, &d->alarms);
    put_facts(out, found, period);
    put_summary(out, found);
    if (d->n_rows > 0) put_table(out, r, found);
    if (d->n_rows > 0) put_downloads(out, r);
    put_reach(out, r, found);
    put_steps(out, d);
    if (d->alarms.is_measured) agg_page_tested_write(out, &d->alarms);
    agg_page_guarantee_write(out, &found->guarantee);
    fputs("</section>\n", out);
}
