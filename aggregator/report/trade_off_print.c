// SPDX-License-Identifier: Apache-2.0
// Prints the surface of apple-2017 Figure 4b; see trade_off_print.h.
#include "trade_off_print.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "print_text.h"

static void print_table(FILE *stream, const agg_trade_off *s)
{
    fprintf(stream,
            "%s, epsilon %g, %.0f reports, %s over %.0f values: standard deviation of a rare "
            "value's count\n\n",
            s->mechanism->name, s->wish->eps_micro / 1e6, s->n, s->wish->law_name,
            s->wish->law.n_values);
    fputs("    k \\ m", stream);
    for (uint32_t i = 0; i < AGG_TRADE_OFF_SIDE; i++) fprintf(stream, "%9u", s->parts[0][i].m);
    fputc('\n', stream);
    for (uint32_t row = 0; row < AGG_TRADE_OFF_SIDE; row++) {
        fprintf(stream, "%9u", s->parts[row][0].k);
        for (uint32_t i = 0; i < AGG_TRADE_OFF_SIDE; i++)
            if (isnan(s->error[row][i]))
                fputs("        -", stream);
            else
                fprintf(stream, "%9.0f", s->error[row][i]);
        fputc('\n', stream);
    }
}

static void print_rows(FILE *stream, const agg_trade_off *s, bool is_json)
{
    const char *comma = "";
    if (is_json) {
        fprintf(stream,
                "{\"schema\":1,\"mechanism\":\"%s\",\"epsilon\":%g,\"reports\":%.0f,\"law\":",
                s->mechanism->name, s->wish->eps_micro / 1e6, s->n);
        agg_print_json_text(stream, s->wish->law_name, strlen(s->wish->law_name));
        fputs(",\"rows\":[", stream);
    } else {
        fputs("k,m,record_bits,sketch_bytes,stderr\n", stream);
    }
    for (uint32_t row = 0; row < AGG_TRADE_OFF_SIDE; row++)
        for (uint32_t i = 0; i < AGG_TRADE_OFF_SIDE; i++) {
            const shoal_part *part = &s->parts[row][i];
            if (isnan(s->error[row][i])) continue;
            fprintf(
                stream,
                is_json
                    ? "%s\n{\"k\":%u,\"m\":%u,\"record_bits\":%g,\"sketch_bytes\":%.0f,\"stderr\":"
                    : "%s%u,%u,%g,%.0f,",
                comma, part->k, part->m, agg_trade_off_bits(part), 4.0 * part->k * (part->m + 1.0));
            agg_print_number(stream, s->error[row][i]);
            fputs(is_json ? "}" : "\n", stream);
            comma = is_json ? "," : "";
        }
    if (is_json) fputs("\n]}\n", stream);
}

agg_err agg_trade_off_print(FILE *stream, agg_error *error, const agg_trade_off *surface,
                            agg_trade_off_format format)
{
    switch (format) {
    case AGG_TRADE_OFF_TABLE: print_table(stream, surface); break;
    case AGG_TRADE_OFF_CSV: print_rows(stream, surface, false); break;
    case AGG_TRADE_OFF_JSON: print_rows(stream, surface, true); break;
    case AGG_TRADE_OFF_SVG: agg_trade_off_svg(stream, surface); break;
    }
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result: %s", strerror(errno));
}
