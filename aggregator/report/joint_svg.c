// SPDX-License-Identifier: Apache-2.0
// Draws the heat map of a joint distribution with its uncertainty; see joint_print.h.
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "incomplete_print.h"
#include "joint_print.h"
#include "print_text.h"
#include "recipe.h"
#include "svg.h"
#include "window_picks.h"

#define LABEL_CHARACTERS 24u // characters after which the name of a category is cut
#define LABEL_W 168.0
#define MAP_X (24.0 + LABEL_W)
#define MAP_Y 112.0
#define SIDE_W 150.0 // width of the marginals of the rows
#define SIDE_H 76.0  // height of the marginals of the columns
#define LEGEND_H 104.0

static const char ink[] = "#1b2733", faint[] = "#5b6b7a", hairline[] = "#d5dce3",
                  signal[] = "#c2410c";

typedef struct drawing {
    FILE *stream;
    const agg_joint_result *result;
    const agg_joint_axis *x, *y; // the variable of the rows, and that of the columns
    double cell_w, cell_h;
    double most, most_high;       // the largest share and the highest end of an interval, of cells
    double most_row, most_column; // the highest ends of intervals, of the marginals
} drawing;

// Prints at most `characters` of a text, and three points for the rest.
static void print_label(FILE *stream, agg_text text, uint32_t characters)
{
    size_t cut = agg_characters_size(text, characters);
    agg_svg_escape(stream, text.bytes, cut < text.len ? cut : text.len);
    if (cut < text.len) fputs("...", stream);
}

static void open_text(FILE *stream, double x, double y, double size, const char *anchor,
                      const char *fill)
{
    fprintf(stream,
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\" text-anchor=\"%s\" fill=\"%s\">", x, y,
            size, anchor, fill);
}

static void text(FILE *stream, double x, double y, double size, const char *anchor,
                 const char *fill, const char *words)
{
    open_text(stream, x, y, size, anchor, fill);
    print_label(stream, (agg_text){words, strlen(words)}, 200);
    fputs("</text>\n", stream);
}

static void rect(FILE *stream, double x, double y, double w, double h, const char *fill)
{
    fprintf(stream, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x,
            y, w, h, fill);
}

static double map_w(const drawing *d)
{
    return d->cell_w * d->y->n;
}

static double map_h(const drawing *d)
{
    return d->cell_h * d->x->n;
}

