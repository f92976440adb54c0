// SPDX-License-Identifier: Apache-2.0
// Draws retention as a heat table: a row for each cohort, a column for each age, and in every cell
// the share in per cent with its interval. The figures stand in the cells, so that a grey print
// says the same. Labels are hostile text and are escaped (svg.h).
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "recipe.h"
#include "retention_print.h"
#include "svg.h"

#define LEFT 24.0
#define LABEL_W 120.0
#define PEOPLE_W 84.0
#define CELL_W 62.0
#define CELL_H 38.0
#define MAP_X (LEFT + LABEL_W + PEOPLE_W)
#define MAP_Y 118.0
#define LEGEND_H 92.0
#define WIDTH_MIN 640.0
#define LABEL_CHARACTERS 16u

static const char ink[] = "#1b2733", faint[] = "#5b6b7a", hairline[] = "#d5dce3";

typedef struct drawing {
    FILE *stream;
    const agg_retention *r;
    size_t n_ages; // columns: ages 1 .. n_ages
    double most;   // the largest share
} drawing;

static void open_text(FILE *stream, double x, double y, int size, const char *anchor,
                      const char *fill)
{
    fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\">",
            x, y, size, anchor, fill);
}

static void text(FILE *stream, double x, double y, int size, const char *anchor, const char *fill,
                 const char *words)
{
    open_text(stream, x, y, size, anchor, fill);
    agg_svg_escape(stream, words, strlen(words));
    fputs("</text>\n", stream);
}

// Prints at most LABEL_CHARACTERS of a label, and three points for the rest.
static void print_label(FILE *stream, agg_text label)
{
    size_t cut = agg_characters_size(label, LABEL_CHARACTERS);
    agg_svg_escape(stream, label.bytes, cut < label.len ? cut : label.len);
    if (cut < label.len) fputs("...", stream);
}

static void rect(FILE *stream, double x, double y, const char *fill)
{
    fprintf(stream,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
            "stroke=\"%s\"/>\n",
            x, y, CELL_W, CELL_H, fill, hairline);
}

static const char *sentence_of(agg_retention_why why)
{
    if (why == AGG_RETENTION_SMALL_BASE) return "the cohort cannot be told from zero";
    if (why == AGG_RETENTION_WITHHELD) return "withheld";
    return "no accumulator of a week";
}

static void draw_tip(const drawing *d, const agg_retention_cell *cell)
{
    fputs("<title>", d->stream);
    print_label(d->stream, d->r->weeks[cell->cohort].label);
    fprintf(d->stream, ", %zu week%s later: ", cell->age, cell->age == 1 ? "" : "s");
    if (cell->why == AGG_RETENTION_SHOWN)
        fprintf(d->stream, "%.4g %%, %.4g to %.4g", 100 * cell->share, 100 * cell->low,
                100 * cell->high);
    else
        fputs(sentence_of(cell->why), d->stream);
    fputs("</title>", d->stream);
}

static void draw_cell(const drawing *d, const agg_retention_cell *cell)
{
    double x = MAP_X + CELL_W * (double)(cell->age - 1), y = MAP_Y + CELL_H * (double)cell->cohort;
    double at = d->most > 0 ? cell->share / d->most : 0;
    bool is_shown = cell->why == AGG_RETENTION_SHOWN;
    const char *words_ink = is_shown && at > 0.65 ? "#ffffff" : ink;
    char fill[AGG_SVG_COLOUR] = "#f4f5f6", words[64];
    fputs("<g>", d->stream);
    draw_tip(d, cell);
    if (is_shown) agg_svg_shade(fill, at);
    rect(d->stream, x, y, fill);
    if (!is_shown) {
        text(d->stream, x + CELL_W / 2, y + 23, 11, "middle", faint,
             cell->why == AGG_RETENTION_NO_WEEK      ? "-"
             : cell->why == AGG_RETENTION_SMALL_BASE ? "small"
                                                     : "withheld");
    } else {
        if (!(cell->low > 0)) rect(d->stream, x, y, "url(#unsure)");
        snprintf(words, sizeof words, "%.1f %%", 100 * cell->share);
        text(d->stream, x + CELL_W / 2, y + 17, 12, "middle", words_ink, words);
        snprintf(words, sizeof words, "%.0f to %.0f", floor(100 * cell->low),
                 ceil(100 * cell->high));
        text(d->stream, x + CELL_W / 2, y + 31, 10, "middle", words_ink, words);
    }
    fputs("</g>\n", d->stream);
}

