// SPDX-License-Identifier: Apache-2.0
// Property: whatever bytes a log holds, a page has the newest of its lines that fit, at most as
// many as fit on it, each as it stands in the log; a member is a text that ends within its buffer.
// What the log's own writer made of a text is read back as that text.
//
// The input is a filter's text, a newline, and the log.
#include "audit_read.h"
#include "fuzz.h"

#define DAY "2026-11-22"
#define TEXT_MAX 71 // bytes of a text of a request that a line keeps

static bool is_wanted(const char *line, const char *who)
{
    char text[AGG_AUDIT_TEXT_MAX], time[32];
    agg_audit_member(time, sizeof time, line, "time");
    agg_audit_member(text, sizeof text, line, "who");
    return strncmp(time, DAY, strlen(DAY)) == 0 && (who[0] == '\0' || strcmp(text, who) == 0);
}

static bool is_older(const char *line)
{
    char time[32];
    agg_audit_member(time, sizeof time, line, "time");
    return time[0] != '\0' && strncmp(time, DAY, strlen(DAY)) < 0;
}

// Goes through the lines from the last one back, as a page should.
static void compare(const agg_audit_page *page, char *copy, size_t len, const char *who)
{
    size_t n = 0;
    while (len > 0) {
        size_t begin = len - 1;
        copy[begin] = '\0';
        while (begin > 0 && copy[begin - 1] != '\n') begin--;
        if (is_older(copy + begin)) break;
        if (is_wanted(copy + begin, who)) {
            if (n == page->n) {
                PROPERTY(page->is_more && n == AGG_AUDIT_PAGE_ROWS);
                return;
            }
            PROPERTY(strcmp(page->lines[n++], copy + begin) == 0);
        }
        len = begin;
    }
    PROPERTY(n == page->n && !page->is_more);
}

static void read_back(const char *text)
{
    char line[AGG_AUDIT_LINE_MAX], again[AGG_AUDIT_TEXT_MAX];
    agg_audit_chain chain = {.next = 1};
    agg_audit_entry entry = {.who = "alice", .via = "bearer", .what = "page"};
    snprintf(entry.value, sizeof entry.value, "%s", text);
    snprintf(entry.collection, sizeof entry.collection, "%s", text);
    size_t len = agg_audit_line_entry(line, &chain, 1795305600, &entry);
    PROPERTY(len <= sizeof line && line[len - 1] == '\n');
    line[len - 1] = '\0';
    static const char *const names[] = {"value", "collection"};
    for (int i = 0; i < 2; i++) {
        agg_audit_member(again, sizeof again, line, names[i]);
        PROPERTY(strcmp(again, entry.value) == 0);
    }
    agg_audit_member(again, sizeof again, line, "who");
    PROPERTY(strcmp(again, "alice") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char who[TEXT_MAX + 1] = "";
    const uint8_t *end = len == 0 ? NULL : memchr(data, '\n', len);
    size_t head = end == NULL ? 0 : (size_t)(end - data) + 1;
    if (head > 0) memcpy(who, data, head - 1 < TEXT_MAX ? head - 1 : TEXT_MAX);
    while (len > head && data[len - 1] != '\n') len--; // a piece ends with a line
    size_t size = len - head;
    char *bytes = malloc(size + 1), *copy = malloc(size + 1);
    PROPERTY(bytes != NULL && copy != NULL);
    if (size > 0) memcpy(bytes, data + head, size);
    if (size > 0) memcpy(copy, data + head, size);
    agg_audit_page page = {.n = 0};
    agg_error error;
    bool is_done = false;
    const agg_audit_find find = {.who = who, .day = DAY};
    PROPERTY(agg_audit_page_take(&page, &is_done, &error, &find, bytes, size) == SHOAL_OK);
    compare(&page, copy, size, who);
    agg_audit_page_release(&page);
    read_back(who);
    free(bytes);
    free(copy);
    return 0;
}
