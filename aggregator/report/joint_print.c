// SPDX-License-Identifier: Apache-2.0
// Prints joint distributions; see joint_print.h.
#include "joint_print.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "alarm_print.h"
#include "guarantee_print.h"
#include "incomplete_print.h"
#include "print_text.h"
#include "recipe.h"
#include "result_table.h"
#include "table_write.h"
#include "window_picks.h"

#define MATRIX_COLUMNS 7u // categories of the second variable that fit a terminal's width

// The numbers of a share, in the order of the columns.
#define N_COLUMNS 4u
static const char *const column_names[N_COLUMNS] = {"p", "stderr", "low", "high"};

static double column(const agg_joint_share *share, size_t i)
{
    const double numbers[N_COLUMNS] = {share->p, share->stderr_, share->low, share->high};
    return numbers[i];
}

bool agg_joint_is_shown(const agg_joint_result *result, double p)
{
    return p >= result->least;
}

bool agg_joint_shows_marginal(const agg_joint_result *r, uint32_t axis, uint32_t category)
{
    size_t stride = 1; // cells from one category of the axis to the next
    if (r->recipe->recipe->release_threshold == 0) return true;
    for (uint32_t i = axis + 1; i < r->n_axes; i++) stride *= r->axes[i].n;
    for (size_t i = 0; i < r->n_cells; i++)
        if (i / stride % r->axes[axis].n == category && !agg_joint_is_shown(r, r->cells[i].p))
            return false;
    return agg_joint_is_shown(r, r->marginals[axis][category].p);
}

// Finds the categories of a cell.
static void locate(uint32_t at[SHOAL_VARIABLES_MAX], const agg_joint_result *r, size_t cell)
{
    for (uint32_t i = r->n_axes; i-- > 0;) {
        at[i] = (uint32_t)(cell % r->axes[i].n);
        cell /= r->axes[i].n;
    }
}

static size_t count_hidden(const agg_joint_result *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_cells; i++) n += !agg_joint_is_shown(r, r->cells[i].p);
    return n;
}

// ---- JSON, NDJSON ----

static void print_text(FILE *stream, agg_text text)
{
    agg_print_json_text(stream, text.bytes, text.len);
}

static void print_number(FILE *stream, double x)
{
    if (isfinite(x))
        agg_print_number(stream, x);
    else
        fputs("null", stream);
}

static void print_member(FILE *stream, const char *name, double x)
{
    fprintf(stream, "\"%s\":", name);
    print_number(stream, x);
}

static void print_share(FILE *stream, const agg_joint_share *share)
{
    for (size_t i = 0; i < N_COLUMNS; i++) {
        fputc(',', stream);
        print_member(stream, column_names[i], column(share, i));
    }
    fputc('}', stream);
}

static void print_json_cell(FILE *stream, const agg_joint_result *r, size_t cell,
                            const agg_joint_share *share)
{
    uint32_t at[SHOAL_VARIABLES_MAX];
    locate(at, r, cell);
    fputs(r->n_axes == 2 ? "{" : "{\"values\":[", stream);
    for (uint32_t i = 0; i < r->n_axes; i++) {
        if (i > 0) fputc(',', stream);
        if (r->n_axes == 2) fputs(i == 0 ? "\"x\":" : "\"y\":", stream);
        print_text(stream, r->axes[i].labels[at[i]]);
    }
    if (r->n_axes != 2) fputc(']', stream);
    print_share(stream, share);
}

// Prints the shares or the rates of all cells. A withheld cell has no rate either.
static void print_json_cells(FILE *stream, const agg_joint_result *r, const char *name,
                             const agg_joint_share *shares)
{
    const char *separator = "\n";
    fprintf(stream, "\"%s\":[", name);
    for (size_t i = 0; i < r->n_cells; i++) {
        uint32_t at[SHOAL_VARIABLES_MAX];
        if (!agg_joint_is_shown(r, r->cells[i].p)) continue;
        locate(at, r, i);
        if (shares == r->rates && !agg_joint_shows_marginal(r, r->given, at[r->given])) continue;
        fputs(separator, stream);
        print_json_cell(stream, r, i, &shares[i]);
        separator = ",\n";
    }
    fputs("\n],", stream);
}

static void print_json_marginals(FILE *stream, const agg_joint_result *r)
{
    const char *separator = "\n";
    fputs("\"marginals\":[", stream);
    for (uint32_t i = 0; i < r->n_axes; i++)
        for (uint32_t j = 0; j < r->axes[i].n; j++) {
            if (!agg_joint_shows_marginal(r, i, j)) continue;
            fprintf(stream, "%s{\"variable\":", separator);
            print_text(stream, r->axes[i].name);
            fputs(",\"value\":", stream);
            print_text(stream, r->axes[i].labels[j]);
            print_share(stream, &r->marginals[i][j]);
            separator = ",\n";
        }
    fputs("\n],", stream);
}

