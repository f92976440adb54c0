// SPDX-License-Identifier: Apache-2.0
// The rounds of an analysis; see serve_rounds.h.
#include "serve_rounds.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_size.h"
#include "page_text.h"
#include "print_text.h"
#include "recipe.h"
#include "serve_chain.h"
#include "serve_epochs.h"
#include "serve_estimate.h"
#include "serve_links.h"
#include "static_analysis.h"
#include "static_report.h"
#include "store_releases.h"

// The rounds of a question, and of which blocks each is told.
typedef struct rounds {
    agg_store *store;
    serve_chain chain;
    agg_analysis_round list[SERVE_CHAIN_MAX];
    agg_release_sum sums[SERVE_CHAIN_MAX];
    agg_released blocks[SERVE_CHAIN_MAX]; // zeros where it has no reports that may be shown
} rounds;

// What a page is made of, and of which blocks.
typedef struct shelved {
    agg_analysis_made *made; // NULL: the slot is free
    serve_set *set;          // that the collections belong to; held
    size_t n, bytes;
    const serve_collection *list[SERVE_CHAIN_MAX];
    agg_released blocks[SERVE_CHAIN_MAX];
    uint64_t used; // number of the question that used it last
} shelved;

enum { SHELVED_MAX = 4 };

struct serve_rounds_shelf {
    serve_sets *sets;
    shelved slots[SHELVED_MAX];
    uint64_t questions;
    serve_epochs_kept *epochs; // of runs
};

const char *serve_rounds_link(const serve_job *job)
{
    if (job->collection == NULL) return NULL;
    if (serve_epochs_is_told(job->collection)) return "Run";
    return serve_chain_is_told(job) ? "Rounds" : NULL;
}

// ---- which blocks ----

// Fewer reports than the minimum cohort are told nowhere, so such a round has none.
static agg_err find_rounds(rounds *all, agg_error *error, const serve_job *job)
{
    agg_release_sum *sums = NULL;
    size_t n_sums = 0;
    serve_chain_find(&all->chain, job);
    agg_err err = agg_store_release_sums(all->store, &sums, &n_sums, error);
    for (size_t i = 0; err == SHOAL_OK && i < all->chain.n; i++) {
        const serve_collection *one = all->chain.list[i];
        all->sums[i] = agg_release_sum_of(sums, n_sums, one->number);
        all->list[i] = (agg_analysis_round){
            &one->recipe,
            all->sums[i].blocks > 0 && all->sums[i].records >= one->recipe.recipe->cohort_minimum};
        if (all->list[i].has_reports)
            err = agg_store_find_released(all->store, &all->blocks[i], error, one->number,
                                          AGG_SPAN_ALL);
    }
    free(sums);
    return err;
}

// Loads a round, and notes the blocks that it was made of: one more may have closed by now.
static agg_err load(void *context, agg_accumulator *acc, agg_error *error, size_t i)
{
    rounds *all = context;
    const serve_collection *one = all->chain.list[i];
    return agg_store_load(all->store, acc, &all->blocks[i], error, one->number, one->recipe.recipe,
                          AGG_SPAN_ALL);
}

// ---- what is kept ----

serve_rounds_shelf *serve_rounds_shelf_make(agg_error *error, serve_sets *sets)
{
    serve_rounds_shelf *shelf = agg_alloc(error, 1, sizeof *shelf);
    if (shelf == NULL) return NULL;
    *shelf = (serve_rounds_shelf){.sets = sets, .epochs = serve_epochs_kept_make(error, sets)};
    if (shelf->epochs != NULL) return shelf;
    free(shelf);
    return NULL;
}

static void forget(serve_rounds_shelf *shelf, shelved *one)
{
    if (one->made == NULL) return;
    agg_analysis_release(one->made);
    serve_sets_release(shelf->sets, one->set);
    *one = (shelved){0};
}

