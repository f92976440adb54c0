// SPDX-License-Identifier: Apache-2.0
// Routes; see serve_route.h. The HTTP library stays behind agg_http_exchange.
#include "serve_route.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_batch.h"
#include "audit_page.h"
#include "books_page.h"
#include "bytes.h"
#include "checksum.h"
#include "delivery_page.h"
#include "print_text.h"
#include "recipe.h"
#include "refresh_script.h"
#include "serve_chart.h"
#include "serve_identity.h"
#include "serve_metrics.h"
#include "serve_question.h"
#include "serve_view_kinds.h"
#include "sign_in.h"
#include "store_claim.h"

#define RECIPES "/v1/recipes/"
#define RESULTS "/v1/results/"
#define SUMS "/v1/sums/"
#define PAGES "/recipes/"
#define BOOKS "/books/recipes/"

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static route route_of(const char *url)
{
    if (strcmp(url, "/v1/batches") == 0) return ROUTE_BATCHES;
    if (strcmp(url, "/v1/recipes") == 0) return ROUTE_RECIPES;
    if (strcmp(url, "/") == 0) return ROUTE_PAGE_ALL;
    if (strcmp(url, "/refresh.js") == 0) return ROUTE_SCRIPT;
    if (serve_chart_is_at(url)) return ROUTE_CHART;
    if (strcmp(url, "/metrics") == 0) return ROUTE_METRICS;
    if (strcmp(url, "/delivery") == 0 || strcmp(url, "/operations") == 0) return ROUTE_DELIVERY;
    if (strcmp(url, "/books") == 0) return ROUTE_BOOKS;
    if (strcmp(url, "/books/log") == 0) return ROUTE_BOOKS_LOG;
    if (starts_with(url, BOOKS)) return ROUTE_BOOKS_ONE;
    if (strcmp(url, "/sign-in") == 0) return ROUTE_SIGN_IN;
    if (strcmp(url, "/sign-out") == 0) return ROUTE_SIGN_OUT;
    if (strcmp(url, "/healthz") == 0) return ROUTE_HEALTH;
    if (starts_with(url, RECIPES)) return ROUTE_RECIPE;
    if (starts_with(url, RESULTS)) return ROUTE_RESULTS;
    if (starts_with(url, SUMS)) return ROUTE_SUM;
    return starts_with(url, PAGES) ? ROUTE_PAGE_ONE : ROUTE_NONE;
}

static void count_refusal(serve_request *r)
{
    enum refusal why;
    switch (r->x.answer.status) {
    case 401: why = REFUSED_ACCESS; break;
    case 404: why = REFUSED_RECIPE; break;
    case 413: why = REFUSED_SIZE; break;
    case 415: why = REFUSED_TYPE; break;
    case 503: why = REFUSED_BUSY; break;
    default: why = REFUSED_DAMAGED; break;
    }
    atomic_fetch_add(&r->state->refused[why], 1);
}

static void answer_not_found(serve_request *r, const char *message)
{
    agg_http_answer_error(&r->x.answer, 404, "not-found", 404, message);
}

// Returns: the methods that a route takes, as the header Allow lists them.
static const char *allowed(route which)
{
    if (which == ROUTE_BATCHES || which == ROUTE_SIGN_OUT) return "POST";
    return which == ROUTE_SIGN_IN ? "GET, HEAD, POST" : "GET, HEAD";
}

static bool takes(route which, const char *method)
{
    bool is_get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    const char *methods = allowed(which);
    if (strcmp(method, "POST") == 0) return strstr(methods, "POST") != NULL;
    return is_get && methods[0] == 'G';
}

// Counts a request that needs no token, and refuses it when its address has made too many.
static void count_request(serve_request *r)
{
    unsigned wait_s = agg_http_exchange_wait(&r->x);
    if (wait_s == 0) return;
    agg_http_answer_error(&r->x.answer, 429, "busy", 429,
                          "too many requests from this address; ask again later");
    r->x.answer.retry_after_s = wait_s;
}