static void print_json_axes(FILE *stream, const agg_joint_result *r)
{
    fputs("\"variables\":[", stream);
    for (uint32_t i = 0; i < r->n_axes; i++) {
        const agg_joint_axis *axis = &r->axes[i];
        fputs(i > 0 ? ",{\"name\":" : "{\"name\":", stream);
        print_text(stream, axis->name);
        fputs(",\"categories\":[", stream);
        for (uint32_t j = 0; j < axis->n; j++) {
            if (j > 0) fputc(',', stream);
            print_text(stream, axis->labels[j]);
        }
        fprintf(stream, "],\"other\":%s}", axis->has_other ? "true" : "false");
    }
    fputs("],", stream);
}

static const char *form_of(const agg_joint_result *r)
{
    return r->is_em_wald ? "em" : "linear";
}

static void print_json_pair(FILE *stream, const agg_joint_result *r,
                            const agg_joint_independence *pair)
{
    fputc('{', stream);
    if (r->n_axes != 2) {
        fputs("\"x\":", stream);
        print_text(stream, r->axes[pair->first].name);
        fputs(",\"y\":", stream);
        print_text(stream, r->axes[pair->second].name);
        fputc(',', stream);
    }
    print_member(stream, "statistic", pair->statistic);
    fprintf(stream, ",\"df\":%u,", pair->df);
    print_member(stream, "p_value", pair->p_value);
    fprintf(stream, ",\"form\":\"%s\"}", form_of(r));
}

static void print_json_wald(FILE *stream, const agg_joint_result *r)
{
    fputs(r->n_axes == 2 ? "\"wald\":" : "\"wald\":[", stream);
    for (uint32_t i = 0; i < r->n_pairs; i++) {
        if (i > 0) fputc(',', stream);
        print_json_pair(stream, r, &r->pairs[i]);
    }
    fputs(r->n_axes == 2 ? "," : "],", stream);
}

static void print_json(FILE *stream, const agg_joint_result *r)
{
    fprintf(stream, "{\"schema\":1,\"recipe\":\"%s\",\"recipe_hash\":\"%s\",\"n\":%llu,",
            r->recipe->id, r->recipe->hash_hex, (unsigned long long)r->n);
    agg_incomplete_print_json(stream, r->shards);
    print_member(stream, "epsilon", r->recipe->recipe->cost_micro / 1e6);
    if (agg_picks_windows(r->recipe->recipe)) fputs(",\"unit\":\"windows\"", stream);
    fputc(',', stream);
    print_member(stream, "confidence", r->confidence);
    fputc(',', stream);
    print_json_axes(stream, r);
    print_json_cells(stream, r, "cells", r->cells);
    print_json_marginals(stream, r);
    if (r->rates != NULL) {
        fputs("\"given\":", stream);
        print_text(stream, r->axes[r->given].name);
        fputc(',', stream);
        print_json_cells(stream, r, "rates", r->rates);
    }
    print_json_wald(stream, r);
    fprintf(stream, "\"iterations\":%llu,\"converged\":%s,", (unsigned long long)r->iterations,
            r->converged ? "true" : "false");
    print_member(stream, "log_likelihood", r->log_likelihood);
    fprintf(stream, ",\"rank\":%zu,\"parameters\":%zu", r->rank, r->n_free);
    if (r->recipe->recipe->release_threshold > 0)
        fprintf(stream, ",\"withheld\":%zu", count_hidden(r));
    if (r->alarms.is_measured) {
        fputc(',', stream);
        agg_alarms_print_json(stream, &r->alarms);
    }
    if (r->guarantee != NULL) {
        fputs(",\"guarantees\":", stream);
        agg_guarantee_print_json(stream, r->guarantee);
    }
    fputs("}\n", stream);
}

static void print_ndjson(FILE *stream, const agg_joint_result *r)
{
    for (size_t i = 0; i < r->n_cells; i++) {
        if (!agg_joint_is_shown(r, r->cells[i].p)) continue;
        print_json_cell(stream, r, i, &r->cells[i]);
        fputc('\n', stream);
    }
}

// ---- CSV and Arrow ----

static bool read_row(agg_cell *cells, void *source, size_t cell)
{
    const agg_joint_result *r = source;
    uint32_t at[SHOAL_VARIABLES_MAX];
    if (!agg_joint_is_shown(r, r->cells[cell].p)) return false;
    locate(at, r, cell);
    for (uint32_t i = 0; i < r->n_axes; i++) cells[i].text = r->axes[i].labels[at[i]];
    for (size_t j = 0; j < N_COLUMNS; j++) {
        cells[r->n_axes + j].number = column(&r->cells[cell], j);
        cells[r->n_axes + j].error = r->cells[cell].stderr_;
    }
    return true;
}

