// SPDX-License-Identifier: Apache-2.0
// Views in the background; see serve_views.h. A slot that waits or is being made belongs to the
// thread that makes views; one that is made belongs to the results thread, which alone frees it.
#include "serve_views.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_size.h"
#include "recipe.h"
#include "serve_estimate.h"
#include "serve_view.h"

enum { SLOTS = 8, PATIENCE_S = 1, AGAIN_S = 5, TRIES = 3 };

typedef enum state { FREE, WAITING, MAKING, MADE } state;

typedef struct slot {
    state state;
    serve_view_order order;
    void *made; // NULL for an error
    agg_error error;
    bool is_given_up;
    size_t bytes;
    uint64_t number; // of the question that used it last; those that wait are made in its order
} slot;

struct serve_views {
    agg_store *store;
    serve_sets *sets;
    pthread_t thread;
    pthread_mutex_t mutex; // guards the states of slots and is_stopping
    pthread_cond_t wake, is_made;
    bool is_stopping;
    int64_t since_s; // when the view that is being made was begun
    bool gives_up;   // it took too long, or the server stops
    slot slots[SLOTS];
    uint64_t questions;
};

static bool has_same_blocks(const agg_released *a, const agg_released *b)
{
    return a->n == b->n && a->first_number == b->first_number && a->last_number == b->last_number;
}

// ---- the thread ----

static int64_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static bool goes_on(void *context, agg_error *error)
{
    serve_views *views = context;
    pthread_mutex_lock(&views->mutex);
    bool is_stopping = views->is_stopping;
    pthread_mutex_unlock(&views->mutex);
    if (!is_stopping && now_s() - views->since_s <= SERVE_VIEW_MOST_S) return true;
    views->gives_up = true;
    agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "given up");
    return false;
}

// Returns: the slot that waits longest; NULL at the end. Call with the mutex held.
static slot *next_slot(serve_views *views)
{
    for (;;) {
        slot *first = NULL;
        for (int i = 0; i < SLOTS; i++) {
            slot *one = &views->slots[i];
            if (one->state == WAITING && (first == NULL || one->number < first->number))
                first = one;
        }
        if (views->is_stopping) return NULL;
        if (first != NULL) return first;
        pthread_cond_wait(&views->wake, &views->mutex);
    }
}

// Makes a view of the blocks that its days have now: some may have closed since it was asked for,
// and while it is made.
static void make(serve_views *views, slot *one)
{
    serve_view_order *order = &one->order;
    agg_err err = SHOAL_OK;
    bool is_moved = true;
    for (int i = 0; err == SHOAL_OK && is_moved && i < TRIES; i++) {
        agg_released before, after;
        if (i > 0) order->kind->release(one->made);
        err = agg_store_find_released(order->store, &before, &one->error, order->collection->number,
                                      order->span);
        pthread_mutex_lock(&views->mutex);
        order->blocks = before;
        pthread_mutex_unlock(&views->mutex);
        if (err == SHOAL_OK) err = order->kind->make(&one->made, &one->error, order);
        if (err != SHOAL_OK) break;
        err = agg_store_find_released(order->store, &after, &one->error, order->collection->number,
                                      order->span);
        is_moved = err == SHOAL_OK && !has_same_blocks(&before, &after);
        if (err != SHOAL_OK) order->kind->release(one->made);
    }
    if (err == SHOAL_OK && is_moved) { // blocks close faster than it can be made
        order->kind->release(one->made);
        err = agg_fail(&one->error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "blocks closed meanwhile");
    }
    one->error.code = err;
    if (err != SHOAL_OK) one->made = NULL;
    one->bytes = err == SHOAL_OK ? order->kind->size(one->made) : 0;
}

static void *work(void *context)
{
    serve_views *views = context;
    pthread_mutex_lock(&views->mutex);
    for (slot *one; (one = next_slot(views)) != NULL;) {
        one->state = MAKING;
        views->since_s = now_s();
        views->gives_up = false;
        pthread_mutex_unlock(&views->mutex);
        make(views, one);
        pthread_mutex_lock(&views->mutex);
        one->is_given_up = views->gives_up;
        one->state = MADE;
        pthread_cond_signal(&views->is_made);
    }
    pthread_mutex_unlock(&views->mutex);
    return NULL;
}

