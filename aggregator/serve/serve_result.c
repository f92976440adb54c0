// SPDX-License-Identifier: Apache-2.0
// Making results; see serve_result.h.
#include "serve_result.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "estimate_print.h"
#include "overview.h"
#include "recipe.h"
#include "result_page.h"
#include "row_order.h"
#include "serve_alarms.h"
#include "serve_estimate.h"
#include "serve_kept.h"
#include "serve_links.h"
#include "serve_periods.h"
#include "serve_rounds.h"
#include "serve_trends.h"
#include "serve_view_kinds.h"
#include "serve_views.h"

enum { QUEUE_MAX = 256, PAGE_ROWS = 20 };

_Static_assert(AGG_HTTP_POLICY_MAX >= AGG_PAGE_CSP_SIZE, "an answer holds a page's policy");

struct serve_results {
    agg_store *store;
    serve_sets *sets;
    unsigned n_threads;
    pthread_t thread;
    pthread_mutex_t mutex; // guards first, last, n_waiting and is_stopping
    pthread_cond_t wake;
    serve_job *first, **last;
    unsigned n_waiting;
    bool is_stopping;
    serve_kept *kept;             // estimates
    serve_periods_shelf *periods; // what pages over time are made of; within the same bytes
    serve_trends *trends;         // of the table of collections
    serve_views *views;           // that take long
};

// One value that was asked for, with its own estimate. Nothing of it is kept.
typedef struct asked_value {
    agg_dictionary dictionary;
    serve_estimate made;
    bool is_refused; // by the recipe: made.error says why
} asked_value;

static void release_asked(asked_value *asked)
{
    serve_estimate_release(&asked->made);
    agg_dictionary_release(&asked->dictionary);
}

// Finds the estimate of a job's collection: of its dictionary, or of the value that it asks for.
//   asked: released by the caller, where it was used; its memory holds that estimate
static const serve_estimate *estimate_of(serve_results *results, const serve_job *job,
                                         const serve_collection *collection,
                                         const serve_dictionary *dictionary, asked_value *asked)
{
    uint32_t place = 0;
    const agg_text text = {job->value, strlen(job->value)};
    *asked = (asked_value){.made = {.error = {.code = AGG_ERR_USAGE}}};
    if (job->value[0] == '\0')
        return serve_kept_answer(results->kept, job, collection, dictionary, results->n_threads);
    agg_err err = agg_dictionary_of_texts(&asked->dictionary, &place, &asked->made.error,
                                          &collection->recipe, &text, 1);
    asked->is_refused = err != SHOAL_OK;
    asked->made.error.code = err;
    if (err == SHOAL_OK)
        serve_estimate_make(&asked->made, results->store, collection, &asked->dictionary, job->span,
                            false, results->n_threads);
    return &asked->made;
}

static void write_rows(serve_job *job, const serve_estimate *made)
{
    agg_estimate shown = made->estimate;
    if (job->top > 0 && job->top < shown.n_rows) shown.n_rows = job->top;
    agg_error error;
    FILE *stream = agg_http_answer_open(&job->answer);
    if (stream != NULL)
        (void)!agg_estimate_print(stream, &error, &shown, job->format); // it keeps its failure
    agg_http_answer_close(&job->answer, stream, 200, serve_job_type(job->format));
}

static void answer_rows(serve_results *results, serve_job *job)
{
    asked_value asked;
    const serve_estimate *made =
        estimate_of(results, job, job->collection, job->dictionary, &asked);
    unsigned status = made->error.code == SHOAL_OK ? 200
                      : asked.is_refused           ? 400
                                                   : serve_estimate_status(made->error.code);
    if (status >= 500) {
        serve_estimate_tell_log(job->collection, &made->error);
        agg_http_answer_error(&job->answer, status, agg_err_name(made->error.code),
                              (int)made->error.code,
                              "the result could not be made; the server's log says why");
    } else if (status != 200) {
        agg_error why = serve_estimate_why_not(made, job->collection);
        agg_http_answer_fail(&job->answer, status, &why);
    } else {
        serve_job_note_blocks(job, job->collection, &made->released);
        write_rows(job, made);
    }
    release_asked(&asked);
}

// A section that owns its rows: the kept estimate may be forgotten while others are made.
typedef struct section {
    agg_page_section page;
    agg_estimate estimate;
    agg_estimate_blocks blocks;
    agg_guarantee guarantee;
    agg_estimate_row *rows;
    asked_value asked;
    char note[512];
    char link[SHOAL_NAME_MAX + 16];
    agg_page_link views[SERVE_VIEW_LINKS_MAX];
} section;

