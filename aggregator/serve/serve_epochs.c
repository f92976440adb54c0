// SPDX-License-Identifier: Apache-2.0
// A run over epochs; see serve_epochs.h.
#include "serve_epochs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_size.h"
#include "print_text.h"
#include "recipe.h"
#include "recipe_epoch.h"
#include "serve_estimate.h"
#include "serve_links.h"
#include "static_analysis.h"
#include "static_report.h"
#include "static_run.h"
#include "store_releases.h"

#define TOP_DEFAULT 20u
#define TOP_MAX 200u // values of an update

// Why the epochs before the one that is configured are not told.
typedef enum gap {
    GAP_NONE,
    GAP_MISSING, // the store has never had one of them
    GAP_FEW,     // one has fewer reports than may be shown
    GAP_MANY     // there are more than a page tells
} gap;

// A run as it was told.
typedef struct told {
    agg_static_run run;
    size_t n;                               // epochs of the store that it was made of
    agg_release_sum sums[SERVE_EPOCHS_MAX]; // of each: it stands while these are the same
    agg_released blocks;                    // of the last epoch that was told
    bool has_last;                          // whether the configured one was
    gap gap;
    uint32_t at; // the epoch with the gap
} told;

struct serve_epochs_kept {
    serve_sets *sets;
    told *told; // NULL: none
    serve_set *set;
    const serve_collection *collection;
    const serve_dictionary *dictionary;
    size_t bytes;
};

bool serve_epochs_is_told(const serve_collection *collection)
{
    return collection->recipe.recipe->epochs > 0 && collection->recipe.recipe->round_index > 0;
}

// ---- what is kept ----

serve_epochs_kept *serve_epochs_kept_make(agg_error *error, serve_sets *sets)
{
    serve_epochs_kept *kept = agg_alloc(error, 1, sizeof *kept);
    if (kept != NULL) *kept = (serve_epochs_kept){.sets = sets};
    return kept;
}

static void release_told(told *one)
{
    if (one != NULL) agg_static_run_release(&one->run);
    free(one);
}

static void forget(serve_epochs_kept *kept)
{
    if (kept->told == NULL) return;
    release_told(kept->told);
    serve_sets_release(kept->sets, kept->set);
    *kept = (serve_epochs_kept){.sets = kept->sets};
}

void serve_epochs_kept_settle(serve_epochs_kept *kept, const serve_set *set)
{
    if (kept->set != set) forget(kept);
}

void serve_epochs_kept_release(serve_epochs_kept *kept)
{
    if (kept == NULL) return;
    forget(kept);
    free(kept);
}

size_t serve_epochs_kept_shrink(serve_epochs_kept *kept, size_t bytes)
{
    if (kept->bytes > bytes) forget(kept);
    return kept->bytes;
}

// ---- the epochs ----

// What one question works with.
typedef struct search {
    agg_store *store;
    const serve_job *job;
    agg_release_sum *sums; // of all collections of the store
    size_t n_sums;
    told *told;
} search;

