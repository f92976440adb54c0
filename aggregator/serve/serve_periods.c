// SPDX-License-Identifier: Apache-2.0
// A collection over its blocks; see serve_periods.h.
#include "serve_periods.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "recipe.h"
#include "serve_chart.h"
#include "serve_estimate.h"
#include "serve_links.h"
#include "serve_rounds.h"
#include "serve_spans.h"
#include "static_report.h"

#define NAME_MAX 32u

// A period: the blocks that one question for its first day gets.
typedef struct period {
    agg_span span;
    agg_released released;
    char name[NAME_MAX];
} period;

// What a page is made of, and of which blocks.
typedef struct shelved {
    agg_static_made *made; // NULL: the slot is free
    serve_set *set;        // that the collection and the dictionary belong to; held
    const serve_collection *collection;
    const serve_dictionary *dictionary;
    agg_span span; // of the question that it was made for
    size_t top, n, bytes;
    agg_released blocks[SERVE_PERIODS_MAX];
    uint64_t used;     // number of the question that used it last
    bool is_asked;     // since it was made
    unsigned closings; // of the collection, when it was made
} shelved;

enum { SHELVED_MAX = 4 };

struct serve_periods_shelf {
    serve_sets *sets;
    shelved slots[SHELVED_MAX];
    uint64_t questions;
    serve_rounds_shelf *rounds; // of the pages of rounds
};

typedef struct periods {
    agg_store *store;
    const serve_collection *collection;
    period list[SERVE_PERIODS_MAX];
    const char *names[SERVE_PERIODS_MAX];
    size_t n;
} periods;

static void name_period(period *p)
{
    char first[11], last[11];
    agg_day_print(first, p->released.first_day);
    agg_day_print(last, p->released.last_day);
    if (p->released.first_day == p->released.last_day)
        snprintf(p->name, sizeof p->name, "%s", first);
    else
        snprintf(p->name, sizeof p->name, "%s to %s", first, last);
}

// Lists the newest periods of a span, the oldest one first.
static agg_err find_periods(periods *all, agg_error *error, agg_span span)
{
    serve_span found[SERVE_PERIODS_MAX];
    agg_err err = serve_spans_find(found, &all->n, error, all->store, all->collection->number, span,
                                   SERVE_PERIODS_MAX);
    for (size_t i = 0; err == SHOAL_OK && i < all->n; i++) {
        all->list[i].span = found[i].days;
        err = agg_store_find_released(all->store, &all->list[i].released, error,
                                      all->collection->number, found[i].days);
        if (err == SHOAL_OK) name_period(&all->list[i]);
        all->names[i] = all->list[i].name;
    }
    return err;
}

static agg_err load(void *context, agg_accumulator *acc, agg_error *error, size_t i)
{
    const periods *all = context;
    agg_released released;
    return agg_store_load(all->store, acc, &released, error, all->collection->number,
                          all->collection->recipe.recipe, all->list[i].span);
}

// ---- what is kept ----

serve_periods_shelf *serve_periods_shelf_make(agg_error *error, serve_sets *sets)
{
    serve_periods_shelf *shelf = agg_alloc(error, 1, sizeof *shelf);
    if (shelf == NULL) return NULL;
    shelf->sets = sets;
    shelf->rounds = serve_rounds_shelf_make(error, sets);
    if (shelf->rounds != NULL) return shelf;
    free(shelf);
    return NULL;
}

static void forget(serve_periods_shelf *shelf, shelved *one)
{
    if (one->made == NULL) return;
    agg_static_report_release(one->made);
    serve_sets_release(shelf->sets, one->set);
    *one = (shelved){0};
}

void serve_periods_shelf_settle(serve_periods_shelf *shelf, const serve_set *set)
{
    for (int i = 0; i < SHELVED_MAX; i++)
        if (shelf->slots[i].set != set) forget(shelf, &shelf->slots[i]);
    serve_rounds_shelf_settle(shelf->rounds, set);
}

void serve_periods_shelf_release(serve_periods_shelf *shelf)
{
    if (shelf == NULL) return;
    serve_periods_shelf_settle(shelf, NULL);
    serve_rounds_shelf_release(shelf->rounds);
    free(shelf);
}