static void draw_row(const drawing *d, size_t cohort)
{
    const agg_retention_total *week = &d->r->weeks[cohort];
    const agg_retention_count *people = &week->new_;
    const agg_retention_cell *cell = NULL;
    double y = MAP_Y + CELL_H * (double)cohort;
    char words[64] = "-";
    open_text(d->stream, LEFT, y + 23, 12, "start", ink);
    print_label(d->stream, week->label);
    fputs("</text>\n", d->stream);
    if (people->is_withheld)
        snprintf(words, sizeof words, "withheld");
    else if (!people->is_missing)
        snprintf(words, sizeof words, "%s", agg_grouped(people->count, 0).text);
    text(d->stream, MAP_X - 12, y + (people->is_missing ? 23 : 17), 12, "end", ink, words);
    if (!people->is_missing && !people->is_withheld) {
        snprintf(words, sizeof words, "+-%s",
                 agg_grouped(ceil((people->high - people->low) / 2), 0).text);
        text(d->stream, MAP_X - 12, y + 31, 10, "end", faint, words);
    }
    for (size_t age = 1; (cell = agg_retention_find(d->r, cohort, age)) != NULL; age++)
        draw_cell(d, cell);
}

static void draw_head(const drawing *d, double width, double height)
{
    const agg_retention *r = d->r;
    char words[160];
    fprintf(d->stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 "
            "0 %.0f %.0f\" font-family=\"system-ui, sans-serif\" role=\"img\" "
            "aria-labelledby=\"title desc\">\n<title id=\"title\">Retention, %s</title>\n<desc "
            "id=\"desc\">A table of %zu weeks. Each row is the people who first came in a week; "
            "each cell is the share of them in per cent that came again so many weeks later, "
            "with its %g %% interval. Darker is more.</desc>\n",
            width, height, width, height, r->recipe->id, r->n_weeks, 100 * r->confidence);
    fputs("<defs><pattern id=\"unsure\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\" "
          "stroke=\"#8fa1b0\" stroke-width=\"1.4\"/></pattern></defs>\n<rect width=\"100%\" "
          "height=\"100%\" fill=\"#ffffff\"/>\n",
          d->stream);
    snprintf(words, sizeof words, "Who came again: %s", r->recipe->id);
    text(d->stream, LEFT, 36, 18, "start", ink, words);
    snprintf(words, sizeof words,
             "share of those who first came in a week, with %g %% intervals; epsilon %g a report",
             100 * r->confidence, r->recipe->recipe->cost_micro / 1e6);
    text(d->stream, LEFT, 58, 13, "start", faint, words);
    text(d->stream, LEFT, MAP_Y - 12, 12, "start", faint, "first week");
    text(d->stream, MAP_X - 12, MAP_Y - 12, 12, "end", faint, "people");
    text(d->stream, MAP_X, MAP_Y - 30, 12, "start", faint, "weeks later");
    for (size_t age = 1; age <= d->n_ages; age++) {
        snprintf(words, sizeof words, "+%zu", age);
        text(d->stream, MAP_X + CELL_W * ((double)age - 0.5), MAP_Y - 12, 12, "middle", ink, words);
    }
}

static void draw_legend(const drawing *d)
{
    double y = MAP_Y + CELL_H * (double)d->r->n_weeks + 22;
    fprintf(d->stream,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"28\" height=\"14\" fill=\"url(#unsure)\" "
            "stroke=\"%s\"/>\n",
            LEFT, y, hairline);
    text(d->stream, LEFT + 38, y + 11, 12, "start", ink, "the interval holds zero");
    text(d->stream, LEFT, y + 34, 12, "start", faint,
         "small: the cohort cannot be told from zero. -: no accumulator of a week.");
}

static double largest_share(const agg_retention *r)
{
    double most = 0;
    for (size_t i = 0; i < r->n_cells; i++)
        if (r->cells[i].age > 0 && r->cells[i].share > most) most = r->cells[i].share;
    return most;
}

agg_err agg_retention_draw(FILE *stream, agg_error *error, const agg_retention *r)
{
    drawing d = {.stream = stream, .r = r, .most = largest_share(r)};
    if (r->n_weeks > AGG_RETENTION_SVG_MAX)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "a picture of retention has room for %zu weeks", AGG_RETENTION_SVG_MAX);
    d.n_ages = (r->n_ages < r->n_weeks ? r->n_ages : r->n_weeks) - 1;
    double width = fmax(WIDTH_MIN, MAP_X + CELL_W * (double)d.n_ages + LEFT),
           height = MAP_Y + CELL_H * (double)r->n_weeks + LEGEND_H;
    draw_head(&d, width, height);
    for (size_t c = 0; c < r->n_weeks; c++) draw_row(&d, c);
    draw_legend(&d);
    fputs("</svg>\n", stream);
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result: %s", strerror(errno));
}
