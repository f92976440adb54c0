// SPDX-License-Identifier: Apache-2.0
// The first period against the last; see static_changes.h.
#include "static_changes.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "compare.h"
#include "page_text.h"
#include "print_text.h"
#include "trend_figure.h"

static void put_change(FILE *out, const agg_compare_row *row, const agg_scale *scale, double unit)
{
    bool is_known = !row->a_withheld && !row->b_withheld;
    int decimals = agg_error_decimals(unit * row->stderr_);
    fprintf(out, "<tr%s><th class=\"value\" scope=\"row\" title=\"",
            row->detected ? "" : " class=\"mute\"");
    agg_page_text(out, row->value.bytes, row->value.len);
    fputs("\">", out);
    agg_page_text(out, row->value.bytes, row->value.len);
    fputs("</th><td class=\"chart\">", out);
    if (is_known) agg_dumbbell_figure(out, row->a, row->b, scale);
    fputs("</td><td class=\"count\">", out);
    if (is_known) {
        if (row->difference > 0) fputc('+', out);
        agg_page_number(out, unit * row->difference, decimals);
    } else {
        fputs("withheld", out);
    }
    fputs("</td><td class=\"interval\">", out);
    if (is_known) {
        agg_page_number(out, unit * row->low, decimals);
        fputs(" to ", out);
        agg_page_number(out, unit * row->high, decimals);
    }
    fprintf(out, "</td><td class=\"interval verdict\">%s</td></tr>\n",
            row->detected ? "changed" : "cannot tell");
}

bool agg_static_changes_sort_by(const char *column)
{
    return strcmp(column, "value") == 0 || strcmp(column, "difference") == 0 ||
           strcmp(column, "verdict") == 0;
}

// A row and the order that it is compared by.
typedef struct ordered {
    const agg_compare_row *row;
    const agg_table_order *order;
} ordered;

static int compare_values(const agg_text *a, const agg_text *b)
{
    size_t least = a->len < b->len ? a->len : b->len;
    int by = least > 0 ? memcmp(a->bytes, b->bytes, least) : 0;
    return by != 0 ? by : (a->len > b->len) - (a->len < b->len);
}

static bool is_shown(const agg_compare_row *row)
{
    return !row->a_withheld && !row->b_withheld;
}

// Compares rows; those whose difference is withheld come last by any column but the value.
static int compare_rows(const void *first, const void *second)
{
    const ordered *x = first, *y = second;
    const agg_compare_row *a = x->row, *b = y->row;
    const agg_table_order *order = x->order;
    int by = is_shown(b) - is_shown(a);
    if (agg_table_is_by(order, "value"))
        by = agg_table_directed(order, compare_values(&a->value, &b->value));
    else if (by == 0 && agg_table_is_by(order, "difference") && is_shown(a))
        by = agg_table_directed(order,
                                (a->difference > b->difference) - (a->difference < b->difference));
    else if (by == 0 && agg_table_is_by(order, "verdict"))
        by = agg_table_directed(order, a->detected - b->detected);
    return by != 0 ? by : (a > b) - (a < b);
}

// Picks the rows of the table in their order.
//   n: set to their number
// Returns: an array to free; NULL where memory is short.
static ordered *pick_rows(const agg_compare *c, const agg_table_order *order, size_t *n)
{
    ordered *rows = agg_alloc(NULL, c->n_rows, sizeof *rows);
    *n = 0;
    for (size_t i = 0; rows != NULL && i < c->n_rows; i++) {
        const agg_text *value = &c->rows[i].value;
        if (order != NULL && !agg_table_holds(order, value->bytes, value->len)) continue;
        rows[(*n)++] = (ordered){&c->rows[i], order};
    }
    if (rows != NULL && order != NULL && agg_static_changes_sort_by(order->column))
        qsort(rows, *n, sizeof *rows, compare_rows);
    return rows;
}

static void put_head(FILE *out, const agg_static_report *r)
{
    static const agg_table_column value = {"value", "value", "value", false},
                                  difference = {"difference", "difference", "count", true},
                                  verdict = {"verdict", "verdict", "interval verdict", true};
    if (r->order != NULL) {
        fputs("<div class=\"tools\">", out);
        agg_table_search(out, r->order, "Rows with");
        fputs("</div>\n", out);
    }
    fprintf(out, "<table class=\"changes%s\"><thead><tr>", r->order != NULL ? " sorted" : "");
    agg_table_title(out, r->order, &value, false);
    fputs("<th class=\"axis\" scope=\"col\">from, to</th>", out);
    agg_table_title(out, r->order, &difference, false);
    fputs("<th class=\"interval\" scope=\"col\">interval</th>", out);
    agg_table_title(out, r->order, &verdict, false);
    fputs("</tr></thead><tbody>\n", out);
}

static void put_changes(FILE *out, const agg_compare *c, const agg_static_report *r,
                        const ordered *rows, size_t n)
{
    agg_scale scale = {0, 0};
    bool is_mean = c->of == AGG_COMPARE_MEANS;
    for (size_t i = 0; i < n; i++) {
        agg_scale_hold(&scale, rows[i].row->a);
        agg_scale_hold(&scale, rows[i].row->b);
    }
    agg_scale_finish(&scale);
    fputs("<section><h2>What changed", out);
    agg_page_of(out, r->among);
    fputs("</h2>\n<p class=\"note\">From ", out);
    agg_page_string(out, r->names[0]);
    fputs(" (ring) to ", out);
    agg_page_string(out, r->names[r->n - 1]);
    fprintf(out, " (dot)%s. %zu of %zu values shown%s.</p>\n",
            is_mean ? "" : ", in percentage points", n, c->n_dictionary,
            r->order == NULL || r->order->column[0] == '\0' ? ", the surest changes first" : "");
    put_head(out, r);
    for (size_t i = 0; i < n; i++) put_change(out, rows[i].row, &scale, is_mean ? 1 : 100);
    fprintf(out,
            "</tbody></table>\n<p class=\"note\">Rule for \xe2\x80\x9c"
            "changed\xe2\x80\x9d: %s.</p></section>\n",
            c->multiple == AGG_BONFERRONI ? "Bonferroni over all values"
            : c->multiple == AGG_BH       ? "Benjamini-Hochberg over all values"
                                          : "each value alone");
}

agg_err agg_static_changes_make(agg_compare *changes, agg_error *error, const agg_static_report *r)
{
    agg_accumulator first, last;
    agg_err err = r->load(r->context, &first, error, 0);
    if (err != SHOAL_OK) return err;
    err = r->load(r->context, &last, error, r->n - 1);
    if (err != SHOAL_OK) {
        agg_accumulator_release(&first);
        return err;
    }
    const agg_compare_side a = {r->recipe, &first, r->dictionary},
                           b = {r->recipe, &last, r->dictionary};
    const agg_compare_options options = {.confidence = r->options.confidence,
                                         .multiple = r->options.multiple,
                                         .n_threads = r->options.n_threads};
    err = agg_compare_run(changes, error, &a, &b, &options);
    agg_accumulator_release(&first);
    agg_accumulator_release(&last);
    if (err != SHOAL_OK) *changes = (agg_compare){0};
    return err;
}

agg_err agg_static_changes_write(FILE *out, agg_error *error, const agg_static_report *r,
                                 const agg_compare *changes)
{
    size_t n = 0;
    ordered *rows = pick_rows(changes, r->order, &n);
    if (rows == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    put_changes(out, changes, r, rows, n < AGG_STATIC_CHANGES ? n : AGG_STATIC_CHANGES);
    free(rows);
    return SHOAL_OK;
}
