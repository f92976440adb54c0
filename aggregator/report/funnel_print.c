// SPDX-License-Identifier: Apache-2.0
// Prints funnels; see funnel_print.h.
#include "funnel_print.h"

#include <string.h>

#include "alarm_print.h"
#include "funnel.h"
#include "guarantee_print.h"
#include "incomplete_print.h"
#include "print_text.h"
#include "recipe.h"
#include "table_write.h"
#include "window_picks.h"

#define NAME_MIN 8u

// ---- rows ----

static void fill(agg_cell *cells, const agg_joint_share *share, bool is_known)
{
    const double numbers[] = {share->p, share->stderr_, share->low, share->high};
    for (size_t i = 0; i < 4; i++) {
        cells[i].number = numbers[i];
        cells[i].error = share->stderr_;
        cells[i].is_missing = !is_known;
    }
}

static bool read_row(agg_cell *cells, void *source, size_t row)
{
    static const agg_joint_share none = {0, 0, 0, 0};
    const agg_joint_result *r = source;
    uint32_t step = (uint32_t)row;
    bool is_known = agg_funnel_has_step(r, step), has_rate = agg_funnel_has_rate(r, step);
    cells[0].text = r->axes[step].name;
    cells[1].number = r->reached[step].p * (double)r->n;
    cells[1].error = r->reached[step].stderr_ * (double)r->n;
    cells[1].is_missing = !is_known;
    fill(cells + 2, &r->reached[step], is_known);
    fill(cells + 6, has_rate ? &r->onward[step - 1] : &none, has_rate);
    return true;
}

static void make_table(agg_table *table, const agg_joint_result *r)
{
    static const char *const names[] = {"count", "share",       "stderr",   "low",      "high",
                                        "rate",  "rate_stderr", "rate_low", "rate_high"};
    static const agg_column step = AGG_COLUMN("step", AGG_COLUMN_TEXT, NULL);
    *table = (agg_table){.n_rows = r->n_axes, .source = (void *)(uintptr_t)r, .read = read_row};
    agg_table_add(table, &step, 1);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const agg_column number = {.name = {names[i], strlen(names[i])},
                                   .kind = AGG_COLUMN_NUMBER,
                                   .may_be_missing = true,
                                   .unit = i == 0 ? agg_picks_unit(r->recipe->recipe) : "share"};
        agg_table_add(table, &number, 1);
    }
    agg_table_state(table, "schema", "1");
    agg_table_state(table, "recipe", r->recipe->id);
    agg_table_state(table, "recipe_hash", r->recipe->hash_hex);
    agg_table_state_whole(table, "n", r->n);
    agg_table_state_number(table, "epsilon", r->recipe->recipe->cost_micro / 1e6);
    agg_table_state_number(table, "confidence", r->confidence);
}

// ---- JSON ----

static void print_member(FILE *stream, const char *before, double x)
{
    fputs(before, stream);
    agg_print_number(stream, x);
}

static void print_json(FILE *stream, const agg_joint_result *r, const agg_table *table)
{
    fprintf(stream, "{\"schema\":1,\"recipe\":\"%s\",\"recipe_hash\":\"%s\",\"n\":%llu,",
            r->recipe->id, r->recipe->hash_hex, (unsigned long long)r->n);
    agg_incomplete_print_json(stream, r->shards);
    print_member(stream, "\"epsilon\":", r->recipe->recipe->cost_micro / 1e6);
    print_member(stream, ",\"confidence\":", r->confidence);
    fputs(",\"astray\":", stream);
    if (agg_funnel_is_released(r, &r->astray)) {
        print_member(stream, "{\"share\":", r->astray.p);
        print_member(stream, ",\"stderr\":", r->astray.stderr_);
        print_member(stream, ",\"low\":", r->astray.low);
        print_member(stream, ",\"high\":", r->astray.high);
        fputc('}', stream);
    } else {
        fputs("null", stream);
    }
    fprintf(stream, ",\"converged\":%s,", r->converged ? "true" : "false");
    agg_alarms_print_json(stream, &r->alarms);
    if (r->guarantee != NULL) {
        fputs(",\"guarantees\":", stream);
        agg_guarantee_print_json(stream, r->guarantee);
    }
    fputs(",\"rows\":[", stream);
    agg_table_print_json_rows(stream, table, "\n", ",\n", "");
    fputs("\n]}\n", stream);
}

