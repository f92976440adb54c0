// SPDX-License-Identifier: Apache-2.0
// Property: a day or span that a question may name lies within the calendar, in order; a day that
// is read prints as the same text; every day of a span overlaps it, its neighbours do not.
#include "fuzz.h"
#include "period.h"

#define DAY_MAX 2932896 // 9999-12-31

static void check_span(agg_span span)
{
    if (span.first == INT32_MIN) {
        PROPERTY(span.last == INT32_MAX);
        return;
    }
    PROPERTY(span.first <= span.last && span.last - span.first <= 6);
    for (int32_t day = span.first; day <= span.last; day++)
        PROPERTY(agg_span_overlaps((agg_span){day, day}, span));
    PROPERTY(!agg_span_overlaps((agg_span){span.last + 1, INT32_MAX}, span));
    PROPERTY(!agg_span_overlaps((agg_span){INT32_MIN, span.first - 1}, span));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char text[64], again[11];
    int32_t day = 0;
    agg_span span;
    agg_period_kind kind;
    if (len >= sizeof text) return 0;
    memcpy(text, data, len);
    text[len] = '\0';
    if (agg_day_parse(&day, text)) {
        PROPERTY(day >= 0 && day <= DAY_MAX);
        agg_day_print(again, day);
        PROPERTY(strcmp(again, text) == 0);
    }
    if (agg_span_parse(&span, text)) check_span(span);
    if (agg_period_kind_parse(&kind, text))
        PROPERTY(kind == AGG_PERIOD_ALL || kind == AGG_PERIOD_DAY || kind == AGG_PERIOD_WEEK);
    return 0;
}