void serve_route_start(serve_request *r, const char *method, const char *url)
{
    r->route = route_of(url);
    if (r->route == ROUTE_NONE) {
        answer_not_found(r, "no such path");
    } else if (!takes(r->route, method)) {
        agg_http_answer_error(&r->x.answer, 405, "method", 405,
                              "this path does not take this method");
        r->x.answer.allow = allowed(r->route);
    } else if (r->route == ROUTE_BATCHES) {
        serve_request_check_sender(r);
        if (r->x.answer.status != 0) count_refusal(r);
    } else if (r->route == ROUTE_SIGN_IN || r->route == ROUTE_SIGN_OUT) {
        sign_in_start(r);
    } else if (r->route != ROUTE_HEALTH) {
        serve_identity_find(r);
    }
    if (r->x.answer.status == 0 && r->person == NULL) count_request(r);
}

// A batch may be sealed on the next day: clocks differ, and midnight comes while it is on its way.
#define DAYS_AHEAD 1u

static void refuse_batch(serve_request *r, agg_err err, uint32_t bad_record)
{
    char message[160];
    if (err == SHOAL_ERR_RECORD) {
        snprintf(message, sizeof message, "record %u: %s", bad_record, shoal_err_text(err));
    } else {
        snprintf(message, sizeof message, "%s", shoal_err_text(err));
    }
    agg_http_answer_error(&r->x.answer, err == SHOAL_ERR_RECIPE_HASH ? 404 : 400,
                          shoal_err_name(err), (int)err, message);
}

// Checks a batch whose recipe is not known: its length and its checksum need no recipe.
static agg_err check_damage(const shoal_batch *batch, const uint8_t *bytes, size_t len)
{
    if (len < batch->size) return SHOAL_ERR_TRUNCATED;
    if (len > batch->size) return SHOAL_ERR_EXTRA;
    size_t body = len - SHOAL_BATCH_TRAILER;
    return load64_le(bytes + body) == shoal_checksum_of(bytes, body) ? SHOAL_OK
                                                                     : SHOAL_ERR_CHECKSUM;
}

// Answers for a batch that could not be kept. Errors that are not the sender's go to the server's
// own log.
static void refuse_put(serve_request *r, const agg_error *error)
{
    if (error->code == SHOAL_ERR_RANGE || error->code == SHOAL_ERR_ARGUMENT) {
        agg_http_answer_fail(&r->x.answer, 400, error);
        return;
    }
    fprintf(stderr, "shoal: serve: %s\n", error->text);
    agg_http_answer_error(&r->x.answer, 503, agg_err_name(error->code), (int)error->code,
                          "the batch could not be kept; send it again");
    r->x.answer.retry_after_s = 10;
}

// Makes a batch durable before it is answered: 201 promises that the batch survives everything
// except the disk's loss.
static void keep_batch(serve_request *r, serve_collection *collection, const shoal_batch *batch)
{
    agg_put put;
    agg_error error;
    int32_t today = (int32_t)(time(NULL) / 86400);
    agg_err err = agg_store_put(r->state->parts.store, &put, &error, collection->number,
                                collection->recipe.recipe, today, batch->id, r->x.body, r->x.len);
    if (err != SHOAL_OK) {
        refuse_put(r, &error);
    } else if (put == AGG_PUT_KNOWN) {
        atomic_fetch_add(&collection->live->counters[COUNT_BATCHES_KNOWN], 1);
        serve_request_answer_text(r, 200, AGG_HTTP_TYPE_JSON, "{\"status\":\"known\"}\n");
    } else {
        atomic_fetch_add(&collection->live->counters[COUNT_BATCHES_STORED], 1);
        atomic_fetch_add(&collection->live->counters[COUNT_RECORDS_STORED], batch->count);
        serve_request_answer_text(r, 201, AGG_HTTP_TYPE_JSON, "{\"status\":\"stored\"}\n");
    }
}

