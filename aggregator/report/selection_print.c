// SPDX-License-Identifier: Apache-2.0
// Prints selections; see selection_print.h.
#include "selection_print.h"

#include "page_text.h"
#include "print_text.h"

void agg_selection_columns(agg_table *table, const char *unit)
{
    const agg_column columns[] = {
        AGG_COLUMN("fcr_low", AGG_COLUMN_NUMBER, unit),
        AGG_COLUMN("fcr_high", AGG_COLUMN_NUMBER, unit),
        AGG_COLUMN("rank_low", AGG_COLUMN_WHOLE, NULL),
        AGG_COLUMN("rank_high", AGG_COLUMN_WHOLE, NULL),
        AGG_COLUMN_OR_NULL("adjusted", AGG_COLUMN_NUMBER, unit),
        AGG_COLUMN_OR_NULL("adjusted_low", AGG_COLUMN_NUMBER, unit),
        AGG_COLUMN_OR_NULL("adjusted_high", AGG_COLUMN_NUMBER, unit),
    };
    agg_table_add(table, columns, sizeof columns / sizeof *columns);
}

void agg_selection_print_json(FILE *stream, const agg_selection *selection)
{
    fprintf(stream,
            "\"selection\":{\"selected\":%zu,\"of\":%zu,\"confidence\":", selection->n_selected,
            selection->n_all);
    agg_print_number(stream, selection->confidence);
    fputs("},", stream);
}

void agg_selection_print(FILE *stream, const agg_selection *selection, double confidence)
{
    char note[AGG_SELECTION_NOTE_MAX];
    if (agg_selection_note(note, selection, confidence)) fprintf(stream, "\n%s\n", note);
}

// Returns: whether a row that is shown has other figures than its raw ones. The last is nearest to
// the noise.
static bool has_adjusted(const agg_estimate *e)
{
    const agg_estimate_row *last = e->n_rows > 0 ? &e->rows[e->n_rows - 1] : NULL;
    return e->adjusting == AGG_ADJUST_FITTED && last != NULL && last->adjusted.mean != last->raw;
}

void agg_adjusted_print(FILE *stream, const agg_estimate *e, const agg_estimate_row *row)
{
    if (!has_adjusted(e)) return;
    if (row == NULL)
        fprintf(stream, "  %12s  %12s  %12s", "adjusted", "adj. low", "adj. high");
    else
        fprintf(stream, "  %12s  %12s  %12s", agg_grouped(row->adjusted.mean, 0).text,
                agg_grouped(row->adjusted.low, 0).text, agg_grouped(row->adjusted.high, 0).text);
}

void agg_adjusted_print_note(FILE *stream, const agg_estimate *e)
{
    if (e->adjusting != AGG_ADJUST_NONE && (e->adjusting != AGG_ADJUST_FITTED || has_adjusted(e)))
        fprintf(stream, "%s\n", agg_adjust_note(e->adjusting));
}

void agg_adjusted_page_head(FILE *out, const agg_estimate *e)
{
    if (has_adjusted(e)) fputs("<th class=\"interval\" scope=\"col\">if picked</th>", out);
}

void agg_adjusted_page_cell(FILE *out, const agg_estimate *e, const agg_estimate_row *row)
{
    if (!has_adjusted(e)) return;
    fputs("<td class=\"interval\">", out);
    agg_page_number(out, row->adjusted.mean, 0);
    fputs(", ", out);
    agg_page_number(out, row->adjusted.low, 0);
    fputs(" to ", out);
    agg_page_number(out, row->adjusted.high, 0);
    fputs("</td>", out);
}

void agg_adjusted_page_note(FILE *out, const agg_estimate *e)
{
    if (e->adjusting == AGG_ADJUST_NONE) return;
    if (e->adjusting == AGG_ADJUST_FITTED && !has_adjusted(e)) return;
    fputs("<p class=\"note\">", out);
    if (has_adjusted(e)) fputs("\xe2\x80\x9cIf picked\xe2\x80\x9d is ", out);
    agg_page_string(out, agg_adjust_note(e->adjusting));
    fputs(".</p>\n", out);
}
