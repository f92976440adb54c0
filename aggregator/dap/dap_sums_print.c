// SPDX-License-Identifier: Apache-2.0
// Printed sums; see dap_sums_print.h.
#include "dap_sums_print.h"

#include <string.h>

#include "dap_vdaf.h"
#include "table_write.h"

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

static bool read_row(agg_cell *cells, void *source, size_t i)
{
    const agg_dap_result *b = source;
    cells[0].whole = i;
    cells[1].whole = b->collected.sums[i];
    return true;
}

static void make_table(agg_table *table, const agg_dap_result *b)
{
    static const agg_column columns[] = {AGG_COLUMN("index", AGG_COLUMN_WHOLE, NULL),
                                         AGG_COLUMN("sum", AGG_COLUMN_WHOLE, NULL)};
    *table = (agg_table){
        .n_rows = b->collected.n_sums, .source = (void *)(uintptr_t)b, .read = read_row};
    agg_table_add(table, columns, 2);
    agg_table_state(table, "schema", "1");
    agg_table_state(table, "task_id", b->task->id_text);
    agg_table_state(table, "label", AGG_DAP_EXACT_LABEL);
    agg_table_state(table, "vdaf", agg_dap_vdaf_name(&b->task->task));
    agg_table_state_whole(table, "n", b->collected.n_reports);
    agg_table_state(table, "from", b->from);
    agg_table_state(table, "to", b->to);
}

agg_err agg_dap_sums_print(FILE *stream, agg_error *error, const agg_dap_result *batch,
                           agg_format format)
{
    agg_table table;
    make_table(&table, batch);
    if (format == AGG_JSON) print_json(stream, batch);
    if (format == AGG_TABLE) print_table(stream, batch);
    return agg_table_write(stream, error, &table, format);
}
