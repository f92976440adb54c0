// SPDX-License-Identifier: Apache-2.0
// Printed sums; see dap_sums_print.h.
#include "dap_sums_print.h"

#include <errno.h>
#include <string.h>

#include "dap_vdaf.h"

void agg_dap_result_name_interval(agg_dap_result *batch)
{
    agg_dap_result *b = batch;
    const uint64_t unit = b->task->task.time_precision_s;
    agg_dap_moment_print(b->from, b->collected.interval.start * unit);
    agg_dap_moment_print(b->to,
                         (b->collected.interval.start + b->collected.interval.duration) * unit);
}

static void print_json(FILE *stream, const agg_dap_result *b)
{
    fputs("{\"schema\":1,\"task\":", stream);
    agg_print_json_text(stream, b->task->info, strlen(b->task->info));
    fprintf(stream,
            ",\"task_id\":\"%s\",\"label\":\"%s\",\"vdaf\":\"%s\",\"n\":%llu,\"from\":\"%s\","
            "\"to\":\"%s\",\"sums\":[",
            b->task->id_text, AGG_DAP_EXACT_LABEL, agg_dap_vdaf_name(&b->task->task),
            (unsigned long long)b->collected.n_reports, b->from, b->to);
    for (size_t i = 0; i < b->collected.n_sums; i++)
        fprintf(stream, "%s%llu", i > 0 ? "," : "", (unsigned long long)b->collected.sums[i]);
    fputs("]}\n", stream);
}

static void print_table(FILE *stream, const agg_dap_result *b)
{
    fputs("task    ", stream);
    agg_print_terminal_text(stream, b->task->info, strlen(b->task->info));
    fprintf(stream,
            " (%s)\nreports %llu, from %s to %s\n        %s\n\nindex                  sum\n",
            agg_dap_vdaf_name(&b->task->task), (unsigned long long)b->collected.n_reports, b->from,
            b->to, AGG_DAP_EXACT_LABEL);
    for (size_t i = 0; i < b->collected.n_sums; i++)
        fprintf(stream, "%5zu %20llu\n", i, (unsigned long long)b->collected.sums[i]);
}

agg_err agg_dap_sums_print(FILE *stream, agg_error *error, const agg_dap_result *batch,
                           agg_format format)
{
    const agg_dap_result *b = batch;
    if (format == AGG_JSON)
        print_json(stream, b);
    else if (format == AGG_TABLE)
        print_table(stream, b);
    else {
        fputs("index,sum\n", stream);
        for (size_t i = 0; i < b->collected.n_sums; i++)
            fprintf(stream, "%zu,%llu\n", i, (unsigned long long)b->collected.sums[i]);
    }
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the sums: %s", strerror(errno));
}