void serve_rounds_shelf_settle(serve_rounds_shelf *shelf, const serve_set *set)
{
    for (int i = 0; i < SHELVED_MAX; i++)
        if (shelf->slots[i].set != set) forget(shelf, &shelf->slots[i]);
    serve_epochs_kept_settle(shelf->epochs, set);
}

void serve_rounds_shelf_release(serve_rounds_shelf *shelf)
{
    if (shelf == NULL) return;
    serve_rounds_shelf_settle(shelf, NULL);
    serve_epochs_kept_release(shelf->epochs);
    free(shelf);
}

size_t serve_rounds_shelf_shrink(serve_rounds_shelf *shelf, size_t bytes)
{
    const size_t of_runs = serve_epochs_kept_shrink(shelf->epochs, bytes);
    for (;;) {
        size_t held = of_runs;
        shelved *oldest = NULL;
        for (int i = 0; i < SHELVED_MAX; i++) {
            shelved *one = &shelf->slots[i];
            if (one->made == NULL) continue;
            held += one->bytes;
            if (oldest == NULL || one->used < oldest->used) oldest = one;
        }
        if (oldest == NULL || held <= bytes) return held;
        forget(shelf, oldest);
    }
}

// The same collections, as far as the reader may read them, with the same blocks.
static bool is_same(const shelved *one, const rounds *all)
{
    bool is_same = one->made != NULL && one->n == all->chain.n;
    for (size_t i = 0; is_same && i < one->n; i++) {
        const agg_released *kept = &one->blocks[i], *now = &all->blocks[i];
        is_same = one->list[i] == all->chain.list[i] && kept->n == now->n &&
                  kept->first_number == now->first_number && kept->last_number == now->last_number;
    }
    return is_same;
}

static agg_err find_made(serve_rounds_shelf *shelf, const agg_analysis_made **found,
                         agg_error *error, const serve_job *job, rounds *all,
                         const agg_analysis *analysis)
{
    shelved *slot = &shelf->slots[0];
    for (int i = 0; i < SHELVED_MAX; i++) {
        shelved *one = &shelf->slots[i];
        bool is_kept = is_same(one, all);
        if (is_kept || one->used < slot->used) slot = one;
        if (is_kept) break;
    }
    if (!is_same(slot, all)) {
        forget(shelf, slot);
        agg_err err = agg_analysis_make(&slot->made, error, analysis);
        if (err != SHOAL_OK) return err;
        slot->set = job->set;
        serve_sets_hold_again(shelf->sets, job->set);
        slot->n = all->chain.n;
        memcpy(slot->list, all->chain.list, slot->n * sizeof *slot->list);
        memcpy(slot->blocks, all->blocks, slot->n * sizeof *slot->blocks);
        slot->bytes = sizeof *slot + agg_analysis_size(slot->made);
    }
    slot->used = ++shelf->questions;
    *found = slot->made;
    return SHOAL_OK;
}

// ---- where each round stands ----

static void put_earlier(FILE *out, const agg_recipe *first)
{
    const uint32_t index = first->recipe->round_index;
    if (index < 2) return;
    fputs("<tr><td class=\"value\">", out);
    if (index > 2)
        fprintf(out, "Rounds 1 to %u", index - 1);
    else
        fputs("Round 1", out);
    fputs("</td><td class=\"count\">\xe2\x80\x93</td><td class=\"interval\">\xe2\x80\x93</td>"
          "<td class=\"how\">not here: not on this server, or not for you to read</td></tr>\n",
          out);
}

static void put_state(FILE *out, const rounds *all, size_t i, time_t now)
{
    const serve_collection *one = all->chain.list[i];
    const shoal_recipe *recipe = one->recipe.recipe;
    char tick[AGG_MOMENT_SIZE];
    if (all->list[i].has_reports) {
        fputs("told below", out);
        return;
    }
    agg_moment_print(tick, agg_tick_after(now, one->tick_s));
    if (all->sums[i].blocks == 0)
        fprintf(out, "waits for its first block, of %s reports; ",
                agg_whole(recipe->block_minimum).text);
    else
        fprintf(out, "too few: waits for %s reports; ", agg_whole(recipe->cohort_minimum).text);
    fprintf(out, "one may close at %.10s %.5s UTC", tick, tick + strlen("2026-11-21T"));
}