static void answer_batch(serve_request *r)
{
    shoal_batch batch;
    uint32_t bad_record = 0;
    serve_collection *collection = NULL;
    agg_err err =
        r->x.len == 0 ? SHOAL_ERR_TRUNCATED : shoal_batch_peek(&batch, r->x.body, r->x.len);
    if (err == SHOAL_OK) {
        collection = serve_collection_by_hash(&r->set->collections, batch.recipe_hash);
        err = collection != NULL ? agg_batch_open(&batch, r->x.body, r->x.len,
                                                  collection->recipe.recipe, &bad_record)
                                 : check_damage(&batch, r->x.body, r->x.len);
        if (err == SHOAL_OK && collection == NULL) err = SHOAL_ERR_RECIPE_HASH;
        if (err == SHOAL_OK && batch.day > (uint32_t)(time(NULL) / 86400) + DAYS_AHEAD)
            err = SHOAL_ERR_DAY_LATE;
    }
    if (err != SHOAL_OK) {
        refuse_batch(r, err, bad_record);
    } else {
        keep_batch(r, collection, &batch);
    }
    if (r->x.answer.status >= 400) count_refusal(r);
}

static void put_recipe(FILE *stream, const agg_recipe *recipe)
{
    fprintf(stream, "{\"hash\":\"%s\",\"url\":\"" RECIPES "%s\",\"recipe\":", recipe->hash_hex,
            recipe->hash_hex);
    fwrite(recipe->json, 1, recipe->json_len, stream);
    fputc('}', stream);
}

static void answer_recipes(serve_request *r)
{
    const serve_collections *collections = &r->set->collections;
    FILE *stream = agg_http_answer_open(&r->x.answer);
    size_t n = 0;
    if (stream != NULL) {
        fputs("{\"recipes\":[", stream);
        for (size_t i = 0; i < collections->n; i++) {
            if (!serve_person_reads(r->person, i)) continue;
            if (n++ > 0) fputc(',', stream);
            put_recipe(stream, &collections->list[i].recipe);
        }
        fputs("]}\n", stream);
    }
    agg_http_answer_close(&r->x.answer, stream, 200, AGG_HTTP_TYPE_JSON);
}

static void answer_recipe(serve_request *r, const char *hash)
{
    const serve_collections *collections = &r->set->collections;
    for (size_t i = 0; i < collections->n; i++) {
        if (strcmp(collections->list[i].recipe.hash_hex, hash) != 0 ||
            !serve_person_reads(r->person, i))
            continue;
        serve_request_answer_text(r, 200, AGG_HTTP_TYPE_JSON, collections->list[i].recipe.json);
        return;
    }
    agg_http_answer_error(&r->x.answer, 404, shoal_err_name(SHOAL_ERR_RECIPE_HASH),
                          SHOAL_ERR_RECIPE_HASH, "no recipe has this hash");
}

static void write_sum(serve_request *r, const serve_collection *collection,
                      const agg_accumulator *acc)
{
    agg_error error;
    if (acc->n < collection->recipe.recipe->cohort_minimum) {
        serve_collection_say_too_few(&error, collection, time(NULL));
        agg_http_answer_fail(&r->x.answer, 403, &error);
        return;
    }
    FILE *stream = agg_http_answer_open(&r->x.answer);
    if (stream != NULL)
        (void)!agg_accumulator_write(stream, &error, acc); // the stream keeps its failure
    agg_http_answer_close(&r->x.answer, stream, 200, AGG_HTTP_TYPE_BYTES);
}

