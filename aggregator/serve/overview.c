// SPDX-License-Identifier: Apache-2.0
// The table of collections; see overview.h.
#include "overview.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "page_text.h"
#include "recipe.h"
#include "store_releases.h"

// How much a collection asks for somebody's attention: the state that is sorted by.
enum { STATE_FINE, STATE_WAITS, STATE_ALARM };

typedef struct row {
    const serve_collection *one;
    agg_release_sum released;
    int64_t tick;
    int state;
    size_t place;             // in the configuration
    const serve_trend *trend; // NULL: none
    const agg_table_order *order;
} row;

static const agg_table_column columns[] = {{"collection", "collection", "value", false},
                                           {"reports", "reports", "count", true},
                                           {"released", "last release", "interval", true},
                                           {"next", "next may come", "interval", false},
                                           {"state", "state", "interval", true}};

enum { COLUMNS = sizeof columns / sizeof *columns };

static bool is_seen(const serve_job *job, size_t i)
{
    return job->scope == NULL || job->scope[i];
}

size_t serve_overview_count(const serve_job *job)
{
    size_t n = 0;
    for (size_t i = 0; i < job->set->collections.n; i++) n += is_seen(job, i);
    return n;
}

bool serve_overview_sorts_by(const char *column)
{
    for (int c = 0; c < COLUMNS; c++)
        if (strcmp(columns[c].name, column) == 0) return true;
    return false;
}

static bool has_alarm(const serve_collection *one)
{
    for (size_t i = 0; i < SERVE_WATCHED; i++)
        for (size_t j = 0; j < AGG_ALARM_CODES; j++)
            if (atomic_load(&one->live->alarms[i][j]) == AGG_ALARM_RAISED) return true;
    return false;
}

// No result tells of fewer reports than the cohort, so their number is not told either.
static bool is_told(const row *r)
{
    return r->released.records >= r->one->recipe.recipe->cohort_minimum || r->released.records == 0;
}

