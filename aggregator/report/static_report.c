// SPDX-License-Identifier: Apache-2.0
// The static report; see static_report.h.
#include "static_report.h"

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
#include "static_trends.h"
#include "trend_style.h"

struct agg_static_made {
    agg_estimate estimate;   // of all periods together; no more rows than the page tells apart
    agg_distribution spread; // of the estimate, if that points to it
    agg_guarantee guarantee;
    agg_static_trends trends;
    agg_compare changes; // the first period against the last; used with several periods
    size_t n_periods;
};

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

// ---- what the page is made of ----

// Keeps as many rows as the page shows, and one more, which says that there are others.
static void cut_estimate(agg_estimate *e, size_t top)
{
    if (top == 0 || e->n_rows <= top + 1) return;
    agg_estimate_row *rows = realloc(e->rows, (top + 1) * sizeof *rows);
    if (rows == NULL) return;
    e->rows = rows;
    e->n_rows = top + 1;
}

static agg_err fill_estimate(agg_static_made *made, agg_error *error, const agg_static_report *r)
{
    agg_accumulator sum;
    agg_estimate_options options = r->options;
    options.top = 0; // the trends pick among all rows, and then the page cuts them
    agg_err err = load_sum(&sum, error, r);
    if (err != SHOAL_OK) return err;
    err = agg_estimate_run(&made->estimate, error, r->recipe, &sum, r->dictionary, &options);
    if (err == SHOAL_OK)
        err = add_spread(&made->estimate, &made->spread, error, r, &sum);
    else
        made->estimate = (agg_estimate){0};
    agg_accumulator_release(&sum);
    return err;
}

static agg_err fill(agg_static_made *made, agg_error *error, const agg_static_report *r)
{
    agg_err err = fill_estimate(made, error, r);
    if (err != SHOAL_OK) return err;
    err = agg_guarantee_run(&made->guarantee, error, r->recipe->recipe, made->estimate.n,
                            &r->release);
    made->estimate.guarantee = &made->guarantee;
    if (err != SHOAL_OK || r->n < 2) return err;
    err = agg_static_trends_make(&made->trends, error, r, &made->estimate, counts_a_mean(r));
    cut_estimate(&made->estimate, r->options.top);
    if (err != SHOAL_OK) return err;
    err = agg_static_changes_make(&made->changes, error, r);
    if (err == SHOAL_OK) made->n_periods = r->n;
    return err;
}

void agg_static_report_release(agg_static_made *made)
{
    if (made == NULL) return;
    agg_distribution_release(&made->spread);
    agg_estimate_release(&made->estimate);
    agg_static_trends_release(&made->trends);
    if (made->n_periods > 1) agg_compare_release(&made->changes);
    free(made);
}

agg_err agg_static_report_make(agg_static_made **made, agg_error *error,
                               const agg_static_report *report)
{
    *made = agg_alloc(error, 1, sizeof **made);
    if (*made == NULL) return AGG_ERR_MEMORY;
    agg_err err = fill(*made, error, report);
    if (err == SHOAL_OK) return err;
    agg_static_report_release(*made);
    *made = NULL;
    return err;
}

size_t agg_static_report_size(const agg_static_made *made)
{
    return sizeof *made + made->estimate.n_rows * sizeof *made->estimate.rows +
           made->changes.n_rows * sizeof *made->changes.rows +
           agg_static_trends_size(&made->trends);
}

// ---- the page ----

// Says what the page does not. A file fetches nothing; a server's page may have a script.
static void put_limits(FILE *out, bool is_file)
{
    fputs("<section><h2>What this does not say</h2><ul class=\"limits\">"
          "<li>Reports are counted, not people: one person may have sent several.</li>"
          "<li>Rows at the top are there because they are large, so they are a little too large "
          "on average.</li>"
          "<li>Those who agreed to take part are not everybody.</li>"
          "<li>Days are UTC.",
          out);
    if (is_file) fputs(" Nothing in this file is fetched or sent.", out);
    fputs("</li></ul></section>\n", out);
}

// Prints all sections of one recipe.
static agg_err put_part(FILE *out, agg_error *error, const agg_static_report *r,
                        const agg_static_made *made)
{
    char period[96];
    agg_err err = SHOAL_OK;
    snprintf(period, sizeof period, "%zu periods", r->n);
    const agg_page_section section = {.recipe = r->recipe,
                                      .estimate = &made->estimate,
                                      .period = r->n == 1 ? r->names[0] : period,
                                      .top = r->options.top,
                                      .among = r->among};
    agg_page_section_write(out, &section);
    if (r->n > 1) agg_static_trends_write(out, r, &made->trends);
    if (r->n > 1) err = agg_static_changes_write(out, error, r, &made->changes);
    return err;
}

static void open_page(FILE *out, const agg_static_report *r)
{
    const agg_page page = {.title = r->title,
                           .home = r->home,
                           .links = r->links,
                           .account = r->account,
                           .script = r->script,
                           .more_style = trend_style};
    agg_page_open(out, &page);
}

agg_err agg_static_report_print(FILE *out, agg_error *error, const agg_static_report *r,
                                const agg_static_made *made)
{
    open_page(out, r);
    agg_err err = put_part(out, error, r, made);
    put_limits(out, r->home == NULL);
    return err == SHOAL_OK ? agg_page_close(out, error) : err;
}

static agg_err make_joint(FILE *out, agg_error *error, const agg_static_report *report)
{
    agg_accumulator sum;
    agg_err err = load_sum(&sum, error, report);
    if (err != SHOAL_OK) return err;
    err = agg_static_joint_write(out, error, report, &sum);
    agg_accumulator_release(&sum);
    return err;
}

// Makes and prints all sections of one recipe.
static agg_err make_part(FILE *out, agg_error *error, const agg_static_report *report)
{
    if (report->categories != NULL) return make_joint(out, error, report);
    agg_static_made *made;
    agg_err err = agg_static_report_make(&made, error, report);
    if (err != SHOAL_OK) return err;
    err = put_part(out, error, report, made);
    agg_static_report_release(made);
    return err;
}

agg_err agg_static_report_write(FILE *stream, agg_error *error, const agg_static_report *report)
{
    open_page(stream, report);
    agg_err err = make_part(stream, error, report);
    put_limits(stream, report->home == NULL);
    return err == SHOAL_OK ? agg_page_close(stream, error) : err;
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
        agg_err err = make_part(stream, error, &set->reports[i]);
        if (err != SHOAL_OK) {
            agg_error_prefix(error, "recipe %s", set->reports[i].among);
            return err;
        }
        fputs("</div>\n", stream);
    }
    put_limits(stream, true);
    return agg_page_close(stream, error);
}

bool agg_static_report_sorts_by(const char *column)
{
    return strcmp(column, "period") == 0 || strcmp(column, "reports") == 0 ||
           agg_static_changes_sort_by(column);
}

void agg_static_report_csp(char *out, const char *script)
{
    const agg_page page = {.more_style = trend_style, .home = "/", .script = script};
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
