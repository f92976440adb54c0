// SPDX-License-Identifier: Apache-2.0
// The table of collections; see overview.h.
#include "overview.h"

#include "page_text.h"
#include "recipe.h"

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

static bool has_alarm(const serve_collection *one)
{
    for (size_t i = 0; i < SERVE_WATCHED; i++)
        for (size_t j = 0; j < AGG_ALARM_CODES; j++)
            if (atomic_load(&one->live->alarms[i][j]) == AGG_ALARM_RAISED) return true;
    return false;
}

// Says how a collection stands, and what to do about it.
static void put_state(FILE *out, const serve_collection *one, const agg_released *released)
{
    if (has_alarm(one))
        fputs("<b class=\"warn\">alarm: its page says which</b>", out);
    else if (released->n == 0)
        fprintf(out, "waits for %u reports", one->recipe.recipe->block_minimum);
    else
        fputs("no alarm", out);
}

static void put_collection(FILE *out, const serve_collection *one, const agg_store_stats *stats,
                           const agg_released *released, int64_t now_s)
{
    char day[11] = "\xe2\x80\x93", tick[AGG_MOMENT_SIZE];
    if (released->n > 0) agg_day_print(day, released->last_day);
    agg_moment_print(tick, agg_tick_after(now_s, one->tick_s));
    fputs("<tr><td class=\"value\"><a href=\"/recipes/", out);
    agg_page_string(out, one->recipe.id);
    fputs("\">", out);
    agg_page_string(out, one->recipe.id);
    fputs("</a></td><td class=\"count\">", out);
    // No result tells of fewer reports than the cohort, so their number is not told either.
    uint32_t cohort = one->recipe.recipe->cohort_minimum;
    bool is_told = stats->released >= cohort || stats->released == 0;
    if (!is_told) fputs("below ", out);
    agg_page_count(out, is_told ? (double)stats->released : (double)cohort);
    fprintf(out,
            "</td><td class=\"interval\">%s</td><td class=\"interval\">%s</td><td "
            "class=\"interval\">",
            day, tick);
    put_state(out, one, released);
    fputs("</td></tr>\n", out);
}

void serve_overview_write(FILE *out, const serve_job *job, agg_store *store, int64_t now_s)
{
    fputs("<section><h2>Collections</h2>\n<table class=\"list\"><thead><tr><th class=\"value\" "
          "scope=\"col\">collection</th><th class=\"count\" scope=\"col\">reports</th><th "
          "class=\"interval\" scope=\"col\">last release</th><th class=\"interval\" "
          "scope=\"col\">next may come</th><th class=\"interval\" scope=\"col\">state</th></tr>"
          "</thead><tbody>\n",
          out);
    for (size_t i = 0; i < job->set->collections.n; i++) {
        const serve_collection *one = &job->set->collections.list[i];
        agg_store_stats stats;
        agg_released released;
        agg_error error;
        if (!is_seen(job, i)) continue;
        if (agg_store_statistics(store, &stats, &error, one->number) != SHOAL_OK ||
            agg_store_find_released(store, &released, &error, one->number, AGG_SPAN_ALL) !=
                SHOAL_OK) {
            fprintf(stderr, "shoal: serve: overview: %s\n", error.text);
            continue;
        }
        put_collection(out, one, &stats, &released, now_s);
    }
    fputs("</tbody></table>\n<p class=\"note\">Reports of closed blocks. Times are UTC. <a "
          "href=\"/books\">Books</a> have each block, and who asked what.</p>"
          "</section>\n",
          out);
}