// What is sorted by is what the page says: the order must not tell of a number that it withholds.
static uint64_t reports_of(const row *r)
{
    return is_told(r) ? r->released.records : r->one->recipe.recipe->cohort_minimum - 1;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare(const void *first, const void *second)
{
    const row *a = first, *b = second;
    const agg_table_order *order = a->order;
    int by = 0;
    if (agg_table_is_by(order, "collection")) by = strcmp(a->one->recipe.id, b->one->recipe.id);
    if (agg_table_is_by(order, "reports")) by = ORDER(reports_of(a), reports_of(b));
    if (agg_table_is_by(order, "released")) by = ORDER(a->released.last_day, b->released.last_day);
    if (agg_table_is_by(order, "next")) by = ORDER(a->tick, b->tick);
    if (agg_table_is_by(order, "state")) by = ORDER(a->state, b->state);
    by = agg_table_directed(order, by);
    return by != 0 ? by : ORDER(a->place, b->place);
}

// Says how a collection stands, and what to do about it.
static void put_state(FILE *out, const row *r)
{
    if (r->state == STATE_ALARM)
        fputs("<b class=\"warn\">alarm: its page says which</b>", out);
    else if (r->state == STATE_WAITS)
        fprintf(out, "waits for %u reports", r->one->recipe.recipe->block_minimum);
    else
        fputs("no alarm", out);
}

static void put_row(FILE *out, const row *r)
{
    char day[11] = "\xe2\x80\x93", tick[AGG_MOMENT_SIZE];
    if (r->released.blocks > 0) agg_day_print(day, r->released.last_day);
    agg_moment_print(tick, r->tick);
    fputs("<tr><td class=\"value\"><a href=\"/recipes/", out);
    agg_page_string(out, r->one->recipe.id);
    fputs("\">", out);
    agg_page_string(out, r->one->recipe.id);
    fputs("</a></td><td class=\"count\">", out);
    if (!is_told(r)) fputs("below ", out);
    agg_page_count(out, is_told(r) ? (double)r->released.records
                                   : (double)r->one->recipe.recipe->cohort_minimum);
    fprintf(out,
            "</td><td class=\"interval\">%s</td><td class=\"interval\">%.10s %.5s UTC</td><td "
            "class=\"interval\">",
            day, tick, tick + strlen("2026-11-21T"));
    put_state(out, r);
    fputs("</td><td class=\"spark\">", out);
    if (r->trend != NULL)
        serve_trend_write(out, r->trend);
    else
        fputs("\xe2\x80\x93", out);
    fputs("</td></tr>\n", out);
}

// Fills in the rows that are shown.
// Returns: how many there are.
static size_t fill(row *rows, const serve_job *job, const agg_release_sum *sums, size_t n_sums,
                   const serve_trends *trends, int64_t now_s)
{
    size_t n = 0;
    for (size_t i = 0; i < job->set->collections.n; i++) {
        const serve_collection *one = &job->set->collections.list[i];
        const char *id = one->recipe.id;
        if (!is_seen(job, i) || !agg_table_holds(&job->order, id, strlen(id))) continue;
        row *r = &rows[n++];
        *r = (row){.one = one,
                   .released = agg_release_sum_of(sums, n_sums, one->number),
                   .tick = agg_tick_after(now_s, one->tick_s),
                   .place = i,
                   .trend = serve_trends_of(trends, job->set, i),
                   .order = &job->order};
        r->state = has_alarm(one)            ? STATE_ALARM
                   : r->released.blocks == 0 ? STATE_WAITS
                                             : STATE_FINE;
    }
    return n;
}

static void put_table(FILE *out, const serve_job *job, const row *rows, size_t n)
{
    fputs("<div class=\"tools\">", out);
    agg_table_search(out, &job->order, "Names with");
    fputs("</div>\n<table class=\"list sorted\"><thead><tr>", out);
    for (int c = 0; c < COLUMNS; c++) agg_table_title(out, &job->order, &columns[c], false);
    fputs("<th class=\"spark\" scope=\"col\">largest value over time</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < n; i++) put_row(out, &rows[i]);
    fputs("</tbody></table>\n", out);
    if (n == 0 && job->order.find[0] != '\0')
        fputs("<p class=\"note\">No collection that you may see has this in its name.</p>\n", out);
    else if (n == 0)
        fputs("<p class=\"note\">There is no collection that you may see. Readers get collections "
              "in the configuration.</p>\n",
              out);
}

// The sections below the table note the blocks of their estimates, which hold those of the trends
// unless the job asks for some days only.
static void note_blocks(serve_job *job, const row *rows, size_t n)
{
    if (serve_overview_count(job) <= SERVE_OVERVIEW_SECTIONS && job->period[0] == '\0') return;
    for (size_t i = 0; i < n; i++)
        if (rows[i].trend != NULL) serve_job_note_blocks(job, rows[i].one, &rows[i].trend->blocks);
}

void serve_overview_write(FILE *out, serve_job *job, agg_store *store, const serve_trends *trends,
                          int64_t now_s)
{
    agg_error error = {.text = "out of memory"};
    agg_release_sum *sums = NULL;
    size_t n_sums = 0, most = job->set->collections.n;
    row *rows = agg_alloc(&error, most, sizeof *rows);
    fputs("<section><h2>Collections</h2>\n", out);
    if (rows == NULL || agg_store_release_sums(store, &sums, &n_sums, &error) != SHOAL_OK) {
        fprintf(stderr, "shoal: serve: overview: %s\n", error.text);
        fputs(
            "<p class=\"note warn\">The table could not be made; the server's log says why.</p>\n",
            out);
    } else {
        size_t n = fill(rows, job, sums, n_sums, trends, now_s);
        qsort(rows, n, sizeof *rows, compare);
        put_table(out, job, rows, n);
        note_blocks(job, rows, n);
    }
    fputs("<p class=\"note\">Reports of closed blocks. Times are UTC. <a href=\"/books\">Books</a> "
          "have each block, and who asked what. A line is the share of the collection\xe2\x80\x99s "
          "largest value, or its mean, over the newest days in which blocks closed, with the band "
          "of its intervals; each line has its own scale.</p></section>\n",
          out);
    free(sums);
    free(rows);
}
