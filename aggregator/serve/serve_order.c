// SPDX-License-Identifier: Apache-2.0
// Reading the order of a table; see serve_order.h.
#include "serve_order.h"

#include <string.h>

// The arguments that links keep; with days to choose, without the first three, which the days are.
static const char *const kept[] = {"period", "from", "to",   "top",   "view", "dictionary",
                                   "day",    "who",  "what", "value", "page"};
enum { DAYS = 3 };

static void refuse(serve_request *r, const char *message)
{
    agg_http_answer_error(&r->x.answer, 400, "argument", 400, message);
}

// Appends an argument that fits; one that does not is left out whole.
static size_t append(char *rest, size_t len, size_t cap, const char *name, const char *value)
{
    size_t needed = strlen(name) + 3 * strlen(value) + 3, at = len;
    if (needed > cap - len) return len;
    if (at > 0) rest[at++] = '&';
    at += (size_t)snprintf(rest + at, cap - at, "%s=", name);
    at += agg_table_escape(rest + at, cap - at, value);
    return at;
}

void serve_order_read(agg_table_order *order, serve_request *r, bool (*sorts_by)(const char *name))
{
    const char *column = agg_http_exchange_argument(&r->x, "sort"),
               *direction = agg_http_exchange_argument(&r->x, "order"),
               *find = agg_http_exchange_argument(&r->x, "find");
    size_t len = 0;
    *order = (agg_table_order){.column = ""};
    if (column != NULL && (strlen(column) >= sizeof order->column || !sorts_by(column)))
        refuse(r, "sort must be a column of the page's table");
    else if (direction != NULL && strcmp(direction, "asc") != 0 && strcmp(direction, "desc") != 0)
        refuse(r, "order must be asc or desc");
    else if (find != NULL && strlen(find) > AGG_TABLE_FIND_MAX)
        refuse(r, "find has at most 64 bytes");
    if (r->x.answer.status != 0) return;
    snprintf(order->column, sizeof order->column, "%s", column == NULL ? "" : column);
    snprintf(order->find, sizeof order->find, "%s", find == NULL ? "" : find);
    order->is_falling = direction != NULL && strcmp(direction, "desc") == 0;
    order->has_days = r->route == ROUTE_PAGE_ONE && !r->job.shows_rounds &&
                      r->set->config.period != AGG_PERIOD_ALL;
    if (order->has_days && r->job.span.first != AGG_SPAN_ALL.first)
        agg_day_print(order->from, r->job.span.first);
    if (order->has_days && r->job.span.last != AGG_SPAN_ALL.last)
        agg_day_print(order->to, r->job.span.last);
    for (size_t i = order->has_days ? DAYS : 0; i < sizeof kept / sizeof *kept; i++) {
        const char *value = agg_http_exchange_argument(&r->x, kept[i]);
        if (value != NULL) len = append(order->rest, len, sizeof order->rest, kept[i], value);
    }
}
