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
