// SPDX-License-Identifier: Apache-2.0
// Reading questions; see serve_question.h.
#include "serve_question.h"

#include <stdlib.h>
#include <string.h>

#include "overview.h"
#include "row_order.h"
#include "serve_joint.h"
#include "serve_order.h"
#include "serve_rounds.h"
#include "serve_view_kinds.h"
#include "static_analysis.h"
#include "static_report.h"

#define TOP_MAX 1000000u

static void refuse_unknown(serve_request *r, const char *message)
{
    agg_http_answer_error(&r->x.answer, 404, "not-found", 404, message);
}

static void refuse_argument(serve_request *r, const char *message)
{
    agg_http_answer_error(&r->x.answer, 400, "argument", 400, message);
}

static bool is_all(agg_span span)
{
    return span.first == AGG_SPAN_ALL.first && span.last == AGG_SPAN_ALL.last;
}

static void refuse_parts(serve_request *r)
{
    agg_http_answer_error(&r->x.answer, 400, agg_err_name(SHOAL_ERR_RANGE), SHOAL_ERR_RANGE,
                          "this server answers for all days together: its period is all");
}

// Returns: an argument; NULL also for an empty one, as a form's field that is left empty sends it.
static const char *day_of(const serve_request *r, const char *name)
{
    const char *day = agg_http_exchange_argument(&r->x, name);
    return day == NULL || day[0] == '\0' ? NULL : day;
}

// Reads ?period=2026-11-21, 2026-W47 or all, or ?from=2026-11-01&to=2026-11-30. Without arguments
// the span is all.
void serve_question_read_span(serve_request *r)
{
    const char *period = agg_http_exchange_argument(&r->x, "period"), *from = day_of(r, "from"),
               *to = day_of(r, "to");
    r->job.span = AGG_SPAN_ALL;
    if (period != NULL && (from != NULL || to != NULL)) {
        refuse_argument(r, "period stands alone, without from and to");
    } else if (period != NULL && !agg_span_parse(&r->job.span, period)) {
        refuse_argument(r, "period must be a day 2026-11-21, an ISO week 2026-W47, or all");
    } else if ((from != NULL && !agg_day_parse(&r->job.span.first, from)) ||
               (to != NULL && !agg_day_parse(&r->job.span.last, to))) {
        refuse_argument(r, "from and to must be days, as 2026-11-21");
    } else if (r->job.span.first > r->job.span.last) {
        refuse_argument(r, "from must not be after to");
    } else if (r->set->config.period == AGG_PERIOD_ALL && !is_all(r->job.span)) {
        refuse_parts(r);
    } else if (period != NULL && strcmp(period, "all") != 0) {
        snprintf(r->job.period, sizeof r->job.period, "%.20s", period);
    } else if (from != NULL || to != NULL) {
        snprintf(r->job.period, sizeof r->job.period, "%s%.10s%s%.10s",
                 from != NULL ? "" : "until ", from != NULL ? from : to,
                 from == NULL ? ""
                 : to != NULL ? " to "
                              : " onwards",
                 from != NULL && to != NULL ? to : "");
    }
}

static void read_top(serve_request *r)
{
    const char *text = agg_http_exchange_argument(&r->x, "top");
    if (text == NULL) return;
    size_t len = strlen(text);
    if (len == 0 || len > 7 || strspn(text, "0123456789") != len ||
        strtoul(text, NULL, 10) > TOP_MAX) {
        refuse_argument(r, "top must be 0 (all) to 1000000");
        return;
    }
    r->job.top = strtoul(text, NULL, 10);
}

// Refuses what rounds are not asked for: they are of all days, and of all that they find.
static void read_rounds(serve_request *r, const char *value)
{
    r->job.scope = r->person->scope;
    r->job.set = r->set;
    if (!is_all(r->job.span))
        refuse_argument(r, "rounds are told of all days together");
    else if (value != NULL)
        refuse_argument(r, "value is asked of one recipe, without a view");
    else if (serve_rounds_link(&r->job) == NULL)
        refuse_unknown(r, "no recipe that you may read is a round before or after this one");
}

