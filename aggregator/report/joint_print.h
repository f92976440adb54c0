// SPDX-License-Identifier: Apache-2.0
// Joint distributions as text: JSON, NDJSON, CSV, a table for a terminal, and a heat map with its
// uncertainty (joint_svg.c). Category names may come from a dictionary and are escaped for each.
// Pure; knows neither how the numbers were found nor what a mechanism is.
#ifndef JOINT_PRINT_H
#define JOINT_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "joint_analysis.h"
#include "print_text.h"

// Writes a result. Cells, rates and marginals of fewer reports than the recipe's release threshold
// are left out, and counted in "withheld".
//   JSON:
//   {"schema":1,"recipe","recipe_hash","n","epsilon","confidence","variables":[{"name","categories","other"}],"cells":[{"x","y","p","stderr","low",
//   "high"}],"marginals":[{"variable","value","p",...}],"given","rates":[{"x","y",...}],"wald":{"statistic","df","p_value","form"},"iterations","converged",
//   "log_likelihood","rank","parameters","withheld","guarantees"}; of more than two variables cells
//   have "values" in place of x and y, there are no rates, and wald is a list of {"x","y",...}
//   whose x and y are names. NDJSON and CSV: cells only; the columns of CSV are the variables'
//   names, p, stderr, low, high.
// Returns: AGG_ERR_IO when the stream fails.
agg_err agg_joint_print(FILE *stream, agg_error *error, const agg_joint_result *result,
                        agg_format format) SHOAL_MUST_CHECK;

// Writes the heat map of two variables (SVG 1.1, no script): each cell's share as its shade and in
// figures, its interval as a bar on one scale for all cells, hatched where the interval holds zero,
// a mark where the whole interval of the rate lies above or below the marginal; both marginals with
// their intervals; and the test of independence. Returns: AGG_ERR_USAGE for more than two variables
// or more than AGG_JOINT_SVG_MAX categories of one; AGG_ERR_IO.
agg_err agg_joint_svg(FILE *stream, agg_error *error,
                      const agg_joint_result *result) SHOAL_MUST_CHECK;

#define AGG_JOINT_SVG_MAX 64u

#define AGG_JOINT_P_MAX 24u // bytes with a NUL

// Writes "p = 0.0123", or "p < 1e-300" below that.
void agg_joint_p_value(char out[AGG_JOINT_P_MAX], double p_value);

// Returns: whether a share of the result may be shown.
bool agg_joint_is_shown(const agg_joint_result *result, double p);

#endif
