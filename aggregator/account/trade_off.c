// SPDX-License-Identifier: Apache-2.0
// The surface of apple-2017 Figure 4b, as numbers; see trade_off.h.
#include "trade_off.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "print_text.h"

double agg_trade_off_bits(const shoal_part *part)
{
    if (part->mechanism == shoal_cms_id) return log2(part->k) + part->m;
    return part->mechanism == shoal_hcms_id ? log2(part->k) + log2(part->m) + 1 : NAN;
}

double agg_trade_off_steps(const shoal_part *part, double n, double p)
{
    double k = part->k, m = part->m;
    if (part->mechanism == shoal_cms_id) return n * m + p * k;
    return part->mechanism == shoal_hcms_id ? n + k * m * log2(m) + p * k : NAN;
}

static void fill(agg_trade_off *s, uint32_t row, uint32_t column)
{
    const char *field = NULL;
    agg_plan_candidate judged;
    shoal_part part = {.mechanism = s->mechanism->id,
                       .domain = SHOAL_DOMAIN_OPEN,
                       .hash = SHOAL_HASH_POLY1,
                       .eps_micro = s->wish->eps_micro,
                       .k = 1u << (row + AGG_TRADE_OFF_LEAST_BITS),
                       .m = 1u << (column + AGG_TRADE_OFF_LEAST_BITS)};
    s->parts[row][column] = part;
    s->error[row][column] = NAN;
    if (shoal_part_prepare(&part, &field) != SHOAL_OK) return; // more cells than a sketch has
    agg_plan_judge(&judged, s->wish, &part);
    s->parts[row][column] = part;
    s->error[row][column] = judged.error;
    s->least = fmin(s->least, judged.error);
    s->most = fmax(s->most, judged.error);
}

agg_err agg_trade_off_run(agg_trade_off *s, agg_error *error, const agg_plan_wish *wish,
                          uint32_t mechanism)
{
    if (mechanism != shoal_cms_id && mechanism != shoal_hcms_id)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--surface is for cms and hcms");
    memset(s, 0, sizeof *s);
    s->wish = wish;
    s->mechanism = shoal_mechanism_by_id(mechanism);
    s->n = wish->devices * wish->per_day * wish->days;
    s->least = INFINITY;
    for (uint32_t row = 0; row < AGG_TRADE_OFF_SIDE; row++)
        for (uint32_t column = 0; column < AGG_TRADE_OFF_SIDE; column++) fill(s, row, column);
    return SHOAL_OK;
}

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

static void print_rows(FILE *stream, const agg_trade_off *s, int is_json)
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
    case AGG_TRADE_OFF_CSV: print_rows(stream, surface, 0); break;
    case AGG_TRADE_OFF_JSON: print_rows(stream, surface, 1); break;
    case AGG_TRADE_OFF_SVG: agg_trade_off_svg(stream, surface); break;
    }
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result: %s", strerror(errno));
}
