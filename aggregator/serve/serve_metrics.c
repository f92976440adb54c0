// SPDX-License-Identifier: Apache-2.0
// Metrics; see serve_metrics.h.
#include "serve_metrics.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "http_metrics.h"
#include "memory_option.h"
#include "recipe.h"
#include "serve_alarms.h"

static const char *const refusal_names[REFUSAL_COUNT] = {
    "unauthorized", "content-type", "too-large", "recipe-hash", "damaged", "busy"};

static void put_help(FILE *stream, const char *name, const char *help, const char *type)
{
    char full[64];
    snprintf(full, sizeof full, "shoal_%s", name);
    agg_metrics_head(stream, full, type, help);
}

// Returns: whether the metrics of a collection are shown to whoever asks. Who administers sees
// every collection, and who reads those that it may read.
static bool shows(const serve_request *r, size_t collection)
{
    return (serve_request_role(r) & SERVE_ADMINISTERS) != 0 ||
           serve_person_reads(r->person, collection);
}

// Writes one line for each collection. The alphabet of recipe ids needs no escaping.
static void put_lines(FILE *stream, const serve_collections *collections, const char *name,
                      const char *labels, serve_counter counter)
{
    for (size_t i = 0; i < collections->n; i++) {
        const serve_collection *one = &collections->list[i];
        fprintf(stream, "shoal_%s{recipe=\"%s\"%s} %llu\n", name, one->recipe.id, labels,
                (unsigned long long)atomic_load(&one->live->counters[counter]));
    }
}

static void put_traffic(FILE *stream, const serve_request *r)
{
    const serve_state *state = r->state;
    const serve_collections *c = &r->set->collections;
    put_help(stream, "batches_total", "Batches acknowledged since the start.", "counter");
    put_lines(stream, c, "batches_total", ",status=\"stored\"", COUNT_BATCHES_STORED);
    put_lines(stream, c, "batches_total", ",status=\"known\"", COUNT_BATCHES_KNOWN);
    put_help(stream, "records_total", "Records of stored batches since the start.", "counter");
    put_lines(stream, c, "records_total", "", COUNT_RECORDS_STORED);
    put_help(stream, "folds_total", "Folds that took batches, since the start.", "counter");
    put_lines(stream, c, "folds_total", "", COUNT_FOLDS);
    put_help(stream, "fold_failures_total", "Folds that failed, since the start.", "counter");
    put_lines(stream, c, "fold_failures_total", "", COUNT_FOLD_FAILURES);
    put_help(stream, "batches_refused_total", "Batches refused since the start.", "counter");
    for (int i = 0; i < REFUSAL_COUNT; i++) {
        fprintf(stream, "shoal_batches_refused_total{reason=\"%s\"} %llu\n", refusal_names[i],
                (unsigned long long)atomic_load(&state->refused[i]));
    }
    put_help(stream, "results_total", "Results asked for since the start.", "counter");
    fprintf(stream, "shoal_results_total %llu\n", (unsigned long long)atomic_load(&state->results));
}

static void put_gauge(FILE *stream, const serve_request *r, const agg_store_stats *stats,
                      const char *name, const char *help, size_t offset)
{
    const serve_collections *collections = &r->set->collections;
    put_help(stream, name, help, "gauge");
    for (size_t i = 0; i < collections->n; i++) {
        if (!shows(r, i)) continue;
        uint64_t value;
        memcpy(&value, (const char *)&stats[i] + offset, sizeof value);
        fprintf(stream, "shoal_%s{recipe=\"%s\"} %llu\n", name, collections->list[i].recipe.id,
                (unsigned long long)value);
    }
}

// Live counts: they move with every batch, so a reader who watched them would see single reports.
static void put_live(FILE *stream, const serve_request *r, const agg_store_stats *stats)
{
    put_gauge(stream, r, stats, "store_batches", "Batches ever acknowledged.",
              offsetof(agg_store_stats, batches));
    put_gauge(stream, r, stats, "store_waiting_batches", "Batches that are not folded yet.",
              offsetof(agg_store_stats, waiting_batches));
    put_gauge(stream, r, stats, "store_waiting_bytes", "Bytes of batches that are not folded yet.",
              offsetof(agg_store_stats, waiting_bytes));
    put_gauge(stream, r, stats, "store_records", "Records folded.",
              offsetof(agg_store_stats, records));
    put_help(stream, "audit_lines", "Lines of the audit log.", "gauge");
    fprintf(stream, "shoal_audit_lines %llu\n",
            (unsigned long long)agg_audit_log_lines(r->state->parts.audit));
}

