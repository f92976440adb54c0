// SPDX-License-Identifier: Apache-2.0
// Bars with whiskers; see page_bar.h. They are drawn in percent of their cell, so that text keeps
// its size at any width.
#include "page_bar.h"

#include <math.h>

#include "page_text.h"

void agg_page_axis_settle(agg_page_axis *a)
{
    if (!(a->high > a->low)) a->high = a->low + 1;
    double rough = (a->high - a->low) / 5, power = pow(10, floor(log10(rough)));
    double factor = rough / power;
    a->step = power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

static double percent(const agg_page_axis *a, double x)
{
    double p = 100 * (x - a->low) / (a->high - a->low);
    return fmin(fmax(p, 0), 100);
}

static void put_grid(FILE *out, const agg_page_axis *a)
{
    for (double tick = ceil(a->low / a->step); tick * a->step <= a->high; tick += 1) {
        double x = percent(a, tick * a->step);
        fprintf(out, "<line class=\"%s\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"100%%\"/>",
                tick == 0 ? "zero" : "grid", x, x);
    }
}

void agg_page_axis_write(FILE *out, const agg_page_axis *a)
{
    int decimals = a->step < 1 ? (int)ceil(-log10(a->step) - 1e-9) : 0;
    fputs("<span class=\"unseen\">picture</span><svg aria-hidden=\"true\">", out);
    for (double tick = ceil(a->low / a->step); tick * a->step <= a->high; tick += 1) {
        double x = percent(a, tick * a->step);
        const char *anchor = x < 4 ? "start" : x > 96 ? "end" : "middle";
        fprintf(out, "<text x=\"%.2f%%\" y=\"80%%\" text-anchor=\"%s\">", x, anchor);
        agg_page_number(out, tick * a->step, decimals);
        fputs("</text>", out);
    }
    fputs("</svg>", out);
}

static void put_whisker(FILE *out, double low, double high)
{
    fprintf(out,
            "<line class=\"whisker\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"50%%\" y2=\"50%%\"/><line "
            "class=\"whisker\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"30%%\" y2=\"70%%\"/><line "
            "class=\"whisker\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"30%%\" y2=\"70%%\"/>",
            low, high, low, low, high, high);
}

void agg_page_bar_write(FILE *out, const agg_page_axis *a, double count, double low, double high)
{
    double zero = percent(a, 0), end = percent(a, count);
    fputs("<svg aria-hidden=\"true\">", out);
    put_grid(out, a);
    fprintf(
        out,
        "<rect class=\"bar\" x=\"%.2f%%\" y=\"18%%\" width=\"%.2f%%\" height=\"64%%\" rx=\"2\"/>",
        fmin(zero, end), fabs(end - zero));
    put_whisker(out, percent(a, low), percent(a, high));
    fputs("</svg>", out);
}

void agg_page_count_cells_write(FILE *out, const agg_page_axis *axis, double count, double low,
                                double high)
{
    fputs("</td><td class=\"chart\">", out);
    agg_page_bar_write(out, axis, count, low, high);
    fputs("</td><td class=\"count\">", out);
    agg_page_count(out, count);
    fputs("</td><td class=\"interval\">", out);
    agg_page_count(out, low);
    fputs(" to ", out);
    agg_page_count(out, high);
}

void agg_page_bar_key_write(FILE *out, size_t n_mute)
{
    fputs("<p class=\"key\"><span><svg aria-hidden=\"true\"><rect class=\"bar\" x=\"0\" y=\"18%\" "
          "width=\"70%\" height=\"64%\" rx=\"2\"/>",
          out);
    put_whisker(out, 45, 95);
    fputs("</svg>estimate and interval</span>", out);
    if (n_mute > 0) {
        fputs("<span class=\"mute\"><svg aria-hidden=\"true\"><rect class=\"bar\" x=\"0\" "
              "y=\"18%\" width=\"40%\" height=\"64%\" rx=\"2\"/>",
              out);
        put_whisker(out, 10, 70);
        fputs("</svg>not distinguishable from zero</span>", out);
    }
    fputs("</p>\n", out);
}