static void put_standing(FILE *out, const rounds *all, size_t i, time_t now)
{
    const agg_recipe *recipe = &all->chain.list[i]->recipe;
    const uint32_t index = recipe->recipe->round_index;
    char day[11] = "\xe2\x80\x93";
    if (all->sums[i].blocks > 0) agg_day_print(day, all->sums[i].last_day);
    fputs("<tr><td class=\"value\">", out);
    if (index > 0)
        fprintf(out, "Round %u: ", index);
    else
        fputs("First round: ", out);
    fputs("<a href=\"/recipes/", out);
    agg_page_string(out, recipe->id);
    fputs("\">", out);
    agg_page_string(out, recipe->id);
    fputs("</a></td><td class=\"count\">", out);
    if (all->list[i].has_reports)
        agg_page_count(out, (double)all->sums[i].records);
    else if (all->sums[i].blocks == 0)
        fputs("0", out);
    else
        fprintf(out, "below %s", agg_whole(recipe->recipe->cohort_minimum).text);
    fprintf(out, "</td><td class=\"interval\">%s</td><td class=\"how\">", day);
    put_state(out, all, i, now);
    fputs("</td></tr>\n", out);
}

static void put_notes(FILE *out, const rounds *all)
{
    bool waits = false;
    for (size_t i = 0; i < all->chain.n; i++) waits = waits || !all->list[i].has_reports;
    fputs("<p class=\"note\">Reports of closed blocks. The recipes say which rounds follow each "
          "other.",
          out);
    if (waits)
        fputs(" A round that waits gets reports once the edge and the pages have its recipe; this "
              "page then has them with the block that closes next.",
              out);
    if (all->chain.n_branches > 0)
        fprintf(out,
                " %zu more recipe%s also follow%s one of these rounds, and %s a page of rounds of "
                "%s own.",
                all->chain.n_branches, all->chain.n_branches == 1 ? "" : "s",
                all->chain.n_branches == 1 ? "s" : "", all->chain.n_branches == 1 ? "has" : "have",
                all->chain.n_branches == 1 ? "its" : "their");
    if (all->chain.is_cut)
        fputs(" There are more rounds than one page tells: the page of each has those around it.",
              out);
    fputs("</p></section>\n", out);
}

static void put_stand(FILE *out, const rounds *all)
{
    const time_t now = time(NULL);
    fputs("<section class=\"found\"><h2>The rounds</h2>\n<table><thead><tr><th class=\"value\" "
          "scope=\"col\">round and collection</th><th class=\"count\" scope=\"col\">reports</th>"
          "<th class=\"interval\" scope=\"col\">last release</th><th class=\"how\" "
          "scope=\"col\">state</th></tr></thead><tbody>\n",
          out);
    put_earlier(out, &all->chain.list[0]->recipe);
    for (size_t i = 0; i < all->chain.n; i++) put_standing(out, all, i, now);
    fputs("</tbody></table>\n", out);
    put_notes(out, all);
}

// ---- the page ----

// The guarantee rests on the smallest block and on the least share of honest reports of all rounds.
static agg_release release_of(const rounds *all)
{
    agg_release release = {0};
    int32_t first = INT32_MAX, last = INT32_MIN;
    for (size_t i = 0; i < all->chain.n; i++) {
        const serve_collection *one = all->chain.list[i];
        const uint64_t block = one->recipe.recipe->block_minimum;
        if (!all->list[i].has_reports) continue;
        if (release.block == 0 || block < release.block) release.block = block;
        if (last == INT32_MIN || one->honest < release.honest) release.honest = one->honest;
        if (all->blocks[i].first_day < first) first = all->blocks[i].first_day;
        if (all->blocks[i].last_day > last) last = all->blocks[i].last_day;
    }
    if (last >= first) release.days = (uint32_t)(last - first + 1);
    return release;
}

