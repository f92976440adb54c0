// SPDX-License-Identifier: Apache-2.0
// Prints guarantees; see guarantee_print.h.
#include "guarantee_print.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "amplification.h"
#include "print_text.h"
#include "round_text.h"
#include "verdict_text.h"

// Returns: the bound's name for people; "closed_form" is a name for programs.
static const char *name_for_people(const char *bound)
{
    return strcmp(bound, agg_bound_names[AGG_BOUND_CLOSED_FORM]) == 0 ? "closed form" : bound;
}

static const char *reason_text(agg_central_none none)
{
    static const char *const texts[] = {
        "",
        "any part of the operator's files can be asked for",
        "nobody stated the share of honest reports",
        "the reports of a device share permanent coins",
        "epsilon is of a whole run, not of one sum",
        "no better than that of a report",
    };
    return texts[none];
}

static void crowd_text(char *out, size_t size, const agg_guarantee *g)
{
    char delta[AGG_ROUND_TEXT_MAX];
    snprintf(out, size, "smallest block of %s report%s, %g %% honest, delta %s%s",
             agg_whole(g->reports).text, g->reports == 1 ? "" : "s", 100 * g->honest,
             agg_delta_text(delta, g->delta), g->is_delta_stated ? "" : ", the recipe states none");
}

static void central_line(char *out, size_t size, const agg_guarantee *g)
{
    const char *name = g->is_of_items ? "central, item     " : "central epsilon   ";
    char epsilon[AGG_ROUND_TEXT_MAX], of[160];
    crowd_text(of, sizeof of, g);
    if (g->none == AGG_CENTRAL_NO_GAIN)
        snprintf(out, size, "%s  %s (%s)", name, reason_text(g->none), of);
    else if (g->none != AGG_CENTRAL_GIVEN)
        snprintf(out, size, "%s  none: %s", name, reason_text(g->none));
    else
        snprintf(out, size, "%s  %s (%s bound, %s)", name,
                 agg_upper_text(epsilon, g->central, AGG_DIGITS_TABLE, ""),
                 name_for_people(g->bound), of);
}

static void person_line(char *out, size_t size, const agg_guarantee *g)
{
    char epsilon[AGG_ROUND_TEXT_MAX], of[96];
    int n = snprintf(of, sizeof of, "%s report%s", agg_whole(g->person_reports).text,
                     g->person_reports == 1 ? "" : "s");
    if (g->days > 0)
        snprintf(of + n, sizeof of - (size_t)n, " of %u day%s, in any blocks", g->days,
                 g->days == 1 ? "" : "s");
    else
        snprintf(of + n, sizeof of - (size_t)n, ", all that a person sends");
    if (isnan(g->person))
        snprintf(out, size, "central, person     no better than %.8g, without a crowd (%s)",
                 g->local * (double)g->person_reports, of);
    else
        snprintf(out, size, "central, person     %s (%s)",
                 agg_upper_text(epsilon, g->person, AGG_DIGITS_TABLE, ""), of);
}

static void claim_line(char *out, size_t size, const agg_guarantee *g)
{
    snprintf(out, size, "claim               central epsilon %.8g: %s", g->claim,
             g->is_claim_kept               ? "kept"
             : agg_guarantee_knows_claim(g) ? "not kept by such blocks"
                                            : "not known of this result");
}

int agg_guarantee_assumption(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *guarantee)
{
    if (guarantee->bound == NULL) return 0;
    snprintf(out, AGG_GUARANTEE_LINE_MAX,
             "The central epsilon assumes that %g %% of the reports are honest. It holds against "
             "readers of released blocks, not against whoever sees single reports or batches.",
             100 * guarantee->honest);
    return 1;
}