// ---- the slots ----

static void forget(serve_views *views, slot *one)
{
    if (one->made != NULL) one->order.kind->release(one->made);
    serve_sets_release(views->sets, one->order.set);
    *one = (slot){.state = FREE};
}

// Returns: whether the results thread may free a slot. Call with the mutex held.
static bool is_loose(const slot *one)
{
    return one->state == MADE || one->state == WAITING;
}

void serve_views_settle(serve_views *views, const serve_set *set)
{
    pthread_mutex_lock(&views->mutex);
    for (int i = 0; i < SLOTS; i++)
        if (is_loose(&views->slots[i]) && views->slots[i].order.set != set)
            forget(views, &views->slots[i]);
    pthread_mutex_unlock(&views->mutex);
}

static bool is_same(const serve_view_order *a, const serve_view_order *b)
{
    return a->kind == b->kind && a->collection == b->collection && a->dictionary == b->dictionary &&
           has_same_blocks(&a->blocks, &b->blocks);
}

// Forgets views that were used least recently until the rest takes no more than may be kept, and
// there is a free slot. Call with the mutex held.
// Returns: a free slot; NULL where all of them wait.
static slot *make_room(serve_views *views)
{
    for (;;) {
        size_t bytes = 0;
        slot *oldest = NULL, *free_one = NULL;
        for (int i = 0; i < SLOTS; i++) {
            slot *one = &views->slots[i];
            if (one->state == FREE) free_one = one;
            if (one->state != MADE) continue;
            bytes += one->bytes;
            if (oldest == NULL || one->number < oldest->number) oldest = one;
        }
        if (oldest == NULL || (bytes <= SERVE_VIEWS_KEPT && free_one != NULL)) return free_one;
        forget(views, oldest);
    }
}

// Finds the slot of an order, or has it made. Call with the mutex held.
//   is_new: set to whether it was not asked for before
// Returns: NULL where too many wait.
static slot *find_slot(serve_views *views, const serve_view_order *order, bool *is_new)
{
    *is_new = false;
    for (int i = 0; i < SLOTS; i++) {
        slot *one = &views->slots[i];
        if (one->state == FREE || !is_same(&one->order, order)) continue;
        if (one->state == MADE) one->number = ++views->questions;
        return one;
    }
    slot *one = make_room(views);
    if (one == NULL) return NULL;
    *one = (slot){.state = WAITING, .order = *order, .number = ++views->questions};
    serve_sets_hold_again(views->sets, order->set);
    pthread_cond_signal(&views->wake);
    *is_new = true;
    return one;
}

// Waits a little for a slot to be made. Call with the mutex held.
static state wait_for(serve_views *views, const slot *one)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    while (one->state != MADE)
        if (pthread_cond_timedwait(&views->is_made, &views->mutex, &until) != 0) break;
    return one->state;
}

// ---- answers ----

// Prints a page that has no view, but says why.
//   script: of a page that asks again by itself; or NULL
static void answer_note(serve_job *job, unsigned status, const char *head, const char *note,
                        const char *script)
{
    serve_view_texts texts;
    agg_static_report report = {.script = script};
    const agg_static_note said = {head, note, script != NULL};
    agg_error error;
    serve_view_begin(&report, job, NULL, &texts);
    FILE *stream = agg_http_answer_open(&job->answer);
    if (stream != NULL) {
        agg_static_report_open(stream, &report);
        agg_static_note_write(stream, job->view->title, &said);
        (void)!agg_page_close(stream, &error); // the stream keeps its failure
    }
    agg_http_answer_close(&job->answer, stream, status, AGG_HTTP_TYPE_HTML);
    agg_static_report_csp(job->answer.policy, script);
}

