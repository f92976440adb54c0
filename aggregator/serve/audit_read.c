// SPDX-License-Identifier: Apache-2.0
// Reading an audit log back; see audit_read.h. Quotation marks inside texts are escaped by their
// number (audit_line.c), so the name of a member is found by its quotation marks.
#include "audit_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg_size.h"
#include "audit_files.h"

enum { CHUNK = 1 << 18, DAY_LEN = 10 };

_Static_assert(CHUNK > 2 * AGG_AUDIT_LINE_MAX, "a chunk holds a whole line");

static unsigned hex_of(const char *text)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        char c = text[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                                : 0;
        value = value * 16 + digit;
    }
    return value;
}

void agg_audit_member(char *out, size_t cap, const char *line, const char *name)
{
    char key[48];
    size_t n = 0;
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(line, key);
    out[0] = '\0';
    if (at == NULL) return;
    at += strlen(key);
    bool is_text = *at == '"';
    if (is_text) at++;
    while (n + 1 < cap && *at != '\0' && *at != '"' && (is_text || (*at != ',' && *at != '}'))) {
        bool is_escaped = at[0] == '\\' && at[1] == 'u' && strlen(at) >= 6;
        out[n++] = is_escaped ? (char)hex_of(at + 2) : *at;
        at += is_escaped ? 6 : 1;
    }
    out[n] = '\0';
}

static bool fits(const char *line, const char *name, const char *wanted)
{
    char text[AGG_AUDIT_TEXT_MAX];
    if (wanted == NULL || wanted[0] == '\0') return true;
    agg_audit_member(text, sizeof text, line, name);
    return strcmp(text, wanted) == 0;
}

// Takes a line of the day, unless the filter or the page leaves it out.
static agg_err take(agg_audit_page *page, agg_error *error, const agg_audit_find *find,
                    const char *line, size_t len)
{
    if (!fits(line, "who", find->who) || !fits(line, "what", find->what) ||
        !fits(line, "value", find->value))
        return SHOAL_OK;
    if (page->seen++ < find->skip) return SHOAL_OK;
    if (page->n == AGG_AUDIT_PAGE_ROWS) {
        page->is_more = true;
        return SHOAL_OK;
    }
    char *copy = agg_alloc(error, len + 1, 1);
    if (copy == NULL) return AGG_ERR_MEMORY;
    memcpy(copy, line, len + 1);
    page->lines[page->n++] = copy;
    return SHOAL_OK;
}

agg_err agg_audit_page_take(agg_audit_page *page, bool *is_done, agg_error *error,
                            const agg_audit_find *find, char *bytes, size_t len)
{
    while (len > 0 && !*is_done) {
        size_t begin = len - 1;
        bytes[len - 1] = '\0';
        while (begin > 0 && bytes[begin - 1] != '\n') begin--;
        char time[32];
        agg_audit_member(time, sizeof time, bytes + begin, "time");
        int order = strncmp(time, find->day, DAY_LEN);
        *is_done = time[0] != '\0' && order < 0;
        if (order == 0) {
            agg_err err = take(page, error, find, bytes + begin, len - 1 - begin);
            if (err != SHOAL_OK) return err;
            *is_done = page->is_more;
        }
        len = begin;
    }
    return SHOAL_OK;
}

static agg_err read_file(agg_audit_page *page, bool *is_done, agg_error *error,
                         const agg_audit_find *find, int fd, char *buffer)
{
    struct stat seen;
    agg_err err = SHOAL_OK;
    if (fstat(fd, &seen) != 0) seen.st_size = 0;
    for (off_t end = seen.st_size; err == SHOAL_OK && end > 0 && !*is_done;) {
        off_t start = end > CHUNK ? end - CHUNK : 0;
        ssize_t got = pread(fd, buffer, (size_t)(end - start), start);
        if (got != end - start)
            return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "audit log: cannot be read: %s",
                            got < 0 ? strerror(errno) : "a file became shorter");
        size_t first = 0, len = (size_t)got;
        while (len > 0 && buffer[len - 1] != '\n') len--;
        while (start > 0 && first < len && buffer[first] != '\n') first++;
        if (start > 0 && first < len) first++;
        err = agg_audit_page_take(page, is_done, error, find, buffer + first, len - first);
        end = start > 0 && first < len ? start + (off_t)first : start;
    }
    return err;
}

agg_err agg_audit_page_read(agg_audit_page *page, agg_error *error, const char *folder,
                            const agg_audit_find *find)
{
    unsigned first = 0, last = 0;
    bool is_done = false;
    *page = (agg_audit_page){.n = 0};
    agg_err err = agg_audit_files_range(&first, &last, error, folder);
    char *buffer = err == SHOAL_OK ? agg_alloc(error, CHUNK, 1) : NULL;
    if (err == SHOAL_OK && buffer == NULL) err = AGG_ERR_MEMORY;
    int place = err == SHOAL_OK ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (err == SHOAL_OK && place < 0)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "audit log: cannot open the folder: %s",
                       strerror(errno));
    for (unsigned i = last; err == SHOAL_OK && i >= first && i > 0 && !is_done; i--) {
        char name[AGG_AUDIT_NAME_MAX];
        agg_audit_file_name(name, i);
        int fd = openat(place, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0) break; // the operator archives files from the oldest on
        err = read_file(page, &is_done, error, find, fd, buffer);
        close(fd);
    }
    if (place >= 0) close(place);
    free(buffer);
    return err;
}

void agg_audit_page_release(agg_audit_page *page)
{
    for (size_t i = 0; i < page->n; i++) free(page->lines[i]);
    *page = (agg_audit_page){.n = 0};
}
