// SPDX-License-Identifier: Apache-2.0
// Metrics of leader and helper; see dap_metrics.h.
#include "dap_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

static void put_help(FILE *stream, const char *name, const char *help, const char *type)
{
    fprintf(stream, "# HELP shoal_dap_%s %s\n# TYPE shoal_dap_%s %s\n", name, help, name, type);
}

// Writes one line for each task. The alphabet of task names needs no escaping.
static void put_number(FILE *stream, const agg_dap_served *task, const char *name,
                       const char *label, uint64_t number)
{
    fprintf(stream, "shoal_dap_%s{task=\"%s\",id=\"%s\"%s} %llu\n", name, task->name, task->id_text,
            label, (unsigned long long)number);
}

static void put_counters(FILE *stream, const agg_dap_party *party)
{
    static const struct {
        const char *name, *help;
        size_t offset;
    } counters[] = {
        {"reports_uploaded_total", "Reports taken from clients since the start.",
         offsetof(agg_dap_served, uploaded)},
        {"reports_aggregated_total", "Reports added to sums since the start.",
         offsetof(agg_dap_served, aggregated)},
        {"jobs_total", "Aggregation jobs done since the start.", offsetof(agg_dap_served, jobs)},
        {"batches_collected_total", "Batches given out since the start.",
         offsetof(agg_dap_served, collected)},
    };
    for (size_t c = 0; c < sizeof counters / sizeof *counters; c++) {
        put_help(stream, counters[c].name, counters[c].help, "counter");
        for (size_t i = 0; i < party->n_tasks; i++) {
            const char *at = (const char *)&party->tasks[i] + counters[c].offset;
            put_number(stream, &party->tasks[i], counters[c].name, "",
                       atomic_load((const atomic_ullong *)(const void *)at));
        }
    }
    put_help(stream, "reports_refused_total", "Reports refused since the start.", "counter");
    for (size_t i = 0; i < party->n_tasks; i++) {
        for (uint32_t error = 1; error < AGG_DAP_ERRORS; error++) {
            char label[64];
            snprintf(label, sizeof label, ",reason=\"%s\"", shoal_dap_report_error_name(error));
            put_number(stream, &party->tasks[i], "reports_refused_total", label,
                       atomic_load(&party->tasks[i].refused[error]));
        }
    }
}

static void put_gauges(FILE *stream, const agg_dap_party *party, const agg_dap_counts *counts)
{
    static const struct {
        const char *name, *help;
        size_t offset;
    } gauges[] = {
        {"reports_pending", "Reports that wait to be aggregated.",
         offsetof(agg_dap_counts, pending)},
        {"reports_uncollected", "Reports in sums that were not collected yet.",
         offsetof(agg_dap_counts, aggregated)},
        {"jobs_pending", "Aggregation jobs that the helper has not answered.",
         offsetof(agg_dap_counts, jobs)},
        {"collections_pending", "Collection jobs that wait.",
         offsetof(agg_dap_counts, collections)},
    };
    for (size_t g = 0; g < sizeof gauges / sizeof *gauges; g++) {
        put_help(stream, gauges[g].name, gauges[g].help, "gauge");
        for (size_t i = 0; i < party->n_tasks; i++) {
            uint64_t value;
            memcpy(&value, (const char *)&counts[i] + gauges[g].offset, sizeof value);
            put_number(stream, &party->tasks[i], gauges[g].name, "", value);
        }
    }
    put_help(stream, "task_expires_timestamp_seconds",
             "When the last day of the task ends, in seconds since 1970.", "gauge");
    for (size_t i = 0; i < party->n_tasks; i++) {
        const shoal_dap_task *task = &party->tasks[i].vdaf.task;
        if (task->interval.duration == 0) continue; // it never expires
        put_number(stream, &party->tasks[i], "task_expires_timestamp_seconds", "",
                   (task->interval.start + task->interval.duration) * task->time_precision_s);
    }
    put_help(stream, "helper_failing", "Whether the last exchange with the helper failed.",
             "gauge");
    for (size_t i = 0; i < party->n_tasks; i++)
        put_number(stream, &party->tasks[i], "helper_failing", "",
                   atomic_load(&party->tasks[i].is_failing) != 0);
}

static agg_err count_all(agg_dap_counts *counts, agg_error *error, const agg_dap_party *party)
{
    agg_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; err == SHOAL_OK && i < party->n_tasks; i++)
        err = agg_dap_count(party->store, &counts[i], error, party->tasks[i].number);
    agg_dap_abandon(party->store); // the transaction only read
    return err;
}

agg_err agg_dap_metrics_print(FILE *stream, agg_error *error, const agg_dap_party *party)
{
    agg_dap_counts *counts = agg_alloc(error, party->n_tasks, sizeof *counts);
    if (counts == NULL) return AGG_ERR_MEMORY;
    agg_err err = count_all(counts, error, party);
    if (err == SHOAL_OK) {
        put_counters(stream, party);
        put_gauges(stream, party, counts);
    }
    free(counts);
    return err;
}
