// SPDX-License-Identifier: Apache-2.0
// Escaping and number formats for printed results; see print_text.h.
#include "print_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utf8proc.h>

// Decodes the first character of a text of at least one byte.
//   point: its code point; -1 if the first byte does not begin a valid UTF-8 character
// Returns: the number of bytes it takes.
static size_t next_point(int32_t *point, const char *bytes, size_t len)
{
    utf8proc_int32_t value = -1;
    utf8proc_ssize_t used =
        utf8proc_iterate((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)len, &value);
    *point = used > 0 ? value : -1;
    return used > 0 ? (size_t)used : 1;
}

static bool is_control(int32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0);
}

// Returns: whether the character reorders or hides the text around it.
static bool is_deceptive(int32_t point)
{
    return point == 0x061c || point == 0xfeff || (point >= 0x200b && point <= 0x200f) ||
           (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f);
}

static bool is_joiner(int32_t point)
{
    return point == 0x200c || point == 0x200d;
}

// Emoji, Persian and Hindi spell words with joiners between characters beyond ASCII. A single
// joiner there hides nothing, so it is printed as it is.
static bool is_spelling(int32_t point, int32_t before, const char *after, size_t len)
{
    return is_joiner(point) && before >= 0x80 && !is_joiner(before) && len > 0 &&
           (after[0] & 0x80) != 0;
}

// Returns: how many characters at the start are ASCII that JSON prints as it is.
static size_t plain_run(const char *bytes, size_t len)
{
    size_t n = 0;
    while (n < len && bytes[n] >= ' ' && bytes[n] < 0x7f && bytes[n] != '"' && bytes[n] != '\\' &&
           bytes[n] != '<' && bytes[n] != '>' && bytes[n] != '&')
        n++;
    return n;
}

void agg_print_json_text(FILE *stream, const char *bytes, size_t len)
{
    fputc('"', stream);
    while (len > 0) {
        int32_t point;
        size_t run = plain_run(bytes, len);
        fwrite(bytes, 1, run, stream);
        bytes += run;
        len -= run;
        if (len == 0) break;
        size_t used = next_point(&point, bytes, len);
        if (point < 0)
            fputs("\\ufffd", stream);
        else if (point == '"' || point == '\\')
            fprintf(stream, "\\%c", (char)point);
        else if (is_control(point) || point == '<' || point == '>' || point == '&' ||
                 is_deceptive(point))
            fprintf(stream, "\\u%04x", (unsigned)point);
        else
            fwrite(bytes, 1, used, stream);
        bytes += used;
        len -= used;
    }
    fputc('"', stream);
}

// Prints a text with the characters escaped that a terminal would obey.
//   stream: NULL to measure the text without printing it
//   is_csv: doubles each quotation mark
// Returns: the number of terminal columns that the printed text takes.
static size_t terminal_text(FILE *stream, const char *bytes, size_t len, bool is_csv)
{
    size_t width = 0;
    int32_t point = 0, before;
    while (len > 0) {
        before = point;
        size_t used = next_point(&point, bytes, len);
        bool is_kept = is_spelling(point, before, bytes + used, len - used);
        if (!is_kept && (point < 0 || is_control(point) || is_deceptive(point))) {
            width += 4 * used;
            for (size_t i = 0; stream != NULL && i < used; i++)
                fprintf(stream, "\\x%02x", (uint8_t)bytes[i]);
        } else {
            width += (size_t)utf8proc_charwidth(point);
            if (stream != NULL && is_csv && point == '"') fputc('"', stream);
            if (stream != NULL) fwrite(bytes, 1, used, stream);
        }
        bytes += used;
        len -= used;
    }
    return width;
}

void agg_print_terminal_text(FILE *stream, const char *bytes, size_t len)
{
    terminal_text(stream, bytes, len, false);
}

size_t agg_terminal_width(const char *bytes, size_t len)
{
    return terminal_text(NULL, bytes, len, false);
}

void agg_print_cell(FILE *stream, const char *bytes, size_t len, size_t width)
{
    for (size_t at = terminal_text(stream, bytes, len, false); at < width; at++) fputc(' ', stream);
}

// Returns: whether a spreadsheet would run the cell as a formula. Some take the full-width forms of
// the four signs for them.
static bool is_formula(const char *bytes, size_t len)
{
    int32_t point = 0;
    if (len > 0) (void)next_point(&point, bytes, len);
    if (point >= 0xff01 && point <= 0xff5e) point -= 0xfee0;
    return point > 0 && point < 0x80 && strchr("=+-@\t\r\n", (char)point) != NULL;
}

void agg_print_csv_text(FILE *stream, const char *bytes, size_t len)
{
    fputs(is_formula(bytes, len) ? "\"'" : "\"", stream);
    terminal_text(stream, bytes, len, true);
    fputc('"', stream);
}

bool agg_is_character(size_t *used, const char *bytes, size_t len)
{
    int32_t point;
    *used = next_point(&point, bytes, len);
    return point >= 0;
}

void agg_print_number(FILE *stream, double x)
{
    char text[AGG_NUMBER_TEXT];
    agg_number_text(text, x);
    fputs(text, stream);
}

int agg_error_decimals(double error)
{
    if (!(error > 0 && error < 10)) return 0;
    int decimals = 1 - (int)floor(log10(error));
    return decimals < 9 ? decimals : 9;
}

agg_digits agg_grouped(double x, int decimals)
{
    char digits[32];
    agg_digits out;
    int len = snprintf(digits, sizeof digits, "%.*f", decimals, x);
    int end = decimals > 0 ? len - decimals - 1 : len; // of the whole part
    size_t at = 0;
    if (!isfinite(x) || (size_t)(len + end / 3) >= sizeof out.text) {
        snprintf(out.text, sizeof out.text, "%.*g", 12, x);
        return out;
    }
    for (int i = 0; i < len; i++) {
        bool is_start = i > 0 && i < end && (end - i) % 3 == 0 && digits[i - 1] != '-';
        if (is_start) out.text[at++] = ',';
        out.text[at++] = digits[i];
    }
    out.text[at] = '\0';
    return out;
}

agg_digits agg_whole(uint64_t n)
{
    agg_digits out;
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    size_t at = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) out.text[at++] = ',';
        out.text[at++] = digits[i];
    }
    out.text[at] = '\0';
    return out;
}

void agg_print_measured(FILE *stream, double x, double error)
{
    int decimals = isfinite(error) && error > 0 ? 2 - (int)floor(log10(error)) : 10;
    if (decimals > 9 || fabs(x) >= 1e15)
        agg_print_number(stream, x);
    else
        fprintf(stream, "%.*f", decimals > 0 ? decimals : 0, x);
}

void agg_print_alert(FILE *stream, const char *text)
{
    const char *plain = getenv("NO_COLOR");
    int number = fileno(stream);
    bool is_red = number >= 0 && isatty(number) && (plain == NULL || plain[0] == '\0');
    fprintf(stream, "%s%s%s", is_red ? "\033[31m" : "", text, is_red ? "\033[0m" : "");
}
