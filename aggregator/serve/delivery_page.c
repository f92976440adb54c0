// SPDX-License-Identifier: Apache-2.0
// The page of delivery; see delivery_page.h. Nothing in it needs escaping: recipe ids, names of
// readers and the edges' URLs are of alphabets without markup.
#include "delivery_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "period.h"
#include "recipe.h"
#include "result_page.h"

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fcfcfb;--fg:#1c2326;--soft:#5c686d;--line:#d9dedc;"
    "--card:#fff;--warn:#8a5a00}"
    "@media(prefers-color-scheme:dark){:root{--bg:#11181a;--fg:#e4eae9;--soft:#9aa8a9;"
    "--line:#2b3639;--card:#172022;--warn:#e0b25c}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);"
    "font:16px/1.45 system-ui,sans-serif}"
    "header,main{max-width:56rem;margin:0 auto;padding:0 1rem}header{padding-top:1.5rem}"
    "h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:0;overflow-wrap:anywhere}"
    "p,td:last-child,.account{color:var(--soft)}a{color:inherit}"
    ".account{float:right;display:flex;gap:.7rem;align-items:baseline}"
    "button{font:inherit;font-size:.9rem;color:var(--fg);background:var(--card);"
    "border:1px solid var(--soft);border-radius:.4rem;padding:.2rem .7rem}"
    "section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;"
    "padding:1rem;margin:1.1rem 0}"
    "table{width:100%;border-collapse:collapse;margin-top:.6rem}"
    "caption{position:absolute;clip-path:inset(50%)}"
    "th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;"
    "border-top:1px solid var(--line);font-weight:400}"
    "thead th{color:var(--soft);font-size:.85rem;border:0}"
    "td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;"
    "font-weight:600;color:var(--fg)}th:first-child{width:9rem}th:nth-child(2){width:12rem;text-"
    "align:right}"
    "tr.look th,tr.look .n{color:var(--warn);font-weight:600}"
    "@media(max-width:40rem){thead{position:absolute;clip-path:inset(50%)}"
    "tr{display:grid;grid-template-columns:1fr auto;border-top:1px solid var(--line);"
    "padding:.4rem 0}th,td{border:0;padding:.1rem 0}td:last-child{grid-column:1/-1}}";

enum { NUMBER_MAX = 32, TIME_MAX = 32, MEANING_MAX = 320 };

