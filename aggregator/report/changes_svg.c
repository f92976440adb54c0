// SPDX-License-Identifier: Apache-2.0
// Draws changes; see changes_print.h. Each value has a panel: a dot a period with twice its
// standard error of either sign, a line for the share of either side with the band of its interval,
// and a shade over the dates at which the change may have been.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "changes_print.h"
#include "recipe.h"
#include "svg.h"

#define PANELS_MAX 6u
#define WIDTH 960.0
#define PANEL 150.0 // height of a panel
#define PLOT 92.0   // of it, the height of its plot
#define LEFT 70.0
#define RIGHT 24.0
#define TOP 64.0

static const char ink[] = "#1b2733", faint[] = "#5b6b7a", hairline[] = "#d5dce3",
                  signal[] = "#c2410c", blue[] = "#286ea8", band[] = "#bed9ec", shade[] = "#f6e3d8";

typedef struct panel {
    FILE *stream;
    const agg_changes *changes;
    const agg_changes_row *row;
    double top;       // y of its upper end
    double low, high; // range of shares
} panel;

static void words(FILE *stream, double x, double y, int size, const char *anchor, const char *fill,
                  agg_text text)
{
    fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\">",
            x, y, size, anchor, fill);
    agg_svg_escape(stream, text.bytes, text.len);
    fputs("</text>\n", stream);
}

static agg_text own(const char *text)
{
    return (agg_text){text, strlen(text)};
}

// Returns: x of the beginning of a period.
static double x_of(const panel *p, size_t period)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (double)period / (double)p->changes->n_periods;
}

static double y_of(const panel *p, double share)
{
    return p->top + 40 + PLOT * (p->high - share) / (p->high - p->low);
}

static double reports_of(const agg_changes *c, size_t t)
{
    return c->sums.reports[t + 1] - c->sums.reports[t];
}

static double count_of(const panel *p, size_t t)
{
    const double *counts = p->changes->counts + p->row->index * (p->changes->n_periods + 1);
    return counts[t + 1] - counts[t];
}

static bool is_withheld(const panel *p, size_t t)
{
    double threshold = (double)p->changes->periods[t].recipe->recipe->release_threshold;
    return threshold > 0 && count_of(p, t) < threshold;
}

// Returns: the standard error of the share of a period: that of its side, for fewer reports.
static double error_of(const panel *p, size_t t)
{
    const agg_changes *c = p->changes;
    bool is_before = t < p->row->at;
    agg_level side = is_before ? p->row->before : p->row->after;
    double n = is_before ? c->sums.reports[p->row->at]
                         : c->sums.reports[c->n_periods] - c->sums.reports[p->row->at];
    return sqrt(side.variance * n / reports_of(c, t));
}

static void find_range(panel *p)
{
    p->low = 0;
    p->high = 1e-9;
    for (size_t t = 0; t < p->changes->n_periods; t++) {
        if (is_withheld(p, t)) continue;
        double share = count_of(p, t) / reports_of(p->changes, t), error = 2 * error_of(p, t);
        p->low = fmin(p->low, share - error);
        p->high = fmax(p->high, share + error);
    }
}

static void box(const panel *p, double x1, double x2, double y1, double y2, const char *fill)
{
    fprintf(p->stream, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
            x1, y1, x2 - x1, y2 - y1, fill);
}

static void draw_level(const panel *p, agg_level level, size_t first, size_t end)
{
    double half = p->changes->selection.quantile * sqrt(level.variance);
    double high = fmin(p->high, level.share + half), low = fmax(p->low, level.share - half);
    if (low < high) box(p, x_of(p, first), x_of(p, end), y_of(p, high), y_of(p, low), band);
    agg_svg_line(p->stream, x_of(p, first), y_of(p, level.share), x_of(p, end),
                 y_of(p, level.share), 1.5, blue);
}

