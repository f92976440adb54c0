// SPDX-License-Identifier: Apache-2.0
// The heat map of pages; see joint_picture.h.
#include "joint_picture.h"

#include <math.h>

#include "joint_print.h"
#include "page_text.h"
#include "print_text.h"

#define SHADES 8 // classes s0 .. s7 of the style

static void put_text(FILE *out, agg_text text)
{
    agg_page_text(out, text.bytes, text.len);
}

static int decimals_of(const agg_joint_share *share)
{
    int decimals = isfinite(share->stderr_) ? agg_error_decimals(100 * share->stderr_) : 1;
    return decimals < 0 ? 0 : decimals > 3 ? 3 : decimals;
}

// Prints a share and its interval, in percent.
static void put_share(FILE *out, const agg_joint_share *share)
{
    int decimals = decimals_of(share);
    agg_page_number(out, 100 * share->p, decimals);
    fputs("\xe2\x80\xaf%<small>", out);
    if (isfinite(share->stderr_)) {
        agg_page_number(out, 100 * share->low, decimals);
        fputs(" to ", out);
        agg_page_number(out, 100 * share->high, decimals);
        if (!(share->low > 0)) fputs(", unsure", out);
    } else {
        fputs("of any error", out);
    }
    fputs("</small>", out);
}

// Says where a cell's rate lies, if its whole interval is on one side of the marginal.
static void put_side(FILE *out, const agg_joint_result *r, size_t row, size_t column)
{
    if (r->rates == NULL) return;
    const agg_joint_share *rate = &r->rates[row * r->axes[1].n + column];
    double marginal = r->given == 0 ? r->marginals[1][column].p : r->marginals[0][row].p;
    if (!agg_joint_shows_marginal(r, 0, (uint32_t)row) ||
        !agg_joint_shows_marginal(r, 1, (uint32_t)column))
        return;
    if (!isfinite(rate->stderr_)) return;
    if (rate->low > marginal) fputs("<small>\xe2\x96\xb2 more than usual</small>", out);
    if (rate->high < marginal) fputs("<small>\xe2\x96\xbc less than usual</small>", out);
}

static void put_cell(FILE *out, const agg_joint_result *r, size_t row, size_t column, double most)
{
    const agg_joint_share *share = &r->cells[row * r->axes[1].n + column];
    if (!agg_joint_is_shown(r, share->p)) {
        fputs("<td>withheld</td>", out);
        return;
    }
    int shade = most > 0 ? (int)(share->p / most * (SHADES - 1) + 0.5) : 0;
    fprintf(out, "<td class=\"s%d%s\">", shade < 0 ? 0 : shade, share->low > 0 ? "" : " unsure");
    put_share(out, share);
    put_side(out, r, row, column);
    fputs("</td>", out);
}

static void put_marginal(FILE *out, const agg_joint_result *r, size_t axis, size_t i)
{
    const agg_joint_share *share = &r->marginals[axis][i];
    fputs("<td>", out);
    if (agg_joint_shows_marginal(r, (uint32_t)axis, (uint32_t)i))
        put_share(out, share);
    else
        fputs("withheld", out);
    fputs("</td>", out);
}

// Returns: the largest share of a cell that is shown; 0 without one.
static double largest(const agg_joint_result *r)
{
    double most = 0;
    for (size_t i = 0; i < r->n_cells; i++)
        if (agg_joint_is_shown(r, r->cells[i].p)) most = fmax(most, r->cells[i].p);
    return most;
}

static void put_head(FILE *out, const agg_joint_result *r, const char *among)
{
    const agg_joint_axis *x = &r->axes[0], *y = &r->axes[1];
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"", out);
    put_text(out, x->name);
    fputs(" by ", out);
    put_text(out, y->name);
    agg_page_of(out, among);
    fputs("\"><table class=\"joint\"><caption>Shares of all reports, with their ", out);
    fprintf(out, "%g\xe2\x80\xaf%% intervals</caption><thead><tr><th scope=\"col\">",
            100 * r->confidence);
    put_text(out, x->name);
    fputs(" \\ ", out);
    put_text(out, y->name);
    fputs("</th>", out);
    for (uint32_t j = 0; j < y->n; j++) {
        fputs("<th scope=\"col\">", out);
        put_text(out, y->labels[j]);
        fputs("</th>", out);
    }
    fputs("<th scope=\"col\">all</th></tr></thead><tbody>\n", out);
}

static void put_test(FILE *out, const agg_joint_result *r)
{
    char p_value[AGG_JOINT_P_MAX];
    if (r->n_pairs != 1 || isnan(r->pairs[0].p_value)) return;
    agg_joint_p_value(p_value, r->pairs[0].p_value);
    fputs(r->pairs[0].p_value < 1 - r->confidence
              ? "<p class=\"note\"><b>Not independent</b>"
              : "<p class=\"note\"><b>No evidence against independence</b>",
          out);
    fprintf(out, ": Wald statistic %.4g, %u degree%s of freedom, ", r->pairs[0].statistic,
            r->pairs[0].df, r->pairs[0].df == 1 ? "" : "s");
    agg_page_string(out, p_value);
    fputs(".</p>\n", out);
}

void agg_joint_picture_write(FILE *out, const agg_joint_result *result, const char *among)
{
    const agg_joint_result *r = result;
    const agg_joint_axis *x = &r->axes[0], *y = &r->axes[1];
    double most = largest(r);
    fputs("<h3>", out);
    put_text(out, x->name);
    fputs(" by ", out);
    put_text(out, y->name);
    fputs("</h3>\n", out);
    put_head(out, r, among);
    for (uint32_t i = 0; i < x->n; i++) {
        fputs("<tr><th scope=\"row\">", out);
        put_text(out, x->labels[i]);
        fputs("</th>", out);
        for (uint32_t j = 0; j < y->n; j++) put_cell(out, r, i, j, most);
        put_marginal(out, r, 0, i);
        fputs("</tr>\n", out);
    }
    fputs("<tr><th scope=\"row\">all</th>", out);
    for (uint32_t j = 0; j < y->n; j++) put_marginal(out, r, 1, j);
    fputs("<td></td></tr>\n</tbody></table></div>\n", out);
    fprintf(out,
            "<p class=\"note\">The darker, the larger the share. Hatched and \xe2\x80\x9cunsure"
            "\xe2\x80\x9d: the interval holds zero. \xe2\x96\xb2 and \xe2\x96\xbc: the whole "
            "interval of the rate within its %s is above or below the rate of all.</p>\n",
            r->given == 0 ? "row" : "column");
    put_test(out, r);
}
