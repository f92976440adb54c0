// SPDX-License-Identifier: Apache-2.0
// The static report; see static_report.h.
#include "static_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "compare.h"
#include "distribution.h"
#include "page_text.h"
#include "print_text.h"
#include "recipe.h"
#include "result_page.h"
#include "static_changes.h"
#include "static_joint.h"
#include "trend_figure.h"
#include "trend_style.h"

#define LABEL_MAX 640

// What is known of the picked values in each accumulator.
typedef struct trends {
    size_t n_values, n_periods;
    agg_text values[AGG_STATIC_TRENDS]; // point into the dictionary
    agg_trend_point *points;            // n_values times n_periods, in shares or in the mean's unit
    uint64_t *reports;                  // n_periods
    int decimals;                       // of the figures: in percent, or in the mean's unit
    bool is_mean;
} trends;

static bool counts_a_mean(const agg_static_report *r)
{
    return r->recipe->recipe->n_parts > 0 &&
           r->recipe->recipe->parts[0].domain == SHOAL_DOMAIN_NUMBER;
}

static agg_err load(const agg_static_report *r, agg_accumulator *acc, agg_error *error, size_t i)
{
    return r->load(r->context, acc, error, i);
}

// Adds up all accumulators, which refuses reports that two of them count.
static agg_err load_sum(agg_accumulator *sum, agg_error *error, const agg_static_report *r)
{
    agg_err err = load(r, sum, error, 0);
    if (err != SHOAL_OK) return err;
    for (size_t i = 1; err == SHOAL_OK && i < r->n; i++) {
        agg_accumulator one;
        err = load(r, &one, error, i);
        if (err != SHOAL_OK) break;
        err = agg_accumulator_merge(sum, error, &one);
        if (err != SHOAL_OK) agg_error_prefix(error, "%s", r->names[i]);
        agg_accumulator_release(&one);
    }
    if (err != SHOAL_OK) agg_accumulator_release(sum);
    return err;
}

// Adds how the numbers are spread. On a server it is on the collection's own page.
static agg_err add_spread(agg_estimate *e, agg_distribution *spread, agg_error *error,
                          const agg_static_report *r, const agg_accumulator *sum)
{
    if (r->home != NULL || !agg_distribution_is_told(r->recipe)) return SHOAL_OK;
    agg_distribution_options options = agg_distribution_of_pages(r->recipe);
    options.confidence = r->options.confidence;
    options.n_threads = r->options.n_threads;
    agg_err err = agg_distribution_run(spread, error, r->recipe, sum, &options);
    if (err == SHOAL_OK) e->distribution = spread;
    // The reports fit no distribution, or are of windows that a distribution cannot be told from.
    return err == SHOAL_ERR_RANGE || err == AGG_ERR_USAGE ? SHOAL_OK : err;
}

// ---- over time ----

// Picks the largest values that can be told from zero.
static void pick(trends *t, const agg_estimate *e)
{
    for (size_t i = 0; i < e->n_rows && t->n_values < AGG_STATIC_TRENDS; i++)
        if (e->rows[i].detected || t->is_mean) t->values[t->n_values++] = e->rows[i].value;
}

// Returns: the index of a value among the picked ones; n_values for another one.
static size_t index_of(const trends *t, agg_text value)
{
    size_t i = 0;
    while (i < t->n_values && (t->values[i].len != value.len ||
                               memcmp(t->values[i].bytes, value.bytes, value.len) != 0))
        i++;
    return i;
}

static void take_row(trends *t, const agg_estimate *e, const agg_estimate_row *row, size_t period)
{
    size_t i = index_of(t, row->value);
    if (i == t->n_values) return;
    double unit = t->is_mean ? 1 : (double)e->n;
    t->points[i * t->n_periods + period] =
        (agg_trend_point){row->count / unit, row->low / unit, row->high / unit, true};
    int decimals = agg_error_decimals(row->stderr_ / unit * (t->is_mean ? 1 : 100));
    if (decimals > t->decimals) t->decimals = decimals;
}

