// SPDX-License-Identifier: Apache-2.0
// Draws a funnel: a bar for each step, as long as its share of all reports, with the interval at
// its end and all figures beside it; between two bars the rate from one to the next.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "funnel.h"
#include "funnel_print.h"
#include "print_text.h"
#include "recipe.h"
#include "svg.h"
#include "window_picks.h"

#define LEFT 24.0
#define BAR_X 168.0
#define BAR_W 360.0
#define BAR_H 34.0
#define STEP_H 66.0
#define TOP 92.0
#define WIDTH 760.0
#define NAME_CHARACTERS 18u

static const char ink[] = "#1b2733", faint[] = "#5b6b7a", hairline[] = "#d5dce3";

static void open_text(FILE *stream, double x, double y, int size, const char *fill)
{
    fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" fill=\"%s\">", x, y, size, fill);
}

static void text(FILE *stream, double x, double y, int size, const char *fill, const char *words)
{
    open_text(stream, x, y, size, fill);
    agg_svg_escape(stream, words, strlen(words));
    fputs("</text>\n", stream);
}

static void print_name(FILE *stream, agg_text name)
{
    size_t cut = agg_characters_size(name, NAME_CHARACTERS);
    agg_svg_escape(stream, name.bytes, cut < name.len ? cut : name.len);
    if (cut < name.len) fputs("...", stream);
}

static void draw_rate(FILE *stream, const agg_joint_share *rate, double y)
{
    char words[96];
    snprintf(words, sizeof words, "%.1f %% go on (%.1f to %.1f)", 100 * rate->p, 100 * rate->low,
             100 * rate->high);
    text(stream, BAR_X, y, 12, faint, words);
}

static void draw_step(FILE *stream, const agg_joint_result *r, uint32_t step)
{
    const agg_joint_share *share = &r->reached[step];
    double y = TOP + STEP_H * step, middle = y + BAR_H / 2;
    char fill[AGG_SVG_COLOUR], words[112];
    if (agg_funnel_has_rate(r, step)) draw_rate(stream, &r->onward[step - 1], y - 11);
    open_text(stream, LEFT, middle + 5, 14, ink);
    print_name(stream, r->axes[step].name);
    fputs("</text>\n", stream);
    agg_svg_line(stream, BAR_X, y, BAR_X, y + BAR_H, 1, hairline);
    if (!agg_funnel_has_step(r, step)) {
        text(stream, BAR_X + 8, middle + 5, 12, faint, "withheld");
        return;
    }
    agg_svg_shade(fill, 0.4);
    fprintf(stream, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
            BAR_X, y, BAR_W * share->p, BAR_H, fill);
    double low = BAR_X + BAR_W * share->low, high = BAR_X + BAR_W * share->high;
    agg_svg_line(stream, low, middle, high, middle, 2, ink);
    agg_svg_line(stream, low, middle - 5, low, middle + 5, 2, ink);
    agg_svg_line(stream, high, middle - 5, high, middle + 5, 2, ink);
    snprintf(words, sizeof words, "%.1f %% (%.1f to %.1f)", 100 * share->p, 100 * share->low,
             100 * share->high);
    text(stream, BAR_X + BAR_W + 22, middle - 1, 13, ink, words);
    snprintf(words, sizeof words, "%s %s", agg_grouped(share->p * (double)r->n, 0).text,
             agg_picks_unit(r->recipe->recipe));
    text(stream, BAR_X + BAR_W + 22, middle + 15, 12, faint, words);
}

void agg_funnel_draw(FILE *stream, const agg_joint_result *r)
{
    double height = TOP + STEP_H * r->n_axes + 12;
    char words[160];
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 "
            "0 %.0f %.0f\" font-family=\"system-ui, sans-serif\" role=\"img\" "
            "aria-labelledby=\"title desc\">\n<title id=\"title\">Funnel, %s</title>\n<desc "
            "id=\"desc\">A bar for each of %u steps, as long as the share of all reports that "
            "reached it and every step before, with its %g %% interval. Between two bars stands "
            "how many went on.</desc>\n<rect width=\"100%%\" height=\"100%%\" "
            "fill=\"#ffffff\"/>\n",
            WIDTH, height, WIDTH, height, r->recipe->id, r->n_axes, 100 * r->confidence);
    snprintf(words, sizeof words, "How far they came: %s", r->recipe->id);
    text(stream, LEFT, 36, 18, ink, words);
    snprintf(words, sizeof words, "of %s reports, with %g %% intervals; epsilon %g a report",
             agg_whole(r->n).text, 100 * r->confidence, r->recipe->recipe->cost_micro / 1e6);
    text(stream, LEFT, 58, 13, faint, words);
    for (uint32_t step = 0; step < r->n_axes; step++) draw_step(stream, r, step);
    fputs("</svg>\n", stream);
}
