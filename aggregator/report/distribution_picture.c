// SPDX-License-Identifier: Apache-2.0
// Pictures and tables of how a number is spread; see distribution_picture.h.
#include "distribution_picture.h"

#include <math.h>
#include <stdbool.h>

#include "page_text.h"
#include "print_text.h"

// Units of the picture, which the page stretches to the room that it has.
#define WIDTH 1000.0
#define HEIGHT 100.0

#define LABEL_MAX 200

static bool is_shown(const agg_distribution_bin *b)
{
    return isfinite(b->share);
}

// Returns: whether a bin's interval holds zero.
static bool is_unsure(const agg_distribution_bin *b)
{
    return is_shown(b) && !(b->low > 0);
}

static double low_end(const agg_distribution *d)
{
    return d->bins[0].from;
}

static double high_end(const agg_distribution *d)
{
    return d->bins[d->n_bins - 1].to;
}

// Returns: the share at the top of the picture; 0 where no bin is shown.
static double highest(const agg_distribution *d)
{
    double most = 0;
    for (size_t i = 0; i < d->n_bins; i++)
        most = fmax(most, fmax(d->bins[i].share, d->bins[i].high)); // skips NaN
    return most;
}

static double x_of(const agg_distribution *d, double value)
{
    double at = (value - low_end(d)) / (high_end(d) - low_end(d));
    return WIDTH * fmin(fmax(at, 0), 1);
}

static int limit(int decimals, int most)
{
    return decimals < 0 ? 0 : decimals > most ? most : decimals;
}

// Returns: decimals for the ends of bins.
static int edge_decimals(const agg_distribution *d)
{
    return limit(agg_error_decimals((d->bins[0].to - d->bins[0].from) / 10), 15);
}

static void put_rect(FILE *out, const char *class, double x, double width, double top,
                     double bottom)
{
    fprintf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>", class,
            x, top, width, fmax(bottom - top, 0));
}

static void put_bin(FILE *out, const agg_distribution *d, const agg_distribution_bin *b,
                    double most)
{
    double x = x_of(d, b->from), width = x_of(d, b->to) - x, y = HEIGHT * (1 - b->share / most);
    if (!is_shown(b)) return;
    fprintf(out, "<g%s>", is_unsure(b) ? " class=\"unsure\"" : "");
    put_rect(out, "bin", x + width * 0.04, width * 0.92, y, HEIGHT);
    put_rect(out, "range", x + width * 0.04, width * 0.92, HEIGHT * (1 - b->high / most),
             HEIGHT * (1 - b->low / most));
    fprintf(out, "<line class=\"at\" x1=\"%.2f\" x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\"/></g>",
            x + width * 0.04, x + width * 0.96, y, y);
}

static const agg_quantile *median_of(const agg_distribution *d)
{
    for (size_t i = 0; i < d->n_quantiles; i++)
        if (d->quantiles[i].p == 0.5) return &d->quantiles[i];
    return NULL;
}

void agg_distribution_figure(FILE *out, const agg_distribution *distribution, const char *label)
{
    const agg_distribution *d = distribution;
    const agg_quantile *median = median_of(d);
    double most = highest(d);
    fputs("<div class=\"shape\" role=\"img\" aria-label=\"", out);
    agg_page_string(out, label);
    fprintf(out,
            "\"><svg aria-hidden=\"true\" viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\">",
            WIDTH, HEIGHT);
    for (size_t i = 0; most > 0 && i < d->n_bins; i++) put_bin(out, d, &d->bins[i], most);
    if (median != NULL) {
        double x = x_of(d, median->value);
        fprintf(out, "<line class=\"middle\" x1=\"%.2f\" x2=\"%.2f\" y1=\"0\" y2=\"%.0f\"/>", x, x,
                HEIGHT);
    }
    fputs("</svg></div>\n", out);
}

// ---- the distribution function ----

// Returns: every how many steps one is taken, so that there are `most` of them or fewer.
static size_t stride(const agg_distribution *d, size_t most)
{
    return (d->n_steps + most - 1) / most;
}

// Returns: the step after `at` among those taken, with the last one in any case; n_steps at the
// end.
static size_t next_step(const agg_distribution *d, size_t at, size_t by)
{
    if (at + 1 >= d->n_steps) return d->n_steps;
    return at + by < d->n_steps ? at + by : d->n_steps - 1;
}

static void put_point(FILE *out, const agg_distribution *d, double value, double share)
{
    fprintf(out, "%.1f,%.1f ", x_of(d, value), HEIGHT * (1 - fmin(fmax(share, 0), 1)));
}

