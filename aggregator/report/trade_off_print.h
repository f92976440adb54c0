// SPDX-License-Identifier: Apache-2.0
// Prints the surface of trade_off.h as a table, CSV, JSON, SVG and Arrow.
#ifndef TRADE_OFF_PRINT_H
#define TRADE_OFF_PRINT_H

#include <stdio.h>

#include "trade_off.h"

typedef enum agg_trade_off_format {
    AGG_TRADE_OFF_TABLE = 0,
    AGG_TRADE_OFF_CSV,
    AGG_TRADE_OFF_JSON,
    AGG_TRADE_OFF_SVG,
    AGG_TRADE_OFF_ARROW
} agg_trade_off_format;

// Writes the surface. CSV, JSON and Arrow have k, m, bits of a record, bytes of a sketch, and the
// standard deviation. The SVG is a heat map, with lines for some values of m. Returns: AGG_ERR_IO
// when the stream fails.
agg_err agg_trade_off_print(FILE *stream, agg_error *error, const agg_trade_off *surface,
                            agg_trade_off_format format) SHOAL_MUST_CHECK;

// Writes the SVG alone (trade_off_svg.c).
void agg_trade_off_svg(FILE *stream, const agg_trade_off *surface);

#endif