static double clamp(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

// Prints a share in percent, with two digits of its error.
static void print_percent(char out[24], const agg_joint_share *share)
{
    int decimals = isfinite(share->stderr_) ? agg_error_decimals(100 * share->stderr_) - 1 : 1;
    snprintf(out, 24, "%.*f %%", decimals < 0 ? 0 : decimals > 3 ? 3 : decimals, 100 * share->p);
}

static void print_tip(const drawing *d, const agg_joint_share *share)
{
    if (isfinite(share->stderr_))
        fprintf(d->stream, ": %.4g %%, %.4g to %.4g</title>", 100 * share->p, 100 * share->low,
                100 * share->high);
    else
        fprintf(d->stream, ": %.4g %%, of any error</title>", 100 * share->p);
}

// Returns: 1 if the rate's whole interval is above the marginal of the rate's category, -1 if it is
// below, else 0.
static int side_of(const drawing *d, uint32_t row, uint32_t column)
{
    if (d->result->rates == NULL) return 0;
    const agg_joint_share *rate = &d->result->rates[(size_t)row * d->y->n + column];
    double marginal =
        d->result->given == 0 ? d->result->marginals[1][column].p : d->result->marginals[0][row].p;
    if (!isfinite(rate->stderr_) || !agg_joint_shows_marginal(d->result, 0, row) ||
        !agg_joint_shows_marginal(d->result, 1, column))
        return 0;
    return rate->low > marginal ? 1 : rate->high < marginal ? -1 : 0;
}

static void draw_mark(const drawing *d, double x, double y, int side)
{
    if (side == 0) return;
    double rise = side > 0 ? -7 : 7;
    fprintf(d->stream,
            "<path d=\"M%.1f %.1fh10l-5 %.1fz\" fill=\"%s\" stroke=\"#ffffff\" "
            "stroke-width=\"0.8\"/>\n",
            x - 5, y - rise / 2, rise, signal);
}

// Draws the interval of a share as a bar from x over the width w, on a scale up to `most`.
static void draw_interval(const drawing *d, double x, double y, double w,
                          const agg_joint_share *share, double most, const char *stroke)
{
    if (!isfinite(share->stderr_) || !(most > 0)) return;
    double low = x + w * clamp(share->low / most), high = x + w * clamp(share->high / most),
           at = x + w * clamp(share->p / most);
    agg_svg_line(d->stream, low, y, high, y, 1.5, stroke);
    agg_svg_line(d->stream, at, y - 3, at, y + 3, 1.5, stroke);
}

static void draw_cell(const drawing *d, uint32_t row, uint32_t column)
{
    const agg_joint_share *share = &d->result->cells[(size_t)row * d->y->n + column];
    double x = MAP_X + d->cell_w * column, y = MAP_Y + d->cell_h * row,
           at = d->most > 0 ? share->p / d->most : 0;
    bool is_shown = agg_joint_is_shown(d->result, share->p), is_dark = at > 0.55 && is_shown;
    const char *words_ink = is_dark ? "#ffffff" : ink;
    char fill[AGG_SVG_COLOUR] = "#f4f5f6", words[24] = "";
    if (is_shown) {
        agg_svg_shade(fill, at);
        print_percent(words, share);
    }
    fputs("<g><title>", d->stream);
    print_label(d->stream, d->x->labels[row], 64);
    fputs(", ", d->stream);
    print_label(d->stream, d->y->labels[column], 64);
    if (is_shown)
        print_tip(d, share);
    else
        fputs(": withheld</title>", d->stream);
    rect(d->stream, x, y, d->cell_w, d->cell_h, fill);
    if (is_shown && !(share->low > 0)) rect(d->stream, x, y, d->cell_w, d->cell_h, "url(#unsure)");
    if (d->cell_w >= 48)
        text(d->stream, x + d->cell_w / 2, y + d->cell_h / 2, 11, "middle", words_ink, words);
    if (is_shown) {
        draw_interval(d, x + 6, y + d->cell_h - 8, d->cell_w - 12, share, d->most_high, words_ink);
        draw_mark(d, x + d->cell_w - 9, y + 9, side_of(d, row, column));
    }
    fputs("</g>\n", d->stream);
}

static void draw_rows(const drawing *d)
{
    double left = MAP_X + map_w(d) + 14, w = SIDE_W - 64;
    for (uint32_t i = 0; i < d->x->n; i++) {
        const agg_joint_share *share = &d->result->marginals[0][i];
        double y = MAP_Y + d->cell_h * i + d->cell_h / 2;
        char words[24] = "-";
        open_text(d->stream, MAP_X - 10, y + 4, 12, "end", ink);
        print_label(d->stream, d->x->labels[i], LABEL_CHARACTERS);
        fputs("</text>\n", d->stream);
        if (!agg_joint_shows_marginal(d->result, 0, i)) continue;
        print_percent(words, share);
        rect(d->stream, left, y - 5, w * clamp(share->p / d->most_row), 10, "#bed9ec");
        draw_interval(d, left, y, w, share, d->most_row, ink);
        text(d->stream, left + w + 6, y + 4, 11, "start", faint, words);
    }
}

static void draw_columns(const drawing *d)
{
    double top = MAP_Y + map_h(d) + 14, h = SIDE_H - 30;
    for (uint32_t j = 0; j < d->y->n; j++) {
        const agg_joint_share *share = &d->result->marginals[1][j];
        double x = MAP_X + d->cell_w * j + d->cell_w / 2;
        char words[24] = "-";
        fprintf(d->stream, "<g transform=\"translate(%.1f %.1f)%s\">", x, MAP_Y - 8,
                d->cell_w < 72 ? " rotate(-35)" : "");
        open_text(d->stream, 0, 0, 12, d->cell_w < 72 ? "start" : "middle", ink);
        print_label(d->stream, d->y->labels[j], d->cell_w < 72 ? 12 : 14);
        fputs("</text></g>\n", d->stream);
        if (!agg_joint_shows_marginal(d->result, 1, j)) continue;
        print_percent(words, share);
        double height = h * clamp(share->p / d->most_column);
        rect(d->stream, x - 5, top, 10, height, "#bed9ec");
        if (isfinite(share->stderr_)) {
            agg_svg_line(d->stream, x, top + h * clamp(share->low / d->most_column), x,
                         top + h * clamp(share->high / d->most_column), 1.5, ink);
            agg_svg_line(d->stream, x - 3, top + height, x + 3, top + height, 1.5, ink);
        }
        if (d->cell_w >= 48) text(d->stream, x, top + h + 16, 11, "middle", faint, words);
    }
}

static void draw_legend(const drawing *d)
{
    const agg_joint_result *r = d->result;
    double y = MAP_Y + map_h(d) + SIDE_H + 16;
    char words[200], most[24];
    const agg_joint_share top = {d->most_high, NAN, NAN, NAN};
    print_percent(most, &top);
    agg_svg_line(d->stream, 24, y, 52, y, 1.5, ink);
    agg_svg_line(d->stream, 38, y - 3, 38, y + 3, 1.5, ink);
    snprintf(words, sizeof words, "the share and its %g %% interval; in cells from 0 to %s",
             100 * r->confidence, most);
    text(d->stream, 62, y + 4, 12, "start", ink, words);
    rect(d->stream, 24, y + 14, 28, 14, "#f0f7fc");
    rect(d->stream, 24, y + 14, 28, 14, "url(#unsure)");
    text(d->stream, 62, y + 26, 12, "start", ink, "the interval holds zero");
    if (r->rates != NULL) {
        draw_mark(d, 250, y + 21, 1);
        draw_mark(d, 266, y + 21, -1);
        snprintf(words, sizeof words,
                 "the rate within its %s is above, below that of all (its whole %g %% interval)",
                 r->given == 0 ? "row" : "column", 100 * r->confidence);
        text(d->stream, 280, y + 26, 12, "start", ink, words);
    }
    if (r->n_pairs != 1 || isnan(r->pairs[0].p_value)) return;
    const agg_joint_independence *pair = &r->pairs[0];
    char p_value[AGG_JOINT_P_MAX];
    agg_joint_p_value(p_value, pair->p_value);
    snprintf(words, sizeof words, "%s: Wald statistic %.4g, %u degree%s of freedom, %s%s",
             pair->p_value < 1 - r->confidence ? "Not independent"
                                               : "No evidence against independence",
             pair->statistic, pair->df, pair->df == 1 ? "" : "s", p_value,
             r->is_em_wald ? " (EM form: conservative)" : "");
    text(d->stream, 24, y + 58, 13, "start", ink, words);
}

static double largest(const agg_joint_share *shares, size_t n, bool is_high)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double x = is_high && isfinite(shares[i].stderr_) ? shares[i].high : shares[i].p;
        if (x > most) most = x;
    }
    return most;
}

