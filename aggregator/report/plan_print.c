// SPDX-License-Identifier: Apache-2.0
// Prints plans; see plan_print.h.
#include "plan_print.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "central_plan.h"
#include "guarantee_print.h"
#include "print_text.h"
#include "trade_off.h"

#define LABEL "%-19s "

typedef struct printing {
    FILE *stream;
    const agg_plan *plan;
    const agg_plan_wish *wish;
    double width;
    agg_pick_wish pick;
    bool has_pick; // the plan says which pick to take
} printing;

static void print_whole(FILE *stream, double x)
{
    fputs(agg_grouped(x, 0).text, stream);
}

// Prints three digits and a unit: 4.19 MB, 35 ms.
static void scaled(char out[24], double x, double step, const char *const *units)
{
    while (x >= 0.9995 * step && units[1] != NULL) {
        x /= step;
        units++;
    }
    snprintf(out, 24, "%.3g %s", x, *units);
}

static const char *bytes_text(char out[24], double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", NULL};
    scaled(out, bytes, 1000, units);
    return out;
}

static const char *time_text(char out[24], double seconds)
{
    static const char *const short_units[] = {"us", "ms", "s", NULL};
    if (seconds >= 7200)
        snprintf(out, 24, "%.3g h", seconds / 3600);
    else if (seconds >= 120)
        snprintf(out, 24, "%.3g min", seconds / 60);
    else
        scaled(out, seconds * 1e6, 1000, short_units);
    return out;
}

static const char *percent(char out[24], double share)
{
    if (share <= 1)
        snprintf(out, 24, "%.3g %%", 100 * share);
    else
        snprintf(out, 24, "over 100 %%");
    return out;
}

static const char *error_text(char out[24], const printing *p, double error)
{
    double x = error * p->width;
    if (x >= 100)
        snprintf(out, 24, "%.23s", agg_grouped(x, 0).text);
    else
        snprintf(out, 24, "%.3g", x);
    return out;
}

static void print_parameter(void *context, const char *name, uint64_t micro)
{
    if (strcmp(name, "epsilon") != 0) fprintf(context, " %s=%.10g", name, (double)micro / 1e6);
}

static void print_wish(const printing *p)
{
    const agg_plan_wish *w = p->wish;
    double each = w->per_day * w->days;
    fprintf(p->stream, LABEL, "reports");
    print_whole(p->stream, p->plan->n);
    if (each > 1) {
        fputs(" (", p->stream);
        print_whole(p->stream, w->devices);
        fprintf(p->stream, " device%s, %g a day for %g day%s)", w->devices == 1 ? "" : "s",
                w->per_day, w->days, w->days == 1 ? "" : "s");
    }
    if (w->active > 0) {
        fputs(" from ", p->stream);
        print_whole(p->stream, w->devices * w->days);
        fprintf(p->stream, " windows, %g %% of them active", 100 * w->active);
    }
    fprintf(p->stream, "\n" LABEL "%g a report", "epsilon", p->plan->epsilon);
    if (w->budget > 0)
        fprintf(p->stream, ": a budget of %g over %g report%s of a device, by basic composition",
                w->budget, each, each == 1 ? "" : "s");
    else if (each > 1)
        fprintf(p->stream, ", %g for all reports of a device, by basic composition",
                p->plan->epsilon * each);
    fprintf(p->stream, "\n" LABEL, "values");
    if (w->is_mean) {
        fprintf(p->stream, "a number from %s to %s, its mean\n", w->low, w->high);
        return;
    }
    if (w->size > 0)
        fprintf(p->stream, w->low != NULL ? "%u buckets of a number from %s to %s" : "a list of %u",
                w->size, w->low, w->high);
    else
        fputs("any string", p->stream);
    fprintf(p->stream, "; frequencies: %s over ", w->law_name);
    print_whole(p->stream, w->law.n_values);
    fputc('\n', p->stream);
}

