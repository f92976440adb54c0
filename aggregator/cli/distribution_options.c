// SPDX-License-Identifier: Apache-2.0
// Reads the options about distributions; see distribution_options.h.
#include "distribution_options.h"

#include <string.h>

#include "command.h"
#include "options.h"

static agg_err read_quantiles(agg_distribution_options *options, agg_error *error, const char *text)
{
    static const char usage[] = "--quantiles is a list of numbers between 0 and 1, such as "
                                "0.5,0.9,0.99";
    char number[32];
    options->n_quantiles = 0;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        if (len == 0 || len >= sizeof number) return command_refuse(error, usage);
        if (options->n_quantiles == AGG_QUANTILES_MAX)
            return command_refuse(error, "--quantiles: at most 32 of them");
        memcpy(number, at, len);
        number[len] = 0;
        double *p = &options->quantiles[options->n_quantiles++];
        agg_err err = cli_read_decimal(p, error, "quantiles", number, 0.0001, 0.9999);
        if (err != SHOAL_OK) return err;
        at += len;
        if (*at == 0) return SHOAL_OK;
    }
}

agg_err cli_distribution_read(agg_distribution_options *options, agg_error *error,
                              const cli_distribution_texts *texts, agg_format format)
{
    static const char *const names[] = {"counts", "quantiles", "histogram", "ecdf", NULL};
    size_t rows = AGG_ROWS_COUNTS;
    uint64_t bins = 0;
    *options = (agg_distribution_options){0};
    agg_err err = read_quantiles(
        options, error, texts->quantiles != NULL ? texts->quantiles : "0.25,0.5,0.75,0.9,0.99");
    if (err == SHOAL_OK && texts->bins != NULL)
        err = cli_read_whole(&bins, error, "bins", texts->bins, 1, 256);
    if (err == SHOAL_OK)
        err = command_read_name(&rows, error, names, texts->rows,
                                "--rows is counts, quantiles, histogram or ecdf");
    options->n_bins = (size_t)bins;
    options->rows = (agg_distribution_rows)rows;
    if (err == SHOAL_OK && texts->rows != NULL && (format == AGG_TABLE || format == AGG_JSON))
        err = command_refuse(error, "--rows goes with --format csv, ndjson or arrow: table and "
                                    "json hold everything");
    return err;
}

bool cli_distribution_is_wanted(const cli_distribution_texts *texts, const agg_recipe *recipe)
{
    return texts->quantiles != NULL || texts->bins != NULL || texts->rows != NULL ||
           agg_distribution_is_asked(recipe);
}
