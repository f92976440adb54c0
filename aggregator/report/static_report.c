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
#include "static_discovery.h"
#include "static_joint.h"
#include "static_load.h"
#include "static_story.h"
#include "static_trends.h"
#include "trend_style.h"

struct agg_static_made {
    agg_estimate estimate;   // of all periods together; no more rows than the page tells apart
    bool has_counts;         // whether the page shows the estimate
    agg_static_found found;  // if the report finds strings
    agg_static_story story;  // of its rounds, if it has any
    agg_dictionary words;    // the largest of them, to be followed over time, without a dictionary
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
    agg_err err = agg_static_load_sum(&sum, error, r);
    if (err != SHOAL_OK) return err;
    err = agg_estimate_run(&made->estimate, error, r->recipe, &sum, r->dictionary, &options);
    if (err == SHOAL_OK)
        err = add_spread(&made->estimate, &made->spread, error, r, &sum);
    else
        made->estimate = (agg_estimate){0};
    agg_accumulator_release(&sum);
    return err;
}

// ---- strings that nobody listed ----

// Makes a dictionary of the largest strings found.
static agg_err list_words(agg_static_made *made, agg_error *error, const agg_static_report *r)
{
    const agg_discovery *d = &made->found.discovery;
    size_t n = d->n_rows < AGG_STATIC_FOLLOWED ? d->n_rows : AGG_STATIC_FOLLOWED;
    uint32_t places[AGG_STATIC_FOLLOWED];
    agg_text texts[AGG_STATIC_FOLLOWED];
    for (size_t i = 0; i < n; i++) texts[i] = d->rows[i].value;
    return n == 0 ? SHOAL_OK
                  : agg_dictionary_of_texts(&made->words, places, error, r->recipe, texts, n);
}

static agg_err find_at_once(agg_static_made *made, agg_error *error, const agg_static_report *r)
{
    agg_accumulator sum;
    agg_err err = agg_static_load_sum(&sum, error, r);
    if (err != SHOAL_OK) return err;
    const agg_discover_round round = {r->recipe, &sum};
    err = agg_static_found_make(&made->found, error, r, &round, 1);
    agg_accumulator_release(&sum);
    if (err == SHOAL_OK && r->n > 1) err = list_words(made, error, r);
    return err == SHOAL_OK ? agg_static_found_date(&made->found, error, r, &made->words) : err;
}

static agg_err find_in_rounds(agg_static_made *made, agg_error *error, const agg_static_report *r)
{
    size_t n = 0;
    agg_discover_round *rounds = agg_alloc(error, r->n_rounds, sizeof *rounds);
    agg_accumulator *sums = agg_alloc(error, r->n_rounds, sizeof *sums);
    agg_err err = rounds == NULL || sums == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    for (; err == SHOAL_OK && n < r->n_rounds; n++) {
        rounds[n] = (agg_discover_round){r->rounds[n].recipe, &sums[n]};
        err = agg_static_load_sum(&sums[n], error, &r->rounds[n]);
        if (err != SHOAL_OK) break;
    }
    if (err == SHOAL_OK) err = agg_static_found_make(&made->found, error, r, rounds, n);
    if (err == SHOAL_OK)
        err = agg_static_story_make(&made->story, error, r, rounds, n, &made->found.discovery);
    while (n > 0) agg_accumulator_release(&sums[--n]);
    free(sums);
    free(rounds);
    return err;
}

// Finds strings. Without a dictionary they are what is followed over time.
//   dictionary: set to what is followed; empty for nothing
static agg_err find(agg_static_made *made, const agg_dictionary **dictionary, agg_error *error,
                    const agg_static_report *r)
{
    agg_err err = r->n_rounds > 0 ? find_in_rounds(made, error, r) : find_at_once(made, error, r);
    if (!made->has_counts) *dictionary = &made->words;
    return err;
}