void agg_distribution_rise(FILE *out, const agg_distribution *distribution, const char *label)
{
    const agg_distribution *d = distribution;
    const agg_quantile *median = median_of(d);
    size_t by = stride(d, AGG_RISE_MAX), last = d->n_steps - 1;
    fputs("<div class=\"shape\" role=\"img\" aria-label=\"", out);
    agg_page_string(out, label);
    fprintf(out,
            "\"><svg aria-hidden=\"true\" viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\">"
            "<polygon class=\"within\" points=\"0.0,%.1f ",
            WIDTH, HEIGHT, HEIGHT);
    for (size_t i = by - 1; i < d->n_steps; i = next_step(d, i, by))
        put_point(out, d, d->steps[i].to, d->steps[i].high);
    // Back the same way: the steps that lie `by` apart, after the last one.
    put_point(out, d, d->steps[last].to, d->steps[last].low);
    for (size_t i = d->n_steps / by; i-- > 0;)
        put_point(out, d, d->steps[i * by + by - 1].to, d->steps[i * by + by - 1].low);
    fprintf(out, "\"/><polyline class=\"rise\" points=\"0.0,%.1f ", HEIGHT);
    for (size_t i = by - 1; i < d->n_steps; i = next_step(d, i, by))
        put_point(out, d, d->steps[i].to, d->steps[i].share);
    fputs("\"/>", out);
    if (median != NULL)
        fprintf(out,
                "<line class=\"middle\" x1=\"0\" x2=\"%.2f\" y1=\"50\" y2=\"50\"/><line "
                "class=\"middle\" x1=\"%.2f\" x2=\"%.2f\" y1=\"50\" y2=\"%.0f\"/>",
                x_of(d, median->value), x_of(d, median->value), x_of(d, median->value), HEIGHT);
    fputs("</svg></div>\n", out);
}

// ---- tables ----

