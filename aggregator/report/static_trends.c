// SPDX-License-Identifier: Apache-2.0
// Values over the periods of a report; see static_trends.h.
#include "static_trends.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "page_text.h"
#include "print_text.h"
#include "recipe.h"
#include "result_page.h"

#define SAID_MAX 64
#define LABEL_MAX 640

// Picks the largest values that can be told from zero.
static void pick(agg_static_trends *t, const agg_estimate *e)
{
    for (size_t i = 0; i < e->n_rows && t->n_values < AGG_STATIC_TRENDS; i++)
        if (e->rows[i].detected || t->is_mean) t->values[t->n_values++] = e->rows[i].value;
}

// Returns: the index of a value among the picked ones; n_values for another one.
static size_t index_of(const agg_static_trends *t, agg_text value)
{
    size_t i = 0;
    while (i < t->n_values && (t->values[i].len != value.len ||
                               memcmp(t->values[i].bytes, value.bytes, value.len) != 0))
        i++;
    return i;
}

static void take_row(agg_static_trends *t, const agg_estimate *e, const agg_estimate_row *row,
                     size_t period)
{
    size_t i = index_of(t, row->value);
    if (i == t->n_values) return;
    double unit = t->is_mean ? 1 : (double)e->n;
    t->points[i * t->n_periods + period] =
        (agg_trend_point){row->count / unit, row->low / unit, row->high / unit, true};
    int decimals = agg_error_decimals(row->stderr_ / unit * (t->is_mean ? 1 : 100));
    if (decimals > t->decimals_of[period]) t->decimals_of[period] = decimals;
}

static bool has_same_values(const agg_static_trends *t, const agg_static_trends *before)
{
    if (before == NULL || before->n_values != t->n_values) return false;
    for (size_t i = 0; i < t->n_values; i++)
        if (index_of(t, before->values[i]) != i) return false;
    return true;
}

static void copy_period(agg_static_trends *t, size_t period, const agg_static_trends *before,
                        size_t was)
{
    for (size_t i = 0; i < t->n_values; i++)
        t->points[i * t->n_periods + period] = before->points[i * before->n_periods + was];
    t->reports[period] = before->reports[was];
    t->decimals_of[period] = before->decimals_of[was];
}

static agg_err fill_period(agg_static_trends *t, agg_error *error, const agg_static_report *r,
                           const agg_dictionary *picked, size_t period)
{
    agg_accumulator acc;
    agg_estimate e;
    const agg_estimate_options options = {.confidence = r->options.confidence,
                                          .n_threads = r->options.n_threads};
    agg_err err = r->load(r->context, &acc, error, period);
    if (err != SHOAL_OK) return err;
    err = agg_estimate_run(&e, error, r->recipe, &acc, picked, &options);
    agg_accumulator_release(&acc);
    if (err != SHOAL_OK) {
        agg_error_prefix(error, "%s", r->names[period]);
        return err;
    }
    t->reports[period] = e.n;
    for (size_t i = 0; i < e.n_rows; i++) take_row(t, &e, &e.rows[i], period);
    agg_estimate_release(&e);
    return SHOAL_OK;
}

void agg_static_trends_release(agg_static_trends *t)
{
    free(t->points);
    free(t->reports);
    free(t->decimals_of);
    *t = (agg_static_trends){0};
}

// Estimates the picked values in every accumulator, but for those whose figures `before` has.
static agg_err fill(agg_static_trends *t, agg_error *error, const agg_static_report *r,
                    const agg_static_trends *before)
{
    uint32_t places[AGG_STATIC_TRENDS];
    agg_dictionary picked = {0};
    t->n_periods = r->n;
    t->points = agg_alloc(error, (t->n_values + 1) * r->n, sizeof *t->points);
    t->reports = agg_alloc(error, r->n, sizeof *t->reports);
    t->decimals_of = agg_alloc(error, r->n, sizeof *t->decimals_of);
    if (t->points == NULL || t->reports == NULL || t->decimals_of == NULL) return AGG_ERR_MEMORY;
    agg_err err = SHOAL_OK;
    // The labels of a closed domain's items, such as buckets, need not be values of the recipe.
    bool is_closed =
        r->recipe->recipe->n_parts > 0 && r->recipe->recipe->parts[0].domain != SHOAL_DOMAIN_OPEN;
    if (!is_closed)
        err = agg_dictionary_of_texts(&picked, places, error, r->recipe, t->values, t->n_values);
    bool is_known = r->was != NULL && has_same_values(t, before);
    for (size_t i = 0; err == SHOAL_OK && i < r->n; i++) {
        if (is_known && r->was[i] < before->n_periods)
            copy_period(t, i, before, r->was[i]);
        else
            err = fill_period(t, error, r, is_closed ? r->dictionary : &picked, i);
        if (t->decimals_of[i] > t->decimals) t->decimals = t->decimals_of[i];
    }
    agg_dictionary_release(&picked);
    return err;
}

