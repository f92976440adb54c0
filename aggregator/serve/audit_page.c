// SPDX-License-Identifier: Apache-2.0
// The page of the audit log; see audit_page.h. Lines hold texts of requests, which are hostile:
// each is escaped where it is printed.
#include "audit_page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_size.h"
#include "audit_read.h"
#include "period.h"
#include "print_text.h"
#include "serve_order.h"
#include "serve_page.h"

enum { PAGES_MAX = 1000000 };

#define TYPE_CSV "text/csv; charset=utf-8"

typedef struct question {
    agg_audit_find find;
    char day[11], before[11], after[11];
    unsigned long page; // from 1
    const char *format; // "html", "csv" or "json"
    bool is_admin;
    agg_table_order order; // of the page's lines; the newest is first by itself
} question;

static const struct {
    const char *name, *title;
    bool is_long; // may hold long texts of a request
} columns[] = {{"time", "When (UTC)", false}, {"who", "Who", false},
               {"via", "Through", false},     {"what", "What", false},
               {"span", "Days", true},        {"collection", "Collection", true},
               {"value", "Value", true},      {"dictionary", "Dictionary", true},
               {"top", "Rows", false},        {"blocks", "Blocks", true},
               {"status", "Status", false}};

enum { COLUMNS = sizeof columns / sizeof *columns };

static void refuse(serve_request *r, const char *message)
{
    agg_http_answer_error(&r->x.answer, 400, "argument", 400, message);
}

static void read_page(question *q, serve_request *r)
{
    const char *text = agg_http_exchange_argument(&r->x, "page");
    q->page = 1;
    if (text == NULL) return;
    size_t len = strlen(text);
    if (len > 0 && len <= 7 && strspn(text, "0123456789") == len) q->page = strtoul(text, NULL, 10);
    if (q->page < 1 || q->page > PAGES_MAX || len == 0 || len > 7 ||
        strspn(text, "0123456789") != len)
        refuse(r, "page must be 1 to 1000000");
    q->find.skip = (q->page - 1) * AGG_AUDIT_PAGE_ROWS;
}

static bool sorts_by(const char *column)
{
    for (int c = 0; c < COLUMNS; c++)
        if (strcmp(columns[c].name, column) == 0) return true;
    return false;
}

static void read_question(question *q, serve_request *r)
{
    const char *day = agg_http_exchange_argument(&r->x, "day");
    const char *format = agg_http_exchange_argument(&r->x, "format");
    int32_t number = (int32_t)(time(NULL) / 86400);
    *q = (question){.is_admin = (serve_request_role(r) & SERVE_ADMINISTERS) != 0};
    q->format = format == NULL ? "html" : format;
    if (day != NULL && day[0] != '\0' && !agg_day_parse(&number, day))
        refuse(r, "day must be a day, as 2026-11-21");
    else if (strcmp(q->format, "html") != 0 && strcmp(q->format, "csv") != 0 &&
             strcmp(q->format, "json") != 0)
        refuse(r, "format must be html, csv or json");
    agg_day_print(q->day, number);
    agg_day_print(q->before, number > 0 ? number - 1 : 0);
    agg_day_print(q->after, number + 1);
    q->find.day = q->day;
    q->find.what = agg_http_exchange_argument(&r->x, "what");
    q->find.value = agg_http_exchange_argument(&r->x, "value");
    // A reader's filter is its own name, whatever it asks for.
    q->find.who = q->is_admin ? agg_http_exchange_argument(&r->x, "who") : r->person->name;
    if (r->x.answer.status == 0) read_page(q, r);
    if (r->x.answer.status == 0) serve_order_read(&q->order, r, sorts_by);
}

// Prints an argument's value: everything but letters and digits is escaped by its number.
static void put_argument(FILE *stream, const char *name, const char *value)
{
    if (value == NULL || value[0] == '\0') return;
    fprintf(stream, "&amp;%s=", name);
    for (; *value != '\0'; value++) fprintf(stream, "%%%02X", (unsigned char)*value);
}

static void put_link(FILE *stream, const question *q, const char *day, unsigned long page,
                     const char *format, const char *text)
{
    fprintf(stream, "<a href=\"/books/log?day=%s", day);
    if (q->is_admin) put_argument(stream, "who", q->find.who);
    put_argument(stream, "what", q->find.what);
    put_argument(stream, "value", q->find.value);
    if (page > 1) fprintf(stream, "&amp;page=%lu", page);
    if (format != NULL) fprintf(stream, "&amp;format=%s", format);
    fprintf(stream, "\">%s</a>", text);
}

