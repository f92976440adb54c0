// SPDX-License-Identifier: Apache-2.0
// Draws the surface of apple-2017 Figure 4b; see trade_off_print.h: a heat map over m and k with
// its numbers, and one line an m.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "svg.h"
#include "trade_off_print.h"

#define SIDE AGG_TRADE_OFF_SIDE
#define CELL_W 46.0
#define CELL_H 30.0
#define MAP_X 92.0
#define MAP_Y 96.0
#define MAP_W (CELL_W * SIDE)
#define MAP_H (CELL_H * SIDE)
#define LINES_X (MAP_X + MAP_W + 92.0)
#define LINES_W 330.0
#define WIDTH (LINES_X + LINES_W + 36.0)
#define HEIGHT (MAP_Y + MAP_H + 92.0)

static const char ink[] = "#1b2733", faint[] = "#5b6b7a", hairline[] = "#d5dce3";

// Returns: the position of a standard deviation between the least and the most, by its logarithm.
static double place(const agg_trade_off *s, double error)
{
    double span = log(s->most) - log(s->least);
    return span > 0 ? (log(error) - log(s->least)) / span : 0;
}

// Prints three digits: 14.1k, 1.43M.
static void brief(char out[16], double x)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    size_t unit = 0;
    while (x >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        x /= 1000;
        unit++;
    }
    snprintf(out, 16, "%.*f%s", unit == 0 || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2, x, units[unit]);
}

static void text(FILE *stream, double x, double y, double size, const char *anchor,
                 const char *fill, const char *words)
{
    fprintf(stream,
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\" text-anchor=\"%s\" fill=\"%s\">", x, y,
            size, anchor, fill);
    for (const char *at = words; *at != '\0'; at++) {
        if (*at == '<' || *at == '>' || *at == '&')
            fprintf(stream, "&#%d;", *at);
        else
            fputc((unsigned char)*at < 0x20 ? ' ' : *at, stream);
    }
    fputs("</text>\n", stream);
}

static void line(FILE *stream, double x1, double y1, double x2, double y2, double width,
                 const char *stroke)
{
    fprintf(stream,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"%g\"/>\n",
            x1, y1, x2, y2, stroke, width);
}

static double cell_x(uint32_t column)
{
    return MAP_X + CELL_W * column;
}

// Returns: y of a row; large k are on top.
static double cell_y(uint32_t row)
{
    return MAP_Y + CELL_H * (SIDE - 1 - row);
}

static void draw_cell(FILE *stream, const agg_trade_off *s, uint32_t row, uint32_t column)
{
    char words[16] = "-", fill[AGG_SVG_COLOUR];
    double error = s->error[row][column], at = isnan(error) ? 0 : place(s, error);
    agg_svg_shade(fill, at);
    if (isnan(error)) {
        fprintf(stream,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#f4f5f6\"/>\n",
                cell_x(column), cell_y(row), CELL_W, CELL_H);
    } else {
        brief(words, error);
        fprintf(stream,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                cell_x(column), cell_y(row), CELL_W, CELL_H, fill);
    }
    text(stream, cell_x(column) + CELL_W / 2, cell_y(row) + CELL_H / 2 + 4, 11, "middle",
         isnan(error) ? faint
         : at > 0.55  ? "#ffffff"
                      : ink,
         words);
}

static bool is_within(const agg_trade_off *s, uint32_t row, uint32_t column, double level)
{
    return isnan(s->error[row][column]) || s->error[row][column] <= level;
}

// Draws the border of the cells up to a level, as a staircase. Cells without a sketch have no
// border.
static void draw_contour(FILE *stream, const agg_trade_off *s, double level, double width,
                         const char *stroke)
{
    for (uint32_t row = 0; row < SIDE; row++)
        for (uint32_t i = 0; i < SIDE; i++) {
            double x = cell_x(i), y = cell_y(row);
            if (i > 0 && is_within(s, row, i, level) != is_within(s, row, i - 1, level))
                line(stream, x, y, x, y + CELL_H, width, stroke);
            if (row > 0 && is_within(s, row, i, level) != is_within(s, row - 1, i, level))
                line(stream, x, y + CELL_H, x + CELL_W, y + CELL_H, width, stroke);
        }
}