// Prints what to write into send.pick, and why; a line for each part of the sentence.
static void print_pick(const printing *p)
{
    char sentence[AGG_PICK_SENTENCE_MAX];
    if (!p->has_pick) return;
    agg_pick_sentence(sentence, &p->pick, agg_pick_advise(&p->pick));
    const char *label = "send", *at = sentence;
    for (const char *end; (end = strstr(at, "; ")) != NULL; at = end + 2, label = "")
        fprintf(p->stream, LABEL "%.*s;\n", label, (int)(end - at), at);
    fprintf(p->stream, LABEL "%s\n", label, at);
}

// Prints what the other pick would see.
static void print_other_pick(const printing *p)
{
    char a[24], b[24];
    const agg_plan *plan = p->plan;
    const char *other = p->wish->is_uniform ? "first" : "uniform";
    if (plan->other_smallest <= 0) return;
    fprintf(p->stream, LABEL "%s: smallest share %s of active windows", "instead", other,
            percent(a, plan->other_smallest));
    if (plan->break_even <= 0 || plan->break_even > 1)
        fprintf(p->stream, "; %s is closer whatever opens a day",
                plan->break_even > 1 ? "first" : "uniform");
    else
        fprintf(p->stream, "; %s is closer where openings are off by %s than %s", other,
                p->wish->is_uniform ? "less" : "more", percent(b, plan->break_even));
    fputc('\n', p->stream);
}

static void print_counts(const printing *p, const agg_plan_candidate *c)
{
    char a[24], b[24];
    const agg_plan_wish *w = p->wish;
    fprintf(p->stream, LABEL "%s reports for a rare value, %s for the commonest\n",
            "standard error", error_text(a, p, c->error), error_text(b, p, c->error_largest));
    fprintf(p->stream, LABEL "%s of %s is told from zero as often as not", "smallest share",
            percent(a, c->smallest), w->active > 0 ? "active windows" : "reports");
    if (c->sure <= 1)
        fprintf(p->stream, ", %s in %g of 100 collections", percent(b, c->sure),
                100 * w->confidence);
    fprintf(p->stream, "\n" LABEL "%.0f of ", "detectable", c->n_detectable);
    print_whole(p->stream, w->law.n_values);
    fprintf(p->stream, " values (confidence %g, %s over ", w->confidence,
            agg_multiple_name(w->multiple));
    print_whole(p->stream, w->asked);
    fputs(" asked about)\n", p->stream);
}

static void print_cost(const printing *p, const agg_plan_candidate *c)
{
    char a[24], b[24];
    fprintf(p->stream, LABEL "%.0f bytes as JSON, %.0f in a batch; %s a day from all devices\n",
            "report", c->report_bytes, c->record_bytes, bytes_text(a, c->day_bytes));
    fprintf(p->stream, LABEL "%s\n", "sketch", bytes_text(a, c->memory));
    fprintf(p->stream, LABEL "about %s of one core from batches, %s from JSON\n", "folding",
            time_text(a, c->fold_s), time_text(b, c->fold_json_s));
    fprintf(p->stream, LABEL "about %s of one core\n", "estimating", time_text(a, c->estimate_s));
    double bits = agg_trade_off_bits(&c->part);
    if (!isnan(bits))
        fprintf(p->stream, LABEL "M = %.6g bits, T = %.3g steps (apple-2017, section 5)\n",
                "bandwidth, server", bits,
                agg_trade_off_steps(&c->part, p->plan->n, p->wish->asked));
}

static void print_candidate(const printing *p, const agg_plan_candidate *c, const char *label)
{
    char a[24];
    fprintf(p->stream, LABEL "%s", label, c->mechanism->name);
    agg_plan_parameters(&c->part, print_parameter, p->stream);
    fputc('\n', p->stream);
    if (p->wish->is_mean)
        fprintf(p->stream, LABEL "%s at most%s\n", "standard error", error_text(a, p, c->error),
                agg_account_of(c->part.mechanism)->is_of_devices
                    ? ", and by how much people's numbers differ"
                    : "");
    else
        print_counts(p, c);
    print_cost(p, c);
}

