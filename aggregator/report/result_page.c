// SPDX-License-Identifier: Apache-2.0
// Prints the result page; see result_page.h.
#include "result_page.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "alarm_print.h"
#include "distribution_picture.h"
#include "guarantee_print.h"
#include "page_bar.h"
#include "page_text.h"
#include "print_text.h"
#include "recipe.h"
#include "selection_print.h"
#include "window_picks.h"

static bool is_mean(const agg_estimate *e)
{
    return e->recipe->recipe->n_parts > 0 &&
           e->recipe->recipe->parts[0].domain == SHOAL_DOMAIN_NUMBER;
}

static bool is_histogram(const agg_estimate *e)
{
    return e->recipe->recipe->value == SHOAL_VALUE_NUMBER && !is_mean(e);
}

// The axis of a mean is the range of its numbers.
static agg_page_axis axis_of(const agg_estimate *estimate, size_t n_rows)
{
    agg_page_axis a = {0, 0, 1, 0};
    if (is_mean(estimate)) {
        a.low = (double)estimate->recipe->recipe->low_micro / 1e6;
        a.high = (double)estimate->recipe->recipe->high_micro / 1e6;
        a.decimals = n_rows > 0 ? agg_error_decimals(estimate->rows[0].stderr_) : 0;
    }
    for (size_t i = 0; i < n_rows && !is_mean(estimate); i++) {
        const agg_estimate_row *row = &estimate->rows[i];
        a.low = fmin(a.low, fmin(row->low, row->count));
        a.high = fmax(a.high, fmax(row->high, row->count));
    }
    agg_page_axis_settle(&a);
    return a;
}

static void put_row(FILE *out, const agg_page_axis *a, const agg_estimate *e,
                    const agg_estimate_row *row, bool is_mute)
{
    fprintf(out, "<tr%s><td class=\"value\" title=\"", is_mute ? " class=\"mute\"" : "");
    agg_page_text(out, row->value.bytes, row->value.len);
    fputs("\">", out);
    agg_page_text(out, row->value.bytes, row->value.len);
    fputs("</td><td class=\"chart\">", out);
    agg_page_bar_write(out, a, row->count, row->low, row->high);
    fputs("</td><td class=\"count\">", out);
    agg_page_number(out, row->count, a->decimals);
    fputs("</td><td class=\"interval\">", out);
    agg_page_number(out, row->low, a->decimals);
    fputs(" to ", out);
    agg_page_number(out, row->high, a->decimals);
    fputs("</td>", out);
    agg_adjusted_page_cell(out, e, row);
    fputs("</tr>\n", out);
}

void agg_page_picks_write(FILE *stream, const agg_recipe *recipe)
{
    char note[AGG_PICKS_NOTE_MAX];
    for (size_t i = 0; agg_picks_note(note, recipe->recipe, i); i++) {
        note[0] = (char)toupper((unsigned char)note[0]);
        fputs("<p class=\"note\">", stream);
        agg_page_string(stream, note);
        fputs(".</p>\n", stream);
    }
}

static void put_facts(FILE *out, const agg_page_section *section)
{
    const agg_estimate *e = section->estimate;
    fputs("<ul class=\"facts\"><li><b>", out);
    agg_page_count(out, (double)e->n);
    fprintf(out,
            "</b> reports</li><li><b>\xce\xb5 = %g</b> per report</li><li><b>%g\xe2\x80\xaf%%</b> "
            "intervals</li>",
            e->epsilon, 100 * e->confidence);
    fputs("<li>", out);
    if (section->period != NULL) {
        agg_page_string(out, section->period);
    } else {
        fputs("all days", out);
    }
    if (e->blocks != NULL)
        fprintf(out, "</li><li>%s block%s, %s to %s", agg_whole(e->blocks->n).text,
                e->blocks->n == 1 ? "" : "s", e->blocks->first, e->blocks->last);
    fputs("</li></ul>\n", out);
    agg_page_picks_write(out, e->recipe);
}

// Returns: the lower end in a bucket's label "[low, high)".
static int compare_buckets(const void *a, const void *b)
{
    const agg_estimate_row *x = *(const agg_estimate_row *const *)a,
                           *y = *(const agg_estimate_row *const *)b;
    char label[64];
    double low[2];
    for (int i = 0; i < 2; i++) {
        const agg_text *text = &(i == 0 ? x : y)->value;
        snprintf(label, sizeof label, "%.*s",
                 (int)(text->len < sizeof label - 1 ? text->len : sizeof label - 1), text->bytes);
        low[i] = strtod(label + strspn(label, "["), NULL);
    }
    return (low[0] > low[1]) - (low[0] < low[1]);
}

