// SPDX-License-Identifier: Apache-2.0
// Prints the surface of apple-2017 Figure 4b; see trade_off_print.h.
#include "trade_off_print.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "print_text.h"
#include "table_write.h"

static void print_table(FILE *stream, const agg_trade_off *s)
{
    fprintf(stream,
            "%s, epsilon %g, %.0f reports, %s over %.0f values: standard deviation of a rare "
            "value's count\n\n",
            s->mechanism->name, s->wish->eps_micro / 1e6, s->n, s->wish->law_name,
            s->wish->law.n_values);
    fputs("    k \\ m", stream);
    for (uint32_t i = 0; i < AGG_TRADE_OFF_SIDE; i++) fprintf(stream, "%9u", s->parts[0][i].m);
    fputc('\n', stream);
    for (uint32_t row = 0; row < AGG_TRADE_OFF_SIDE; row++) {
        fprintf(stream, "%9u", s->parts[row][0].k);
        for (uint32_t i = 0; i < AGG_TRADE_OFF_SIDE; i++)
            if (isnan(s->error[row][i]))
                fputs("        -", stream);
            else
                fprintf(stream, "%9.0f", s->error[row][i]);
        fputc('\n', stream);
    }
}

// The rows are the points of the surface, k by k. Points without an error are left out.
static bool read_row(agg_cell *cells, void *source, size_t row)
{
    const agg_trade_off *s = source;
    size_t at_k = row / AGG_TRADE_OFF_SIDE, at_m = row % AGG_TRADE_OFF_SIDE;
    const shoal_part *part = &s->parts[at_k][at_m];
    if (isnan(s->error[at_k][at_m])) return false;
    cells[0].whole = part->k;
    cells[1].whole = part->m;
    cells[2].number = agg_trade_off_bits(part);
    cells[3].whole = (uint64_t)(4.0 * part->k * (part->m + 1.0));
    cells[4].number = s->error[at_k][at_m];
    return true;
}

static void make_table(agg_table *table, const agg_trade_off *s)
{
    static const agg_column columns[] = {
        AGG_COLUMN("k", AGG_COLUMN_WHOLE, "rows"),
        AGG_COLUMN("m", AGG_COLUMN_WHOLE, "columns"),
        {.name = {"record_bits", 11}, .kind = AGG_COLUMN_NUMBER, .digits = 6, .unit = "bits"},
        AGG_COLUMN("sketch_bytes", AGG_COLUMN_WHOLE, "bytes"),
        {.name = {"stderr", 6},
         .kind = AGG_COLUMN_NUMBER,
         .digits = AGG_DIGITS_SHORTEST,
         .unit = "reports"}};
    *table = (agg_table){.n_rows = (size_t)AGG_TRADE_OFF_SIDE * AGG_TRADE_OFF_SIDE,
                         .source = (void *)(uintptr_t)s,
                         .read = read_row};
    agg_table_add(table, columns, sizeof columns / sizeof columns[0]);
    agg_table_state(table, "schema", "1");
    agg_table_state(table, "mechanism", s->mechanism->name);
    agg_table_state_number(table, "epsilon", s->wish->eps_micro / 1e6);
    agg_table_state_number(table, "reports", s->n);
    agg_table_state(table, "law", s->wish->law_name);
}

static void print_json(FILE *stream, const agg_trade_off *s, const agg_table *table)
{
    fprintf(stream, "{\"schema\":1,\"mechanism\":\"%s\",\"epsilon\":%g,\"reports\":%.0f,\"law\":",
            s->mechanism->name, s->wish->eps_micro / 1e6, s->n);
    agg_print_json_text(stream, s->wish->law_name, strlen(s->wish->law_name));
    fputs(",\"rows\":[", stream);
    agg_table_print_json_rows(stream, table, "\n", ",\n", "");
    fputs("\n]}\n", stream);
}

agg_err agg_trade_off_print(FILE *stream, agg_error *error, const agg_trade_off *surface,
                            agg_trade_off_format format)
{
    static const agg_format formats[] = {
        [AGG_TRADE_OFF_CSV] = AGG_CSV, [AGG_TRADE_OFF_ARROW] = AGG_ARROW};
    agg_table table;
    make_table(&table, surface);
    if (format == AGG_TRADE_OFF_TABLE) print_table(stream, surface);
    if (format == AGG_TRADE_OFF_JSON) print_json(stream, surface, &table);
    if (format == AGG_TRADE_OFF_SVG) agg_trade_off_svg(stream, surface);
    return agg_table_write(stream, error, &table, formats[format]);
}
