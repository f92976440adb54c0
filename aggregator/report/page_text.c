// SPDX-License-Identifier: Apache-2.0
// Texts and numbers in pages; see page_text.h.
#include "page_text.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "json_walk.h"
#include "print_text.h"

// Returns: the number of bytes of the UTF-8 sequence at the start of bytes[0..len); 0 if there is
// no valid one.
static size_t sequence_len(const char *bytes, size_t len)
{
    for (size_t n = 1; n <= 4 && n <= len; n++) {
        if (agg_utf8_is_valid(bytes, n)) return n;
    }
    return 0;
}

// Returns: whether a character is invisible or reorders the text around it: a C0 or C1 control, a
// joiner, or a mark of direction.
static bool is_hidden(const char *bytes, size_t n)
{
    const unsigned char *b = (const unsigned char *)bytes;
    if (n == 1) return b[0] < 0x20 || b[0] == 0x7f;
    if (n == 2) return (b[0] == 0xc2 && b[1] < 0xa0) || (b[0] == 0xd8 && b[1] == 0x9c);
    if (n != 3) return false;
    if (b[0] == 0xef) return b[1] == 0xbb && b[2] == 0xbf;
    if (b[0] != 0xe2 || (b[1] != 0x80 && b[1] != 0x81)) return false;
    if (b[1] == 0x80) return (b[2] >= 0x8b && b[2] <= 0x8f) || (b[2] >= 0xa8 && b[2] <= 0xae);
    return b[2] >= 0xa0 && b[2] <= 0xaf;
}

void agg_page_text(FILE *out, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = sequence_len(bytes + i, len - i);
        if (n == 0 || is_hidden(bytes + i, n)) {
            fputs("\xef\xbf\xbd", out);
        } else if (n == 1) {
            switch (bytes[i]) {
            case '&': fputs("&amp;", out); break;
            case '<': fputs("&lt;", out); break;
            case '>': fputs("&gt;", out); break;
            case '"': fputs("&quot;", out); break;
            case '\'': fputs("&#39;", out); break;
            default: fputc(bytes[i], out);
            }
        } else {
            fwrite(bytes + i, 1, n, out);
        }
        i += n == 0 ? 1 : n;
    }
}

void agg_page_string(FILE *out, const char *text)
{
    agg_page_text(out, text, strlen(text));
}

void agg_page_number(FILE *out, double x, int decimals)
{
    const agg_digits digits = agg_grouped(fabs(x), decimals);
    if (x < 0 && strspn(digits.text, "0.") < strlen(digits.text)) fputs("\xe2\x88\x92", out);
    fputs(digits.text, out);
}

void agg_page_count(FILE *out, double x)
{
    agg_page_number(out, x, 0);
}

void agg_page_of(FILE *out, const char *name)
{
    if (name == NULL) return;
    fputs(": ", out);
    agg_page_string(out, name);
}

void agg_page_piece(FILE *out, const char *bytes, size_t len, bool is_start, double count,
                    double stderr_)
{
    fputs("<li title=\"", out);
    agg_page_text(out, bytes, len);
    fputs("\">", out);
    agg_page_text(out, bytes, len);
    fputs(is_start ? "\xe2\x80\xa6 <span>" : " <span>", out);
    agg_page_count(out, count);
    fputs(" \xc2\xb1\xe2\x80\xaf", out);
    agg_page_count(out, stderr_);
    fputs("</span></li>", out);
}
