// SPDX-License-Identifier: Apache-2.0
// Escaped text and lines for the SVG pictures of results. Pictures are plain SVG 1.1, without
// scripts and without fonts of their own.
#ifndef SVG_H
#define SVG_H

#include <stddef.h>
#include <stdio.h>

// Prints hostile text. Characters that agg_print_terminal_text escapes become \xHH, and markup
// characters become character references.
void agg_svg_escape(FILE *stream, const char *bytes, size_t len);

// Prints a line from (x1, y1) to (x2, y2).
//   width: of the stroke, in the picture's units
//   stroke: a colour or another paint of SVG; not escaped
void agg_svg_line(FILE *stream, double x1, double y1, double x2, double y2, double width,
                  const char *stroke);

#define AGG_SVG_COLOUR 8u // bytes with a NUL

// Writes the colour of a heat map as "#rrggbb", from light (at 0) to dark (at 1). Its lightness
// falls all along, so that a grey print keeps the order.
//   at: clamped to 0 .. 1
void agg_svg_shade(char out[AGG_SVG_COLOUR], double at);

#endif