// ---- table ----

static void print_share(FILE *stream, const agg_joint_share *share, bool is_known)
{
    char interval[40] = "";
    if (is_known)
        snprintf(interval, sizeof interval, "%.1f..%.1f", 100 * share->low, 100 * share->high);
    if (is_known)
        fprintf(stream, "  %6.1f %%  %11s", 100 * share->p, interval);
    else
        fprintf(stream, "  %8s  %11s", "-", "-");
}

static void print_table(FILE *stream, const agg_joint_result *r)
{
    size_t width = NAME_MIN;
    for (uint32_t i = 0; i < r->n_axes; i++)
        if (r->axes[i].name.len > width) width = r->axes[i].name.len;
    fprintf(stream, "%s: %s reports, epsilon %g a report, %g %% intervals\n", r->recipe->id,
            agg_whole(r->n).text, r->recipe->recipe->cost_micro / 1e6, 100 * r->confidence);
    agg_incomplete_print(stream, r->shards);
    agg_alarms_print_raised(stream, &r->alarms);
    fputc('\n', stream);
    agg_print_cell(stream, "step", 4, width);
    fprintf(stream, "  %10s  %8s  %11s  %8s\n", "count", "of all", "", "of the step before");
    for (uint32_t i = 0; i < r->n_axes; i++) {
        bool is_known = agg_funnel_has_step(r, i);
        agg_print_cell(stream, r->axes[i].name.bytes, r->axes[i].name.len, width);
        fprintf(stream, "  %10s",
                is_known ? agg_grouped(r->reached[i].p * (double)r->n, 0).text : "-");
        print_share(stream, &r->reached[i], is_known);
        if (i > 0) print_share(stream, &r->onward[i - 1], agg_funnel_has_rate(r, i));
        fputc('\n', stream);
    }
    if (agg_funnel_is_released(r, &r->astray))
        fprintf(stream, "\n%.1f %% (%.1f..%.1f) of all reached a step without the one before\n",
                100 * r->astray.p, 100 * r->astray.low, 100 * r->astray.high);
    if (r->recipe->recipe->release_threshold > 0)
        fputs("\n-: below the recipe's release threshold, or not determined by the reports\n",
              stream);
    if (!r->converged) fputs("\nthe estimate did not converge\n", stream);
    char line[AGG_GUARANTEE_LINE_MAX];
    if (r->guarantee != NULL) fputc('\n', stream);
    for (size_t i = 0; r->guarantee != NULL && agg_guarantee_line(line, r->guarantee, i); i++)
        fprintf(stream, "%s\n", line);
}

agg_err agg_funnel_print(FILE *stream, agg_error *error, const agg_joint_result *r,
                         agg_funnel_format format)
{
    static const agg_format formats[] = {
        [AGG_FUNNEL_TABLE] = AGG_TABLE,   [AGG_FUNNEL_JSON] = AGG_JSON,
        [AGG_FUNNEL_NDJSON] = AGG_NDJSON, [AGG_FUNNEL_CSV] = AGG_CSV,
        [AGG_FUNNEL_ARROW] = AGG_ARROW,   [AGG_FUNNEL_SVG] = AGG_TABLE};
    agg_table table;
    make_table(&table, r);
    if (format == AGG_FUNNEL_TABLE) print_table(stream, r);
    if (format == AGG_FUNNEL_JSON) print_json(stream, r, &table);
    if (format == AGG_FUNNEL_SVG) agg_funnel_draw(stream, r);
    return agg_table_write(stream, error, &table, formats[format]);
}
