// SPDX-License-Identifier: Apache-2.0
// Prints the table of a demonstration; see demo_print.h.
#include "demo_print.h"

#include <stdbool.h>

#include "estimate_print.h"
#include "print_text.h"

void agg_demo_print(FILE *stream, const agg_demo *demo, size_t top)
{
    const agg_estimate *e = &demo->estimate;
    size_t n_covered = 0;
    fprintf(stream,
            "%s devices, epsilon %g each. One record is a noisy answer; together they say:\n\n",
            agg_whole(e->n).text, e->epsilon);
    fprintf(stream, "%-24s %10s %10s %8s  %s\n", "value", "true", "estimate", "stderr",
            "95 % interval");
    for (size_t i = 0; i < e->n_rows; i++) {
        const agg_estimate_row *row = &e->rows[i];
        uint64_t truth = agg_demo_truth(demo, row->value);
        bool is_covered = row->low <= (double)truth && (double)truth <= row->high;
        n_covered += is_covered ? 1 : 0;
        if (i >= top) continue;
        agg_print_terminal_text(stream, row->value.bytes, row->value.len);
        fprintf(stream, "%*s %10s %10s %8s  %s to %s%s\n",
                row->value.len < 24 ? (int)(24 - row->value.len) : 0, "", agg_whole(truth).text,
                agg_grouped(row->count, 0).text, agg_grouped(row->stderr_, 0).text,
                agg_grouped(row->low, 0).text, agg_grouped(row->high, 0).text,
                is_covered ? "" : "  (missed)");
    }
    fprintf(stream, "\n%zu of %zu intervals cover the truth (%.1f %%)\n", n_covered, e->n_rows,
            100.0 * (double)n_covered / (double)e->n_rows);
}
