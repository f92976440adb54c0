// SPDX-License-Identifier: Apache-2.0
// The script that draws the chart of a collection over time: aggregator/chart/ with uPlot, bundled
// by the build and held by the program. Its path has its hash, so that browsers keep it for ever
// and never run an old one. A program that was built without node and the npm packages holds none;
// its pages then have no script, and show the same as SVG.
#ifndef SERVE_CHART_H
#define SERVE_CHART_H

#include <stdbool.h>

#include "http_answer.h"

// Returns: the path of the script; NULL if the program holds none.
const char *serve_chart_path(void);

// Returns: whether a path is that of the script.
bool serve_chart_is_at(const char *path);

// Answers with the script; the program holds it.
void serve_chart_answer(agg_http_answer *answer);

#endif
