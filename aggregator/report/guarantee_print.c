// SPDX-License-Identifier: Apache-2.0
// Prints guarantees; see guarantee_print.h.
#include "guarantee_print.h"

#include <string.h>

#include "amplification.h"
#include "round_text.h"

// Returns: the bound's name for people; "closed_form" is a name for programs.
static const char *name_for_people(const char *bound)
{
    return strcmp(bound, agg_bound_names[AGG_BOUND_CLOSED_FORM]) == 0 ? "closed form" : bound;
}

static void central_line(char *out, size_t size, const agg_guarantee *g)
{
    const char *name = g->is_of_items ? "central, item     " : "central epsilon   ";
    char epsilon[AGG_ROUND_TEXT_MAX], delta[AGG_ROUND_TEXT_MAX], of[96];
    snprintf(of, sizeof of, "%llu report%s, delta %s%s", (unsigned long long)g->reports,
             g->reports == 1 ? "" : "s", agg_delta_text(delta, g->delta),
             g->is_delta_stated ? "" : ", the recipe states none");
    if (g->bound == NULL)
        snprintf(out, size, "%s  no better than that of a report (%s)", name, of);
    else
        snprintf(out, size, "%s  %s (%s bound, %s)", name,
                 agg_upper_text(epsilon, g->central, AGG_DIGITS_TABLE, ""),
                 name_for_people(g->bound), of);
}

static void claim_line(char *out, size_t size, const agg_guarantee *g)
{
    snprintf(out, size, "claim               central epsilon %.8g: %s by these reports", g->claim,
             g->is_claim_kept ? "kept" : "not kept");
}

static void assumption_line(char *out, size_t size, const agg_guarantee *g)
{
    char honest[48] = "all reporters honest";
    if (g->honest < 1)
        snprintf(honest, sizeof honest, "%g %% of the reporters honest", 100 * g->honest);
    snprintf(out, size, "The central epsilon %s, %s, only the sum shown.",
             g->is_of_items ? "is of one contribution (item) in a round's sum"
                            : "assumes one report a person in this result",
             honest);
}

int agg_guarantee_line(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *guarantee,
                       size_t index)
{
    const agg_guarantee *g = guarantee;
    const size_t size = AGG_GUARANTEE_LINE_MAX;
    if (index >= 3 && g->claim <= 0) index++; // a recipe without a claim has no such line
    if (index >= 4 && !(g->delta * (double)g->reports > 1)) index++;
    switch (index) {
    case 0:
        snprintf(out, size, "%s  %.8g (as drawn: %.8g)",
                 g->is_of_items ? "epsilon per item  " : "epsilon per report", g->local, g->drawn);
        return 1;
    case 1:
        if (g->is_of_items)
            snprintf(out, size, "epsilon per device  %g (%u contribution%s, in one round)",
                     g->local * g->per_day, g->per_day, g->per_day == 1 ? "" : "s");
        else
            snprintf(out, size, "epsilon per day     %g (%u report%s)", g->local * g->per_day,
                     g->per_day, g->per_day == 1 ? "" : "s");
        return 1;
    case 2: central_line(out, size, g); return 1;
    case 3: claim_line(out, size, g); return 1;
    case 4:
        snprintf(out, size,
                 "delta               above 1 / reports: it would let one report be read");
        return 1;
    case 5: assumption_line(out, size, g); return 1;
    default: return 0;
    }
}

static int has_line(const agg_guarantee *g, const char *line)
{
    char own[AGG_GUARANTEE_LINE_MAX];
    for (size_t i = 0; agg_guarantee_line(own, g, i); i++)
        if (strcmp(own, line) == 0) return 1;
    return 0;
}

static void both_line(char *out, size_t size, const agg_guarantee *a, const agg_guarantee *b)
{
    char epsilon_text[AGG_ROUND_TEXT_MAX], delta_text[AGG_ROUND_TEXT_MAX];
    double epsilon = 0, delta = 0;
    agg_guarantee_both(&epsilon, &delta, a, b);
    snprintf(out, size, "A person with a report on both sides: epsilon %s at delta %s.",
             agg_upper_text(epsilon_text, epsilon, AGG_DIGITS_TABLE, ""),
             agg_delta_text(delta_text, delta));
}

int agg_guarantee_line_of_two(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *a,
                              const agg_guarantee *b, size_t index)
{
    const agg_guarantee *const sides[] = {a, b, a};
    static const char *const heads[] = {"a: ", "b: ", ""};
    char line[AGG_GUARANTEE_LINE_MAX - 4];
    size_t n = 0;
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; agg_guarantee_line(out, sides[pass], i); i++) {
            if (has_line(pass == 1 ? a : b, out) != (pass == 2) || n++ != index) continue;
            snprintf(line, sizeof line, "%s", out);
            snprintf(out, AGG_GUARANTEE_LINE_MAX, "%s%s", heads[pass], line);
            return 1;
        }
    if (n != index) return 0;
    both_line(out, AGG_GUARANTEE_LINE_MAX, a, b);
    return 1;
}

void agg_guarantee_print_json(FILE *stream, const agg_guarantee *guarantee)
{
    const agg_guarantee *g = guarantee;
    char epsilon[AGG_ROUND_TEXT_MAX], delta[AGG_ROUND_TEXT_MAX];
    agg_delta_text(delta, g->delta);
    fprintf(stream,
            "{\"local\":{\"epsilon\":%.10g,\"drawn\":%.10g,\"model\":\"replacement\",\"reports_per_"
            "day\":%u,"
            "\"epsilon_per_day\":%.15g},\"central\":",
            g->local, g->drawn, g->per_day, g->local * g->per_day);
    if (g->bound != NULL)
        fprintf(stream,
                "{\"epsilon\":%s,\"delta\":%s,\"bound\":\"%s\",\"reports\":%llu,\"honest\":%.12g}",
                agg_upper_text(epsilon, g->central, AGG_DIGITS_JSON, "null"), delta, g->bound,
                (unsigned long long)g->reports, g->honest);
    else
        fputs("null", stream);
    if (g->claim > 0)
        fprintf(stream, ",\"claim\":{\"epsilon\":%.10g,\"delta\":%s,\"kept\":%s}", g->claim, delta,
                g->is_claim_kept ? "true" : "false");
    fputc('}', stream);
}