static void put_failure(FILE *out)
{
    fputs("<section><h2>How the rounds went</h2><p class=\"note warn\" role=\"alert\">The rounds "
          "could not be told; the server\xe2\x80\x99s log says why. Nothing is lost by asking "
          "again: closed blocks do not change. Whoever runs the server finds what to do under "
          "\xe2\x80\x9c"
          "Damage\xe2\x80\x9d in its manual.</p></section>\n",
          out);
}

// Writes the page, or as much of it as there is.
//   made: NULL where the rounds could not be told, which is then a failure of the server
static void write_page(serve_job *job, const rounds *all, const agg_analysis *analysis,
                       const agg_analysis_made *made, unsigned status)
{
    char home[SHOAL_NAME_MAX + 16], title[2 * SHOAL_NAME_MAX + 16];
    const agg_recipe *recipe = &job->collection->recipe;
    agg_error error;
    snprintf(home, sizeof home, "/recipes/%s", recipe->id);
    snprintf(title, sizeof title, "%s", recipe->id);
    const agg_page page = {
        .title = title, .home = home, .links = serve_links(job->rights), .account = job->account};
    FILE *stream = agg_http_answer_open(&job->answer);
    if (stream != NULL) {
        agg_analysis_page_open(stream, &page);
        if (all->chain.n > 0) put_stand(stream, all);
        if (made != NULL)
            agg_analysis_write(stream, analysis, made);
        else
            put_failure(stream);
        (void)!agg_page_close(stream, &error); // the stream keeps its failure
    }
    agg_http_answer_close(&job->answer, stream, status, AGG_HTTP_TYPE_HTML);
    agg_static_report_csp(job->answer.policy, NULL);
}

static void answer(serve_job *job, rounds *all, serve_rounds_shelf *shelf, unsigned n_threads)
{
    agg_error error = {.code = SHOAL_OK};
    agg_err err = find_rounds(all, &error, job);
    const size_t top = job->top < SERVE_ROUNDS_ROWS_MAX ? job->top : SERVE_ROUNDS_ROWS_MAX;
    const agg_analysis analysis = {.rounds = all->list,
                                   .n = all->chain.n,
                                   .load = load,
                                   .context = all,
                                   .n_threads = n_threads,
                                   .release = release_of(all),
                                   .top = top,
                                   .order = &job->order};
    const agg_analysis_made *made = NULL;
    if (err == SHOAL_OK) err = find_made(shelf, &made, &error, job, all, &analysis);
    if (err != SHOAL_OK) {
        serve_estimate_tell_log(job->collection, &error);
        made = NULL;
    }
    for (size_t i = 0; made != NULL && i < all->chain.n; i++)
        serve_job_note_blocks(job, all->chain.list[i], &all->blocks[i]);
    write_page(job, all, &analysis, made, err == SHOAL_OK ? 200 : 503);
}

void serve_rounds_answer(serve_job *job, agg_store *store, serve_rounds_shelf *shelf,
                         unsigned n_threads)
{
    agg_error error = {.code = SHOAL_OK};
    if (serve_epochs_is_told(job->collection)) {
        serve_epochs_answer(job, store, shelf->epochs);
        return;
    }
    rounds *all = agg_alloc(&error, 1, sizeof *all);
    if (all == NULL) {
        agg_http_answer_error(&job->answer, 503, agg_err_name(AGG_ERR_MEMORY), AGG_ERR_MEMORY,
                              "the server is short of memory; ask again later");
        return;
    }
    *all = (rounds){.store = store};
    answer(job, all, shelf, n_threads);
    free(all);
}