// The change lies at the beginning of a period between the first and the last date; each is half a
// period wide on either side.
static void draw_dates(const panel *p)
{
    double half = (x_of(p, 1) - x_of(p, 0)) / 2, top = p->top + 40, bottom = top + PLOT;
    if (p->row->dates.n > 0)
        box(p, x_of(p, p->row->dates.first) - half, x_of(p, p->row->dates.last) + half, top, bottom,
            shade);
}

static void draw_title(const panel *p)
{
    const agg_changes *c = p->changes;
    const agg_changes_row *row = p->row;
    char text[160];
    words(p->stream, LEFT, p->top + 28, 14, "start", ink, row->value);
    if (row->before_withheld || row->after_withheld)
        snprintf(text, sizeof text, "%s", row->score > 0 ? "rose" : "fell");
    else
        snprintf(text, sizeof text, "%s from %.3g %% to %.3g %%", row->score > 0 ? "rose" : "fell",
                 100 * row->before.share, 100 * row->after.share);
    words(p->stream, WIDTH - RIGHT, p->top + 28, 12, "end", faint, own(text));
    if (row->dates.n > 0)
        words(p->stream, x_of(p, row->at), p->top + PLOT + 56, 11, "middle", signal,
              c->periods[row->at].label);
}

static void draw_axis(const panel *p)
{
    char number[32];
    const agg_changes *c = p->changes;
    double bottom = p->top + PLOT + 56;
    agg_svg_line(p->stream, LEFT, y_of(p, 0), WIDTH - RIGHT, y_of(p, 0), 1, hairline);
    snprintf(number, sizeof number, "%.3g %%", 100 * p->high);
    words(p->stream, LEFT - 8, y_of(p, p->high) + 8, 11, "end", faint, own(number));
    words(p->stream, LEFT - 8, y_of(p, 0) + 4, 11, "end", faint, own("0"));
    words(p->stream, LEFT, bottom, 11, "start", faint, c->periods[0].label);
    words(p->stream, WIDTH - RIGHT, bottom, 11, "end", faint, c->periods[c->n_periods - 1].label);
}

static void draw_panel(const panel *p)
{
    const agg_changes *c = p->changes;
    draw_dates(p);
    if (!p->row->before_withheld) draw_level(p, p->row->before, 0, p->row->at);
    if (!p->row->after_withheld) draw_level(p, p->row->after, p->row->at, c->n_periods);
    draw_axis(p);
    for (size_t t = 0; t < c->n_periods; t++) {
        double x = (x_of(p, t) + x_of(p, t + 1)) / 2, error = 2 * error_of(p, t);
        double share = count_of(p, t) / reports_of(c, t);
        if (is_withheld(p, t)) continue;
        agg_svg_line(p->stream, x, y_of(p, share - error), x, y_of(p, share + error), 1, faint);
        fprintf(p->stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x,
                y_of(p, share), ink);
    }
    draw_title(p);
}

agg_err agg_changes_svg(FILE *stream, agg_error *error, const agg_changes *changes)
{
    char title[200];
    size_t n = 0;
    while (n < changes->n_rows && n < PANELS_MAX && changes->rows[n].detected) n++;
    double height = TOP + PANEL * (double)(n == 0 ? 1 : n);
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" "
            "fill=\"#ffffff\"/>\n",
            WIDTH, height);
    snprintf(title, sizeof title, "%zu of %zu values changed over %zu periods", changes->n_detected,
             changes->n_dictionary, changes->n_periods);
    words(stream, LEFT, 30, 18, "start", ink, own(title));
    words(stream, LEFT, 50, 12, "start", faint,
          own("Dots: share of a period with two standard errors. Lines: share before and after, "
              "with the interval of a picked row. Shade: when it changed."));
    for (size_t i = 0; i < n; i++) {
        panel p = {stream, changes, &changes->rows[i], TOP + PANEL * (double)i, 0, 0};
        find_range(&p);
        draw_panel(&p);
    }
    fputs("</svg>\n", stream);
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "cannot write the picture");
}