// Writes a number with a comma at every third digit.
static void print_grouped(char out[NUMBER_MAX], uint64_t n)
{
    char digits[NUMBER_MAX];
    size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

static void print_minute(char out[TIME_MAX], int64_t seconds)
{
    time_t at = (time_t)seconds;
    struct tm utc;
    if (gmtime_r(&at, &utc) == NULL || strftime(out, TIME_MAX, "%Y-%m-%d %H:%M UTC", &utc) == 0)
        out[0] = '\0';
}

static void put_row(FILE *stream, const char *what, const char *figure, const char *meaning,
                    bool is_bad)
{
    fprintf(stream,
            "<tr role=\"row\"%s><th scope=\"row\" role=\"rowheader\">%s</th><td class=\"n\" "
            "role=\"cell\">%s</td><td role=\"cell\">%s</td></tr>\n",
            is_bad ? " class=\"look\"" : "", what, figure, meaning);
}

static void put_count(FILE *stream, const char *what, uint64_t n, const char *meaning, bool is_bad)
{
    char figure[NUMBER_MAX];
    print_grouped(figure, n);
    put_row(stream, what, figure, meaning, is_bad);
}

static void open_table(FILE *stream, const char *title)
{
    fprintf(stream,
            "<section><h2>%s</h2>\n<table role=\"table\"><caption>%s</caption><thead "
            "role=\"rowgroup\"><tr role=\"row\"><th scope=\"col\" role=\"columnheader\">What</th>"
            "<th scope=\"col\" role=\"columnheader\">How many</th><th scope=\"col\" "
            "role=\"columnheader\">What it means</th></tr></thead>\n<tbody role=\"rowgroup\">\n",
            title, title);
}

static void close_table(FILE *stream)
{
    fputs("</tbody></table></section>\n", stream);
}

static void put_open(FILE *stream, const serve_collection *one, uint64_t open)
{
    char meaning[MEANING_MAX], tick[TIME_MAX];
    uint64_t minimum = one->recipe.recipe->block_minimum;
    print_minute(tick, agg_tick_after((int64_t)time(NULL), one->tick_s));
    if (open < minimum)
        snprintf(meaning, sizeof meaning,
                 "The open block closes at a tick, once it holds %" PRIu64 " reports: %" PRIu64
                 " are missing. If that takes long, fewer people report than the recipe expects.",
                 minimum, minimum - open);
    else
        snprintf(meaning, sizeof meaning,
                 "Enough for a block: the open block closes at the next tick.");
    put_count(stream, "Not shown yet", open, meaning, false);
    put_row(stream, "Next tick", tick, "When the open block may close.", false);
}

static void put_collection(FILE *stream, const serve_collection *one, const agg_store_stats *stats)
{
    char meaning[MEANING_MAX], known[NUMBER_MAX];
    bool is_failing = atomic_load(&one->live->is_fold_failing);
    print_grouped(known, atomic_load(&one->live->counters[COUNT_BATCHES_KNOWN]));
    open_table(stream, one->recipe.id);
    snprintf(meaning, sizeof meaning,
             "Reports in batches that were taken since this server started. Batches that came once "
             "more, and count once: %s.",
             known);
    put_count(stream, "In", atomic_load(&one->live->counters[COUNT_RECORDS_STORED]), meaning,
              false);
    put_count(stream, "Waiting", stats->waiting_records,
              is_failing
                  ? "The last fold failed: the server's standard error says why. A full disk "
                    "is the usual cause. Nothing is lost."
                  : "Reports on the disk that are folded within seconds.",
              is_failing);
    put_count(stream, "Folded", stats->records, "Reports that are in the sums.", false);
    put_open(stream, one, stats->records - stats->released);
    snprintf(meaning, sizeof meaning,
             "Reports in %" PRIu64 " closed block%s, of which results are "
             "made.",
             stats->blocks, stats->blocks == 1 ? "" : "s");
    put_count(stream, "Shown", stats->released, meaning, false);
    close_table(stream);
}

static const struct {
    const char *name, *meaning;
} refusals[REFUSAL_COUNT] = {
    [REFUSED_ACCESS] = {"unauthorized", "The sender has another batch secret, or none. Compare the "
                                        "files; strangers also end here."},
    [REFUSED_TYPE] = {"content-type", "This is no batch of an edge."},
    [REFUSED_SIZE] = {"too-large", "Raise max_body: the edge keeps the batch aside."},
    [REFUSED_RECIPE] = {"recipe-hash", "The edge has a recipe that this server has not: add it "
                                       "here, then put the batch back in line at the edge."},
    [REFUSED_DAMAGED] = {"damaged", "Bytes were changed on the way, the versions differ, or a "
                                    "batch is smaller than its recipe allows."},
    [REFUSED_BUSY] = {"busy", "There was no room, or the disk is full. The edge sends it again."}};

static void put_refusals(FILE *stream, const serve_state *state)
{
    bool is_any = false;
    open_table(stream, "Batches refused since the start");
    for (int i = 0; i < REFUSAL_COUNT; i++) {
        uint64_t n = atomic_load(&state->refused[i]);
        if (n == 0) continue;
        put_count(stream, refusals[i].name, n, refusals[i].meaning, true);
        is_any = true;
    }
    if (!is_any) put_count(stream, "None", 0, "No batch was refused.", false);
    close_table(stream);
}

static void put_head(FILE *stream, const serve_request *r)
{
    const serve_texts *edges = &r->set->config.edges;
    fprintf(stream,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
            "name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<meta "
            "name=\"referrer\" content=\"same-origin\">\n<title>shoal: delivery at the "
            "aggregator</title>\n<style>%s</style>\n<script type=\"module\" "
            "src=\"/refresh.js\"></script>\n</head><body>\n<header>",
            style);
    if (strcmp(r->via, "session") == 0)
        fprintf(stream,
                "<form class=\"account\" method=\"post\" action=\"/sign-out\"><span>%s</span>"
                "<button>Sign out</button></form>",
                r->person->name);
    fputs("<h1>Delivery: the aggregator's half</h1>\n<p>What this server took from edge workers, "
          "and what became of it. What waits at an edge is not known here: ",
          stream);
    for (size_t i = 0; i < edges->n; i++)
        fprintf(stream, "%s<a href=\"%s/delivery\" rel=\"noreferrer\">the page of %s</a>",
                i > 0 ? ", " : "", edges->list[i], edges->list[i]);
    fprintf(stream, "%s shows it.</p></header>\n<main>\n",
            edges->n > 0 ? "" : "the page <code>/delivery</code> of the edge");
}

static void put_page(FILE *stream, const serve_request *r, const agg_store_stats *stats)
{
    const serve_collections *all = &r->set->collections;
    put_head(stream, r);
    if (agg_watch_is_damaged(r->state->parts.watch))
        fputs("<p role=\"alert\">The last look at the store found damage: the server's standard "
              "error names the file. Restore the backup.</p>\n",
              stream);
    for (size_t i = 0; i < all->n; i++) put_collection(stream, &all->list[i], &stats[i]);
    put_refusals(stream, r->state);
    fputs("<p>The same counts are at <a href=\"/metrics\">/metrics</a> for monitoring.</p>\n"
          "</main></body></html>\n",
          stream);
}

void delivery_page_answer(serve_request *r)
{
    agg_error error = {.text = "out of memory"};
    agg_store_stats *stats = NULL;
    agg_err err = serve_request_statistics(r, &stats, &error);
    if (err != SHOAL_OK) {
        fprintf(stderr, "shoal: serve: delivery: %s\n", error.text);
        agg_http_answer_error(&r->x.answer, 503, agg_err_name(err), (int)err,
                              "the store could not be read");
    } else {
        FILE *stream = agg_http_answer_open(&r->x.answer);
        if (stream != NULL) put_page(stream, r, stats);
        agg_http_answer_close(&r->x.answer, stream, 200, AGG_HTTP_TYPE_HTML);
        agg_page_policy_of(r->x.answer.policy, AGG_HTTP_POLICY_MAX, style, sizeof style - 1,
                           ";script-src 'self';connect-src 'self'", "self");
        r->x.answer.is_form = true;
    }
    free(stats);
}
