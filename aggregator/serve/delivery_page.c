// SPDX-License-Identifier: Apache-2.0
// The page of delivery; see delivery_page.h. Nothing in it needs escaping: recipe ids, names of
// readers and the edges' URLs are of alphabets without markup.
#include "delivery_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "operations_flow.h"
#include "period.h"
#include "print_text.h"
#include "recipe.h"
#include "serve_page.h"

enum { MEANING_MAX = 320 };

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
    put_row(stream, what, agg_whole(n).text, meaning, is_bad);
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
    char meaning[MEANING_MAX], tick[SERVE_PAGE_TIME_MAX];
    uint64_t minimum = one->recipe.recipe->block_minimum;
    serve_page_minute(tick, agg_tick_after((int64_t)time(NULL), one->tick_s));
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
    char meaning[MEANING_MAX];
    bool is_failing = atomic_load(&one->live->is_fold_failing);
    open_table(stream, one->recipe.id);
    snprintf(meaning, sizeof meaning,
             "Reports in batches that were taken since this server started. Batches that came once "
             "more, and count once: %s.",
             agg_whole(atomic_load(&one->live->counters[COUNT_BATCHES_KNOWN])).text);
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
    open_table(stream, "Batches refused since the start");
    for (int i = 0; i < REFUSAL_COUNT; i++) {
        uint64_t n = atomic_load(&state->refused[i]);
        put_count(stream, refusals[i].name, n, refusals[i].meaning, n > 0);
    }
    close_table(stream);
}

static void put_head(FILE *stream, const serve_request *r)
{
    const serve_texts *edges = &r->set->config.edges;
    serve_page_begin(stream, r, "Operations");
    fputs("<p>What this server took from edge workers, and what became of it. What waits at an "
          "edge is not known here: ",
          stream);
    for (size_t i = 0; i < edges->n; i++)
        fprintf(stream, "%s<a href=\"%s/delivery\" rel=\"noreferrer\">the page of %s</a>",
                i > 0 ? ", " : "", edges->list[i], edges->list[i]);
    fprintf(stream, "%s shows it, and what its relays passed on.</p></header>\n<main>\n",
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
    operations_flow_put(stream, r, stats);
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
    agg_err err = serve_request_statistics(r, &stats, false, &error);
    if (err != SHOAL_OK) {
        fprintf(stderr, "shoal: serve: delivery: %s\n", error.text);
        agg_http_answer_error(&r->x.answer, 503, agg_err_name(err), (int)err,
                              "the store could not be read");
    } else {
        FILE *stream = agg_http_answer_open(&r->x.answer);
        if (stream != NULL) put_page(stream, r, stats);
        agg_http_answer_close(&r->x.answer, stream, 200, AGG_HTTP_TYPE_HTML);
        serve_page_protect(&r->x.answer);
    }
    free(stats);
}