static void print_nothing(const printing *p)
{
    char a[24];
    const agg_plan *plan = p->plan;
    fprintf(p->stream, LABEL "NOTHING: %s", "answer", plan->why);
    if (plan->target > 0)
        fprintf(p->stream, " (%s of %s)", percent(a, plan->target),
                p->wish->active > 0 ? "active windows" : "reports");
    fputc('\n', p->stream);
    if (plan->n_candidates > 0) return;
    if (isfinite(plan->least_report))
        fprintf(p->stream, LABEL "%.0f bytes; the smallest sketch: %s\n", "smallest report",
                plan->least_report, bytes_text(a, plan->least_memory));
}

// Prints the promise that the plan was made for, and what a trusted server would have.
static void print_promise(const printing *p)
{
    const agg_central_promise *promise = p->plan->promise;
    double unit = p->wish->is_mean ? p->width : 1;
    if (promise == NULL) return;
    fprintf(p->stream, LABEL "%g at delta %g, in sums of ", "central promise", promise->epsilon,
            promise->delta);
    print_whole(p->stream, promise->reports);
    fprintf(p->stream, " honest reports or more: epsilon %g of a report\n", p->plan->epsilon);
    fprintf(p->stream, LABEL "standard error %.4g by Laplace noise, %.4g by Gaussian noise\n",
            "a trusted server", promise->laplace * unit, promise->gaussian * unit);
}

// Prints the smallest block, and the central guarantee that rests on it without the lines on a
// report, which the plan has already.
static void print_crowd(const printing *p)
{
    char line[AGG_GUARANTEE_LINE_MAX];
    print_promise(p);
    if (p->plan->guarantee == NULL) return;
    fprintf(p->stream, LABEL, "smallest block");
    print_whole(p->stream, p->wish->block);
    fputs(" reports, block.minimum of the recipe\n", p->stream);
    for (size_t i = 2; agg_guarantee_line(line, p->plan->guarantee, i); i++)
        fprintf(p->stream, "%s\n", line);
}

static void print_needs(const printing *p)
{
    char a[24];
    const agg_plan *plan = p->plan;
    if (plan->target <= 0) return;
    fprintf(p->stream, LABEL "to see %s: ", "needed", percent(a, plan->target));
    if (plan->needed_devices > 0) {
        print_whole(p->stream, plan->needed_devices);
        fprintf(p->stream, " device%s at epsilon %g", plan->needed_devices == 1 ? "" : "s",
                plan->epsilon);
    } else {
        fprintf(p->stream, "no number of devices at epsilon %g does", plan->epsilon);
    }
    if (plan->needed_epsilon > 0)
        fprintf(p->stream, ", or epsilon %g a report with ", plan->needed_epsilon);
    else
        fprintf(p->stream, "; no epsilon up to %g does with ", AGG_PLAN_EPS_MAX);
    print_whole(p->stream, p->wish->devices);
    fputs(p->wish->devices == 1 ? " device\n" : " devices\n", p->stream);
}

static void print_once(const printing *p)
{
    char a[24];
    if (p->plan->once_epsilon <= 0) return;
    fprintf(p->stream, LABEL "one report a device, of epsilon %g: %s %s%s\n", "instead",
            p->plan->once_epsilon, p->wish->is_mean ? "standard error" : "smallest share",
            p->wish->is_mean ? error_text(a, p, p->plan->once_smallest)
                             : percent(a, p->plan->once_smallest),
            p->wish->active > 0 && !p->wish->is_mean ? " of active windows" : "");
}

static void print_parameter_cell(void *context, const char *name, uint64_t micro)
{
    char *text = context;
    size_t len = strlen(text);
    if (strcmp(name, "epsilon") != 0 && strcmp(name, "size") != 0 && len < 60)
        snprintf(text + len, 64 - len, "%s%s=%.10g", len > 0 ? " " : "", name, (double)micro / 1e6);
}