// Returns: the rows in the order of the page: by bucket if a whole histogram is shown, else by
// count.
static const agg_estimate_row **order_rows(const agg_page_section *section, size_t n_rows)
{
    const agg_estimate *e = section->estimate;
    bool is_sorted = section->order != NULL && section->order->column[0] != '\0';
    const agg_estimate_row **rows = agg_alloc(NULL, n_rows, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < n_rows; i++) rows[i] = &e->rows[i];
    if (rows != NULL && !is_sorted && is_histogram(e) && n_rows == e->n_rows)
        qsort(rows, n_rows, sizeof *rows, compare_buckets);
    return rows;
}

static void put_mean_note(FILE *out, const agg_estimate *e)
{
    fprintf(out, "<p class=\"note\">Mean of numbers from %.10g to %.10g.</p>\n",
            (double)e->recipe->recipe->low_micro / 1e6,
            (double)e->recipe->recipe->high_micro / 1e6);
}

static void put_head(FILE *out, const agg_page_section *section, const agg_page_axis *a)
{
    static const agg_table_column value = {"value", "value", "value", false},
                                  count = {"estimate", "estimate", "count", true},
                                  interval = {"interval", "interval", "interval", true};
    const agg_table_order *order = section->order;
    fprintf(out, "<table%s><thead><tr>", order != NULL ? " class=\"sorted\"" : "");
    agg_table_title(out, order, &value, false);
    fputs("<th class=\"axis\" scope=\"col\">", out);
    agg_page_axis_write(out, a);
    fputs("</th>", out);
    agg_table_title(out, order, &count, false);
    agg_table_title(out, order, &interval, false);
    agg_adjusted_page_head(out, section->estimate);
    fputs("</tr></thead><tbody>\n", out);
}

static void put_shown(FILE *out, const agg_page_section *section, size_t n_rows)
{
    const agg_estimate *e = section->estimate;
    if (section->order != NULL && section->order->find[0] != '\0')
        fprintf(out, "<p class=\"note\">%zu of %zu values that hold the text shown, of %zu", n_rows,
                section->n_found, e->n_dictionary);
    else
        fprintf(out, "<p class=\"note\">%zu of %zu values shown", n_rows, e->n_dictionary);
    if (e->n_withheld > 0)
        fprintf(out, "; %zu below the release threshold are withheld", e->n_withheld);
}

static void put_table(FILE *out, const agg_page_section *section)
{
    char selected[AGG_SELECTION_NOTE_MAX];
    const agg_estimate *e = section->estimate;
    size_t n_rows = section->top > 0 && section->top < e->n_rows ? section->top : e->n_rows,
           n_mute = 0;
    agg_page_axis a = axis_of(e, n_rows);
    const agg_estimate_row **rows = order_rows(section, n_rows);
    put_head(out, section, &a);
    for (size_t i = 0; i < n_rows; i++) {
        const agg_estimate_row *row =
            rows != NULL ? rows[i] : &e->rows[i]; // by count if memory is short
        bool is_mute = !row->detected && !is_mean(e);
        put_row(out, &a, e, row, is_mute);
        n_mute += (size_t)is_mute;
    }
    free(rows);
    fputs("</tbody></table>\n", out);
    agg_page_bar_key_write(out, n_mute);
    if (is_mean(e)) {
        put_mean_note(out, e);
        return;
    }
    put_shown(out, section, n_rows);
    fprintf(out,
            ". Rule for \xe2\x80\x9c"
            "distinguishable\xe2\x80\x9d: %s.</p>\n",
            e->multiple == AGG_BONFERRONI ? "Bonferroni over all values"
            : e->multiple == AGG_BH       ? "Benjamini-Hochberg over all values"
                                          : "each value alone");
    if (!agg_selection_note(selected, &e->selection, e->confidence)) return;
    fputs("<p class=\"note\">", out);
    agg_page_string(out, selected);
    fputs("</p>\n", out);
    agg_adjusted_page_note(out, e);
}

// Prints the guarantees. HTML collapses the blanks that align their columns on a terminal.
void agg_page_guarantee_write(FILE *out, const agg_guarantee *guarantee)
{
    char line[AGG_GUARANTEE_LINE_MAX];
    fputs("<p class=\"note\">", out);
    for (size_t i = 0; agg_guarantee_line(line, guarantee, i); i++) {
        if (i > 0) fputs("<br>", out);
        agg_page_string(out, line);
    }
    for (size_t i = 0; agg_guarantee_verdict(line, guarantee, i); i++) {
        fputs("<br>", out);
        agg_page_string(out, line);
    }
    fputs("</p>\n", out);
}