// Copies the rows that the page shows, in their order.
//   order: NULL for the estimate's own
// Returns: how many there are; s->rows is NULL where memory is short.
static size_t pick_rows(section *s, const agg_estimate *estimate, const agg_table_order *order,
                        size_t top)
{
    size_t n = estimate->n_rows < top ? estimate->n_rows : top;
    bool is_own = order == NULL || (order->column[0] == '\0' && order->find[0] == '\0');
    s->page.order = order;
    s->rows = agg_alloc(NULL, n, sizeof *s->rows);
    if (s->rows == NULL) return 0;
    if (is_own) {
        if (n > 0) memcpy(s->rows, estimate->rows, n * sizeof *s->rows);
        return n;
    }
    size_t *picked = agg_alloc(NULL, n, sizeof *picked);
    n = picked == NULL ? 0 : agg_row_order_pick(picked, n, &s->page.n_found, estimate, order);
    for (size_t i = 0; i < n; i++) s->rows[i] = estimate->rows[picked[i]];
    free(picked);
    return n;
}

static void fill_section(serve_results *results, section *s, const serve_collection *collection,
                         const serve_dictionary *dictionary, serve_job *job)
{
    size_t top = job->top > 0 ? job->top : PAGE_ROWS,
           most = job->collection != NULL ? 1 : job->set->collections.n;
    if (top > SERVE_PAGE_ROWS_MAX / most) top = SERVE_PAGE_ROWS_MAX / most;
    snprintf(s->link, sizeof s->link, "/recipes/%s", collection->recipe.id);
    s->page = (agg_page_section){.recipe = &collection->recipe,
                                 .period = job->period[0] == '\0' ? NULL : job->period,
                                 .link = s->link,
                                 .note = s->note,
                                 .rounds = serve_rounds_link(job)};
    if (job->collection != NULL) {
        bool is_joint = collection->recipe.recipe->n_variables > 0;
        s->page.asked = is_joint ? NULL : job->value; // of several variables, none is asked alone
        serve_view_links(s->views, &collection->recipe);
        s->page.views = s->views;
    }
    if (dictionary == NULL && job->value[0] == '\0') {
        snprintf(s->note, sizeof s->note, "%s", serve_view_no_values(&collection->recipe));
        return;
    }
    const serve_estimate *made = estimate_of(results, job, collection, dictionary, &s->asked);
    if (made->error.code != SHOAL_OK) {
        bool is_inside = !s->asked.is_refused && serve_estimate_status(made->error.code) >= 500;
        agg_error why = serve_estimate_why_not(made, collection);
        if (is_inside) serve_estimate_tell_log(collection, &made->error);
        snprintf(s->note, sizeof s->note, "%s",
                 is_inside ? "The result could not be made; the server's log says why." : why.text);
        return;
    }
    serve_job_note_blocks(job, collection, &made->released);
    bool has_order = job->collection != NULL && job->value[0] == '\0';
    size_t n_rows = pick_rows(s, &made->estimate, has_order ? &job->order : NULL, top);
    if (s->rows == NULL) {
        snprintf(s->note, sizeof s->note, "Out of memory.");
        return;
    }
    s->estimate = made->estimate;
    if (job->collection == NULL) s->estimate.distribution = NULL; // it may be forgotten by then
    s->estimate.rows = s->rows;
    s->estimate.n_rows = n_rows;
    s->blocks = made->blocks;
    s->estimate.blocks = &s->blocks;
    s->guarantee = made->guarantee;
    s->estimate.guarantee = &s->guarantee;
    s->page.estimate = &s->estimate;
    s->page.note = NULL;
}

static void write_page(serve_results *results, serve_job *job, const section *made, size_t n)
{
    FILE *stream = agg_http_answer_open(&job->answer);
    if (stream != NULL) {
        const agg_page page = {.title = "shoal",
                               .script = job->value[0] == '\0' ? "/refresh.js" : NULL,
                               .home = "/",
                               .links = serve_links(job->rights),
                               .account = job->account};
        agg_error error;
        agg_page_open(stream, &page);
        if (job->collection == NULL)
            serve_overview_write(stream, job, results->store, results->trends, time(NULL));
        for (size_t i = 0; i < n; i++) agg_page_section_write(stream, &made[i].page);
        (void)!agg_page_close(stream, &error); // the stream keeps its failure
    }
    agg_http_answer_close(&job->answer, stream, 200, AGG_HTTP_TYPE_HTML);
    agg_page_csp(job->answer.policy, true);
}

static void answer_page(serve_results *results, serve_job *job)
{
    size_t n = 0;
    section *made = agg_alloc(NULL, job->set->collections.n, sizeof *made);
    if (made == NULL) {
        job->answer.status = 500;
        return;
    }
    if (job->collection != NULL)
        fill_section(results, &made[n++], job->collection, job->dictionary, job);
    bool has_sections =
        job->collection == NULL && serve_overview_count(job) <= SERVE_OVERVIEW_SECTIONS;
    for (size_t i = 0; has_sections && i < job->set->collections.n; i++) {
        const serve_collection *one = &job->set->collections.list[i];
        if (job->scope != NULL && !job->scope[i]) continue;
        fill_section(results, &made[n++], one, serve_dictionary_of(one, NULL), job);
    }
    write_page(results, job, made, n);
    for (size_t i = 0; i < n; i++) {
        free(made[i].rows);
        release_asked(&made[i].asked);
    }
    free(made);
}

static void answer_periods(serve_results *results, serve_job *job)
{
    serve_periods_answer(job, results->store, results->periods, results->n_threads);
    serve_kept_make_room(results->kept);
}

