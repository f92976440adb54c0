// SPDX-License-Identifier: Apache-2.0
// Prints the figure as numbers and as plain SVG 1.1; see central_figure.h.
#include "central_figure.h"

#include <math.h>
#include <string.h>

#include "table_write.h"

#define WIDTH 720.0
#define HEIGHT 470.0
#define LEFT 70.0
#define TOP 84.0
#define PLOT_W 440.0
#define PLOT_H 310.0
#define LEAST 0.01 // lower end of the epsilon axis, which is logarithmic
#define MOST 10.0

static const char ink[] = "#1b2733", faint[] = "#5b6b7a", hairline[] = "#d5dce3";
static const char *const colours[AGG_CENTRAL_LINES] = {"#0f5fa6", "#c2410c"};
static const char *const dashes[AGG_GENERAL_BOUNDS] = {"2 4", "8 4", "none"};
static const char *const labels[AGG_GENERAL_BOUNDS] = {"closed form", "clones", "stronger"};

agg_err agg_central_figure_run(agg_central_figure *figure, agg_error *error, double delta)
{
    static const double local[AGG_CENTRAL_LINES] = {3, 6};
    figure->delta = delta;
    for (int i = 0; i < AGG_CENTRAL_SIZES; i++) figure->n[i] = round(pow(10, 2 + i / 4.0));
    for (int line = 0; line < AGG_CENTRAL_LINES; line++) {
        figure->local_epsilon[line] = local[line];
        for (int i = 0; i < AGG_CENTRAL_SIZES; i++)
            for (int bound = 0; bound < AGG_GENERAL_BOUNDS; bound++) {
                const agg_crowd crowd = {local[line], figure->n[i], delta, 1, NULL};
                agg_central central;
                agg_err err = agg_crowd_epsilon(&central, error, &crowd, (agg_bound)bound, false);
                if (err != SHOAL_OK) return err;
                figure->epsilon[line][bound][i] = central.upper;
            }
    }
    return SHOAL_OK;
}

static double x_of(double n)
{
    return LEFT + PLOT_W * (log10(n) - 2) / 4;
}

static double y_of(double epsilon)
{
    double at = log(fmin(fmax(epsilon, LEAST), MOST) / LEAST) / log(MOST / LEAST);
    return TOP + PLOT_H * (1 - at);
}

static void text(FILE *stream, double x, double y, int size, const char *anchor, const char *fill,
                 const char *words)
{
    fprintf(
        stream,
        "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n",
        x, y, size, anchor, fill, words);
}

static void rule(FILE *stream, double x1, double y1, double x2, double y2, const char *stroke,
                 const char *dash)
{
    fprintf(
        stream,
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%s\" "
        "stroke-dasharray=\"%s\"/>\n",
        x1, y1, x2, y2, stroke, stroke == hairline ? "1" : "2", dash);
}

static void draw_axes(FILE *stream)
{
    static const double ticks[] = {0.01, 0.03, 0.1, 0.3, 1, 3, 10};
    static const char *const sizes[] = {"100", "1,000", "10,000", "100,000", "1,000,000"};
    char words[16];
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        rule(stream, LEFT, y_of(ticks[i]), LEFT + PLOT_W, y_of(ticks[i]), hairline, "none");
        snprintf(words, sizeof words, "%g", ticks[i]);
        text(stream, LEFT - 8, y_of(ticks[i]) + 4, 11, "end", ink, words);
    }
    for (int i = 0; i < 5; i++) {
        double x = x_of(pow(10, 2 + i));
        rule(stream, x, TOP, x, TOP + PLOT_H, hairline, "none");
        text(stream, x, TOP + PLOT_H + 18, 11, "middle", ink, sizes[i]);
    }
    text(stream, LEFT + PLOT_W / 2, TOP + PLOT_H + 40, 12, "middle", faint, "cohort size n");
    text(stream, LEFT - 8, TOP - 12, 12, "start", faint, "central epsilon of the cohort's sum");
}

static void draw_line(FILE *stream, const agg_central_figure *f, int line, int bound)
{
    fprintf(stream,
            "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" "
            "points=\"",
            colours[line], dashes[bound]);
    for (int i = 0; i < AGG_CENTRAL_SIZES; i++)
        if (!isnan(f->epsilon[line][bound][i]))
            fprintf(stream, "%.1f,%.1f ", x_of(f->n[i]), y_of(f->epsilon[line][bound][i]));
    fputs("\"/>\n", stream);
}