// Finds an epoch's collection in the store: the one after an update, or the other.
//   recipe: to be released where number is not 0
static agg_err find_epoch(agg_recipe *recipe, int64_t *number, agg_error *error, const search *s,
                          uint32_t index, const uint8_t previous[32])
{
    *number = 0;
    for (int is_update = 0; is_update < (index > 1 ? 2 : 1); is_update++) {
        const agg_epoch epoch = {index, index > 1 ? previous : NULL, is_update != 0};
        agg_err err = agg_recipe_of_epoch(recipe, error, &s->job->collection->recipe, &epoch);
        if (err != SHOAL_OK) return err;
        err = agg_store_find(s->store, number, error, recipe->recipe->recipe_hash);
        if (err == SHOAL_OK && *number != 0) return SHOAL_OK;
        agg_recipe_release(recipe);
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

static void stop(told *t, gap why, uint32_t at)
{
    t->gap = why;
    t->at = at;
}

// Adds an epoch's reports, or notes why they are not told.
static agg_err add_epoch(search *s, agg_error *error, const agg_recipe *recipe, int64_t number)
{
    agg_accumulator acc;
    agg_released released;
    told *t = s->told;
    const agg_release_sum sum = agg_release_sum_of(s->sums, s->n_sums, number);
    const uint32_t index = recipe->recipe->round_index;
    t->sums[t->n] = sum;
    t->sums[t->n++].collection = number;
    if (sum.blocks == 0 || sum.records < recipe->recipe->cohort_minimum ||
        sum.records < recipe->recipe->release_threshold) {
        stop(t, GAP_FEW, index);
        return SHOAL_OK;
    }
    agg_err err =
        agg_store_load(s->store, &acc, &released, error, number, recipe->recipe, AGG_SPAN_ALL);
    if (err != SHOAL_OK) return err;
    err = agg_static_run_add(&t->run, error, recipe, &acc);
    agg_accumulator_release(&acc);
    if (err == SHOAL_OK) t->blocks = released;
    if (err == SHOAL_ERR_RECIPE_HASH || err == AGG_ERR_USAGE) {
        stop(t, GAP_MISSING, index > 1 ? index - 1 : index);
        return SHOAL_OK;
    }
    if (err == AGG_ERR_COHORT) {
        stop(t, GAP_FEW, index);
        return SHOAL_OK;
    }
    return err;
}

static agg_err add_earlier(search *s, agg_error *error, uint8_t previous[32], uint32_t last)
{
    agg_err err = SHOAL_OK;
    for (uint32_t i = 1; err == SHOAL_OK && i < last && s->told->gap == GAP_NONE; i++) {
        agg_recipe recipe;
        int64_t number;
        err = find_epoch(&recipe, &number, error, s, i, previous);
        if (err != SHOAL_OK) break;
        if (number == 0) {
            stop(s->told, GAP_MISSING, i);
            break;
        }
        err = add_epoch(s, error, &recipe, number);
        memcpy(previous, recipe.recipe->query_hash, 32);
        agg_recipe_release(&recipe);
    }
    return err;
}

static agg_err tell(search *s, agg_error *error)
{
    uint8_t previous[32] = {0};
    told *t = s->told;
    const serve_collection *one = s->job->collection;
    const shoal_recipe *recipe = one->recipe.recipe;
    agg_static_run_begin(&t->run);
    if (recipe->round_index > SERVE_EPOCHS_MAX) {
        stop(t, GAP_MANY, recipe->round_index);
        return SHOAL_OK;
    }
    agg_err err = add_earlier(s, error, previous, recipe->round_index);
    if (err == SHOAL_OK && t->gap == GAP_NONE && recipe->round_index > 1 &&
        memcmp(previous, recipe->round_previous, 32) != 0)
        stop(t, GAP_MISSING, recipe->round_index - 1);
    if (err == SHOAL_OK && t->gap == GAP_NONE) {
        err = add_epoch(s, error, &one->recipe, one->number);
        t->has_last = t->gap == GAP_NONE;
        if (t->gap == GAP_FEW) t->gap = GAP_NONE; // the epoch that waits is no gap
    }
    const agg_dictionary *dictionary =
        s->job->dictionary == NULL ? NULL : &s->job->dictionary->dictionary;
    return err == SHOAL_OK ? agg_static_run_finish(&t->run, error, dictionary, SERVE_EPOCHS_ITEMS)
                           : err;
}

static bool is_same(const serve_epochs_kept *kept, const search *s)
{
    if (kept->told == NULL || kept->collection != s->job->collection ||
        kept->dictionary != s->job->dictionary || kept->told->gap != GAP_NONE)
        return false;
    for (size_t i = 0; i < kept->told->n; i++) {
        const agg_release_sum *was = &kept->told->sums[i],
                              now = agg_release_sum_of(s->sums, s->n_sums, was->collection);
        if (was->blocks != now.blocks || was->records != now.records) return false;
    }
    return true;
}

// Finds the run as it was told, or tells it.
static agg_err find_told(serve_epochs_kept *kept, agg_error *error, search *s)
{
    if (is_same(kept, s)) return SHOAL_OK;
    forget(kept);
    s->told = agg_alloc(error, 1, sizeof *s->told);
    if (s->told == NULL) return AGG_ERR_MEMORY;
    memset(s->told, 0, sizeof *s->told);
    agg_err err = tell(s, error);
    if (err != SHOAL_OK) {
        release_told(s->told);
        return err;
    }
    kept->told = s->told;
    kept->set = s->job->set;
    serve_sets_hold_again(kept->sets, kept->set);
    kept->collection = s->job->collection;
    kept->dictionary = s->job->dictionary;
    kept->bytes = sizeof *kept->told + agg_static_run_size(&kept->told->run);
    return SHOAL_OK;
}

// ---- the page ----

// Says where the configured epoch stands.
static void put_now(FILE *out, const serve_collection *one, const told *t, time_t now)
{
    char tick[AGG_MOMENT_SIZE];
    const shoal_recipe *r = one->recipe.recipe;
    agg_moment_print(tick, agg_tick_after(now, one->tick_s));
    if (r->round_index > r->epochs)
        fputs("<p class=\"said\"><b>The run has ended.</b> This recipe collects what its last "
              "update measured. ",
              out);
    else
        fprintf(out, "<p class=\"said\"><b>Epoch %u of %u is asked now.</b> ", r->round_index,
                r->epochs);
    if (r->round_update)
        fprintf(out, "Epoch %u was an update, so its reports carry what that measured. ",
                r->round_index - 1);
    if (t->has_last)
        fputs(r->round_index > r->epochs ? "Its reports are told below.</p>\n"
                                         : "Its reports are told below; <code>shoal round "
                                           "next</code> writes the recipe that "
                                           "follows.</p>\n",
              out);
    else
        fprintf(out,
                "It waits for %s reports; a block may close at %.10s %.5s UTC. They come once the "
                "edge and the pages have its recipe.</p>\n",
                agg_whole(r->block_minimum).text, tick, tick + strlen("2026-11-21T"));
}

static void put_gap(FILE *out, const told *t)
{
    if (t->gap == GAP_NONE) return;
    fputs("<p class=\"note warn\">", out);
    if (t->gap == GAP_MANY)
        fprintf(out, "A page tells runs of up to %u epochs. ", SERVE_EPOCHS_MAX);
    else if (t->gap == GAP_FEW)
        fprintf(out, "Epoch %u has fewer reports than may be shown, so nothing after it is told. ",
                t->at);
    else
        fprintf(
            out,
            "Epoch %u is not in this server\xe2\x80\x99s store, so nothing from it on is told. ",
            t->at);
    fputs("<code>shoal track</code> tells a run from the accumulators of all its epochs, wherever "
          "they are.</p>\n",
          out);
}

static void write_page(serve_job *job, const told *t, unsigned status)
{
    char home[SHOAL_NAME_MAX + 16];
    agg_error error;
    const agg_recipe *recipe = &job->collection->recipe;
    const size_t top = job->top > 0 ? job->top : TOP_DEFAULT;
    snprintf(home, sizeof home, "/recipes/%s", recipe->id);
    const agg_page page = {.title = recipe->id,
                           .home = home,
                           .links = serve_links(job->rights),
                           .account = job->account};
    FILE *stream = agg_http_answer_open(&job->answer);
    if (stream != NULL) {
        agg_analysis_page_open(stream, &page);
        fputs("<section><h2>The run</h2>\n", stream);
        if (t != NULL) {
            put_now(stream, job->collection, t, time(NULL));
            put_gap(stream, t);
        } else {
            fputs(
                "<p class=\"note warn\" role=\"alert\">The run could not be told; the "
                "server\xe2\x80\x99s log says why. Whoever runs the server finds what to do under "
                "\xe2\x80\x9c"
                "Damage\xe2\x80\x9d in its manual.</p>\n",
                stream);
        }
        fputs("</section>\n", stream);
        if (t != NULL) agg_static_run_write(stream, &t->run, top < TOP_MAX ? top : TOP_MAX);
        (void)!agg_page_close(stream, &error); // the stream keeps its failure
    }
    agg_http_answer_close(&job->answer, stream, status, AGG_HTTP_TYPE_HTML);
    agg_static_report_csp(job->answer.policy, NULL);
}

// Notes the blocks of the configured epoch, if it was told, and which epochs were told before it.
static void note_blocks(serve_job *job, const told *t)
{
    const size_t n = t->run.track.n_rows + t->run.track.n_closing - t->has_last;
    if (t->has_last) serve_job_note_blocks(job, job->collection, &t->blocks);
    const size_t len = strlen(job->blocks);
    if (n > 0)
        snprintf(job->blocks + len, sizeof job->blocks - len, "%s%s epochs 1-%zu",
                 len > 0 ? ", " : "", job->collection->recipe.id, n);
}

void serve_epochs_answer(serve_job *job, agg_store *store, serve_epochs_kept *kept)
{
    agg_error error = {.code = SHOAL_OK};
    search s = {.store = store, .job = job};
    agg_err err = agg_store_release_sums(store, &s.sums, &s.n_sums, &error);
    if (err == SHOAL_OK) err = find_told(kept, &error, &s);
    if (err != SHOAL_OK) serve_estimate_tell_log(job->collection, &error);
    if (err == SHOAL_OK) note_blocks(job, kept->told);
    write_page(job, err == SHOAL_OK ? kept->told : NULL, err == SHOAL_OK ? 200 : 503);
    free(s.sums);
}