static agg_err fill(agg_static_made *made, agg_error *error, const agg_static_report *report)
{
    agg_static_report with_words = *report;
    const agg_static_report *r = &with_words;
    agg_err err = SHOAL_OK;
    made->has_counts = report->dictionary->n > 0 || !report->finds;
    if (report->finds) err = find(made, &with_words.dictionary, error, report);
    if (err != SHOAL_OK || (!made->has_counts && r->dictionary->n == 0)) return err;
    err = fill_estimate(made, error, r);
    if (err != SHOAL_OK) return err;
    err = agg_guarantee_run(&made->guarantee, error, r->recipe->recipe, made->estimate.n,
                            &r->release);
    made->estimate.guarantee = &made->guarantee;
    if (err != SHOAL_OK || r->n < 2) return err;
    err = agg_static_trends_make(&made->trends, error, r, &made->estimate, counts_a_mean(r),
                                 r->before == NULL ? NULL : &r->before->trends);
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
    agg_static_found_release(&made->found);
    agg_static_story_release(&made->story);
    agg_dictionary_release(&made->words);
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

const agg_static_found *agg_static_report_found(const agg_static_made *made)
{
    return &made->found;
}

size_t agg_static_report_size(const agg_static_made *made)
{
    return sizeof *made + made->estimate.n_rows * sizeof *made->estimate.rows +
           made->changes.n_rows * sizeof *made->changes.rows +
           agg_static_trends_size(&made->trends) + agg_static_found_size(&made->found) +
           agg_static_story_size(&made->story);
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
    if (r->n_rounds > 0)
        snprintf(period, sizeof period, "%zu round%s", r->n_rounds, r->n_rounds == 1 ? "" : "s");
    else
        snprintf(period, sizeof period, "%zu periods", r->n);
    const agg_page_section section = {.recipe = r->recipe,
                                      .estimate = &made->estimate,
                                      .period =
                                          r->n == 1 && r->n_rounds == 0 ? r->names[0] : period,
                                      .top = r->options.top,
                                      .among = r->among};
    if (made->has_counts) agg_page_section_write(out, &section);
    if (r->finds) agg_static_found_write(out, r, &made->found, section.period);
    if (r->n_rounds > 0) agg_static_story_write(out, r, &made->story);
    if (made->n_periods < 2) return SHOAL_OK;
    agg_static_trends_write(out, r, &made->trends);
    err = agg_static_changes_write(out, error, r, &made->changes);
    return err;
}

void agg_static_report_open(FILE *out, const agg_static_report *r)
{
    const agg_page page = {.title = r->title,
                           .home = r->home,
                           .links = r->links,
                           .account = r->account,
                           .script = r->script,
                           .more_style = trend_style};
    agg_page_open(out, &page);
    if (r->note == NULL) return;
    fputs("<p class=\"note\">", out);
    agg_page_string(out, r->note);
    fputs("</p>\n", out);
}

agg_err agg_static_report_close(FILE *out, agg_error *error, const agg_static_report *r)
{
    put_limits(out, r->home == NULL);
    return agg_page_close(out, error);
}

void agg_static_note_write(FILE *out, const char *title, const agg_static_note *note)
{
    fputs("<section><h2>", out);
    agg_page_string(out, title);
    fprintf(out, "</h2>\n<p class=\"note%s\"><b>",
            note->is_working ? "\" role=\"status\" data-working=\"" : " warn");
    agg_page_string(out, note->head);
    fputs("</b> ", out);
    agg_page_string(out, note->text);
    fputs("</p>\n", out);
    if (note->is_working)
        fputs("<p class=\"note\"><a href=\"\">Look again</a> in some seconds. Where scripts run, "
              "this page does so by itself.</p>\n",
              out);
    fputs("</section>\n", out);
}

agg_err agg_static_report_print(FILE *out, agg_error *error, const agg_static_report *r,
                                const agg_static_made *made)
{
    agg_static_report_open(out, r);
    agg_err err = put_part(out, error, r, made);
    return err == SHOAL_OK ? agg_static_report_close(out, error, r) : err;
}

static agg_err make_joint(FILE *out, agg_error *error, const agg_static_report *report)
{
    agg_accumulator sum;
    agg_static_joint *made;
    agg_err err = agg_static_load_sum(&sum, error, report);
    if (err != SHOAL_OK) return err;
    err = agg_static_joint_make(&made, error, report, &sum);
    agg_accumulator_release(&sum);
    if (err != SHOAL_OK) return err;
    agg_static_joint_write(out, report, made);
    agg_static_joint_release(made);
    return SHOAL_OK;
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
    agg_static_report_open(stream, report);
    agg_err err = make_part(stream, error, report);
    return err == SHOAL_OK ? agg_static_report_close(stream, error, report) : err;
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