static void answer_working(serve_job *job)
{
    static const char note[] =
        "This view is made once after each closing of a block, one view at a time, so that other "
        "questions need not wait. It takes seconds as a rule, and minutes where blocks are many or "
        "large.";
    if (job->is_page)
        answer_note(job, 202, "It is being worked out.", note, "/refresh.js");
    else
        agg_http_answer_error(&job->answer, 503, "working", 503,
                              "the view is being worked out; ask again");
    job->answer.retry_after_s = AGAIN_S;
}

static void answer_busy(serve_job *job)
{
    static const char note[] =
        "Views of other collections are being made, one after the other. Look again in a minute.";
    if (job->is_page)
        answer_note(job, 503, "Too many views are asked for at once.", note, NULL);
    else
        agg_http_answer_error(&job->answer, 503, "busy", 503,
                              "too many views are asked for at once");
    job->answer.retry_after_s = 60;
}

// Why there is no view, for a page and for rows.
typedef struct reason {
    unsigned status; // of rows
    unsigned page_status;
    const char *head;
    char note[SERVE_VIEW_NOTE_MAX];
} reason;

static void explain_memory(reason *why, const serve_job *job, const agg_error *error)
{
    *why = (reason){503, 503, "There is not enough memory for this view.", ""};
    snprintf(
        why->note, sizeof why->note,
        "%s, and this server may take %llu MB for it. Its operator can give it more (--memory, "
        "which says what it takes at the start); or ask for fewer days.",
        error->text, (unsigned long long)(job->set->plan.views_bytes / 1000000));
}

static void explain(reason *why, const serve_job *job, const agg_error *error)
{
    const serve_estimate made = {.error = *error};
    const agg_error told = serve_estimate_why_not(&made, job->collection);
    switch (error->code) {
    case AGG_ERR_COHORT:
        *why = (reason){403, 200, "There are too few reports yet.", ""};
        snprintf(why->note, sizeof why->note, "The %s.", told.text);
        break;
    case AGG_ERR_MEMORY: explain_memory(why, job, error); break;
    case SHOAL_ERR_ARGUMENT:
        *why = (reason){403, 200, "The records that it needs are gone.", ""};
        snprintf(why->note, sizeof why->note,
                 "What came together in a report is kept %u days after its block closed; after "
                 "that only sums are left. Blocks that close from now on can be asked.",
                 job->collection->recipe.recipe->keep_days);
        break;
    case SHOAL_ERR_UNKNOWN_FIELD:
        *why = (reason){403, 200, "Its values are not named.", ""};
        snprintf(why->note, sizeof why->note, "%s.", error->text);
        break;
    case AGG_ERR_USAGE:
        *why = (reason){403, 200, "These reports do not show it yet.", ""};
        snprintf(why->note, sizeof why->note, "%s. More reports may change that.", error->text);
        break;
    default:
        *why = (reason){serve_estimate_status(error->code), serve_estimate_status(error->code),
                        "It could not be made.", "The server's log says why."};
        serve_estimate_tell_log(job->collection, error);
    }
}

static void explain_time(reason *why)
{
    *why = (reason){503, 503, "It took too long and was given up.", ""};
    snprintf(why->note, sizeof why->note,
             "A view has %d minutes. Ask for fewer days, or use the command over the files.",
             SERVE_VIEW_MOST_S / 60);
}

//   is_given_up: it took too long, whatever the error
static void refuse(serve_job *job, const agg_error *error, bool is_given_up)
{
    reason why;
    char text[SERVE_VIEW_NOTE_MAX + 96];
    if (is_given_up)
        explain_time(&why);
    else
        explain(&why, job, error);
    why.note[0] = (char)toupper((unsigned char)why.note[0]);
    if (job->is_page) {
        answer_note(job, why.page_status, why.head, why.note, NULL);
        return;
    }
    snprintf(text, sizeof text, "%s %s", why.head, why.note);
    agg_http_answer_error(&job->answer, why.status, agg_err_name(error->code), (int)error->code,
                          text);
}

static const char *type_of(const serve_job *job)
{
    return job->is_page ? AGG_HTTP_TYPE_HTML : serve_job_type(job->format);
}