size_t serve_periods_shelf_shrink(serve_periods_shelf *shelf, size_t bytes)
{
    const size_t of_rounds = serve_rounds_shelf_shrink(shelf->rounds, bytes);
    for (;;) {
        size_t held = of_rounds;
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

static bool is_same_period(const agg_released *a, const agg_released *b)
{
    return a->n == b->n && a->first_number == b->first_number && a->last_number == b->last_number;
}

static bool has_blocks(const shelved *one, const periods *all)
{
    bool is_same = one->n == all->n;
    for (size_t i = 0; is_same && i < all->n; i++)
        is_same = is_same_period(&one->blocks[i], &all->list[i].released);
    return is_same;
}

// Returns: whether a page is one of these, of whatever blocks.
static bool is_of(const shelved *one, const serve_collection *collection,
                  const serve_dictionary *dictionary, size_t top)
{
    return one->made != NULL && one->collection == collection && one->dictionary == dictionary &&
           one->top == top;
}

// Makes what a page is made of in a slot: one that is free, or that has it of other blocks, which
// is forgotten then.
//   report: of the periods; its `before` and `was` are free
//   closings: of the collection, before the periods were listed
static agg_err fill_slot(serve_periods_shelf *shelf, shelved *slot, agg_error *error,
                         serve_set *set, const serve_dictionary *dictionary, const periods *all,
                         const agg_static_report *report, unsigned closings)
{
    size_t was[SERVE_PERIODS_MAX];
    agg_static_report again = *report;
    agg_static_made *made = NULL;
    for (size_t i = 0; i < all->n; i++) {
        was[i] = AGG_STATIC_NEW;
        for (size_t k = 0; k < slot->n; k++)
            if (is_same_period(&slot->blocks[k], &all->list[i].released)) was[i] = k;
    }
    again.before = slot->made;
    again.was = was;
    agg_err err = agg_static_report_make(&made, error, &again);
    if (err != SHOAL_OK) return err;
    serve_sets_hold_again(shelf->sets, set);
    uint64_t used = slot->used;
    forget(shelf, slot);
    *slot = (shelved){.made = made,
                      .set = set,
                      .collection = all->collection,
                      .dictionary = dictionary,
                      .top = report->options.top,
                      .n = all->n,
                      .used = used,
                      .closings = closings};
    for (size_t i = 0; i < all->n; i++) slot->blocks[i] = all->list[i].released;
    slot->bytes = sizeof *slot + agg_static_report_size(made);
    return SHOAL_OK;
}

// Finds what a page is made of, or makes it. Its blocks are those of `all`, each of which anybody
// who sees this page may ask for.
static agg_err find_made(serve_periods_shelf *shelf, const shelved **found, agg_error *error,
                         const serve_job *job, const periods *all, const agg_static_report *report,
                         unsigned closings)
{
    shelved *slot = NULL, *oldest = &shelf->slots[0];
    for (int i = 0; i < SHELVED_MAX; i++) {
        shelved *one = &shelf->slots[i];
        if (one->used < oldest->used) oldest = one;
        if (!is_of(one, job->collection, job->dictionary, report->options.top)) continue;
        if (has_blocks(one, all)) slot = one;
        // One of other blocks that this question got before.
        if (slot == NULL && one->span.first == job->span.first && one->span.last == job->span.last)
            slot = one;
    }
    if (slot == NULL) {
        slot = oldest;
        forget(shelf, slot);
    }
    if (!is_of(slot, job->collection, job->dictionary, report->options.top) ||
        !has_blocks(slot, all)) {
        agg_err err =
            fill_slot(shelf, slot, error, job->set, job->dictionary, all, report, closings);
        if (err != SHOAL_OK) return err;
        slot->span = job->span;
    }
    slot->is_asked = true;
    slot->used = ++shelf->questions;
    *found = slot;
    return SHOAL_OK;
}

// ---- the page ----

// The report of a collection's periods, which points to them; as a file has it.
static agg_static_report report_of(periods *all, const serve_dictionary *dictionary, size_t top,
                                   unsigned n_threads)
{
    const serve_collection *one = all->collection;
    return (agg_static_report){
        .title = one->recipe.id,
        .recipe = &one->recipe,
        .dictionary = &dictionary->dictionary,
        .names = all->names,
        .n = all->n,
        .load = load,
        .context = all,
        .options = {.n_threads = n_threads, .top = top},
        .release = {.block = one->recipe.recipe->block_minimum,
                    .honest = one->honest,
                    .days = (uint32_t)(all->list[all->n - 1].released.last_day -
                                       all->list[0].released.first_day + 1)},
        .home = "/"}; // a page of a server
}

static agg_err write_report(serve_job *job, agg_error *error, periods *all,
                            serve_periods_shelf *shelf, unsigned closings, unsigned n_threads)
{
    char home[SHOAL_NAME_MAX + 16];
    snprintf(home, sizeof home, "/recipes/%s", all->collection->recipe.id);
    agg_static_report report =
        report_of(all, job->dictionary, job->top > 0 ? job->top : 20, n_threads);
    report.home = home;
    report.links = serve_links(job->rights);
    report.account = job->account;
    report.order = &job->order;
    report.script = serve_chart_path();
    const shelved *found = NULL;
    agg_err err = find_made(shelf, &found, error, job, all, &report, closings);
    if (err != SHOAL_OK) return err;
    FILE *stream = agg_http_answer_open(&job->answer);
    err = stream == NULL ? AGG_ERR_MEMORY
                         : agg_static_report_print(stream, error, &report, found->made);
    agg_http_answer_close(&job->answer, stream, err == SHOAL_OK ? 200 : 500, AGG_HTTP_TYPE_HTML);
    return err;
}

// Makes one page anew that is of other blocks than a question for it gets now.
// Returns: whether it is.
static bool refresh(serve_periods_shelf *shelf, shelved *one, agg_store *store, periods *all)
{
    agg_error error = {.text = ""};
    unsigned closings = atomic_load(&one->collection->live->closings);
    *all = (periods){.store = store, .collection = one->collection};
    agg_err err = find_periods(all, &error, one->span);
    one->closings = closings;
    if (err != SHOAL_OK || all->n == 0 || has_blocks(one, all)) return false;
    // One thread: what nobody waits for takes no core from folds.
    const agg_static_report report = report_of(all, one->dictionary, one->top, 1);
    const agg_span span = one->span;
    err = fill_slot(shelf, one, &error, one->set, one->dictionary, all, &report, closings);
    one->is_asked = false; // who asks next gets what is there, or why it cannot be made
    if (err == SHOAL_OK) one->span = span;
    return true;
}

bool serve_periods_shelf_refresh(serve_periods_shelf *shelf, agg_store *store)
{
    periods *all = NULL;
    bool is_done = false;
    for (int i = 0; !is_done && i < SHELVED_MAX; i++) {
        shelved *one = &shelf->slots[i];
        if (one->made == NULL || !one->is_asked ||
            atomic_load(&one->collection->live->closings) == one->closings)
            continue;
        if (all == NULL) all = agg_alloc(NULL, 1, sizeof *all);
        if (all == NULL) return false;
        is_done = refresh(shelf, one, store, all);
    }
    free(all);
    return is_done;
}

static void refuse(serve_job *job, const agg_error *error)
{
    const serve_estimate made = {.error = *error};
    unsigned status = serve_estimate_status(error->code);
    agg_error why = serve_estimate_why_not(&made, job->collection);
    agg_http_answer_release(&job->answer);
    if (status >= 500) {
        serve_estimate_tell_log(job->collection, error);
        agg_http_answer_error(&job->answer, status, agg_err_name(error->code), (int)error->code,
                              "the result could not be made; the server's log says why");
    } else {
        agg_http_answer_fail(&job->answer, status, &why);
    }
}

void serve_periods_answer(serve_job *job, agg_store *store, serve_periods_shelf *shelf,
                          unsigned n_threads)
{
    agg_error error = {.code = SHOAL_OK};
    if (job->shows_rounds) {
        serve_rounds_answer(job, store, shelf->rounds, n_threads);
        return;
    }
    periods *all = agg_alloc(&error, 1, sizeof *all);
    agg_err err = all == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    unsigned closings = atomic_load(&job->collection->live->closings);
    if (err == SHOAL_OK) {
        all->store = store;
        all->collection = job->collection;
        err = find_periods(all, &error, job->span);
    }
    if (err == SHOAL_OK && all->n == 0) err = error.code = AGG_ERR_COHORT;
    if (err == SHOAL_OK) err = write_report(job, &error, all, shelf, closings, n_threads);
    error.code = err;
    if (err != SHOAL_OK) {
        refuse(job, &error);
    } else {
        for (size_t i = 0; i < all->n; i++)
            serve_job_note_blocks(job, job->collection, &all->list[i].released);
        agg_static_report_csp(job->answer.policy, serve_chart_path());
    }
    free(all);
}