static void put_field(FILE *stream, const char *name, const char *title, const char *value)
{
    fprintf(stream, "<label>%s<input name=\"%s\" value=\"", title, name);
    if (value != NULL) serve_page_text(stream, value);
    fputs("\"></label>", stream);
}

static void put_form(FILE *stream, const question *q)
{
    fputs("<form class=\"find\" method=\"get\" action=\"/books/log\">", stream);
    put_field(stream, "day", "Day (UTC)", q->day);
    if (q->is_admin) put_field(stream, "who", "Who", q->find.who);
    put_field(stream, "what", "What", q->find.what);
    put_field(stream, "value", "Value", q->find.value);
    fputs("<button>Show</button></form>\n", stream);
}

// A line and the order that it is compared by.
typedef struct ordered_line {
    const char *line;
    size_t place; // on the page
    const agg_table_order *order;
} ordered_line;

static int compare_lines(const void *first, const void *second)
{
    const ordered_line *a = first, *b = second;
    char x[AGG_AUDIT_BLOCKS_MAX], y[AGG_AUDIT_BLOCKS_MAX];
    bool is_number = agg_table_is_by(a->order, "top") || agg_table_is_by(a->order, "status");
    agg_audit_member(x, sizeof x, a->line, a->order->column);
    agg_audit_member(y, sizeof y, b->line, b->order->column);
    int by = strcmp(x, y);
    if (is_number && strlen(x) != strlen(y)) by = strlen(x) < strlen(y) ? -1 : 1;
    int newer = (a->place > b->place) - (a->place < b->place);
    if (agg_table_is_by(a->order, "time")) by = -newer; // several lines may have one second
    by = agg_table_directed(a->order, by);
    return by != 0 ? by : newer;
}

static void put_row(FILE *stream, const char *line)
{
    char text[AGG_AUDIT_BLOCKS_MAX];
    fputs("<tr role=\"row\">", stream);
    for (int c = 0; c < COLUMNS; c++) {
        agg_audit_member(text, sizeof text, line, columns[c].name);
        bool is_moment = c == 0 && strlen(text) == strlen("2026-11-21T00:00:00Z");
        fprintf(stream, "<td role=\"cell\"%s data-label=\"%s\">",
                columns[c].is_long ? " class=\"long\"" : "", columns[c].title);
        if (is_moment) text[strlen("2026-11-21T00:00:00")] = '\0'; // the heading has the day
        serve_page_text(stream, is_moment ? text + strlen("2026-11-21T") : text);
        fputs("</td>", stream);
    }
    fputs("</tr>\n", stream);
}

static void put_table(FILE *stream, const question *q, const agg_audit_page *page)
{
    if (page->n == 0) {
        fputs("<p>Nothing was asked on this day that fits. The line of this question is written "
              "as it is answered.</p>\n",
              stream);
        return;
    }
    ordered_line lines[AGG_AUDIT_PAGE_ROWS];
    for (size_t i = 0; i < page->n; i++) lines[i] = (ordered_line){page->lines[i], i, &q->order};
    if (q->order.column[0] != '\0') qsort(lines, page->n, sizeof *lines, compare_lines);
    fprintf(stream,
            "<table class=\"log sorted\" role=\"table\"><caption>Questions of %s</caption><thead "
            "role=\"rowgroup\"><tr role=\"row\">",
            q->day);
    for (int c = 0; c < COLUMNS; c++) {
        const agg_table_column column = {columns[c].name, columns[c].title, NULL, c == 0};
        agg_table_title(stream, &q->order, &column, true);
    }
    fputs("</tr></thead>\n<tbody role=\"rowgroup\">\n", stream);
    for (size_t i = 0; i < page->n; i++) put_row(stream, lines[i].line);
    fputs("</tbody></table>\n", stream);
}

