// SPDX-License-Identifier: Apache-2.0
// Prints plans of distributions; see distribution_plan_print.h.
#include "distribution_plan_print.h"

#include <math.h>

#include "plan.h"
#include "print_text.h"

static double value_of(const agg_distribution_planned *p, double fraction)
{
    return p->wish->low_end + fraction * p->wish->width;
}

static void print_parameter(void *context, const char *name, uint64_t micro)
{
    fprintf(context, " %s=%.10g", name, (double)micro / 1e6);
}

static void print_answer(FILE *stream, const agg_distribution_planned *p)
{
    const agg_distribution_candidate *best = &p->plan->candidates[0];
    const agg_forecast *f = &best->forecast;
    fprintf(stream, "answer              %s", best->mechanism->name);
    agg_plan_parameters(&best->part, print_parameter, stream);
    if (best->part.size > 0) fprintf(stream, ", equal buckets");
    fprintf(stream, "\ndistribution        off by %.3g %% on average over the range\n",
            100 * f->distance);
    for (size_t i = 0; i < p->wish->n_quantiles; i++) {
        if (i == 0)
            fputs("median              ", stream);
        else
            fprintf(stream, "p%-18g ", 100 * p->wish->quantiles[i]);
        fprintf(stream, "off by %.3g, of %.4g\n", f->errors[i] * p->wish->width,
                value_of(p, f->quantiles[i]));
    }
}

static void print_table(FILE *stream, const agg_distribution_planned *p)
{
    const agg_distribution_wish *w = p->wish;
    fprintf(stream,
            "reports             %s\nepsilon             %g a report\n"
            "values              a number from %s to %s, how it is spread; supposed: %s\n",
            agg_grouped(w->n, 0).text, w->eps_micro / 1e6, p->wish->low, p->wish->high,
            w->crowd_name);
    print_answer(stream, p);
    fprintf(stream, "\n%-24s %14s %10s", "mean errors", "distribution", "median");
    for (size_t i = 1; i < w->n_quantiles; i++) fprintf(stream, "    p%-6g", 100 * w->quantiles[i]);
    fputc('\n', stream);
    for (size_t i = 0; i < p->plan->n_candidates; i++) {
        const agg_distribution_candidate *c = &p->plan->candidates[i];
        char name[64];
        if (c->part.size > 0)
            snprintf(name, sizeof name, "%s, %u buckets", c->mechanism->name, c->part.size);
        else
            snprintf(name, sizeof name, "%s", c->mechanism->name);
        fprintf(stream, "%-24s %12.3g %%", name, 100 * c->forecast.distance);
        for (size_t q = 0; q < w->n_quantiles; q++)
            fprintf(stream, " %10.3g", c->forecast.errors[q] * p->wish->width);
        fputc('\n', stream);
    }
    fputs(
        "\nErrors are means of 64 simulated collections of this crowd; another crowd has others.\n",
        stream);
}

static void print_pair(FILE *stream, const char *name, double x)
{
    fprintf(stream, "\"%s\":", name);
    agg_print_number(stream, x);
}

static void print_json_parameter(void *context, const char *name, uint64_t micro)
{
    fprintf(context, ",\"%s\":%.10g", name, (double)micro / 1e6);
}

static void print_json_row(FILE *stream, const agg_distribution_planned *p,
                           const agg_distribution_candidate *c)
{
    fprintf(stream, "{\"mechanism\":\"%s\",", c->mechanism->name);
    if (c->part.size > 0)
        fprintf(stream, "\"size\":%u,", c->part.size);
    else
        fputs("\"size\":null,", stream);
    fprintf(stream, "\"parameters\":{\"low\":%s,\"high\":%s", p->wish->low, p->wish->high);
    agg_plan_parameters(&c->part, print_json_parameter, stream);
    fputs("},", stream);
    print_pair(stream, "distance", c->forecast.distance);
    fputs(",\"quantiles\":[", stream);
    for (size_t i = 0; i < p->wish->n_quantiles; i++) {
        fputs(i > 0 ? ",{" : "{", stream);
        print_pair(stream, "p", p->wish->quantiles[i]);
        fputc(',', stream);
        print_pair(stream, "value", value_of(p, c->forecast.quantiles[i]));
        fputc(',', stream);
        print_pair(stream, "error", c->forecast.errors[i] * p->wish->width);
        fputc('}', stream);
    }
    fputs("]}", stream);
}

static void print_json(FILE *stream, const agg_distribution_planned *p)
{
    const agg_distribution_wish *w = p->wish;
    fputs("{\"schema\":1,", stream);
    print_pair(stream, "n", w->n);
    fputc(',', stream);
    print_pair(stream, "epsilon", w->eps_micro / 1e6);
    fprintf(stream, ",\"crowd\":\"%s\",\"low\":%s,\"high\":%s,\"judged_by\":\"", w->crowd_name,
            p->wish->low, p->wish->high);
    if (w->is_by_quantile)
        fprintf(stream, "p%g", 100 * w->quantiles[w->n_quantiles - 1]);
    else
        fputs("distance", stream);
    fputs("\",\"rows\":[", stream);
    for (size_t i = 0; i < p->plan->n_candidates; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        print_json_row(stream, p, &p->plan->candidates[i]);
    }
    fputs("\n]}\n", stream);
}

agg_err agg_distribution_plan_print(FILE *stream, agg_error *error,
                                    const agg_distribution_planned *planned)
{
    if (planned->is_json)
        print_json(stream, planned);
    else
        print_table(stream, planned);
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the plan");
}
