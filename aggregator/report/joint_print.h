// SPDX-License-Identifier: Apache-2.0
// Prints joint distributions as JSON, NDJSON, CSV, a table for a terminal, or a heat map with its
// uncertainty (joint_svg.c). Names of categories may be hostile text and are escaped
// (print_text.h).
#ifndef JOINT_PRINT_H
#define JOINT_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "joint_analysis.h"
#include "print_text.h"

// Prints a result. Cells, rates and marginals below the recipe's release threshold are left out and
// counted in "withheld".
//
// JSON is one object: {"schema":1, "recipe", "recipe_hash", "n", "epsilon", "confidence",
// "variables":[{"name", "categories", "other"}], "cells":[{"x", "y", "p", "stderr", "low",
// "high"}], "marginals":[{"variable", "value", "p", ...}], "given", "rates":[{"x", "y", ...}],
// "wald":{"statistic", "df", "p_value", "form"}, "iterations", "converged", "log_likelihood",
// "rank", "parameters", "withheld", "guarantees"}. With more than two variables cells have "values"
// in place of x and y, there are no rates, and "wald" is a list of {"x", "y", ...} where x and y
// are names of variables.
//
// NDJSON and CSV are cells only; the columns of CSV are the variables' names, p, stderr, low, high.
//
// Returns: AGG_ERR_IO if the stream fails.
// Privacy: the release threshold is enforced here.
agg_err agg_joint_print(FILE *stream, agg_error *error, const agg_joint_result *result,
                        agg_format format) SHOAL_MUST_CHECK;

#define AGG_JOINT_SVG_MAX 64u // categories of one variable in a heat map

// Prints the heat map of two variables (SVG 1.1, no script). A cell shows its share as a shade and
// in figures, and its interval as a bar on a scale that all cells share. It is hatched if the
// interval contains zero, and marked if the whole interval of its rate is above or below the
// marginal. The picture also has both marginals with their intervals, and the test of independence.
// Returns: AGG_ERR_USAGE for more than two variables and for more than AGG_JOINT_SVG_MAX categories
// of one; AGG_ERR_IO if the stream fails.
// Privacy: the release threshold is enforced here.
agg_err agg_joint_svg(FILE *stream, agg_error *error,
                      const agg_joint_result *result) SHOAL_MUST_CHECK;

#define AGG_JOINT_P_MAX 24u // bytes with a NUL

// Writes a p-value: "p = 0.0123", or "p < 1e-300" if it is below that.
void agg_joint_p_value(char out[AGG_JOINT_P_MAX], double p_value);

// Returns: whether the share of a cell is shown where the recipe has a release threshold.
bool agg_joint_is_shown(const agg_joint_result *result, double p);

// Returns: whether the marginal of a category is shown: it reaches the release threshold, and no
// cell of the category is withheld, which the others and the marginal would tell. The rates given
// the category would tell the marginal.
bool agg_joint_shows_marginal(const agg_joint_result *result, uint32_t axis, uint32_t category);

#endif