static void put_html(FILE *stream, const serve_request *r, const question *q,
                     const agg_audit_page *page)
{
    serve_page_begin(stream, r, "Audit log");
    fprintf(stream,
            "<p>Who asked what, when. %s Reading it leaves a line too. <code>shoal audit-log "
            "verify</code> checks on the server that no line was changed or removed.</p></header>\n"
            "<main>\n<section><h2>%s</h2>\n",
            q->is_admin ? "You administer, so you see the questions of all."
                        : "You see your own questions.",
            q->day);
    put_form(stream, q);
    put_table(stream, q, page);
    fputs("<nav aria-label=\"More lines\">", stream);
    if (q->page > 1) put_link(stream, q, q->day, q->page - 1, NULL, "Newer lines");
    if (page->is_more) put_link(stream, q, q->day, q->page + 1, NULL, "Older lines");
    put_link(stream, q, q->before, 1, NULL, "Day before");
    put_link(stream, q, q->after, 1, NULL, "Day after");
    put_link(stream, q, q->day, q->page, "csv", "These lines as CSV");
    put_link(stream, q, q->day, q->page, "json", "These lines as JSON");
    fputs("</nav></section>\n</main></body></html>\n", stream);
}

static void put_csv(FILE *stream, const agg_audit_page *page)
{
    char text[AGG_AUDIT_BLOCKS_MAX];
    for (int c = 0; c < COLUMNS; c++) fprintf(stream, "%s%s", c > 0 ? "," : "", columns[c].name);
    fputs("\r\n", stream);
    for (size_t i = 0; i < page->n; i++) {
        for (int c = 0; c < COLUMNS; c++) {
            agg_audit_member(text, sizeof text, page->lines[i], columns[c].name);
            if (c > 0) fputc(',', stream);
            agg_print_csv_text(stream, text, strlen(text));
        }
        fputs("\r\n", stream);
    }
}

// Prints lines as they are to who administers. To a reader the number and the hash of a line would
// tell how much others asked, so they are left out.
static void put_json(FILE *stream, const question *q, const agg_audit_page *page)
{
    fprintf(stream, "{\"day\":\"%s\",\"page\":%lu,\"more\":%s,\"lines\":[", q->day, q->page,
            page->is_more ? "true" : "false");
    for (size_t i = 0; i < page->n; i++) {
        const char *line = page->lines[i], *begin = strstr(line, "\"time\":"),
                   *end = strstr(line, ",\"hash\":");
        fputs(i > 0 ? ",\n" : "\n", stream);
        if (q->is_admin || begin == NULL || end == NULL || end < begin)
            fputs(q->is_admin ? line : "{}", stream);
        else
            fprintf(stream, "{%.*s}", (int)(end - begin), begin);
    }
    fputs("\n]}\n", stream);
}

static agg_err read_lines(agg_audit_page *page, agg_error *error, const serve_request *r,
                          const question *q)
{
    const serve_config *config = &r->set->config;
    if (config->audit_log != NULL)
        return agg_audit_page_read(page, error, config->audit_log, &q->find);
    size_t size = strlen(config->store) + sizeof "/" AGG_AUDIT_FOLDER;
    char *folder = agg_alloc(error, size, 1);
    if (folder == NULL) return AGG_ERR_MEMORY;
    snprintf(folder, size, "%s/" AGG_AUDIT_FOLDER, config->store);
    agg_err err = agg_audit_page_read(page, error, folder, &q->find);
    free(folder);
    return err;
}

void audit_page_answer(serve_request *r)
{
    question q;
    agg_audit_page page = {.n = 0};
    agg_error error = {.text = ""};
    read_question(&q, r);
    if (r->x.answer.status != 0) return;
    agg_err err = read_lines(&page, &error, r, &q);
    if (err != SHOAL_OK) {
        fprintf(stderr, "shoal: serve: %s\n", error.text);
        agg_http_answer_error(&r->x.answer, 503, agg_err_name(err), (int)err,
                              "the audit log could not be read");
    } else {
        bool is_csv = strcmp(q.format, "csv") == 0, is_json = strcmp(q.format, "json") == 0;
        FILE *stream = agg_http_answer_open(&r->x.answer);
        if (stream != NULL && is_csv) put_csv(stream, &page);
        if (stream != NULL && is_json) put_json(stream, &q, &page);
        if (stream != NULL && !is_csv && !is_json) put_html(stream, r, &q, &page);
        agg_http_answer_close(&r->x.answer, stream, 200,
                              is_csv    ? TYPE_CSV
                              : is_json ? AGG_HTTP_TYPE_JSON
                                        : AGG_HTTP_TYPE_HTML);
        if (!is_csv && !is_json) serve_page_protect(&r->x.answer);
    }
    agg_audit_page_release(&page);
}