// Reads ?format=csv of rows, ?view=periods or rounds of a page, and ?value=word of either.
static void read_form(serve_request *r)
{
    static const struct {
        const char *name;
        agg_format format;
    } formats[] = {
        {"json", AGG_JSON}, {"ndjson", AGG_NDJSON}, {"csv", AGG_CSV}, {"arrow", AGG_ARROW}};
    const char *format = agg_http_exchange_argument(&r->x, "format"),
               *view = agg_http_exchange_argument(&r->x, "view"),
               *value = agg_http_exchange_argument(&r->x, "value");
    bool is_known = format == NULL;
    r->job.format = AGG_JSON;
    for (size_t i = 0; format != NULL && i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(format, formats[i].name) != 0) continue;
        r->job.format = formats[i].format;
        is_known = r->route == ROUTE_RESULTS;
    }
    r->job.shows_periods = view != NULL && r->route == ROUTE_PAGE_ONE && r->job.view == NULL;
    r->job.shows_rounds = r->job.shows_periods && strcmp(view, "rounds") == 0;
    if (!is_known)
        refuse_argument(r, "format is json, ndjson, csv or arrow, of /v1/results/");
    else if (r->job.shows_rounds)
        read_rounds(r, value);
    else if (view != NULL && r->job.view == NULL &&
             (!r->job.shows_periods || strcmp(view, "periods") != 0))
        refuse_argument(r, "view is periods, rounds, joint or found, of the page of a recipe");
    else if (r->job.shows_periods && r->set->config.period == AGG_PERIOD_ALL)
        refuse_parts(r);
    else if (r->job.shows_periods && r->job.dictionary == NULL)
        refuse_unknown(r, "no dictionary is configured for this recipe");
    else if (value != NULL && (r->route == ROUTE_PAGE_ALL || r->job.shows_periods))
        refuse_argument(r, "value is asked of one recipe, for all of a span together");
    else if (value != NULL && strlen(value) > SERVE_VALUE_MAX)
        refuse_argument(r, "value has at most 256 bytes");
    else if (value != NULL)
        memcpy(r->job.value, value, strlen(value) + 1);
}

// Reads ?view=joint of a page or of rows, and the pair of variables whose rows are asked for.
static void read_view(serve_request *r)
{
    const char *view = agg_http_exchange_argument(&r->x, "view");
    bool is_one = r->route == ROUTE_PAGE_ONE || r->route == ROUTE_RESULTS;
    r->job.view = view != NULL && is_one ? serve_view_named(view) : NULL;
    if (r->job.view == NULL) return;
    if (!r->job.view->has(&r->job.collection->recipe))
        refuse_unknown(r, r->job.view->needs);
    else if (agg_http_exchange_argument(&r->x, "value") != NULL)
        refuse_argument(r, "value is asked without a view");
    else if (r->route == ROUTE_RESULTS && r->job.view == &serve_joint_view) {
        const char *why = serve_joint_read_pair(r->job.pair, &r->job.collection->recipe,
                                                agg_http_exchange_argument(&r->x, "variables"));
        if (why != NULL) refuse_argument(r, why);
    }
}

static void read_order(serve_request *r)
{
    serve_order_read(&r->job.order, r,
                     r->route == ROUTE_PAGE_ALL ? serve_overview_sorts_by
                     : r->job.shows_rounds      ? agg_analysis_sorts_by
                     : r->job.view != NULL      ? r->job.view->sorts_by
                     : r->job.shows_periods     ? agg_static_report_sorts_by
                                                : agg_row_order_has);
}

static void read_collection(serve_request *r, const char *id)
{
    r->job.collection = serve_request_collection(r, id);
    if (r->job.collection == NULL) {
        refuse_unknown(r, "no recipe has this id");
        return;
    }
    const char *name = agg_http_exchange_argument(&r->x, "dictionary");
    r->job.dictionary = serve_dictionary_of(r->job.collection, name);
    bool needs_none = r->route == ROUTE_PAGE_ONE ||
                      agg_http_exchange_argument(&r->x, "value") != NULL ||
                      agg_http_exchange_argument(&r->x, "view") != NULL;
    if (r->job.dictionary != NULL || (needs_none && name == NULL)) return;
    refuse_unknown(r, name != NULL ? "no dictionary of this recipe has this name"
                                   : "no dictionary is configured for this recipe");
}

void serve_question_ask(serve_request *r, const char *id)
{
    if (id != NULL) read_collection(r, id);
    if (r->x.answer.status == 0) serve_question_read_span(r);
    if (r->x.answer.status == 0) read_top(r);
    if (r->x.answer.status == 0) read_view(r);
    if (r->x.answer.status == 0) read_form(r);
    if (r->x.answer.status == 0 && r->route != ROUTE_RESULTS) read_order(r);
    if (r->x.answer.status != 0) return;
    r->job.is_page = r->route != ROUTE_RESULTS;
    atomic_fetch_add(&r->state->results, 1);
    serve_request_ask(r);
}