static void draw_map(FILE *stream, const agg_trade_off *s)
{
    char words[96], number[16];
    for (uint32_t row = 0; row < SIDE; row++)
        for (uint32_t i = 0; i < SIDE; i++) draw_cell(stream, s, row, i);
    draw_contour(stream, s, 2 * s->least, 1.5, "#e08a00");
    draw_contour(stream, s, 1.1 * s->least, 2.5, "#c2410c");
    for (uint32_t i = 0; i < SIDE; i++) {
        snprintf(words, sizeof words, "%u", s->parts[0][i].m);
        text(stream, cell_x(i) + CELL_W / 2, MAP_Y + MAP_H + 16, 11, "middle", ink, words);
        snprintf(words, sizeof words, "%u", s->parts[i][0].k);
        text(stream, MAP_X - 8, cell_y(i) + CELL_H / 2 + 4, 11, "end", ink, words);
    }
    char caption[64];
    snprintf(caption, sizeof caption, "m, columns: a record has %s",
             agg_account_of(s->mechanism->id)->paper->bits_text);
    text(stream, MAP_X + MAP_W / 2, MAP_Y + MAP_H + 38, 12, "middle", faint, caption);
    text(stream, MAP_X - 8, MAP_Y - 12, 12, "end", faint, "k, rows");
    brief(number, s->least);
    line(stream, MAP_X, MAP_Y + MAP_H + 58, MAP_X + 26, MAP_Y + MAP_H + 58, 2.5, "#c2410c");
    snprintf(words, sizeof words, "within 10 %% of the least, %s", number);
    text(stream, MAP_X + 34, MAP_Y + MAP_H + 62, 12, "start", ink, words);
    line(stream, MAP_X + 270, MAP_Y + MAP_H + 58, MAP_X + 296, MAP_Y + MAP_H + 58, 1.5, "#e08a00");
    text(stream, MAP_X + 304, MAP_Y + MAP_H + 62, 12, "start", ink, "within twice the least");
}

static double line_x(uint32_t row)
{
    return LINES_X + LINES_W * row / (SIDE - 1);
}

static double line_y(const agg_trade_off *s, double error)
{
    return MAP_Y + MAP_H * (1 - place(s, error));
}

// Draws one line an m, with a label at its start.
static void draw_line(FILE *stream, const agg_trade_off *s, uint32_t column)
{
    char words[32], stroke[AGG_SVG_COLOUR];
    agg_svg_shade(stroke, 0.35 + 0.65 * column / (SIDE - 1));
    fputs("<polyline fill=\"none\" stroke-width=\"2\" points=\"", stream);
    for (uint32_t row = 0; row < SIDE; row++)
        if (!isnan(s->error[row][column]))
            fprintf(stream, "%.1f,%.1f ", line_x(row), line_y(s, s->error[row][column]));
    fprintf(stream, "\" stroke=\"%s\"/>\n", stroke);
    snprintf(words, sizeof words, column == 0 ? "m = %u" : "%u", s->parts[0][column].m);
    text(stream, LINES_X + 9, line_y(s, s->error[0][column]) + 2, 11, "start", ink, words);
}

static void draw_lines(FILE *stream, const agg_trade_off *s)
{
    char words[16];
    for (double decade = pow(10, ceil(log10(s->least))); decade <= s->most; decade *= 10) {
        brief(words, decade);
        line(stream, LINES_X, line_y(s, decade), LINES_X + LINES_W, line_y(s, decade), 1, hairline);
        text(stream, LINES_X - 8, line_y(s, decade) + 4, 11, "end", ink, words);
    }
    for (uint32_t row = 0; row < SIDE; row += 2) {
        snprintf(words, sizeof words, "%u", s->parts[row][0].k);
        text(stream, line_x(row), MAP_Y + MAP_H + 16, 11, "middle", ink, words);
    }
    for (uint32_t i = 0; i < SIDE; i += 2) draw_line(stream, s, i);
    text(stream, LINES_X + LINES_W / 2, MAP_Y + MAP_H + 38, 12, "middle", faint, "k, rows");
    text(stream, LINES_X, MAP_Y - 12, 12, "start", faint,
         "standard deviation in reports, a line for each m");
}

void agg_trade_off_svg(FILE *stream, const agg_trade_off *s)
{
    char words[256], reports[16];
    brief(reports, s->n);
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 "
            "0 %.0f %.0f\" font-family=\"system-ui, sans-serif\" role=\"img\">\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    snprintf(words, sizeof words,
             "What rows and columns buy: the standard deviation of a rare value's count, %s",
             s->mechanism->name);
    fprintf(stream,
            "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            words);
    text(stream, 24, 36, 18, "start", ink, words);
    snprintf(words, sizeof words, "epsilon %g, %s reports, %s over %.0f values",
             s->wish->eps_micro / 1e6, reports, s->wish->law_name, s->wish->law.n_values);
    text(stream, 24, 58, 13, "start", faint, words);
    draw_map(stream, s);
    draw_lines(stream, s);
    fputs("</svg>\n", stream);
}