static int parameters_width(const agg_plan *plan)
{
    size_t width = sizeof "parameters" - 1;
    for (size_t i = 0; i < plan->n_candidates; i++) {
        char parameters[64] = "";
        agg_plan_parameters(&plan->candidates[i].part, print_parameter_cell, parameters);
        if (strlen(parameters) > width) width = strlen(parameters);
    }
    return (int)width;
}

static void print_all(const printing *p)
{
    char a[24], b[24], c[24], d[24], e[24], f[24];
    int width = parameters_width(p->plan);
    fprintf(p->stream, "\n%-17s %-*s %8s %9s %9s %10s %7s %6s %8s %9s %9s\n", "mechanism", width,
            "parameters", "stderr", "largest", "smallest", "detectable", "JSON", "batch", "sketch",
            "fold", "estimate");
    for (size_t i = 0; i < p->plan->n_candidates; i++) {
        const agg_plan_candidate *own = &p->plan->candidates[i];
        char parameters[64] = "";
        agg_plan_parameters(&own->part, print_parameter_cell, parameters);
        fprintf(p->stream, "%-17s %-*s %8s %9s %9s %10.0f %7.0f %6.0f %8s %9s %9s\n",
                own->mechanism->name, width, parameters, error_text(a, p, own->error),
                error_text(b, p, own->error_largest),
                p->wish->is_mean ? "-" : percent(c, own->smallest), own->n_detectable,
                own->report_bytes, own->record_bytes, bytes_text(d, own->memory),
                time_text(e, own->fold_s), time_text(f, own->estimate_s));
    }
}

static void print_table(const printing *p, bool is_all)
{
    const agg_plan *plan = p->plan;
    print_wish(p);
    print_pick(p);
    if (plan->is_nothing) print_nothing(p);
    if (plan->n_candidates > 0)
        print_candidate(p, &plan->candidates[0], plan->is_nothing ? "closest" : "answer");
    print_crowd(p);
    print_needs(p);
    print_once(p);
    print_other_pick(p);
    if (is_all && plan->n_candidates > 0) print_all(p);
}

static void put_number(FILE *stream, const char *name, double x)
{
    fprintf(stream, ",\"%s\":", name);
    if (isfinite(x))
        agg_print_number(stream, x);
    else
        fputs("null", stream);
}

static void put_number_or_null(FILE *stream, const char *name, double x)
{
    put_number(stream, name, x > 0 ? x : NAN);
}

static void put_text(FILE *stream, const char *name, const char *text)
{
    fprintf(stream, ",\"%s\":", name);
    if (text != NULL)
        agg_print_json_text(stream, text, strlen(text));
    else
        fputs("null", stream);
}

typedef struct members {
    FILE *stream;
    const char *comma;
} members;

static void put_parameter(void *context, const char *name, uint64_t micro)
{
    members *m = context;
    fprintf(m->stream, "%s\"%s\":%.10g", m->comma, name, (double)micro / 1e6);
    m->comma = ",";
}

static void put_candidate(const printing *p, const agg_plan_candidate *c)
{
    FILE *stream = p->stream;
    members parameters = {stream, ""};
    fprintf(stream, "{\"mechanism\":\"%s\",\"parameters\":{", c->mechanism->name);
    agg_plan_parameters(&c->part, put_parameter, &parameters);
    fputc('}', stream);
    put_number(stream, "stderr", c->error * p->width);
    put_number(stream, "stderr_largest", c->error_largest * p->width);
    if (!p->wish->is_mean) {
        put_number(stream, "smallest_share", c->smallest);
        put_number(stream, "sure_share", c->sure);
        put_number(stream, "detectable", c->n_detectable);
    }
    put_number(stream, "report_bytes", c->report_bytes);
    put_number(stream, "record_bytes", c->record_bytes);
    put_number(stream, "day_bytes", c->day_bytes);
    put_number(stream, "sketch_bytes", c->memory);
    put_number(stream, "fold_s", c->fold_s);
    put_number(stream, "fold_json_s", c->fold_json_s);
    put_number(stream, "estimate_s", c->estimate_s);
    put_number(stream, "paper_bits", agg_trade_off_bits(&c->part));
    put_number(stream, "paper_steps", agg_trade_off_steps(&c->part, p->plan->n, p->wish->asked));
    fputc('}', stream);
}

