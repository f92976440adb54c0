// SPDX-License-Identifier: Apache-2.0
// Orders lines; see report_order.h.
#include "report_order.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct span {
    const char *bytes;
    size_t len;
} span;

// A line and a number made of its bytes, which is quicker to compare than lines that begin alike.
typedef struct line {
    uint64_t key;
    span text;
} line;

static uint64_t key_of(span text)
{
    uint64_t key = text.len;
    for (size_t at = 0; at < text.len; at += sizeof key) {
        uint64_t word = 0;
        memcpy(&word, text.bytes + at, text.len - at < sizeof word ? text.len - at : sizeof word);
        key = (key ^ word) * 0x9e3779b97f4a7c15u;
        key ^= key >> 29;
    }
    return key;
}

static int compare_lines(const void *a, const void *b)
{
    const line *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    const span *s = &x->text, *t = &y->text;
    int order = memcmp(s->bytes, t->bytes, s->len < t->len ? s->len : t->len);
    return order != 0 ? order : (s->len > t->len) - (s->len < t->len);
}

static size_t count_lines(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) n += text[i] == '\n';
    return n;
}

static void split_lines(line *lines, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        const span one = {text + at, (size_t)(end - (text + at)) + 1};
        *lines++ = (line){key_of(one), one};
        at += one.len;
    }
}

bool report_order(char **text, size_t len)
{
    const size_t n = count_lines(*text, len);
    line *lines = malloc((n + 1) * sizeof *lines);
    char *sorted = malloc(len + 1);
    if (lines == NULL || sorted == NULL) {
        free(sorted);
        free(lines);
        return false;
    }
    split_lines(lines, *text, len);
    qsort(lines, n, sizeof *lines, compare_lines);
    for (size_t i = 0, at = 0; i < n; at += lines[i++].text.len)
        memcpy(sorted + at, lines[i].text.bytes, lines[i].text.len);
    free(*text);
    *text = sorted;
    free(lines);
    return true;
}
