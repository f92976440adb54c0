// SPDX-License-Identifier: Apache-2.0
// The script of the chart; see serve_chart.h.
#include "serve_chart.h"

#include <string.h>

#ifdef SHOAL_WITH_CHART
#include "chart_bundle.h" // made by aggregator/chart/build.mjs
#else
#define CHART_PATH NULL
static const unsigned char chart_bundle[1];
#endif

#define YEAR_S (365u * 86400u)

const char *serve_chart_path(void)
{
    return CHART_PATH;
}

bool serve_chart_is_at(const char *path)
{
    const char *own = serve_chart_path();
    return own != NULL && strcmp(path, own) == 0;
}

void serve_chart_answer(agg_http_answer *answer)
{
    FILE *stream = agg_http_answer_open(answer);
    if (stream != NULL) fwrite(chart_bundle, 1, sizeof chart_bundle, stream);
    agg_http_answer_close(answer, stream, 200, AGG_HTTP_TYPE_SCRIPT);
    if (answer->status != 200) return;
    answer->max_age_s = YEAR_S;
    answer->is_immutable = true;
}
