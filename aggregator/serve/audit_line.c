// SPDX-License-Identifier: Apache-2.0
// Lines of the audit log; see audit_line.h. They are built without allocation, so that a question
// is never answered without its line for want of memory.
#include "audit_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BODY_MAX (AGG_AUDIT_LINE_MAX - AGG_AUDIT_SEAL - 1)
enum { ESCAPED = 6 }; // bytes of a character as \u0022

// The longest body: every byte of a request's texts escaped, and room for names and numbers.
_Static_assert(ESCAPED *(4 * AGG_AUDIT_TEXT_MAX + AGG_AUDIT_BLOCKS_MAX) + 768 < BODY_MAX,
               "a line holds every entry");

// A line's body as it grows.
typedef struct body {
    char *text;
    size_t len;
} body;

static void put(body *b, const char *format, ...) AGG_PRINTF(2, 3);
static void put(body *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(b->text + b->len, BODY_MAX - b->len, format, arguments);
    va_end(arguments);
    if (len > 0 && (size_t)len < BODY_MAX - b->len) b->len += (size_t)len;
}

// Prints a member, or nothing for an empty text. Every byte but printable ASCII is escaped by its
// number: texts come from requests.
static void put_text(body *b, const char *name, const char *text, size_t max)
{
    if (text == NULL || text[0] == '\0') return;
    put(b, ",\"%s\":\"", name);
    for (size_t i = 0; text[i] != '\0' && i < max; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_plain = c >= ' ' && c < 127 && c != '"' && c != '\\';
        put(b, is_plain ? "%c" : "\\u%04x", c);
    }
    put(b, "\"");
}

static body begin(char *line, const agg_audit_chain *chain, int64_t time_s, const char *what)
{
    char text[32] = "";
    struct tm utc;
    time_t seconds = (time_t)time_s;
    body b = {line, 0};
    if (gmtime_r(&seconds, &utc) != NULL) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    put(&b, "{\"seq\":%" PRIu64 ",\"time\":\"%s\"", chain->next, text);
    put_text(&b, "what", what, AGG_AUDIT_TEXT_MAX);
    return b;
}

size_t agg_audit_line_entry(char *line, agg_audit_chain *chain, int64_t time_s,
                            const agg_audit_entry *entry)
{
    body b = begin(line, chain, time_s, entry->what);
    put_text(&b, "who", entry->who, AGG_AUDIT_TEXT_MAX);
    put_text(&b, "via", entry->via, AGG_AUDIT_TEXT_MAX);
    put_text(&b, "collection", entry->collection, AGG_AUDIT_TEXT_MAX);
    put_text(&b, "span", entry->span, AGG_AUDIT_TEXT_MAX);
    put_text(&b, "dictionary", entry->dictionary, AGG_AUDIT_TEXT_MAX);
    put_text(&b, "value", entry->value, AGG_AUDIT_TEXT_MAX);
    if (entry->top > 0) put(&b, ",\"top\":%zu", entry->top);
    put_text(&b, "blocks", entry->blocks, AGG_AUDIT_BLOCKS_MAX);
    if (entry->status > 0)
        put(&b, ",\"status\":%u,\"outcome\":\"%s\"", entry->status,
            entry->status < 400 ? "answered" : "refused");
    return agg_audit_chain_seal(chain, line, b.len);
}

size_t agg_audit_line_begin(char *line, agg_audit_chain *chain, int64_t time_s,
                            const char *previous_file)
{
    char hash[65];
    body b = begin(line, chain, time_s, "begin");
    agg_audit_hash_print(hash, chain->head);
    put(&b, ",\"version\":1");
    put_text(&b, "previous_file", previous_file, AGG_AUDIT_TEXT_MAX);
    put_text(&b, "previous", hash, sizeof hash);
    return agg_audit_chain_seal(chain, line, b.len);
}

size_t agg_audit_line_torn(char *line, agg_audit_chain *chain, int64_t time_s, size_t len,
                           const uint8_t hash[32])
{
    char text[65];
    line[0] = '\n';
    body b = begin(line + 1, chain, time_s, "torn");
    agg_audit_hash_print(text, hash);
    put(&b, ",\"bytes\":%zu", len);
    put_text(&b, "sha256", text, sizeof text);
    return agg_audit_chain_seal(chain, line + 1, b.len) + 1;
}

size_t agg_audit_line_strangers(char *line, agg_audit_chain *chain, int64_t time_s, uint64_t n)
{
    body b = begin(line, chain, time_s, "strangers");
    put(&b, ",\"requests\":%" PRIu64 ",\"outcome\":\"refused\"", n);
    return agg_audit_chain_seal(chain, line, b.len);
}