// Answers with the closed blocks of a sum, for the next round and for other commands: accumulators
// of aggregation "sum" are not files.
static void answer_sum(serve_request *r, const char *id)
{
    const serve_collection *collection = serve_request_collection(r, id);
    if (collection == NULL || collection->recipe.recipe->aggregation != SHOAL_AGGREGATION_SUM) {
        answer_not_found(r, "no recipe of aggregation \"sum\" has this id");
        return;
    }
    serve_question_read_span(r);
    if (r->x.answer.status != 0) return;
    agg_accumulator acc;
    agg_released released;
    agg_error error;
    agg_err err = agg_store_load(r->state->parts.store, &acc, &released, &error, collection->number,
                                 collection->recipe.recipe, r->job.span);
    if (err == SHOAL_OK) {
        err = agg_store_claim(r->state->parts.store, &acc, &error, collection->number, &released,
                              r->job.span);
        if (err != SHOAL_OK) agg_accumulator_release(&acc);
    }
    if (err == SHOAL_OK) {
        write_sum(r, collection, &acc);
        if (r->x.answer.status == 200) serve_job_note_blocks(&r->job, collection, &released);
        agg_accumulator_release(&acc);
    } else {
        fprintf(stderr, "shoal: serve: sum of %s: %s\n", collection->recipe.id, error.text);
        agg_http_answer_error(&r->x.answer, 503, agg_err_name(err), (int)err,
                              "the sum could not be read");
    }
}

// Tells only whether somebody should look, because everybody may ask.
static void answer_health(serve_request *r)
{
    const serve_collections *collections = &r->set->collections;
    if (agg_watch_is_damaged(r->state->parts.watch)) {
        serve_request_answer_text(r, 503, AGG_HTTP_TYPE_JSON, "{\"status\":\"damaged\"}\n");
        return;
    }
    for (size_t i = 0; i < collections->n; i++) {
        if (!atomic_load(&collections->list[i].live->is_fold_failing)) continue;
        serve_request_answer_text(r, 503, AGG_HTTP_TYPE_JSON, "{\"status\":\"fold-failing\"}\n");
        return;
    }
    serve_request_answer_text(r, 200, AGG_HTTP_TYPE_JSON,
                              serve_sets_reloads(r->state->parts.sets).is_refused
                                  ? "{\"status\":\"ok\",\"reload\":\"refused\"}\n"
                                  : "{\"status\":\"ok\"}\n");
}

// Returns: what the audit log calls a question of a route; NULL for what it does not log.
static const char *question_of(route which)
{
    switch (which) {
    case ROUTE_RESULTS: return "result";
    case ROUTE_SUM: return "sum";
    case ROUTE_PAGE_ALL:
    case ROUTE_PAGE_ONE: return "page";
    case ROUTE_METRICS: return "metrics";
    case ROUTE_DELIVERY: return "delivery";
    case ROUTE_BOOKS:
    case ROUTE_BOOKS_ONE: return "books";
    case ROUTE_BOOKS_LOG: return "audit-log";
    case ROUTE_SIGN_IN: return "sign-in";
    case ROUTE_SIGN_OUT: return "sign-out";
    default: return NULL;
    }
}

// Returns: what a question for a view of one collection is called; NULL where it asks for none.
static const char *view_of(const serve_request *r)
{
    const char *view = agg_http_exchange_argument(&r->x, "view");
    if (view == NULL || (r->route != ROUTE_RESULTS && r->route != ROUTE_PAGE_ONE)) return NULL;
    const serve_view_kind *kind = serve_view_named(view);
    if (kind != NULL) return kind->name;
    return strcmp(view, "rounds") == 0 ? "rounds" : NULL;
}

static void copy_argument(char out[AGG_AUDIT_TEXT_MAX], const serve_request *r, const char *name)
{
    const char *text = agg_http_exchange_argument(&r->x, name);
    snprintf(out, AGG_AUDIT_TEXT_MAX, "%s", text == NULL ? "" : text);
}