static void open_table(FILE *out, const char *name, const char *among)
{
    fprintf(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s", name);
    agg_page_of(out, among);
    fputs("\"><table class=\"figures\"><caption>", out);
}

static void put_span(FILE *out, double low, double high, int decimals)
{
    agg_page_number(out, low, decimals);
    fputs(" to ", out);
    agg_page_number(out, high, decimals);
}

static void put_quantiles(FILE *out, const agg_distribution *d, const char *among)
{
    open_table(out, "Quantiles", among);
    fprintf(out,
            "Quantiles, with their %g\xe2\x80\xaf%% intervals</caption><thead><tr><th "
            "scope=\"col\">share of numbers up to</th><th scope=\"col\">value</th><th "
            "scope=\"col\">interval</th></tr></thead><tbody>\n",
            100 * d->confidence);
    for (size_t i = 0; i < d->n_quantiles; i++) {
        const agg_quantile *q = &d->quantiles[i];
        int decimals = limit(agg_error_decimals((q->high - q->low) / 4), 15);
        if (!(q->high > q->low)) decimals = edge_decimals(d);
        fprintf(out, "<tr><th scope=\"row\">%.10g\xe2\x80\xaf%%%s</th><td>", 100 * q->p,
                q->p == 0.5 ? " (median)" : "");
        agg_page_number(out, q->value, decimals);
        fputs("</td><td>", out);
        put_span(out, q->low, q->high, decimals);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_bin_row(FILE *out, const agg_distribution_bin *b, int decimals)
{
    fprintf(out, "<tr%s><th scope=\"row\">", is_unsure(b) ? " class=\"mute\"" : "");
    put_span(out, b->from, b->to, decimals);
    if (!is_shown(b)) {
        fputs("</th><td colspan=\"3\">withheld</td></tr>\n", out);
        return;
    }
    int of_share = limit(agg_error_decimals(100 * b->stderr_), 4);
    fputs("</th><td>", out);
    agg_page_number(out, 100 * b->share, of_share);
    fputs("\xe2\x80\xaf%</td><td>", out);
    agg_page_number(out, 100 * b->stderr_, of_share);
    fputs("</td><td>", out);
    put_span(out, 100 * b->low, 100 * b->high, of_share);
    fputs(is_unsure(b) ? " (cannot be told from zero)</td></tr>\n" : "</td></tr>\n", out);
}

static void put_bins(FILE *out, const agg_distribution *d, const char *among)
{
    int decimals = edge_decimals(d);
    fputs("<details><summary>Every figure of the histogram</summary>\n", out);
    open_table(out, "Histogram", among);
    fprintf(
        out,
        "Shares of all numbers, in percent, with their %g\xe2\x80\xaf%% intervals</caption>"
        "<thead><tr><th scope=\"col\">numbers</th><th scope=\"col\">share</th><th "
        "scope=\"col\">standard error</th><th scope=\"col\">interval</th></tr></thead><tbody>\n",
        100 * d->confidence);
    for (size_t i = 0; i < d->n_bins; i++) put_bin_row(out, &d->bins[i], decimals);
    fputs("</tbody></table></div></details>\n", out);
}

#define STEP_ROWS 16u // rows of the distribution function's table at most

static void put_steps(FILE *out, const agg_distribution *d, const char *among)
{
    int decimals = edge_decimals(d);
    size_t by = stride(d, STEP_ROWS);
    fputs("<details><summary>Figures of the distribution function</summary>\n", out);
    open_table(out, "Distribution function", among);
    fprintf(out,
            "Shares of numbers up to each value, in percent, with their %g\xe2\x80\xaf%% "
            "intervals</caption><thead><tr><th scope=\"col\">up to</th><th scope=\"col\">share"
            "</th><th scope=\"col\">interval</th></tr></thead><tbody>\n",
            100 * d->confidence);
    for (size_t i = by - 1; i < d->n_steps; i = next_step(d, i, by)) {
        const agg_distribution_bin *b = &d->steps[i];
        int of_share = limit(agg_error_decimals(100 * b->stderr_), 4);
        fputs("<tr><th scope=\"row\">", out);
        agg_page_number(out, b->to, decimals);
        fputs("</th><td>", out);
        agg_page_number(out, 100 * b->share, of_share);
        fputs("\xe2\x80\xaf%</td><td>", out);
        put_span(out, 100 * b->low, 100 * b->high, of_share);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div></details>\n", out);
}

static void put_edges(FILE *out, const agg_distribution *d)
{
    int decimals = edge_decimals(d);
    fputs("<figcaption class=\"edges\"><span>", out);
    agg_page_number(out, low_end(d), decimals);
    fputs("</span><span>", out);
    agg_page_number(out, high_end(d), decimals);
    fputs("</span></figcaption></figure>\n", out);
}

static void put_rise(FILE *out, const agg_distribution *d)
{
    fputs("<h3>The share of numbers up to each value</h3>\n<figure>", out);
    agg_distribution_rise(
        out, d, "Distribution function, rising from 0 to 100 percent; the tables have its figures");
    put_edges(out, d);
    fputs(
        "<p class=\"note\">The line rises from 0 to 100\xe2\x80\xaf%; its band is the interval of "
        "each share alone.</p>\n",
        out);
}

static void put_note(FILE *out, const agg_distribution *d)
{
    fprintf(out,
            "<p class=\"note\">A bar is the share of numbers in a bin, and its band the %g"
            "\xe2\x80\xaf%% interval of that bin alone.",
            100 * d->confidence);
    if (highest(d) > 0) {
        fputs(" The picture ends at ", out);
        agg_page_number(out, 100 * highest(d), 1);
        fputs("\xe2\x80\xaf%.", out);
    }
    if (median_of(d) != NULL) fputs(" The dashed line is the median.", out);
    if (d->n_withheld > 0)
        fprintf(out, " %zu of %zu bins are below the release threshold and are withheld%s.",
                d->n_withheld, d->n_bins, d->n_quantiles == 0 ? ", and so are quantiles" : "");
    fputs("</p>\n", out);
}

void agg_distribution_page_write(FILE *out, const agg_distribution *distribution, const char *among)
{
    const agg_distribution *d = distribution;
    char label[LABEL_MAX];
    int decimals = edge_decimals(d);
    snprintf(label, sizeof label,
             "Histogram of %zu bins from %s to %s; the tables below have its figures", d->n_bins,
             agg_grouped(low_end(d), decimals).text, agg_grouped(high_end(d), decimals).text);
    fputs("<div class=\"spread\"><h3>How the numbers are spread</h3>\n<figure>", out);
    agg_distribution_figure(out, d, label);
    put_edges(out, d);
    put_note(out, d);
    if (d->n_steps > 0) put_rise(out, d);
    if (d->n_quantiles > 0) put_quantiles(out, d, among);
    put_bins(out, d, among);
    if (d->n_steps > 0) put_steps(out, d, among);
    fputs("</div>\n", out);
}