static void print_json(const printing *p, bool is_all)
{
    const agg_plan *plan = p->plan;
    const agg_plan_wish *w = p->wish;
    FILE *stream = p->stream;
    fprintf(stream, "{\"schema\":1,\"answer\":\"%s\"",
            plan->is_nothing ? "nothing" : plan->candidates[0].mechanism->name);
    put_text(stream, "why", plan->why);
    put_number(stream, "devices", w->devices);
    put_number(stream, "reports", plan->n);
    put_number(stream, "per_day", w->per_day);
    put_number(stream, "days", w->days);
    put_number(stream, "epsilon", plan->epsilon);
    put_number(stream, "epsilon_device", plan->epsilon * w->per_day * w->days);
    put_number_or_null(stream, "budget", w->budget);
    put_text(stream, "values", w->is_mean ? "mean" : w->size > 0 ? "list" : "open");
    if (!w->is_mean) {
        put_number_or_null(stream, "size", w->size);
        put_text(stream, "frequencies", w->law_name);
        put_number(stream, "frequencies_values", w->law.n_values);
        put_number(stream, "asked", w->asked);
        put_text(stream, "multiple", agg_multiple_name(w->multiple));
        put_number_or_null(stream, "wanted_share", w->detect);
        put_number_or_null(stream, "target_share", plan->target);
        put_number_or_null(stream, "needed_devices", plan->needed_devices);
        put_number_or_null(stream, "needed_epsilon", plan->needed_epsilon);
    }
    if (w->active > 0) {
        put_number(stream, "active", w->active);
        put_text(stream, "pick", w->is_uniform ? "uniform" : "first");
        if (!w->is_mean) {
            put_number_or_null(stream, "other_pick_smallest_share", plan->other_smallest);
            put_number_or_null(stream, "openings_break_even", plan->break_even);
        }
    }
    put_number(stream, "confidence", w->confidence);
    put_number_or_null(stream, "once_epsilon", plan->once_epsilon);
    put_number_or_null(stream, w->is_mean ? "once_stderr" : "once_smallest_share",
                       plan->once_smallest * (w->is_mean ? p->width : 1));
    if (plan->n_candidates == 0) {
        put_number(stream, "least_report_bytes", plan->least_report);
        put_number(stream, "least_sketch_bytes", plan->least_memory);
    }
    if (plan->guarantee != NULL) {
        put_number(stream, "block_minimum", w->block);
        fputs(",\"guarantees\":", stream);
        agg_guarantee_print_json(stream, plan->guarantee);
    }
    if (plan->promise != NULL)
        fprintf(stream,
                ",\"central\":{\"epsilon\":%.12g,\"delta\":%g,\"reports\":%.0f,"
                "\"laplace_stderr\":%.9g,\"gaussian_stderr\":%.9g}",
                plan->promise->epsilon, plan->promise->delta, plan->promise->reports,
                plan->promise->laplace * (w->is_mean ? p->width : 1),
                plan->promise->gaussian * (w->is_mean ? p->width : 1));
    fputs(",\"candidates\":[", stream);
    for (size_t i = 0; i < (is_all ? plan->n_candidates : plan->n_candidates > 0); i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        put_candidate(p, &plan->candidates[i]);
    }
    fputs("\n]}\n", stream);
}

agg_err agg_plan_print(FILE *stream, agg_error *error, const agg_plan *plan,
                       const agg_plan_wish *wish, bool is_json, bool is_all, double width)
{
    const printing p = {.stream = stream,
                        .plan = plan,
                        .wish = wish,
                        .width = width,
                        .pick = agg_plan_pick_wish(wish),
                        .has_pick = wish->active > 0 || (wish->size == 0 && !wish->is_mean)};
    if (is_json)
        print_json(&p, is_all);
    else
        print_table(&p, is_all);
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result: %s", strerror(errno));
}
