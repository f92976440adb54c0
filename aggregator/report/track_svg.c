// SPDX-License-Identifier: Apache-2.0
// Draws a series; see track_print.h. The picture has the steps of the values with the band of their
// intervals, a mark at each update, and the truth if it is known; for items, the shares of the
// first values. Names are hostile text and are escaped (svg.h).
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "svg.h"
#include "track_print.h"

#define WIDTH 960.0
#define HEIGHT 460.0
#define LEFT 72.0
#define RIGHT 200.0 // width of the labels of items
#define TOP 92.0
#define BOTTOM 78.0
#define LINES_MAX 8u // items that are drawn
#define LABEL_CHARACTERS 22u

static const char ink[] = "#1b2733", faint[] = "#5b6b7a", hairline[] = "#d5dce3",
                  signal[] = "#c2410c", blue[] = "#286ea8", band[] = "#bed9ec";
static const char *const colours[LINES_MAX] = {"#286ea8", "#c2410c", "#3a7d44", "#8a4f9e",
                                               "#b58900", "#0f7f86", "#a33b6c", "#5b6b7a"};

typedef struct plot {
    FILE *stream;
    const agg_track_result *result;
    double low, high; // range of the drawn values
    double right;     // x at the end of the last epoch
} plot;

static void text(const plot *p, double x, double y, int size, const char *anchor, const char *fill,
                 const char *words, size_t len)
{
    fprintf(p->stream,
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\">", x, y,
            size, anchor, fill);
    agg_svg_escape(p->stream, words, len);
    fputs("</text>\n", p->stream);
}

static void words(const plot *p, double x, double y, int size, const char *anchor, const char *fill,
                  const char *text_)
{
    text(p, x, y, size, anchor, fill, text_, strlen(text_));
}

// Returns: x at the beginning of an epoch. An epoch has a width, so that its value is a step.
static double x_of(const plot *p, double epoch)
{
    double n = (double)p->result->track->n_rows;
    return LEFT + (p->right - LEFT) * (epoch - 1) / n;
}

static double y_of(const plot *p, double value)
{
    return TOP + (HEIGHT - TOP - BOTTOM) * (p->high - value) / (p->high - p->low);
}

static void widen(plot *p, double value)
{
    if (!isfinite(value)) return;
    p->low = fmin(p->low, value);
    p->high = fmax(p->high, value);
}

static uint32_t lines_of(const plot *p)
{
    const agg_track_items *items = p->result->items;
    size_t most = p->result->top > 0 && p->result->top < LINES_MAX ? p->result->top : LINES_MAX;
    return (uint32_t)(items->n < most ? items->n : most);
}

static void find_range(plot *p)
{
    const agg_track *t = p->result->track;
    p->low = HUGE_VAL;
    p->high = -HUGE_VAL;
    for (size_t i = 0; i < t->n_rows && p->result->items == NULL; i++) {
        const agg_track_row *row = &t->rows[i];
        widen(p, row->value);
        widen(p, row->low);
        widen(p, row->high);
        if (p->result->truth != NULL) widen(p, p->result->truth[i]);
    }
    for (size_t u = 0; u < t->n_updates && p->result->items != NULL; u++)
        for (uint32_t k = 0; k < lines_of(p); k++) {
            const agg_track_share *s =
                agg_track_items_at(p->result->items, u, p->result->items->order[k]);
            widen(p, s->low);
            widen(p, s->high);
        }
    if (!(p->low < p->high)) {
        p->low = isfinite(p->low) ? p->low - 0.5 : 0;
        p->high = p->low + 1;
    }
}

// Returns: the largest of 1, 2, 5 times a power of ten that gives at least four lines.
static double step_of(double span)
{
    double power = pow(10, floor(log10(span / 4))), times = span / 4 / power;
    return power * (times >= 5 ? 5 : times >= 2 ? 2 : 1);
}

static void draw_axes(const plot *p)
{
    char number[32];
    double step = step_of(p->high - p->low), n = (double)p->result->track->n_rows;
    for (double v = ceil(p->low / step) * step; v <= p->high + step / 1e6; v += step) {
        agg_svg_line(p->stream, LEFT, y_of(p, v), p->right, y_of(p, v), 1, hairline);
        snprintf(number, sizeof number, "%.4g", fabs(v) < step / 1e6 ? 0 : v);
        words(p, LEFT - 8, y_of(p, v) + 4, 11, "end", ink, number);
    }
    step = fmax(1, step_of(n));
    for (double e = step; e <= n; e += step) {
        snprintf(number, sizeof number, "%.0f", e);
        words(p, x_of(p, e + 0.5), HEIGHT - BOTTOM + 18, 11, "middle", ink, number);
    }
    words(p, (LEFT + p->right) / 2, HEIGHT - BOTTOM + 40, 12, "middle", faint, "epoch");
}

static void draw_updates(const plot *p)
{
    const agg_track *t = p->result->track;
    for (size_t i = 0; i < t->n_rows; i++)
        if (t->rows[i].is_update) {
            double x = x_of(p, t->rows[i].epoch);
            agg_svg_line(p->stream, x, TOP, x, HEIGHT - BOTTOM, 1,
                         t->rows[i].is_frozen ? hairline : signal);
            fprintf(p->stream, "<path d=\"M%.1f %.1fl-5 -8h10z\" fill=\"%s\"/>\n", x, TOP,
                    t->rows[i].is_frozen ? hairline : signal);
        }
}