agg_err agg_static_trends_make(agg_static_trends *t, agg_error *error, const agg_static_report *r,
                               const agg_estimate *all, bool is_mean,
                               const agg_static_trends *before)
{
    *t = (agg_static_trends){.is_mean = is_mean};
    pick(t, all);
    agg_err err = t->n_values > 0 ? fill(t, error, r, before) : SHOAL_OK;
    if (err != SHOAL_OK) agg_static_trends_release(t);
    return err;
}

size_t agg_static_trends_size(const agg_static_trends *t)
{
    return t->n_periods *
           ((t->n_values + 1) * sizeof *t->points + sizeof *t->reports + sizeof *t->decimals_of);
}

static void put_share(FILE *out, const agg_static_trends *t, double share)
{
    agg_page_number(out, t->is_mean ? share : 100 * share, t->decimals);
    if (!t->is_mean) fputs("\xe2\x80\xaf%", out);
}

// Writes a figure as a screen reader says it, in no more than SAID_MAX bytes.
static const char *say_point(char said[SAID_MAX], const agg_static_trends *t,
                             const agg_trend_point *p)
{
    if (!p->is_known) return "withheld";
    snprintf(said, SAID_MAX, "%.*f%s", t->decimals, t->is_mean ? p->value : 100 * p->value,
             t->is_mean ? "" : " percent");
    return said;
}

// Writes what a trend's picture shows as a sentence.
static void say_trend(char label[LABEL_MAX], const agg_static_trends *t, const agg_static_report *r,
                      size_t i)
{
    const agg_trend_point *first = &t->points[i * t->n_periods],
                          *last = &t->points[(i + 1) * t->n_periods - 1];
    char before[SAID_MAX], after[SAID_MAX];
    snprintf(label, LABEL_MAX, "%.*s: %s in %.100s, %s in %.100s; the table below has every figure",
             (int)(t->values[i].len < 120 ? t->values[i].len : 120), t->values[i].bytes,
             say_point(before, t, first), r->names[0], say_point(after, t, last),
             r->names[r->n - 1]);
}

static void put_trend(FILE *out, const agg_static_trends *t, const agg_static_report *r, size_t i)
{
    agg_scale scale = {0, 0};
    char label[LABEL_MAX];
    const agg_trend_point *points = &t->points[i * t->n_periods];
    for (size_t j = 0; j < t->n_periods; j++) {
        if (!points[j].is_known) continue;
        agg_scale_hold(&scale, points[j].low);
        agg_scale_hold(&scale, points[j].high);
    }
    agg_scale_finish(&scale);
    say_trend(label, t, r, i);
    fputs("<figure><figcaption><b>", out);
    agg_page_text(out, t->values[i].bytes, t->values[i].len);
    fputs("</b><span>up to ", out);
    put_share(out, t, scale.high);
    fputs("</span></figcaption>\n", out);
    agg_trend_figure(out, points, t->n_periods, &scale, label);
    fputs("<p class=\"ends\"><span>", out);
    agg_page_string(out, r->names[0]);
    fputs("</span><span>", out);
    agg_page_string(out, r->names[r->n - 1]);
    fputs("</span></p></figure>\n", out);
}