static void make_table(agg_table *table, const agg_joint_result *r)
{
    *table = (agg_table){.n_rows = r->n_cells, .source = (void *)(uintptr_t)r, .read = read_row};
    for (uint32_t i = 0; i < r->n_axes; i++) {
        const agg_column label = {
            .name = {(const char *)r->axes[i].name.bytes, r->axes[i].name.len},
            .kind = AGG_COLUMN_TEXT,
            .marks = AGG_CSV_QUOTED_NAME};
        agg_table_add(table, &label, 1);
    }
    for (size_t j = 0; j < N_COLUMNS; j++) {
        const agg_column number = {.name = {column_names[j], strlen(column_names[j])},
                                   .kind = AGG_COLUMN_NUMBER,
                                   .may_be_missing = true,
                                   .unit = "share"};
        agg_table_add(table, &number, 1);
    }
    agg_table_state(table, "schema", "1");
    agg_table_state(table, "recipe", r->recipe->id);
    agg_table_state(table, "recipe_hash", r->recipe->hash_hex);
    agg_table_state_whole(table, "n", r->n);
    agg_table_state_number(table, "epsilon", r->recipe->recipe->cost_micro / 1e6);
    agg_table_state_number(table, "confidence", r->confidence);
    agg_table_state_whole(table, "withheld", count_hidden(r));
    agg_table_state(table, "converged", r->converged ? "true" : "false");
    agg_incomplete_state(table, r->shards, "shards", "shards_missing");
}

// ---- table ----

#define SHARE_WIDTH 15u

// Prints a share as "12.34 +- 0.25", in percent and with two digits of the error.
static void print_percent(FILE *stream, const agg_joint_share *share, bool is_shown)
{
    char text[64], error[32] = "?";
    int decimals = isfinite(share->stderr_) ? agg_error_decimals(100 * share->stderr_) : 2;
    if (decimals > 4) decimals = 4;
    if (isfinite(share->stderr_))
        snprintf(error, sizeof error, "%.*f", decimals, 100 * share->stderr_);
    if (is_shown)
        snprintf(text, sizeof text, "%.*f +- %s", decimals, 100 * share->p, error);
    else
        snprintf(text, sizeof text, "withheld");
    fprintf(stream, "  %*s", (int)SHARE_WIDTH, text);
}

static size_t widest(const agg_joint_axis *axis)
{
    size_t width = agg_terminal_width(axis->name.bytes, axis->name.len);
    for (uint32_t i = 0; i < axis->n; i++) {
        size_t own = agg_terminal_width(axis->labels[i].bytes, axis->labels[i].len);
        if (own > width) width = own;
    }
    return width < AGG_TABLE_VALUE_MAX ? width : AGG_TABLE_VALUE_MAX;
}

static void print_heading(FILE *stream, agg_text label)
{
    size_t width = agg_terminal_width(label.bytes, label.len);
    fprintf(stream, "  %*s", width < SHARE_WIDTH ? (int)(SHARE_WIDTH - width) : 0, "");
    agg_print_terminal_text(stream, label.bytes, label.len);
}

static void print_matrix(FILE *stream, const agg_joint_result *r)
{
    static const agg_text all = {"all", 3};
    const agg_joint_axis *x = &r->axes[0], *y = &r->axes[1];
    size_t width = widest(x);
    agg_print_cell(stream, x->name.bytes, x->name.len, width);
    for (uint32_t j = 0; j < y->n; j++) print_heading(stream, y->labels[j]);
    print_heading(stream, all);
    for (uint32_t i = 0; i < x->n; i++) {
        fputc('\n', stream);
        agg_print_cell(stream, x->labels[i].bytes, x->labels[i].len, width);
        for (uint32_t j = 0; j < y->n; j++)
            print_percent(stream, &r->cells[i * y->n + j],
                          agg_joint_is_shown(r, (&r->cells[i * y->n + j])->p));
        print_percent(stream, &r->marginals[0][i], agg_joint_shows_marginal(r, 0, i));
    }
    fputc('\n', stream);
    agg_print_cell(stream, all.bytes, all.len, width);
    for (uint32_t j = 0; j < y->n; j++)
        print_percent(stream, &r->marginals[1][j], agg_joint_shows_marginal(r, 1, j));
    fputc('\n', stream);
}

static void print_list_row(FILE *stream, const agg_joint_result *r, const agg_joint_share *share)
{
    print_percent(stream, share, agg_joint_is_shown(r, share->p));
    if (agg_joint_is_shown(r, share->p) && isfinite(share->stderr_))
        fprintf(stream, "  %8.3f .. %.3f", 100 * share->low, 100 * share->high);
    fputc('\n', stream);
}