static void draw_head(const drawing *d, double width, double height)
{
    const agg_joint_result *r = d->result;
    char words[160], line[AGG_INCOMPLETE_LINE_MAX];
    fprintf(d->stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 "
            "0 %.0f %.0f\" font-family=\"system-ui, sans-serif\" role=\"img\">\n<title>",
            width, height, width, height);
    snprintf(words, sizeof words, "%s: %.*s by %.*s", r->recipe->id, (int)d->x->name.len,
             d->x->name.bytes, (int)d->y->name.len, d->y->name.bytes);
    fprintf(d->stream, "%s</title>\n", words);
    fputs("<defs><pattern id=\"unsure\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\" "
          "stroke=\"#8fa1b0\" stroke-width=\"1.4\"/></pattern></defs>\n<rect width=\"100%\" "
          "height=\"100%\" fill=\"#ffffff\"/>\n",
          d->stream);
    text(d->stream, 24, 36, 18, "start", ink, words);
    snprintf(words, sizeof words, "shares of %s%s reports, epsilon %g a report",
             agg_picks_windows(r->recipe->recipe) ? "the windows of " : "", agg_whole(r->n).text,
             r->recipe->recipe->cost_micro / 1e6);
    text(d->stream, 24, 58, 13, "start", faint, words);
    if (r->shards.missing > 0)
        text(d->stream, 24, 76, 13, "start", ink, agg_incomplete_line(line, r->shards));
}

agg_err agg_joint_svg(FILE *stream, agg_error *error, const agg_joint_result *r)
{
    drawing d = {.stream = stream, .result = r, .x = &r->axes[0], .y = &r->axes[1]};
    if (r->n_axes != 2)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "a heat map is of two variables: name them with --variables");
    if (d.x->n > AGG_JOINT_SVG_MAX || d.y->n > AGG_JOINT_SVG_MAX)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "a heat map has room for %u categories of a variable", AGG_JOINT_SVG_MAX);
    d.cell_w = d.y->n <= 3 ? 104 : d.y->n <= 8 ? 84 : d.y->n <= 16 ? 60 : 30;
    d.cell_h = d.x->n <= 10 ? 44 : 34;
    d.most = largest(r->cells, r->n_cells, false);
    d.most_high = largest(r->cells, r->n_cells, true);
    d.most_row = largest(r->marginals[0], d.x->n, true);
    d.most_column = largest(r->marginals[1], d.y->n, true);
    double width = MAP_X + map_w(&d) + SIDE_W + 24, height = MAP_Y + map_h(&d) + SIDE_H + LEGEND_H;
    draw_head(&d, width < 720 ? 720 : width, height);
    for (uint32_t i = 0; i < d.x->n; i++)
        for (uint32_t j = 0; j < d.y->n; j++) draw_cell(&d, i, j);
    for (uint32_t i = 0; i <= d.x->n; i++)
        agg_svg_line(stream, MAP_X, MAP_Y + d.cell_h * i, MAP_X + map_w(&d), MAP_Y + d.cell_h * i,
                     0.5, hairline);
    for (uint32_t j = 0; j <= d.y->n; j++)
        agg_svg_line(stream, MAP_X + d.cell_w * j, MAP_Y, MAP_X + d.cell_w * j, MAP_Y + map_h(&d),
                     0.5, hairline);
    draw_rows(&d);
    draw_columns(&d);
    draw_legend(&d);
    fputs("</svg>\n", stream);
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result: %s", strerror(errno));
}