static void print(serve_job *job, const slot *one)
{
    const serve_view_kind *kind = one->order.kind;
    agg_error error;
    FILE *stream = agg_http_answer_open(&job->answer);
    agg_err err = stream == NULL ? AGG_ERR_MEMORY
                  : job->is_page ? kind->page(stream, &error, job, &one->order, one->made)
                                 : kind->rows(stream, &error, job, &one->order, one->made);
    agg_http_answer_close(&job->answer, stream, err == SHOAL_OK ? 200 : 500, type_of(job));
    if (job->is_page)
        agg_static_report_csp(job->answer.policy, kind->script == NULL ? NULL : kind->script());
    serve_job_note_blocks(job, job->collection, &one->order.blocks);
}

// Finds the blocks of a question, and of those the ones that the view can be made of.
static agg_err find_blocks(serve_view_order *order, agg_error *error, const serve_job *job)
{
    agg_released all;
    int64_t number = job->collection->number;
    agg_err err = agg_store_find_released(order->store, &all, error, number, job->span);
    order->blocks = all;
    if (err != SHOAL_OK || all.n == 0) return err != SHOAL_OK ? err : AGG_ERR_COHORT;
    order->span = serve_view_within(job->collection, job->span, (int32_t)(time(NULL) / 86400));
    if (order->span.first > order->span.last) return SHOAL_ERR_ARGUMENT;
    err = agg_store_find_released(order->store, &order->blocks, error, number, order->span);
    order->leaves_out = order->blocks.n < all.n;
    return err == SHOAL_OK && order->blocks.n == 0 ? SHOAL_ERR_ARGUMENT : err;
}

static void answer_slot(serve_job *job, serve_views *views, const serve_view_order *order,
                        bool may_wait)
{
    bool is_new;
    pthread_mutex_lock(&views->mutex);
    slot *one = find_slot(views, order, &is_new);
    state is = one == NULL ? FREE : is_new && may_wait ? wait_for(views, one) : one->state;
    pthread_mutex_unlock(&views->mutex);
    if (is == FREE) {
        answer_busy(job);
    } else if (is != MADE) {
        answer_working(job);
    } else if (one->made != NULL) {
        one->order.leaves_out = order->leaves_out; // another question may get the same blocks
        print(job, one);
    } else {
        refuse(job, &one->error, one->is_given_up);
        bool is_passing = one->error.code == AGG_ERR_IO && !one->is_given_up;
        pthread_mutex_lock(&views->mutex);
        if (is_passing) forget(views, one); // the next question tries again
        pthread_mutex_unlock(&views->mutex);
    }
}

void serve_views_answer(serve_job *job, serve_views *views, bool may_wait)
{
    serve_view_order order = {.kind = job->view,
                              .set = job->set,
                              .collection = job->collection,
                              .dictionary = job->dictionary,
                              .store = views->store,
                              .memory = job->set->plan.views_bytes,
                              .goes_on = goes_on,
                              .context = views};
    agg_error error = {.code = SHOAL_OK};
    agg_err err = find_blocks(&order, &error, job);
    error.code = err;
    if (err == SHOAL_OK)
        answer_slot(job, views, &order, may_wait);
    else
        refuse(job, &error, false);
}

// ---- start and end ----

agg_err serve_views_start(serve_views **views, agg_error *error, agg_store *store, serve_sets *sets)
{
    serve_views *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->store = store;
    made->sets = sets;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->wake, NULL);
    pthread_cond_init(&made->is_made, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&made->thread, NULL, work, made) != 0) {
        free(made);
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                        "cannot start the thread for views");
    }
    *views = made;
    return SHOAL_OK;
}

void serve_views_stop(serve_views *views)
{
    if (views == NULL) return;
    pthread_mutex_lock(&views->mutex);
    views->is_stopping = true;
    pthread_cond_signal(&views->wake);
    pthread_mutex_unlock(&views->mutex);
    pthread_join(views->thread, NULL);
    for (int i = 0; i < SLOTS; i++)
        if (views->slots[i].state != FREE) forget(views, &views->slots[i]);
    pthread_mutex_destroy(&views->mutex);
    pthread_cond_destroy(&views->wake);
    pthread_cond_destroy(&views->is_made);
    free(views);
}