static void put_reloads(FILE *stream, const serve_request *r)
{
    serve_reloads reloads = serve_sets_reloads(r->state->parts.sets);
    put_help(stream, "configuration_time_seconds", "When the configuration in force was loaded.",
             "gauge");
    fprintf(stream, "shoal_configuration_time_seconds %lld\n", (long long)reloads.since_s);
    put_help(stream, "reloads_total", "Reloads of the configuration since the start.", "counter");
    fprintf(stream, "shoal_reloads_total{outcome=\"taken\"} %llu\n",
            (unsigned long long)reloads.taken);
    fprintf(stream, "shoal_reloads_total{outcome=\"refused\"} %llu\n",
            (unsigned long long)reloads.refused);
    put_help(stream, "reload_refused", "Whether the last reload was refused; the log says why.",
             "gauge");
    fprintf(stream, "shoal_reload_refused %d\n", reloads.is_refused);
}

typedef double (*number_of)(const serve_collection *one);

static double minimum_of(const serve_collection *one)
{
    return (double)one->recipe.recipe->block_minimum;
}

static double tick_of(const serve_collection *one)
{
    return one->tick_s;
}

static double expiry_of(const serve_collection *one)
{
    return ((double)one->recipe.recipe->expires_day + 1) * 86400;
}

static double failing_of(const serve_collection *one)
{
    return atomic_load(&one->live->is_fold_failing);
}

static void put_each(FILE *stream, const serve_request *r, const char *name, const char *help,
                     number_of number)
{
    const serve_collections *all = &r->set->collections;
    put_help(stream, name, help, "gauge");
    for (size_t i = 0; i < all->n; i++)
        fprintf(stream, "shoal_%s{recipe=\"%s\"} %.17g\n", name, all->list[i].recipe.id,
                number(&all->list[i]));
}

// What monitoring holds the counts against, and the state of the process and its disk.
static void put_state(FILE *stream, const serve_request *r)
{
    put_each(stream, r, "fold_failing", "Whether the last fold failed: 1 if so.", failing_of);
    put_each(stream, r, "block_minimum_records", "Records that a block must hold to close.",
             minimum_of);
    put_each(stream, r, "block_tick_seconds", "Seconds between ticks.", tick_of);
    put_each(stream, r, "recipe_expires_timestamp_seconds",
             "When the last day of the recipe ends, in seconds since 1970.", expiry_of);
    put_help(stream, "store_damaged", "Whether the last look for damage found some: 1 if so.",
             "gauge");
    fprintf(stream, "shoal_store_damaged %d\n", agg_watch_is_damaged(r->state->parts.watch));
    agg_metrics_free(stream, "shoal_store_free_bytes", r->set->config.store);
    put_help(stream, "memory_limit_bytes", "Memory that the server takes at most, as it says.",
             "gauge");
    fprintf(stream, "shoal_memory_limit_bytes %llu\n",
            (unsigned long long)(atomic_load(&r->set->plan.bytes) + CLI_PROGRAM_BYTES));
    agg_metrics_process(stream);
}

// What readers see: closed blocks, and ticks, which are the clock's and the recipe's. Nothing that
// waits moves it.
static void put_released(FILE *stream, const serve_request *r, const agg_store_stats *stats)
{
    const serve_collections *c = &r->set->collections;
    put_gauge(stream, r, stats, "store_released_records", "Records that results may be made of.",
              offsetof(agg_store_stats, released));
    put_gauge(stream, r, stats, "store_blocks", "Blocks closed.",
              offsetof(agg_store_stats, blocks));
    put_help(stream, "alarm",
             "Whether closed blocks have what honest devices would not bring about: 1 if so.",
             "gauge");
    for (size_t i = 0; i < c->n; i++)
        if (shows(r, i)) serve_alarms_put(stream, &c->list[i]);
    put_help(stream, "store_next_tick_timestamp_seconds",
             "When a block may close next, in seconds since 1970.", "gauge");
    for (size_t i = 0; i < c->n; i++) {
        if (!shows(r, i)) continue;
        fprintf(stream, "shoal_store_next_tick_timestamp_seconds{recipe=\"%s\"} %lld\n",
                c->list[i].recipe.id,
                (long long)agg_tick_after((int64_t)time(NULL), c->list[i].tick_s));
    }
}

void serve_metrics_answer(serve_request *r)
{
    agg_error error = {.text = "out of memory"};
    agg_store_stats *stats = NULL;
    agg_err err = serve_request_statistics(r, &stats, true, &error);
    if (err != SHOAL_OK) {
        fprintf(stderr, "shoal: serve: metrics: %s\n", error.text);
        agg_http_answer_error(&r->x.answer, 503, agg_err_name(err), (int)err,
                              "the store could not be read");
    } else {
        FILE *stream = agg_http_answer_open(&r->x.answer);
        if (stream != NULL) {
            if ((serve_request_role(r) & SERVE_ADMINISTERS) != 0) {
                put_traffic(stream, r);
                agg_http_exchange_print_turned(stream, &r->x, "shoal");
                put_reloads(stream, r);
                put_live(stream, r, stats);
                put_state(stream, r);
            }
            put_released(stream, r, stats);
        }
        agg_http_answer_close(&r->x.answer, stream, 200, AGG_HTTP_TYPE_METRICS);
    }
    free(stats);
}
