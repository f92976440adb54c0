// SPDX-License-Identifier: Apache-2.0
// The options of shoal estimate about the distribution of a number: --quantiles, --bins, --rows.
#ifndef DISTRIBUTION_OPTIONS_H
#define DISTRIBUTION_OPTIONS_H

#include "agg_error.h"
#include "distribution.h"
#include "print_text.h"

// The values as they were typed; NULL for options that are absent.
typedef struct cli_distribution_texts {
    const char *quantiles, *bins, *rows;
} cli_distribution_texts;

#define DISTRIBUTION_OPTIONS(texts)                                                                \
    OPTION("quantiles", texts.quantiles), OPTION("bins", texts.bins), OPTION("rows", texts.rows)

// Reads the values; the default quantiles are the quartiles, 0.9 and 0.99.
//   format: that the result is printed in; --rows needs one that holds rows only
// Returns: AGG_ERR_USAGE naming the option.
agg_err cli_distribution_read(agg_distribution_options *options, agg_error *error,
                              const cli_distribution_texts *texts,
                              agg_format format) SHOAL_MUST_CHECK;

// Returns: whether a distribution is to be estimated: an option names one, or the recipe asks.
bool cli_distribution_is_wanted(const cli_distribution_texts *texts, const agg_recipe *recipe);

#endif