static void put_trend_head(FILE *out, const agg_static_trends *t, const agg_static_report *r)
{
    static const agg_table_column period = {"period", "period", NULL, true},
                                  reports = {"reports", "reports", NULL, true};
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Figures over time", out);
    agg_page_of(out, r->among);
    fputs("\"><table class=\"plain\"", out);
    if (r->script != NULL) fprintf(out, " data-unit=\"%s\"", t->is_mean ? "" : "%");
    fputs("><caption>Every figure, with half the width of its interval"
          "</caption><thead><tr>",
          out);
    agg_table_title(out, r->order, &period, false);
    agg_table_title(out, r->order, &reports, false);
    for (size_t i = 0; i < t->n_values; i++) {
        fputs("<th scope=\"col\" title=\"", out);
        agg_page_text(out, t->values[i].bytes, t->values[i].len);
        fputs("\">", out);
        agg_page_text(out, t->values[i].bytes, t->values[i].len);
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
}

// Prints the exact numbers of a cell for the page's script, in the unit that the cell shows.
static void put_numbers(FILE *out, const agg_static_trends *t, const agg_trend_point *p)
{
    double unit = t->is_mean ? 1 : 100;
    fprintf(out, " data-point=\"%.9g %.9g %.9g\"", unit * p->value, unit * p->low, unit * p->high);
}

static void put_trend_row(FILE *out, const agg_static_trends *t, const agg_static_report *r,
                          size_t j)
{
    fputs("<tr", out);
    if (r->script != NULL) fprintf(out, " data-at=\"%zu\"", j);
    fputs("><th scope=\"row\">", out);
    agg_page_string(out, r->names[j]);
    fputs("</th><td>", out);
    agg_page_count(out, (double)t->reports[j]);
    fputs("</td>", out);
    for (size_t i = 0; i < t->n_values; i++) {
        const agg_trend_point *p = &t->points[i * t->n_periods + j];
        fputs("<td", out);
        if (r->script != NULL && p->is_known) put_numbers(out, t, p);
        fputs(">", out);
        if (p->is_known) {
            put_share(out, t, p->value);
            fputs(" \xc2\xb1\xe2\x80\xaf", out);
            agg_page_number(out, (p->high - p->low) / 2 * (t->is_mean ? 1 : 100), t->decimals);
        } else {
            fputs("withheld", out);
        }
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
}

// Finds the period of the table's row i. Periods are few, so each row counts those before it.
static size_t period_of(const agg_static_trends *t, const agg_static_report *r, size_t i)
{
    bool is_falling = r->order != NULL && r->order->is_falling;
    if (r->order == NULL || !agg_table_is_by(r->order, "reports"))
        return r->order != NULL && agg_table_is_by(r->order, "period") && is_falling ? r->n - 1 - i
                                                                                     : i;
    for (size_t j = 0; j < r->n; j++) {
        size_t before = 0;
        for (size_t k = 0; k < r->n; k++)
            before += t->reports[k] == t->reports[j] ? k < j
                      : is_falling                   ? t->reports[k] > t->reports[j]
                                                     : t->reports[k] < t->reports[j];
        if (before == i) return j;
    }
    return i;
}

static void put_trend_table(FILE *out, const agg_static_trends *t, const agg_static_report *r)
{
    put_trend_head(out, t, r);
    for (size_t i = 0; i < t->n_periods; i++) put_trend_row(out, t, r, period_of(t, r, i));
    fputs("</tbody></table></div>\n", out);
}

static void put_trends(FILE *out, const agg_static_trends *t, const agg_static_report *r)
{
    fputs("<section><h2>Over time", out);
    agg_page_of(out, r->among);
    fputs("</h2>\n<p class=\"note\">", out);
    fputs(t->is_mean ? "The mean in each period, with its interval.</p>\n"
                     : "The share of each period's reports, with its interval. The values were "
                       "picked because they are the largest of all periods together.</p>\n",
          out);
    fprintf(out, "<div class=\"trends%s\">\n", r->script != NULL ? " live" : "");
    for (size_t i = 0; i < t->n_values; i++) put_trend(out, t, r, i);
    fputs("</div>\n", out);
    put_trend_table(out, t, r);
    fputs("</section>\n", out);
}

void agg_static_trends_write(FILE *out, const agg_static_report *r, const agg_static_trends *t)
{
    if (t->n_values > 0) {
        put_trends(out, t, r);
        return;
    }
    fputs("<section><h2>Over time", out);
    agg_page_of(out, r->among);
    fputs("</h2><p class=\"note\">No value can be told from zero, so "
          "there is none to follow.</p></section>\n",
          out);
}