// Returns: the end of the epochs from row i on that have the same value.
static size_t end_of_stretch(const agg_track *t, size_t i)
{
    size_t end = i + 1;
    while (end < t->n_rows && t->rows[end].of == t->rows[i].of &&
           isnan(t->rows[end].value) == isnan(t->rows[i].value))
        end++;
    return end;
}

static void draw_series(const plot *p)
{
    const agg_track *t = p->result->track;
    for (size_t i = 0, end; i < t->n_rows; i = end) {
        const agg_track_row *row = &t->rows[i];
        double from = x_of(p, row->epoch), to;
        end = end_of_stretch(t, i);
        to = x_of(p, (double)end + 1);
        if (isfinite(row->stderr_))
            fprintf(p->stream,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                    from, y_of(p, row->high), to - from, y_of(p, row->low) - y_of(p, row->high),
                    band);
        if (isfinite(row->value))
            agg_svg_line(p->stream, from, y_of(p, row->value), to, y_of(p, row->value), 2.5, blue);
    }
}

static void draw_truth(const plot *p)
{
    const agg_track *t = p->result->track;
    if (p->result->truth == NULL) return;
    fputs("<polyline fill=\"none\" stroke-width=\"1.2\" stroke-dasharray=\"5 3\" points=\"",
          p->stream);
    for (size_t i = 0; i < t->n_rows; i++) {
        double y = y_of(p, p->result->truth[i]);
        bool is_even = i > 0 && i + 1 < t->n_rows &&
                       p->result->truth[i] == p->result->truth[i - 1] &&
                       p->result->truth[i] == p->result->truth[i + 1];
        if (!is_even)
            fprintf(p->stream, "%.1f,%.1f %.1f,%.1f ", x_of(p, (double)i + 1), y,
                    x_of(p, (double)i + 2), y);
    }
    fprintf(p->stream, "\" stroke=\"%s\"/>\n", ink);
}

// Draws one item: a step from each update to the next, with its interval at the update.
static void draw_item(const plot *p, uint32_t k)
{
    const agg_track *t = p->result->track;
    const agg_track_items *items = p->result->items;
    uint32_t i = items->order[k];
    double y = TOP;
    for (size_t u = 0; u < t->n_updates; u++) {
        const agg_track_share *s = agg_track_items_at(items, u, i);
        if (agg_track_is_withheld(items, u, i)) continue;
        double from = x_of(p, t->updates[u].epoch), middle = from + 4 + 3 * k;
        double to = u + 1 < t->n_updates ? x_of(p, t->updates[u + 1].epoch) : p->right;
        y = y_of(p, s->share);
        agg_svg_line(p->stream, from, y, to, y, 2, colours[k]);
        agg_svg_line(p->stream, middle, y_of(p, s->low), middle, y_of(p, s->high), 1, colours[k]);
    }
    const agg_text *value = &items->dictionary->values[i];
    size_t cut = agg_characters_size(*value, LABEL_CHARACTERS);
    text(p, p->right + 10, TOP + 14 + 18 * k, 12, "start", colours[k], value->bytes,
         cut < value->len ? cut : value->len);
}

static void draw_legend(const plot *p)
{
    double y = HEIGHT - 18, x = LEFT;
    fprintf(p->stream, "<path d=\"M%.1f %.1fl-5 -8h10z\" fill=\"%s\"/>\n", x + 5, y, signal);
    words(p, x + 16, y, 12, "start", ink, "update");
    if (p->result->items != NULL) return;
    agg_svg_line(p->stream, x + 80, y - 4, x + 106, y - 4, 2.5, blue);
    words(p, x + 112, y, 12, "start", ink, "value");
    fprintf(p->stream, "<rect x=\"%.1f\" y=\"%.1f\" width=\"26\" height=\"10\" fill=\"%s\"/>\n",
            x + 164, y - 9, band);
    words(p, x + 196, y, 12, "start", ink, "interval of what the update measured");
    if (p->result->truth == NULL) return;
    agg_svg_line(p->stream, x + 430, y - 4, x + 456, y - 4, 1.2, ink);
    words(p, x + 462, y, 12, "start", ink, "truth");
}

static void draw_head(const plot *p)
{
    const agg_track *t = p->result->track;
    char line_[256];
    fprintf(p->stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 "
            "0 %.0f %.0f\" font-family=\"system-ui, sans-serif\" role=\"img\">\n<title>",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    agg_svg_escape(p->stream, t->recipe.id, strlen(t->recipe.id));
    fputs(" over its epochs</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
          p->stream);
    words(p, 24, 36, 18, "start", ink, t->recipe.id);
    snprintf(
        line_, sizeof line_,
        "%zu of %u epochs, epsilon %g for the whole run, %g %% intervals; %u update%s, %u left%s",
        t->n_rows, t->law.plan.epochs, t->law.epsilon, 100 * t->confidence, t->n_called,
        t->n_called == 1 ? "" : "s", agg_track_updates_left(t),
        agg_track_updates_left(t) == 0 ? ": frozen" : "");
    words(p, 24, 58, 13, "start", faint, line_);
}

void agg_track_svg(FILE *stream, const agg_track_result *result)
{
    plot p = {
        .stream = stream, .result = result, .right = WIDTH - (result->items != NULL ? RIGHT : 36)};
    find_range(&p);
    draw_head(&p);
    draw_axes(&p);
    if (result->items == NULL) draw_series(&p);
    draw_updates(&p);
    if (result->items == NULL) draw_truth(&p);
    for (uint32_t k = 0; result->items != NULL && k < lines_of(&p); k++) draw_item(&p, k);
    draw_legend(&p);
    fputs("</svg>\n", stream);
}
