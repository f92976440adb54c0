// SPDX-License-Identifier: Apache-2.0
// Printed sums; see dap_sums_print.h.
#include "dap_sums_print.h"

#include <string.h>

#include "dap_noise.h"
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

static bool has_noise(const agg_dap_result *b)
{
    return b->task->task.noise.kind != SHOAL_DAP_NOISE_NONE;
}

// Returns: a sum of a task with noise, which may be below zero.
static int64_t noisy_sum(const agg_dap_result *b, size_t i)
{
    return ((const int64_t *)b->collected.sums)[i]; // the signed type of the same object
}

static void print_sum(FILE *stream, const agg_dap_result *b, size_t i, int width)
{
    if (has_noise(b))
        fprintf(stream, "%*lld", width, (long long)noisy_sum(b, i));
    else
        fprintf(stream, "%*llu", width, (unsigned long long)b->collected.sums[i]);
}

static void print_noise_json(FILE *stream, const agg_dap_result *b)
{
    agg_dap_noise_claim claim;
    agg_dap_noise_claim_of(&claim, b->task);
    fprintf(stream, ",\"noise\":{\"type\":\"%s\",\"epsilon\":", claim.type);
    agg_print_number(stream, claim.epsilon);
    fputs(",\"delta\":", stream);
    agg_print_number(stream, claim.delta);
    fputs(",\"standard_error\":", stream);
    agg_print_number(stream, claim.standard_error);
    fprintf(stream, ",\"within_95\":%lld}", (long long)claim.reach);
}

static void print_json(FILE *stream, const agg_dap_result *b)
{
    char label[AGG_DAP_LABEL_MAX];
    agg_dap_noise_label(label, b->task);
    fputs("{\"schema\":1,\"task\":", stream);
    agg_print_json_text(stream, b->task->info, strlen(b->task->info));
    fprintf(stream,
            ",\"task_id\":\"%s\",\"label\":\"%s\",\"vdaf\":\"%s\",\"n\":%llu,\"from\":\"%s\","
            "\"to\":\"%s\",\"sums\":[",
            b->task->id_text, label, agg_dap_vdaf_name(&b->task->task),
            (unsigned long long)b->collected.n_reports, b->from, b->to);
    for (size_t i = 0; i < b->collected.n_sums; i++) {
        if (i > 0) fputc(',', stream);
        print_sum(stream, b, i, 0);
    }
    fputc(']', stream);
    if (has_noise(b)) print_noise_json(stream, b);
    fputs("}\n", stream);
}

static void print_table(FILE *stream, const agg_dap_result *b)
{
    agg_dap_noise_claim claim = {.reach = 0};
    if (has_noise(b)) agg_dap_noise_claim_of(&claim, b->task);
    fputs("task    ", stream);
    agg_print_terminal_text(stream, b->task->info, strlen(b->task->info));
    fprintf(stream, " (%s)\nreports %llu, from %s to %s\n        ",
            agg_dap_vdaf_name(&b->task->task), (unsigned long long)b->collected.n_reports, b->from,
            b->to);
    agg_dap_noise_print_label(stream, b->task);
    fputs("\n\nindex                  sum", stream);
    fputs(has_noise(b) ? "      95 % within\n" : "\n", stream);
    for (size_t i = 0; i < b->collected.n_sums; i++) {
        fprintf(stream, "%5zu ", i);
        print_sum(stream, b, i, 20);
        if (has_noise(b)) fprintf(stream, " +-%14lld", (long long)claim.reach);
        fputc('\n', stream);
    }
}

static bool read_row(agg_cell *cells, void *source, size_t i)
{
    const agg_dap_result *b = source;
    cells[0].whole = i;
    cells[1].whole = b->collected.sums[i];
    return true;
}

// The source of rows with noise.
typedef struct noisy_rows {
    const agg_dap_result *batch;
    agg_dap_noise_claim claim;
} noisy_rows;

static bool read_noisy_row(agg_cell *cells, void *source, size_t i)
{
    const noisy_rows *rows = source;
    double sum = (double)noisy_sum(rows->batch, i), reach = (double)rows->claim.reach;
    cells[0].whole = i;
    cells[1].number = sum;
    cells[2].number = rows->claim.standard_error;
    cells[3].number = sum - reach;
    cells[4].number = sum + reach;
    return true;
}

// A whole number that may be below zero: all of its digits.
#define WHOLE_COLUMN(text)                                                                         \
    {                                                                                              \
        .name = {(text), sizeof(text) - 1}, .kind = AGG_COLUMN_NUMBER,                             \
        .digits = AGG_DIGITS_SHORTEST                                                              \
    }

static void make_table(agg_table *table, const agg_dap_result *b, noisy_rows *noisy)
{
    static const agg_column columns[] = {AGG_COLUMN("index", AGG_COLUMN_WHOLE, NULL),
                                         AGG_COLUMN("sum", AGG_COLUMN_WHOLE, NULL)};
    static const agg_column noisy_columns[] = {
        AGG_COLUMN("index", AGG_COLUMN_WHOLE, NULL), WHOLE_COLUMN("sum"),
        AGG_COLUMN("standard_error", AGG_COLUMN_NUMBER, NULL), WHOLE_COLUMN("low"),
        WHOLE_COLUMN("high")};
    char label[AGG_DAP_LABEL_MAX];
    *table = (agg_table){.n_rows = b->collected.n_sums};
    if (has_noise(b)) {
        table->source = noisy;
        table->read = read_noisy_row;
        agg_table_add(table, noisy_columns, 5);
    } else {
        table->source = (void *)(uintptr_t)b;
        table->read = read_row;
        agg_table_add(table, columns, 2);
    }
    agg_dap_noise_label(label, b->task);
    agg_table_state(table, "schema", "1");
    agg_table_state(table, "task_id", b->task->id_text);
    agg_table_state(table, "label", label);
    agg_table_state(table, "vdaf", agg_dap_vdaf_name(&b->task->task));
    agg_table_state_whole(table, "n", b->collected.n_reports);
    agg_table_state(table, "from", b->from);
    agg_table_state(table, "to", b->to);
}

agg_err agg_dap_sums_print(FILE *stream, agg_error *error, const agg_dap_result *batch,
                           agg_format format)
{
    agg_table table;
    noisy_rows noisy = {.batch = batch};
    if (has_noise(batch)) agg_dap_noise_claim_of(&noisy.claim, batch->task);
    make_table(&table, batch, &noisy);
    if (format == AGG_JSON) print_json(stream, batch);
    if (format == AGG_TABLE) print_table(stream, batch);
    return agg_table_write(stream, error, &table, format);
}