static agg_err fill_period(trends *t, agg_error *error, const agg_static_report *r,
                           const agg_dictionary *picked, size_t period)
{
    agg_accumulator acc;
    agg_estimate e;
    const agg_estimate_options options = {.confidence = r->options.confidence,
                                          .n_threads = r->options.n_threads};
    agg_err err = load(r, &acc, error, period);
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

static void release_trends(trends *t)
{
    free(t->points);
    free(t->reports);
    *t = (trends){0};
}

// Estimates the picked values in every accumulator.
static agg_err fill_trends(trends *t, agg_error *error, const agg_static_report *r)
{
    uint32_t places[AGG_STATIC_TRENDS];
    agg_dictionary picked = {0};
    t->n_periods = r->n;
    t->points = agg_alloc(error, (t->n_values + 1) * r->n, sizeof *t->points);
    t->reports = agg_alloc(error, r->n, sizeof *t->reports);
    if (t->points == NULL || t->reports == NULL) return AGG_ERR_MEMORY;
    agg_err err = SHOAL_OK;
    // The labels of a closed domain's items, such as buckets, need not be values of the recipe.
    bool is_closed =
        r->recipe->recipe->n_parts > 0 && r->recipe->recipe->parts[0].domain != SHOAL_DOMAIN_OPEN;
    if (!is_closed)
        err = agg_dictionary_of_texts(&picked, places, error, r->recipe, t->values, t->n_values);
    for (size_t i = 0; err == SHOAL_OK && i < r->n; i++)
        err = fill_period(t, error, r, is_closed ? r->dictionary : &picked, i);
    agg_dictionary_release(&picked);
    return err;
}

static void put_share(FILE *out, const trends *t, double share)
{
    agg_page_number(out, t->is_mean ? share : 100 * share, t->decimals);
    if (!t->is_mean) fputs("\xe2\x80\xaf%", out);
}

// Writes what a trend's picture shows as a sentence.
static void say_trend(char label[LABEL_MAX], const trends *t, const agg_static_report *r, size_t i)
{
    const agg_trend_point *first = &t->points[i * t->n_periods],
                          *last = &t->points[(i + 1) * t->n_periods - 1];
    double unit = t->is_mean ? 1 : 100;
    snprintf(label, LABEL_MAX,
             "%.*s: %.*f%s in %.100s, %.*f%s in %.100s; the table below has every figure",
             (int)(t->values[i].len < 120 ? t->values[i].len : 120), t->values[i].bytes,
             t->decimals, unit * first->value, t->is_mean ? "" : " percent", r->names[0],
             t->decimals, unit * last->value, t->is_mean ? "" : " percent", r->names[r->n - 1]);
}

static void put_trend(FILE *out, const trends *t, const agg_static_report *r, size_t i)
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

static void put_trend_head(FILE *out, const trends *t, const agg_static_report *r)
{
    static const agg_table_column period = {"period", "period", NULL, true},
                                  reports = {"reports", "reports", NULL, true};
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Figures over time", out);
    agg_page_of(out, r->among);
    fputs("\"><table class=\"plain\"><caption>Every figure, with half the width of its interval"
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

static void put_trend_row(FILE *out, const trends *t, const agg_static_report *r, size_t j)
{
    fputs("<tr><th scope=\"row\">", out);
    agg_page_string(out, r->names[j]);
    fputs("</th><td>", out);
    agg_page_count(out, (double)t->reports[j]);
    fputs("</td>", out);
    for (size_t i = 0; i < t->n_values; i++) {
        const agg_trend_point *p = &t->points[i * t->n_periods + j];
        fputs("<td>", out);
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
static size_t period_of(const trends *t, const agg_static_report *r, size_t i)
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

static void put_trend_table(FILE *out, const trends *t, const agg_static_report *r)
{
    put_trend_head(out, t, r);
    for (size_t i = 0; i < t->n_periods; i++) put_trend_row(out, t, r, period_of(t, r, i));
    fputs("</tbody></table></div>\n", out);
}

static void put_trends(FILE *out, const trends *t, const agg_static_report *r)
{
    fputs("<section><h2>Over time", out);
    agg_page_of(out, r->among);
    fputs("</h2>\n<p class=\"note\">", out);
    fputs(t->is_mean ? "The mean in each period, with its interval.</p>\n"
                     : "The share of each period's reports, with its interval. The values were "
                       "picked because they are the largest of all periods together.</p>\n",
          out);
    fputs("<div class=\"trends\">\n", out);
    for (size_t i = 0; i < t->n_values; i++) put_trend(out, t, r, i);
    fputs("</div>\n", out);
    put_trend_table(out, t, r);
    fputs("</section>\n", out);
}

static agg_err write_trends(FILE *out, agg_error *error, const agg_static_report *r,
                            const agg_estimate *e)
{
    trends t = {.is_mean = counts_a_mean(r)};
    pick(&t, e);
    if (t.n_values == 0) {
        fputs("<section><h2>Over time", out);
        agg_page_of(out, r->among);
        fputs("</h2><p class=\"note\">No value can be told from zero, so "
              "there is none to follow.</p></section>\n",
              out);
        return SHOAL_OK;
    }
    agg_err err = fill_trends(&t, error, r);
    if (err == SHOAL_OK) put_trends(out, &t, r);
    release_trends(&t);
    return err;
}

// ---- the page ----

static void put_limits(FILE *out)
{
    fputs("<section><h2>What this does not say</h2><ul class=\"limits\">"
          "<li>Reports are counted, not people: one person may have sent several.</li>"
          "<li>Rows at the top are there because they are large, so they are a little too large "
          "on average.</li>"
          "<li>Those who agreed to take part are not everybody.</li>"
          "<li>Days are UTC. Nothing in this file is fetched or sent.</li></ul></section>\n",
          out);
}

static agg_err write_sections(FILE *out, agg_error *error, const agg_static_report *r,
                              const agg_estimate *e)
{
    char period[96];
    snprintf(period, sizeof period, "%zu periods", r->n);
    const agg_page_section section = {.recipe = r->recipe,
                                      .estimate = e,
                                      .period = r->n == 1 ? r->names[0] : period,
                                      .top = r->options.top,
                                      .among = r->among};
    agg_page_section_write(out, &section);
    agg_err err = SHOAL_OK;
    if (r->n > 1) err = write_trends(out, error, r, e);
    if (err == SHOAL_OK && r->n > 1) err = agg_static_changes_write(out, error, r);
    return err;
}

// Writes all sections of one recipe.
static agg_err write_part(FILE *out, agg_error *error, const agg_static_report *report)
{
    agg_accumulator sum;
    agg_estimate estimate;
    agg_guarantee guarantee;
    agg_distribution spread = {0};
    agg_estimate_options options = report->options;
    options.top = 0; // the page cuts the rows
    agg_err err = load_sum(&sum, error, report);
    if (err != SHOAL_OK) return err;
    if (report->categories != NULL) {
        err = agg_static_joint_write(out, error, report, &sum);
        agg_accumulator_release(&sum);
        return err;
    }
    err = agg_estimate_run(&estimate, error, report->recipe, &sum, report->dictionary, &options);
    if (err != SHOAL_OK) {
        agg_accumulator_release(&sum);
        return err;
    }
    err = add_spread(&estimate, &spread, error, report, &sum);
    agg_accumulator_release(&sum);
    if (err == SHOAL_OK)
        err = agg_guarantee_run(&guarantee, error, report->recipe->recipe, estimate.n,
                                &report->release);
    estimate.guarantee = &guarantee;
    if (err == SHOAL_OK) err = write_sections(out, error, report, &estimate);
    agg_distribution_release(&spread);
    agg_estimate_release(&estimate);
    return err;
}

agg_err agg_static_report_write(FILE *stream, agg_error *error, const agg_static_report *report)
{
    const agg_page page = {.title = report->title,
                           .home = report->home,
                           .links = report->links,
                           .account = report->account,
                           .more_style = trend_style};
    agg_page_open(stream, &page);
    agg_err err = write_part(stream, error, report);
    if (err != SHOAL_OK) return err;
    put_limits(stream);
    return agg_page_close(stream, error);
}

static void put_contents(FILE *out, const agg_static_set *set)
{
    fputs("<nav aria-label=\"Contents\">", out);
    for (size_t i = 0; i < set->n; i++) {
        fprintf(out, "<a href=\"#part-%zu\">", i + 1);
        agg_page_string(out, set->reports[i].among);
        fputs("</a>", out);
    }
    fputs("</nav>\n", out);
}

agg_err agg_static_set_write(FILE *stream, agg_error *error, const agg_static_set *set)
{
    char title[64];
    snprintf(title, sizeof title, "Results of %zu collections", set->n);
    const agg_page page = {.title = set->title != NULL ? set->title : title,
                           .more_style = trend_style};
    if (set->n == 1) return agg_static_report_write(stream, error, set->reports);
    agg_page_open(stream, &page);
    put_contents(stream, set);
    for (size_t i = 0; i < set->n; i++) {
        fprintf(stream, "<div id=\"part-%zu\">\n", i + 1);
        agg_err err = write_part(stream, error, &set->reports[i]);
        if (err != SHOAL_OK) {
            agg_error_prefix(error, "recipe %s", set->reports[i].among);
            return err;
        }
        fputs("</div>\n", stream);
    }
    put_limits(stream);
    return agg_page_close(stream, error);
}

bool agg_static_report_sorts_by(const char *column)
{
    return strcmp(column, "period") == 0 || strcmp(column, "reports") == 0 ||
           agg_static_changes_sort_by(column);
}

void agg_static_report_csp(char *out)
{
    const agg_page page = {.more_style = trend_style, .home = "/"};
    agg_page_csp_of(out, &page);
}

uint64_t agg_static_report_memory(const agg_static_report *report)
{
    if (report->categories != NULL) return 0; // stated once the records are known
    uint64_t estimate =
                 agg_estimate_memory(report->recipe, report->dictionary->n, &report->options),
             compare = agg_compare_memory(report->recipe, report->recipe, report->dictionary->n,
                                          report->options.n_threads);
    return estimate + compare +
           report->n * (AGG_STATIC_TRENDS + 1) * (uint64_t)sizeof(agg_trend_point) +
           2 * report->dictionary->n * (uint64_t)sizeof(void *);
}