// Notes what was asked, as it was asked, also where it is refused.
static void note_question(serve_request *r, const char *url)
{
    const char *id = r->route == ROUTE_RESULTS     ? url + strlen(RESULTS)
                     : r->route == ROUTE_SUM       ? url + strlen(SUMS)
                     : r->route == ROUTE_PAGE_ONE  ? url + strlen(PAGES)
                     : r->route == ROUTE_BOOKS_ONE ? url + strlen(BOOKS)
                                                   : "";
    const char *from = agg_http_exchange_argument(&r->x, "from"),
               *to = agg_http_exchange_argument(&r->x, "to");
    r->entry.what = view_of(r);
    if (r->entry.what == NULL) r->entry.what = question_of(r->route);
    if (r->route == ROUTE_METRICS || r->route == ROUTE_DELIVERY || r->route == ROUTE_SIGN_IN ||
        r->route == ROUTE_SIGN_OUT)
        return;
    snprintf(r->entry.collection, sizeof r->entry.collection, "%s", id);
    copy_argument(r->entry.dictionary, r, "dictionary");
    copy_argument(r->entry.value, r, "value");
    copy_argument(r->entry.span, r, r->route == ROUTE_BOOKS_LOG ? "day" : "period");
    if (r->entry.span[0] == '\0' && (from != NULL || to != NULL))
        snprintf(r->entry.span, sizeof r->entry.span, "%.32s..%.32s", from == NULL ? "" : from,
                 to == NULL ? "" : to);
}

// Answers a question that leaves a line in the audit log. A result's comes later, from its thread.
static void answer_question(serve_request *r, const char *url)
{
    bool is_logged = true;
    switch (r->route) {
    case ROUTE_RESULTS: serve_question_ask(r, url + strlen(RESULTS)); break;
    case ROUTE_PAGE_ALL: serve_question_ask(r, NULL); break;
    case ROUTE_PAGE_ONE: serve_question_ask(r, url + strlen(PAGES)); break;
    case ROUTE_SUM: answer_sum(r, url + strlen(SUMS)); break;
    case ROUTE_METRICS: serve_metrics_answer(r); break;
    case ROUTE_DELIVERY: delivery_page_answer(r); break;
    case ROUTE_BOOKS: books_page_answer(r); break;
    case ROUTE_BOOKS_LOG: audit_page_answer(r); break;
    case ROUTE_BOOKS_ONE: books_page_answer_one(r, url + strlen(BOOKS)); break;
    case ROUTE_SIGN_IN: is_logged = sign_in_answer(r); break;
    default: is_logged = sign_out_answer(r); break;
    }
    if (is_logged && !r->is_held) serve_request_conclude(r);
}

// Live counts are for who administers. To everybody else the page does not exist.
static bool is_hidden(const serve_request *r)
{
    return r->route == ROUTE_DELIVERY && (serve_request_role(r) & SERVE_ADMINISTERS) == 0;
}

// Results are for readers alone.
static bool is_result(route which)
{
    return which == ROUTE_RESULTS || which == ROUTE_SUM || which == ROUTE_PAGE_ALL ||
           which == ROUTE_PAGE_ONE;
}

void serve_route_answer(serve_request *r, const char *url)
{
    if (is_hidden(r)) r->route = ROUTE_NONE;
    if (question_of(r->route) != NULL) {
        note_question(r, url);
        if (is_result(r->route)) serve_identity_check(r, SERVE_READS);
        if (r->x.answer.status == 0)
            answer_question(r, url);
        else
            serve_request_conclude(r);
        return;
    }
    switch (r->route) {
    case ROUTE_BATCHES: answer_batch(r); break;
    case ROUTE_RECIPES: answer_recipes(r); break;
    case ROUTE_RECIPE: answer_recipe(r, url + strlen(RECIPES)); break;
    case ROUTE_SCRIPT:
        serve_request_answer_text(r, 200, AGG_HTTP_TYPE_SCRIPT, refresh_script);
        break;
    case ROUTE_CHART: serve_chart_answer(&r->x.answer); break;
    case ROUTE_HEALTH: answer_health(r); break;
    default: answer_not_found(r, "no such path"); break;
    }
}