static void print_list(FILE *stream, const agg_joint_result *r)
{
    uint32_t at[SHOAL_VARIABLES_MAX];
    size_t widths[SHOAL_VARIABLES_MAX];
    for (uint32_t i = 0; i < r->n_axes; i++) {
        widths[i] = widest(&r->axes[i]);
        agg_print_cell(stream, r->axes[i].name.bytes, r->axes[i].name.len, widths[i]);
        fputs("  ", stream);
    }
    fprintf(stream, "%*s  %8s\n", (int)SHARE_WIDTH, "%", "interval");
    for (size_t cell = 0; cell < r->n_cells; cell++) {
        locate(at, r, cell);
        for (uint32_t i = 0; i < r->n_axes; i++) {
            agg_text label = r->axes[i].labels[at[i]];
            agg_print_cell(stream, label.bytes, label.len, widths[i]);
            fputs("  ", stream);
        }
        print_list_row(stream, r, &r->cells[cell]);
    }
}

void agg_joint_p_value(char out[AGG_JOINT_P_MAX], double p_value)
{
    if (p_value < 1e-300)
        snprintf(out, AGG_JOINT_P_MAX, "p < 1e-300");
    else
        snprintf(out, AGG_JOINT_P_MAX, "p = %.3g", p_value);
}

static void print_verdict(FILE *stream, const agg_joint_result *r,
                          const agg_joint_independence *pair)
{
    agg_text x = r->axes[pair->first].name, y = r->axes[pair->second].name;
    fprintf(stream, "%.*s and %.*s: ", (int)x.len, x.bytes, (int)y.len, y.bytes);
    if (!isfinite(pair->statistic) || isnan(pair->p_value)) {
        fputs("nothing to test\n", stream);
        return;
    }
    char p_value[AGG_JOINT_P_MAX];
    agg_joint_p_value(p_value, pair->p_value);
    fprintf(stream, "%s, Wald statistic %.4g on %u degree%s of freedom, %s%s\n",
            pair->p_value < 1 - r->confidence ? "not independent"
                                              : "no evidence against independence",
            pair->statistic, pair->df, pair->df == 1 ? "" : "s", p_value,
            r->is_em_wald ? " (EM form: conservative)" : "");
}

static void print_table(FILE *stream, const agg_joint_result *r)
{
    char line[AGG_GUARANTEE_LINE_MAX];
    agg_alarms_print_raised(stream, &r->alarms);
    fprintf(stream,
            "%s: %s reports, epsilon %g a report, %g %% intervals; shares in %%, +- standard "
            "error\n",
            r->recipe->id, agg_whole(r->n).text, r->recipe->recipe->cost_micro / 1e6,
            100 * r->confidence);
    agg_incomplete_print(stream, r->shards);
    fputc('\n', stream);
    if (agg_picks_windows(r->recipe->recipe))
        fputs("shares are of windows; one without events has no value of any variable, which makes "
              "variables\ndependent\n\n",
              stream);
    if (r->n_axes == 2 && r->axes[1].n <= MATRIX_COLUMNS)
        print_matrix(stream, r);
    else
        print_list(stream, r);
    fputc('\n', stream);
    for (uint32_t i = 0; i < r->n_pairs; i++) print_verdict(stream, r, &r->pairs[i]);
    fprintf(stream, "EM: %llu iterations, %s\n", (unsigned long long)r->iterations,
            r->converged ? "converged" : "stopped before it converged");
    if (r->rank < r->n_free)
        fprintf(
            stream,
            "the information matrix has rank %zu of %zu: some categories cannot be told apart\n",
            r->rank, r->n_free);
    size_t hidden = count_hidden(r);
    if (hidden > 0)
        fprintf(stream,
                "%zu of %zu cells are withheld, for the release threshold of %s reports, and with "
                "them the\nmarginals that would tell them\n",
                hidden, r->n_cells, agg_whole(r->recipe->recipe->release_threshold).text);
    agg_alarms_print_rest(stream, &r->alarms);
    if (r->guarantee == NULL) return;
    fputc('\n', stream);
    for (size_t i = 0; agg_guarantee_line(line, r->guarantee, i); i++)
        fprintf(stream, "%s\n", line);
}

agg_err agg_joint_print(FILE *stream, agg_error *error, const agg_joint_result *result,
                        agg_format format)
{
    agg_table table;
    make_table(&table, result);
    if (format == AGG_TABLE) print_table(stream, result);
    if (format == AGG_JSON) print_json(stream, result);
    if (format != AGG_NDJSON) return agg_table_write(stream, error, &table, format);
    print_ndjson(stream, result); // its rows name the variables as JSON does
    return agg_table_write(stream, error, &table, AGG_JSON);
}