// Returns: whether a question waits, or the end.
static bool is_asked(serve_results *results)
{
    pthread_mutex_lock(&results->mutex);
    bool is_asked = results->first != NULL || results->is_stopping;
    pthread_mutex_unlock(&results->mutex);
    return is_asked;
}

// Tests the collections with new blocks, makes anew what was asked for of them, and then their
// trends. Of a thousand that close blocks at one tick, a question waits for one test, estimate or
// page at most.
static void watch_collections(serve_results *results)
{
    serve_set *set = serve_sets_hold(results->sets);
    serve_kept_settle(results->kept, set); // nobody asks for those of an older set any more
    serve_periods_shelf_settle(results->periods, set);
    serve_views_settle(results->views, set);
    serve_trends_settle(results->trends, set);
    bool goes_on = true; // else the rest comes after the next question
    for (size_t i = 0; goes_on && i < set->collections.n; i++) {
        bool is_tested = serve_alarms_watch(&set->collections.list[i], results->store);
        goes_on = !is_tested || !is_asked(results);
    }
    while (goes_on && serve_kept_refresh(results->kept)) goes_on = !is_asked(results);
    for (size_t i = 0; goes_on && i < set->collections.n; i++)
        while (goes_on && serve_trends_step(results->trends, results->store, set, i))
            goes_on = !is_asked(results);
    serve_sets_release(results->sets, set);
}

// Waits for a job for up to a second, then tests the alarms of collections with new blocks. Call
// with the mutex held.
static void watch(serve_results *results)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    if (pthread_cond_timedwait(&results->wake, &results->mutex, &until) == 0) return;
    pthread_mutex_unlock(&results->mutex);
    watch_collections(results);
    pthread_mutex_lock(&results->mutex);
}

// Returns: the next job, or NULL when the server stops and no job is left.
static serve_job *next_job(serve_results *results, bool *is_stopping)
{
    pthread_mutex_lock(&results->mutex);
    while (results->first == NULL && !results->is_stopping) watch(results);
    serve_job *job = results->first;
    if (job != NULL) {
        results->first = job->next;
        if (results->first == NULL) results->last = &results->first;
        results->n_waiting--;
    }
    *is_stopping = results->is_stopping;
    pthread_mutex_unlock(&results->mutex);
    return job;
}

static void *work(void *context)
{
    serve_results *results = context;
    bool is_stopping;
    for (serve_job *job; (job = next_job(results, &is_stopping)) != NULL;) {
        if (is_stopping) {
            serve_job_answer_stopping(job);
        } else if (job->view != NULL) {
            serve_views_answer(job, results->views, !is_asked(results));
        } else if (job->shows_periods) {
            answer_periods(results, job);
        } else if (job->is_page) {
            answer_page(results, job);
        } else {
            answer_rows(results, job);
        }
        job->done(job->context);                      // the job may be freed in there
        if (!is_stopping) watch_collections(results); // also where questions never pause
    }
    return NULL;
}

static void release(serve_results *results)
{
    serve_kept_release(results->kept);
    serve_periods_shelf_release(results->periods);
    serve_trends_release(results->trends);
    serve_views_stop(results->views);
    free(results);
}

agg_err serve_results_start(serve_results **results, agg_error *error, agg_store *store,
                            serve_sets *sets, size_t kept_bytes)
{
    serve_results *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->store = store;
    made->sets = sets;
    made->n_threads = agg_parallel_cores();
    made->last = &made->first;
    made->periods = serve_periods_shelf_make(error, sets);
    made->trends = serve_trends_make(error);
    if (made->periods != NULL)
        made->kept = serve_kept_make(error, store, sets, made->periods, kept_bytes);
    if (made->kept == NULL || made->trends == NULL ||
        serve_views_start(&made->views, error, store, sets) != SHOAL_OK) {
        release(made);
        return AGG_ERR_MEMORY;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&made->thread, NULL, work, made) != 0) {
        release(made);
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                        "cannot start the thread for results");
    }
    *results = made;
    return SHOAL_OK;
}

bool serve_results_ask(serve_results *results, serve_job *job)
{
    pthread_mutex_lock(&results->mutex);
    bool is_taken = !results->is_stopping && results->n_waiting < QUEUE_MAX;
    if (is_taken) {
        job->next = NULL;
        *results->last = job;
        results->last = &job->next;
        results->n_waiting++;
        pthread_cond_signal(&results->wake);
    }
    pthread_mutex_unlock(&results->mutex);
    return is_taken;
}

void serve_results_stop(serve_results *results)
{
    if (results == NULL) return;
    pthread_mutex_lock(&results->mutex);
    results->is_stopping = true;
    pthread_cond_signal(&results->wake);
    pthread_mutex_unlock(&results->mutex);
    pthread_join(results->thread, NULL);
}

void serve_results_release(serve_results *results)
{
    if (results == NULL) return;
    pthread_mutex_destroy(&results->mutex);
    pthread_cond_destroy(&results->wake);
    release(results);
}
