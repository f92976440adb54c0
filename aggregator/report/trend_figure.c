// SPDX-License-Identifier: Apache-2.0
// Pictures of change; see trend_figure.h.
#include "trend_figure.h"

#include <math.h>

#include "page_text.h"

// Units of a trend's own picture, which the page stretches to the room that it has.
#define WIDTH 1000.0
#define HEIGHT 100.0

void agg_scale_hold(agg_scale *scale, double value)
{
    if (!isfinite(value)) return;
    scale->low = fmin(scale->low, value);
    scale->high = fmax(scale->high, value);
}

void agg_scale_finish(agg_scale *scale)
{
    if (!(scale->high > scale->low)) scale->high = scale->low + 1;
}

// Returns: the place of a value on the scale, 0 .. 1.
static double place(const agg_scale *scale, double value)
{
    double at = (value - scale->low) / (scale->high - scale->low);
    return fmin(fmax(at, 0), 1);
}

static double x_of(size_t i, size_t n)
{
    return n < 2 ? WIDTH / 2 : WIDTH * (double)i / (double)(n - 1);
}

static double y_of(const agg_scale *scale, double value)
{
    return HEIGHT * (1 - place(scale, value));
}

// Draws the band and the line of points[from..to), which are all known.
static void put_run(FILE *out, const agg_trend_point *points, size_t n, size_t from, size_t to,
                    const agg_scale *scale)
{
    fputs("<polygon class=\"band\" points=\"", out);
    for (size_t i = from; i < to; i++)
        fprintf(out, "%.1f,%.1f ", x_of(i, n), y_of(scale, points[i].high));
    for (size_t i = to; i-- > from;)
        fprintf(out, "%.1f,%.1f ", x_of(i, n), y_of(scale, points[i].low));
    fputs("\"/><polyline class=\"line\" points=\"", out);
    for (size_t i = from; i < to; i++)
        fprintf(out, "%.1f,%.1f ", x_of(i, n), y_of(scale, points[i].value));
    fputs("\"/>", out);
}

void agg_trend_figure(FILE *out, const agg_trend_point *points, size_t n, const agg_scale *scale,
                      const char *label)
{
    fputs("<div class=\"trend\" role=\"img\" aria-label=\"", out);
    agg_page_string(out, label);
    fprintf(out,
            "\"><svg aria-hidden=\"true\" viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\">",
            WIDTH, HEIGHT);
    double zero = y_of(scale, 0);
    fprintf(out, "<line class=\"zero\" x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>", WIDTH, zero,
            zero);
    for (size_t i = 0; i < n;) {
        size_t from = i;
        while (i < n && points[i].is_known) i++;
        if (i > from) put_run(out, points, n, from, i, scale);
        i += i < n;
    }
    // Dots are round, so they are a picture of their own that is not stretched.
    fputs("</svg><svg aria-hidden=\"true\">", out);
    for (size_t i = 0; i < n; i++) {
        if (!points[i].is_known) continue;
        double x = 100 * x_of(i, n) / WIDTH, low = 100 * y_of(scale, points[i].low) / HEIGHT,
               high = 100 * y_of(scale, points[i].high) / HEIGHT,
               y = 100 * y_of(scale, points[i].value) / HEIGHT;
        fprintf(out,
                "<line class=\"whisker\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%.2f%%\" y2=\"%.2f%%\"/>"
                "<circle class=\"dot\" cx=\"%.2f%%\" cy=\"%.2f%%\" r=\"3\"/>",
                x, x, low, high, x, y);
    }
    fputs("</svg></div>\n", out);
}

void agg_dumbbell_figure(FILE *out, double earlier, double later, const agg_scale *scale)
{
    double a = 100 * place(scale, earlier), b = 100 * place(scale, later),
           zero = 100 * place(scale, 0);
    fprintf(out,
            "<svg aria-hidden=\"true\"><line class=\"grid\" x1=\"0\" x2=\"100%%\" y1=\"50%%\" "
            "y2=\"50%%\"/><line class=\"zero\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"100%%\"/>"
            "<line class=\"between\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"50%%\" y2=\"50%%\"/>"
            "<circle class=\"ring\" cx=\"%.2f%%\" cy=\"50%%\" r=\"5\"/>"
            "<circle class=\"dot\" cx=\"%.2f%%\" cy=\"50%%\" r=\"5\"/></svg>",
            zero, zero, a, b, a, b);
}