// Prints the alarms first: who reads the bars must have read them.
void agg_page_alarms_write(FILE *out, const agg_alarms *alarms)
{
    char line[AGG_ALARM_LINE_MAX];
    for (size_t i = 0; agg_alarm_line(line, alarms, i); i++) {
        line[0] = 'A';
        fputs("<p class=\"warn\" role=\"alert\"><b>", out);
        agg_page_string(out, line);
        fputs("</b></p>\n", out);
    }
}

void agg_page_tested_write(FILE *out, const agg_alarms *alarms)
{
    char line[AGG_ALARM_LINE_MAX];
    fputs("<details class=\"note\"><summary>What was tested for fabricated reports</summary>", out);
    for (size_t i = 0; agg_alarm_rest_line(line, alarms, i); i++) {
        line[0] = (char)toupper((unsigned char)line[0]);
        fputs("<p>", out);
        agg_page_string(out, line);
        fputs(".</p>", out);
    }
    fputs("</details>\n", out);
}

static void put_views(FILE *out, const agg_page_section *section)
{
    const agg_page_link *view = section->views;
    for (; view != NULL && view->href != NULL; view++)
        fprintf(out, " <a href=\"%s\">%s</a>", view->href, view->text);
}

// Prints the form that asks for one value, and links to the collection over time and to its rows.
static void put_tools(FILE *out, const agg_page_section *section)
{
    const char *id = section->recipe->id;
    fputs("<div class=\"tools\"><form method=\"get\"><label>One value <input name=\"value\" "
          "maxlength=\"256\" autocomplete=\"off\" value=\"",
          out);
    agg_page_string(out, section->asked);
    fputs("\"></label> <button>Ask</button></form><p>", out);
    if (section->asked[0] != '\0') {
        fputs("<a href=\"/recipes/", out);
        agg_page_string(out, id);
        fputs("\">All values</a>", out);
    } else {
        fputs("<a href=\"?view=periods\">Over time</a>", out);
        put_views(out, section);
        if (section->rounds != NULL)
            fprintf(out, " <a href=\"?view=rounds\">%s</a>", section->rounds);
        static const char *const formats[] = {"csv", "json", "arrow"};
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
            fputs(" <a download href=\"/v1/results/", out);
            agg_page_string(out, id);
            fprintf(out, "?format=%s\">%s</a>", formats[i], formats[i]);
        }
    }
    fputs("</p>", out);
    if (section->order != NULL) agg_table_search(out, section->order, "Rows with");
    fputs("</div>\n", out);
}

// Says how easily a value that nobody sent would look like this one. Who searches among many finds
// one of them by chance.
static void put_chance(FILE *out, const agg_estimate *e)
{
    if (e->n_rows == 0) {
        fputs("<p class=\"note\">It is below the release threshold, or was not sent.</p>\n", out);
        return;
    }
    double one_in = 1 / (0.5 * erfc(e->rows[0].score / sqrt(2)));
    fprintf(out, "<p class=\"note\">Of values that nobody sent, %s 1 in ",
            one_in > 1e9 ? "fewer than" : "about");
    agg_page_count(out, fmin(round(one_in), 1e9));
    fputs(" would look as large. Who tries many values finds such a one by chance: believe it only "
          "if you tried far fewer.</p>\n",
          out);
}

void agg_page_section_write(FILE *out, const agg_page_section *section)
{
    fputs("<section><h2>", out);
    if (section->link != NULL) {
        fputs("<a href=\"", out);
        agg_page_string(out, section->link);
        fputs("\">", out);
    }
    agg_page_string(out, section->among != NULL ? section->among : section->recipe->id);
    fputs(section->link != NULL ? "</a></h2>\n" : "</h2>\n", out);
    if (section->estimate != NULL) agg_page_alarms_write(out, &section->estimate->alarms);
    if (section->estimate != NULL) put_facts(out, section);
    if (section->note != NULL) {
        fputs("<p class=\"note warn\">", out);
        agg_page_string(out, section->note);
        fputs("</p>\n", out);
    }
    if (section->asked != NULL) {
        put_tools(out, section);
    } else if (section->views != NULL) {
        fputs("<p>", out);
        put_views(out, section);
        fputs("</p>\n", out);
    }
    if (section->estimate == NULL) {
        fputs("</section>\n", out);
        return;
    }
    put_table(out, section);
    if (section->asked != NULL && section->asked[0] != '\0')
        put_chance(out, section->estimate);
    else if (section->estimate->distribution != NULL)
        agg_distribution_page_write(out, section->estimate->distribution, section->among);
    if (section->estimate->alarms.is_measured)
        agg_page_tested_write(out, &section->estimate->alarms);
    if (section->estimate->guarantee != NULL)
        agg_page_guarantee_write(out, section->estimate->guarantee);
    fputs("</section>\n", out);
}
