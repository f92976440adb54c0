// SPDX-License-Identifier: Apache-2.0
// Escaping and lines for SVG pictures; see svg.h.
#include "svg.h"

#include <stdlib.h>
#include <string.h>

#include "print_text.h"

void agg_svg_escape(FILE *stream, const char *bytes, size_t len)
{
    char *shown = NULL;
    size_t shown_len = 0;
    FILE *memory = open_memstream(&shown, &shown_len);
    if (memory == NULL) return;
    agg_print_terminal_text(memory, bytes, len);
    if (fclose(memory) == 0)
        for (size_t i = 0; i < shown_len; i++) {
            if (strchr("<>&\"'", shown[i]) != NULL)
                fprintf(stream, "&#%d;", shown[i]);
            else
                fputc((unsigned char)shown[i], stream);
        }
    free(shown);
}

void agg_svg_line(FILE *stream, double x1, double y1, double x2, double y2, double width,
                  const char *stroke)
{
    fprintf(stream,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"%g\"/>\n",
            x1, y1, x2, y2, stroke, width);
}

void agg_svg_shade(char out[AGG_SVG_COLOUR], double at)
{
    static const double stops[][3] = {
        {240, 247, 252}, {190, 217, 236}, {107, 168, 208}, {40, 110, 168}, {12, 52, 99}};
    const size_t last = sizeof stops / sizeof stops[0] - 1;
    double x = (at > 1 ? 1 : at > 0 ? at : 0) * (double)last;
    size_t i = x >= (double)last ? last - 1 : (size_t)x;
    unsigned colour[3];
    for (int c = 0; c < 3; c++)
        colour[c] = (unsigned)(stops[i][c] + (x - (double)i) * (stops[i + 1][c] - stops[i][c]));
    snprintf(out, AGG_SVG_COLOUR, "#%02x%02x%02x", colour[0] & 255, colour[1] & 255,
             colour[2] & 255);
}
