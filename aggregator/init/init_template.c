// SPDX-License-Identifier: Apache-2.0
// Fills templates; see init_template.h.
#include "init_template.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "print_text.h"

#define REPLACED "\xEF\xBF\xBD" // U+FFFD

// Returns: the bytes of a character that must not be shown: a control character, or a mark that
// reorders the text around it (U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069, U+061C); else 0.
static size_t unsafe_at(const unsigned char *at, size_t len)
{
    if (at[0] < ' ' || at[0] == 0x7f) return 1;
    if (len >= 2 && at[0] == 0xC2 && at[1] < 0xA0) return 2;
    if (len >= 2 && at[0] == 0xD8 && at[1] == 0x9C) return 2;
    if (len < 3 || at[0] != 0xE2) return 0;
    if (at[1] == 0x80 && (at[2] == 0x8E || at[2] == 0x8F || (at[2] >= 0xA8 && at[2] <= 0xAE)))
        return 3;
    return at[1] == 0x81 && at[2] >= 0xA6 && at[2] <= 0xA9 ? 3 : 0;
}

static void write_html(FILE *stream, char c)
{
    static const struct {
        char c;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
        if (entities[i].c == c) {
            fputs(entities[i].entity, stream);
            return;
        }
    fputc(c, stream);
}

static void write_markdown(FILE *stream, char c)
{
    if (c == '<' || c == '>' || c == '&')
        write_html(stream, c);
    else {
        if (strchr("\\`*_[]#|!~$", c) != NULL) fputc('\\', stream);
        fputc(c, stream);
    }
}

void init_write_text(FILE *stream, init_kind kind, const char *bytes, size_t len)
{
    if (kind == INIT_JSON) {
        agg_print_json_text(stream, bytes, len);
        return;
    }
    for (size_t i = 0; i < len;) {
        size_t skip = kind == INIT_PLAIN ? 0 : unsafe_at((const unsigned char *)bytes + i, len - i);
        if (skip > 0)
            fputs(REPLACED, stream);
        else if (kind == INIT_HTML)
            write_html(stream, bytes[i]);
        else if (kind == INIT_MARKDOWN)
            write_markdown(stream, bytes[i]);
        else
            fputc(bytes[i], stream);
        i += skip > 0 ? skip : 1;
    }
}

static const char *value_of(const init_value *values, const char *name, size_t len)
{
    for (; values->name != NULL; values++)
        if (strlen(values->name) == len && memcmp(values->name, name, len) == 0)
            return values->text;
    return NULL;
}

// Writes one piece of a template.
static agg_err fill_part(FILE *stream, agg_error *error, init_kind kind, const char *part,
                         const init_value *values)
{
    const char *at = part, *open;
    while ((open = strstr(at, "{{")) != NULL) {
        bool is_raw = open[2] == '{';
        const char *name = open + 2 + is_raw, *close = strstr(name, is_raw ? "}}}" : "}}");
        size_t len = close != NULL ? (size_t)(close - name) : 0;
        const char *text = close != NULL ? value_of(values, name, len) : NULL;
        if (text == NULL)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_RUNTIME,
                            "a template has a place that nothing fills: %.40s", name);
        fwrite(at, 1, (size_t)(open - at), stream);
        init_write_text(stream, is_raw ? INIT_PLAIN : kind, text, strlen(text));
        at = close + 2 + is_raw;
    }
    fputs(at, stream);
    return SHOAL_OK;
}

agg_err init_fill(FILE *stream, agg_error *error, init_kind kind, const char *const *parts,
                  const init_value *values)
{
    agg_err err = SHOAL_OK;
    for (; *parts != NULL && err == SHOAL_OK; parts++)
        err = fill_part(stream, error, kind, *parts, values);
    return err;
}

agg_err init_fill_text(char **text, agg_error *error, init_kind kind, const char *const *parts,
                       const init_value *values)
{
    size_t len = 0;
    *text = NULL;
    FILE *stream = open_memstream(text, &len);
    if (stream == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    agg_err err = init_fill(stream, error, kind, parts, values);
    if (fclose(stream) != 0 && err == SHOAL_OK)
        err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    if (err == SHOAL_OK) return SHOAL_OK;
    free(*text);
    *text = NULL;
    return err;
}
