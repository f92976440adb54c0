// SPDX-License-Identifier: Apache-2.0
// Prints distributions; see distribution_print.h.
#include "distribution_print.h"

#include <math.h>
#include <string.h>

#include "table_write.h"

#define BAR_MAX 30 // characters of the longest bar

// ---- rows ----

static bool read_quantile(agg_cell *cells, void *source, size_t i)
{
    const agg_distribution *d = source;
    const agg_quantile *q = &d->quantiles[i];
    const double numbers[] = {q->p, q->value, q->low, q->high};
    for (size_t c = 0; c < 4; c++) cells[c].number = numbers[c];
    for (size_t c = 1; c < 4; c++) cells[c].error = (q->high - q->low) / 4;
    return true;
}

static void read_bin(agg_cell *cells, const agg_distribution_bin *b, bool has_from)
{
    const double numbers[] = {b->from, b->to, b->share, b->stderr_, b->low, b->high};
    for (size_t i = has_from ? 0 : 1; i < 6; i++, cells++) {
        cells->number = numbers[i];
        if (i > 1) cells->error = b->stderr_;
    }
}

static bool read_histogram(agg_cell *cells, void *source, size_t i)
{
    const agg_distribution *d = source;
    read_bin(cells, &d->bins[i], true);
    return true;
}

static bool read_step(agg_cell *cells, void *source, size_t i)
{
    const agg_distribution *d = source;
    read_bin(cells, &d->steps[i], false);
    return true;
}

static void add_numbers(agg_table *table, const char *const names[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const agg_column column = {.name = {names[i], strlen(names[i])},
                                   .kind = AGG_COLUMN_NUMBER,
                                   .may_be_missing = true};
        agg_table_add(table, &column, 1);
    }
}

static void make_table(agg_table *table, const agg_distribution *d, agg_distribution_rows rows)
{
    static const char *const of_quantiles[] = {"p", "value", "low", "high"};
    static const char *const of_bins[] = {"from", "to", "share", "stderr", "low", "high"};
    static const char *const of_steps[] = {"value", "share", "stderr", "low", "high"};
    *table = (agg_table){.source = (void *)d};
    if (rows == AGG_ROWS_QUANTILES) {
        table->n_rows = d->n_quantiles;
        table->read = read_quantile;
        add_numbers(table, of_quantiles, 4);
    } else if (rows == AGG_ROWS_HISTOGRAM) {
        table->n_rows = d->n_bins;
        table->read = read_histogram;
        add_numbers(table, of_bins, 6);
    } else {
        table->n_rows = d->n_steps;
        table->read = read_step;
        add_numbers(table, of_steps, 5);
    }
}

agg_err agg_distribution_write(FILE *stream, agg_error *error, const agg_distribution *distribution,
                               agg_format format)
{
    agg_table table;
    make_table(&table, distribution, distribution->rows);
    return agg_table_write(stream, error, &table, format);
}

// ---- JSON ----

static void print_rows(FILE *stream, const agg_distribution *d, agg_distribution_rows rows,
                       const char *name)
{
    agg_table table;
    make_table(&table, d, rows);
    fprintf(stream, "\"%s\":[", name);
    agg_table_print_json_rows(stream, &table, "", ",", "");
    fputc(']', stream);
}

void agg_distribution_print_json(FILE *stream, const agg_distribution *distribution)
{
    fputs("\"distribution\":{", stream);
    print_rows(stream, distribution, AGG_ROWS_QUANTILES, "quantiles");
    fputs(",\n", stream);
    print_rows(stream, distribution, AGG_ROWS_HISTOGRAM, "histogram");
    if (distribution->n_steps > 0) {
        fputs(",\n", stream);
        print_rows(stream, distribution, AGG_ROWS_ECDF, "ecdf");
    }
    fputs("},\n", stream);
}

// ---- table ----

static void print_quantiles(FILE *stream, const agg_distribution *d)
{
    fprintf(stream, "\n%-12s  %12s  %12s  %12s\n", "quantile", "value", "low", "high");
    for (size_t i = 0; i < d->n_quantiles; i++) {
        const agg_quantile *q = &d->quantiles[i];
        int decimals = agg_error_decimals((q->high - q->low) / 4);
        char name[AGG_NUMBER_TEXT];
        agg_number_text(name, q->p);
        fprintf(stream, "%-12s", name);
        fprintf(stream, "  %12s", agg_grouped(q->value, decimals).text);
        fprintf(stream, "  %12s", agg_grouped(q->low, decimals).text);
        fprintf(stream, "  %12s\n", agg_grouped(q->high, decimals).text);
    }
}

static void print_bin(FILE *stream, const agg_distribution_bin *b, int decimals, double most)
{
    fprintf(stream, "%12s", agg_grouped(b->from, decimals).text);
    fprintf(stream, "  %12s", agg_grouped(b->to, decimals).text);
    if (!isfinite(b->share)) {
        fputs("  withheld\n", stream);
        return;
    }
    fprintf(stream, "  %7.2f %%  %6.2f  %6.2f", 100 * b->share, 100 * b->low, 100 * b->high);
    int bar = (int)lround(BAR_MAX * b->share / most);
    if (bar > 0) fputs("  ", stream);
    while (bar-- > 0) fputc('#', stream);
    fputc('\n', stream);
}

static void print_histogram(FILE *stream, const agg_distribution *d)
{
    double most = 0;
    for (size_t i = 0; i < d->n_bins; i++) most = fmax(most, d->bins[i].share); // skips NaN
    int decimals = agg_error_decimals((d->bins[0].to - d->bins[0].from) / 10);
    fprintf(stream, "\n%12s  %12s  %9s  %6s  %6s\n", "from", "to", "share", "low", "high");
    for (size_t i = 0; i < d->n_bins; i++) print_bin(stream, &d->bins[i], decimals, most);
    if (d->n_withheld > 0)
        fprintf(stream, "%zu of %zu bins are below the release threshold and were withheld\n",
                d->n_withheld, d->n_bins);
}

void agg_distribution_print(FILE *stream, const agg_distribution *distribution)
{
    if (distribution->n_quantiles > 0) print_quantiles(stream, distribution);
    print_histogram(stream, distribution);
}