static void print_svg(FILE *stream, const agg_central_figure *f)
{
    char words[96];
    fprintf(
        stream,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 "
        "%.0f %.0f\" "
        "font-family=\"system-ui, sans-serif\" role=\"img\">\n<title>What the crowd adds</title>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    text(stream, 24, 34, 18, "start", ink,
         "What the crowd adds: central epsilon against cohort size");
    snprintf(words, sizeof words,
             "replacement model, delta %g, n honest reports of which only the sum is seen",
             f->delta);
    text(stream, 24, 54, 13, "start", faint, words);
    draw_axes(stream);
    for (int line = 0; line < AGG_CENTRAL_LINES; line++)
        for (int bound = 0; bound < AGG_GENERAL_BOUNDS; bound++) {
            double y = TOP + 20 + 100 * line + 24 * bound, x = LEFT + PLOT_W + 24;
            draw_line(stream, f, line, bound);
            rule(stream, x, y, x + 30, y, colours[line], dashes[bound]);
            snprintf(words, sizeof words, "epsilon0 %g, %s", f->local_epsilon[line], labels[bound]);
            text(stream, x + 38, y + 4, 12, "start", ink, words);
        }
    fputs("</svg>\n", stream);
}

// ---- rows ----

// The rows are all cohorts of the first line, then those of the second.
static bool read_row(agg_cell *cells, void *source, size_t row)
{
    const agg_central_figure *f = source;
    size_t line = row / AGG_CENTRAL_SIZES, i = row % AGG_CENTRAL_SIZES;
    cells[0].number = f->local_epsilon[line];
    cells[1].whole = (uint64_t)f->n[i];
    for (size_t b = 0; b < AGG_GENERAL_BOUNDS; b++) cells[2 + b].number = f->epsilon[line][b][i];
    return true;
}

static void make_table(agg_table *table, const agg_central_figure *f)
{
    static const agg_column columns[] = {
        {.name = {"local_epsilon", 13}, .kind = AGG_COLUMN_NUMBER, .digits = 6, .unit = "epsilon"},
        AGG_COLUMN("reports", AGG_COLUMN_WHOLE, "reports")};
    *table = (agg_table){.n_rows = (size_t)AGG_CENTRAL_LINES * AGG_CENTRAL_SIZES,
                         .source = (void *)(uintptr_t)f,
                         .read = read_row};
    agg_table_add(table, columns, 2);
    for (size_t b = 0; b < AGG_GENERAL_BOUNDS; b++) {
        const agg_column bound = {.name = {agg_bound_names[b], strlen(agg_bound_names[b])},
                                  .kind = AGG_COLUMN_NUMBER,
                                  .may_be_missing = true,
                                  .digits = 9,
                                  .unit = "epsilon"};
        agg_table_add(table, &bound, 1);
    }
    agg_table_state(table, "schema", "1");
    agg_table_state_number(table, "delta", f->delta);
    agg_table_state(table, "model", "replacement");
}

// ---- JSON and the table ----

static void print_json(FILE *stream, const agg_central_figure *f)
{
    fprintf(stream,
            "{\n  \"delta\": %g,\n  \"model\": \"replacement\",\n  \"assumes\": \"honest "
            "reports of "
            "which only the sum is seen\",\n  \"rows\": [",
            f->delta);
    for (int line = 0; line < AGG_CENTRAL_LINES; line++)
        for (int i = 0; i < AGG_CENTRAL_SIZES; i++) {
            fprintf(stream, "%s\n    {\"local_epsilon\": %g, \"reports\": %.0f",
                    line + i > 0 ? "," : "", f->local_epsilon[line], f->n[i]);
            for (int b = 0; b < AGG_GENERAL_BOUNDS; b++) {
                fprintf(stream, ", \"%s\": ", agg_bound_names[b]);
                if (isnan(f->epsilon[line][b][i]))
                    fputs("null", stream);
                else
                    fprintf(stream, "%.9g", f->epsilon[line][b][i]);
            }
            fputc('}', stream);
        }
    fputs("\n  ]\n}\n", stream);
}

static void print_table(FILE *stream, const agg_central_figure *f)
{
    fprintf(stream,
            "central epsilon at delta %g, replacement model, n honest reports of which "
            "only the sum is seen\nepsilon0         n  "
            "closed_form       clones     "
            "stronger\n",
            f->delta);
    for (int line = 0; line < AGG_CENTRAL_LINES; line++)
        for (int i = 0; i < AGG_CENTRAL_SIZES; i++) {
            fprintf(stream, "%8g %9.0f", f->local_epsilon[line], f->n[i]);
            for (int b = 0; b < AGG_GENERAL_BOUNDS; b++) {
                char words[32] = "-";
                if (!isnan(f->epsilon[line][b][i]))
                    snprintf(words, sizeof words, "%.4f", f->epsilon[line][b][i]);
                fprintf(stream, " %12s", words);
            }
            fputc('\n', stream);
        }
}

agg_err agg_central_figure_print(FILE *stream, agg_error *error, const agg_central_figure *f,
                                 agg_figure_format format)
{
    static const agg_format formats[] = {
        [AGG_FIGURE_CSV] = AGG_CSV, [AGG_FIGURE_ARROW] = AGG_ARROW};
    agg_table table;
    make_table(&table, f);
    if (format == AGG_FIGURE_TABLE) print_table(stream, f);
    if (format == AGG_FIGURE_JSON) print_json(stream, f);
    if (format == AGG_FIGURE_SVG) print_svg(stream, f);
    return agg_table_write(stream, error, &table, formats[format]);
}
