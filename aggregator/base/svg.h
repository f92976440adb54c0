// SPDX-License-Identifier: Apache-2.0
// What the pictures of this room share: text of any origin, and lines. Plain SVG 1.1, no script, no
// font beyond the viewer's own.
#ifndef SVG_H
#define SVG_H

#include <stddef.h>
#include <stdio.h>

// Writes text that may be hostile: characters that a terminal would not show as they are become
// \xHH, and what is markup a reference.
void agg_svg_escape(FILE *stream, const char *bytes, size_t len);

//   width: of the stroke; stroke: a colour of the picture's own
void agg_svg_line(FILE *stream, double x1, double y1, double x2, double y2, double width,
                  const char *stroke);

#endif
