// SPDX-License-Identifier: Apache-2.0
// Tables that are sorted and searched; see table_order.h.
#include "table_order.h"

#include <ctype.h>
#include <string.h>

#include "page_text.h"

size_t agg_table_escape(char *out, size_t cap, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t n = 0;
    out[0] = '\0';
    for (; *text != '\0' && n + 4 <= cap; text++)
        n += (size_t)snprintf(out + n, cap - n, strchr(plain, *text) != NULL ? "%c" : "%%%02X",
                              (unsigned char)*text);
    return n;
}

static void put_link(FILE *out, const agg_table_order *order, const agg_table_column *column,
                     bool is_falling)
{
    fprintf(out, "<a href=\"?sort=%s&amp;order=%s", column->name, is_falling ? "desc" : "asc");
    char find[3 * AGG_TABLE_FIND_MAX + 4];
    if (agg_table_escape(find, sizeof find, order->find) > 0) fprintf(out, "&amp;find=%s", find);
    if (order->from[0] != '\0') fprintf(out, "&amp;from=%s", order->from);
    if (order->to[0] != '\0') fprintf(out, "&amp;to=%s", order->to);
    if (order->rest[0] != '\0') {
        fputs("&amp;", out);
        agg_page_string(out, order->rest);
    }
    fprintf(out, "\">%s</a>", column->title);
}

void agg_table_title(FILE *out, const agg_table_order *order, const agg_table_column *column,
                     bool roles)
{
    bool is_by = order != NULL && agg_table_is_by(order, column->name);
    fputs("<th scope=\"col\"", out);
    if (roles) fputs(" role=\"columnheader\"", out);
    if (column->class != NULL) fprintf(out, " class=\"%s\"", column->class);
    if (is_by) fprintf(out, " aria-sort=\"%s\"", order->is_falling ? "descending" : "ascending");
    fputc('>', out);
    if (order == NULL)
        fputs(column->title, out);
    else
        put_link(out, order, column, is_by ? !order->is_falling : column->is_falling);
    fputs("</th>", out);
}

// Prints an escaped value as the text that it is.
static void put_value(FILE *out, const char *escaped, size_t len)
{
    char text[sizeof((agg_table_order *)0)->rest];
    size_t n = 0;
    for (size_t i = 0; i < len && n < sizeof text; i++) {
        unsigned byte = (unsigned char)escaped[i];
        if (escaped[i] == '%' && i + 2 < len && sscanf(escaped + i + 1, "%2x", &byte) == 1) i += 2;
        text[n++] = (char)byte;
    }
    agg_page_text(out, text, n);
}

// Prints the arguments that the form keeps, which "rest" holds in pairs.
static void put_hidden(FILE *out, const char *rest)
{
    while (*rest != '\0') {
        size_t name = strcspn(rest, "="), end = strcspn(rest, "&");
        if (name < end) {
            fputs("<input type=\"hidden\" name=\"", out);
            agg_page_text(out, rest, name);
            fputs("\" value=\"", out);
            put_value(out, rest + name + 1, end - name - 1);
            fputs("\">", out);
        }
        rest += end + (rest[end] == '&');
    }
}

static void put_day(FILE *out, const char *name, const char *label, const char *day)
{
    fprintf(out,
            " <label>%s <input class=\"day\" name=\"%s\" maxlength=\"10\" autocomplete=\"off\" "
            "placeholder=\"2026-11-21\" value=\"%s\"></label>",
            label, name, day);
}

void agg_table_search(FILE *out, const agg_table_order *order, const char *label)
{
    fprintf(out,
            "<form method=\"get\" role=\"search\" aria-label=\"%s\"><label>%s <input name=\"find\" "
            "maxlength=\"%u\" autocomplete=\"off\" value=\"",
            label, label, AGG_TABLE_FIND_MAX);
    agg_page_string(out, order->find);
    fputs("\"></label>", out);
    if (order->has_days) {
        put_day(out, "from", "from day", order->from);
        put_day(out, "to", "to day", order->to);
    }
    if (order->column[0] != '\0')
        fprintf(out,
                "<input type=\"hidden\" name=\"sort\" value=\"%s\"><input type=\"hidden\" "
                "name=\"order\" value=\"%s\">",
                order->column, order->is_falling ? "desc" : "asc");
    put_hidden(out, order->rest);
    fputs(" <button>Search</button></form>", out);
}

bool agg_table_holds(const agg_table_order *order, const char *bytes, size_t len)
{
    size_t n = strlen(order->find);
    for (size_t start = 0; n <= len && start <= len - n; start++) {
        size_t i = 0;
        while (i < n &&
               tolower((unsigned char)bytes[start + i]) == tolower((unsigned char)order->find[i]))
            i++;
        if (i == n) return true;
    }
    return false;
}

bool agg_table_is_by(const agg_table_order *order, const char *column)
{
    return strcmp(order->column, column) == 0;
}

int agg_table_directed(const agg_table_order *order, int comparison)
{
    return order->is_falling ? -comparison : comparison;
}