// The lines in their order. A line that does not apply is left out.
static int line_of(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *g, size_t kind)
{
    const size_t size = AGG_GUARANTEE_LINE_MAX;
    switch (kind) {
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
    case 3:
        if (g->bound != NULL) person_line(out, size, g);
        return g->bound != NULL;
    case 4:
        if (g->claim > 0) claim_line(out, size, g);
        return g->claim > 0;
    case 5:
        snprintf(out, size,
                 "delta               above 1 / reports: it would let one report be read");
        return g->bound != NULL && g->delta * (double)g->reports > 1;
    case 6: return agg_guarantee_assumption(out, g);
    default: return -1;
    }
}

int agg_guarantee_line(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *guarantee,
                       size_t index)
{
    for (size_t kind = 0;; kind++) {
        int is_there = line_of(out, guarantee, kind);
        if (is_there < 0) return 0;
        if (is_there && index-- == 0) return 1;
    }
}

int agg_guarantee_verdict(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *guarantee,
                          size_t index)
{
    const agg_guarantee *g = guarantee;
    char text[AGG_VERDICT_TEXT_MAX];
    shoal_verdict verdict;
    bool is_run = g->none == AGG_CENTRAL_RUN;
    if (index > (is_run ? 0 : 1)) return 0;
    shoal_verdict_of(&verdict, (uint64_t)llround((index == 0 ? 1 : g->per_day) * g->local * 1e6));
    snprintf(out, AGG_GUARANTEE_LINE_MAX, "verdict, %-10s %s",
             is_run           ? "run"
             : index == 1     ? g->is_of_items ? "device" : "day"
             : g->is_of_items ? "item"
                              : "report",
             agg_verdict_text(text, &verdict));
    return 1;
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
    agg_upper_text(epsilon_text, epsilon, AGG_DIGITS_TABLE, "");
    if (delta > 0)
        snprintf(out, size, "A person with a report on both sides: epsilon %s at delta %s.",
                 epsilon_text, agg_delta_text(delta_text, delta));
    else
        snprintf(out, size, "A person with a report on both sides: epsilon %s.", epsilon_text);
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

static void print_json_central(FILE *stream, const agg_guarantee *g)
{
    char epsilon[AGG_ROUND_TEXT_MAX], delta[AGG_ROUND_TEXT_MAX], line[AGG_GUARANTEE_LINE_MAX];
    fprintf(stream,
            "{\"epsilon\":%s,\"delta\":%s,\"bound\":\"%s\",\"reports\":%llu,\"honest\":%.12g,"
            "\"person\":",
            agg_upper_text(epsilon, g->central, AGG_DIGITS_JSON, "null"),
            agg_delta_text(delta, g->delta), g->bound, (unsigned long long)g->reports, g->honest);
    fprintf(stream, "{\"epsilon\":%s,\"reports\":%llu",
            agg_upper_text(epsilon, g->person, AGG_DIGITS_JSON, "null"),
            (unsigned long long)g->person_reports);
    if (g->days > 0) fprintf(stream, ",\"days\":%u", g->days);
    agg_guarantee_assumption(line, g);
    fprintf(stream, "},\"assumes\":\"%s\"}", line); // plain ASCII without quotes
}

void agg_guarantee_print_json(FILE *stream, const agg_guarantee *guarantee)
{
    const agg_guarantee *g = guarantee;
    char delta[AGG_ROUND_TEXT_MAX];
    fprintf(stream,
            "{\"local\":{\"epsilon\":%.10g,\"drawn\":%.10g,\"model\":\"replacement\",\"reports_per_"
            "day\":%u,"
            "\"epsilon_per_day\":%.15g},\"central\":",
            g->local, g->drawn, g->per_day, g->local * g->per_day);
    if (g->bound != NULL)
        print_json_central(stream, g);
    else
        fprintf(stream, "null,\"no_central\":\"%s\"", agg_central_none_name(g->none));
    if (g->claim > 0)
        fprintf(stream, ",\"claim\":{\"epsilon\":%.10g,\"delta\":%s,\"kept\":%s}", g->claim,
                agg_delta_text(delta, g->delta),
                g->is_claim_kept               ? "true"
                : agg_guarantee_knows_claim(g) ? "false"
                                               : "null");
    fputc('}', stream);
}
