// SPDX-License-Identifier: Apache-2.0
// Implements marks on texts; see audit_marks.h.
#include "audit_marks.h"

#include <stdio.h>
#include <string.h>

void agg_marked_read(agg_marked *marked, agg_text text)
{
    size_t start = 0;
    marked->text = text;
    marked->n_fields = 0;
    for (size_t i = 0; i <= text.len && marked->n_fields < AGG_FIELDS_MAX; i++) {
        if (i < text.len && text.bytes[i] != ',' && text.bytes[i] != ';') continue;
        marked->fields[marked->n_fields++] = (agg_text){text.bytes + start, i - start};
        start = i + 1;
    }
}

int agg_hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_text(agg_text text, const agg_mark *mark)
{
    return text.len == mark->len && memcmp(text.bytes, mark->text, mark->len) == 0;
}

static bool has_bit(agg_text text, uint32_t position)
{
    int digit = position / 4 < text.len ? agg_hex_digit(text.bytes[position / 4]) : -1;
    return digit >= 0 && (digit >> position % 4 & 1);
}

// Fields of a recipe's list have the same width, so the order of texts is the order of numbers.
static bool falls(const agg_marked *marked, uint32_t i)
{
    agg_text here = marked->fields[i], next = marked->fields[i + 1];
    size_t len = here.len < next.len ? here.len : next.len;
    int order = memcmp(here.bytes, next.bytes, len);
    return order > 0 || (order == 0 && here.len > next.len);
}

bool agg_marked_has(const agg_marked *marked, const agg_mark *mark)
{
    switch (mark->kind) {
    case AGG_MARK_BIT: return has_bit(marked->text, mark->position);
    case AGG_MARK_FIELD:
        return mark->position < marked->n_fields && is_text(marked->fields[mark->position], mark);
    case AGG_MARK_WHOLE: return is_text(marked->text, mark);
    case AGG_MARK_LENGTH: return marked->text.len == mark->position;
    case AGG_MARK_FALL:
        return mark->position + 1 < marked->n_fields && falls(marked, mark->position);
    default: break;
    }
    for (uint32_t i = 0; i < marked->n_fields; i++)
        if (is_text(marked->fields[i], mark)) return true;
    return false;
}

static int write_text(agg_mark *mark, agg_mark_kind kind, uint32_t position, agg_text text)
{
    if (text.len > AGG_MARK_TEXT_MAX) return 2;
    *mark = (agg_mark){kind, position, (uint32_t)text.len, ""};
    memcpy(mark->text, text.bytes, text.len);
    return 1;
}

int agg_marked_list(agg_mark *mark, const agg_marked *marked, uint32_t i)
{
    uint32_t n = marked->n_fields, field = (i - 2) / 3;
    if (i == 0) {
        *mark = (agg_mark){AGG_MARK_LENGTH, (uint32_t)marked->text.len, 0, ""};
        return 1;
    }
    // With a single field, "some field" and "the whole text" would be the same mark twice.
    if (i == 1) return n > 1 ? write_text(mark, AGG_MARK_WHOLE, 0, marked->text) : 2;
    if (field >= n) return 0;
    if ((i - 2) % 3 == 0) return write_text(mark, AGG_MARK_FIELD, field, marked->fields[field]);
    if ((i - 2) % 3 == 1)
        return n > 1 ? write_text(mark, AGG_MARK_HAS, 0, marked->fields[field]) : 2;
    if (field + 1 == n || !falls(marked, field)) return 2;
    *mark = (agg_mark){AGG_MARK_FALL, field, 0, ""};
    return 1;
}

// Copies the mark's text in printable form. Texts drawn elsewhere may hold anything, so unprintable
// characters are not repeated.
static void plain(char out[AGG_MARK_TEXT_MAX + 1], const agg_mark *mark)
{
    for (uint32_t i = 0; i < mark->len; i++)
        out[i] = mark->text[i] >= ' ' && mark->text[i] <= '~' ? mark->text[i] : '?';
    out[mark->len] = '\0';
}

void agg_mark_describe(char *out, size_t cap, const agg_mark *mark)
{
    char text[AGG_MARK_TEXT_MAX + 1];
    unsigned position = mark->position;
    plain(text, mark);
    switch (mark->kind) {
    case AGG_MARK_BIT:
        snprintf(out, cap, "bit %u of character %u is 1", position % 4, position / 4 + 1);
        break;
    case AGG_MARK_FIELD: snprintf(out, cap, "field %u is %s", position + 1, text); break;
    case AGG_MARK_HAS: snprintf(out, cap, "a field is %s", text); break;
    case AGG_MARK_WHOLE: snprintf(out, cap, "the record is %s", text); break;
    case AGG_MARK_LENGTH: snprintf(out, cap, "the record has %u characters", position); break;
    default:
        snprintf(out, cap, "field %u is larger than field %u", position + 1, position + 2);
        break;
    }
}
