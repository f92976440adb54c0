// SPDX-License-Identifier: Apache-2.0
// shoal plan --distribution: how to ask for the distribution of a number, and how far off its
// median, p90 and whole will be.
#include <stdlib.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "commands.h"
#include "distribution_plan_print.h"
#include "distribution_wish.h"
#include "options.h"
#include "plan_modes.h"
#include "result_options.h"

typedef struct arguments {
    agg_distribution_texts texts;
    const char *format, *recipe_out, *id, *expires, *output;
    bool is_distribution;
} arguments;

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    (void)format;
    return agg_distribution_plan_print(stream, error, result);
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    static const char *const formats[] = {"table", "json", NULL};
    const arguments *a = context;
    agg_distribution_wish *wish = agg_alloc(error, 1, sizeof *wish);
    agg_distribution_plan plan;
    agg_distribution_planned planned = {.plan = &plan, .wish = wish};
    size_t format = 0;
    (void)words;
    if (wish == NULL) return AGG_ERR_MEMORY;
    agg_err err =
        command_read_name(&format, error, formats, a->format, "--format is table or json");
    planned.is_json = format == 1;
    if (err == SHOAL_OK) err = agg_distribution_wish_read(wish, error, &a->texts);
    if (err == SHOAL_OK) err = agg_distribution_plan_run(&plan, error, wish, agg_parallel_cores());
    if (err == SHOAL_OK && plan.n_candidates == 0)
        err = command_refuse(error, "no such mechanism tells how a number is spread");
    if (err == SHOAL_OK && a->recipe_out != NULL)
        err = agg_distribution_recipe_write(error, a->recipe_out, &plan, wish, a->id, a->expires);
    if (err == SHOAL_OK) err = cli_result_write(error, a->output, print, &planned, AGG_TABLE);
    free(wish);
    return err;
}

static const command_option options[] = {OPTION("distribution", is_distribution),
                                         REQUIRED_OPTION("devices", texts.devices),
                                         REQUIRED_OPTION("low", texts.low),
                                         REQUIRED_OPTION("high", texts.high),
                                         REQUIRED_OPTION("epsilon", texts.epsilon),
                                         OPTION("counts", texts.counts),
                                         OPTION("shape", texts.shape),
                                         OPTION("quantile", texts.quantile),
                                         OPTION("size", texts.size),
                                         OPTION("mechanism", texts.mechanism),
                                         OPTION("format", format),
                                         OPTION("recipe-out", recipe_out),
                                         OPTION("id", id),
                                         OPTION("expires", expires),
                                         OUTPUT_OPTION(output),
                                         LAST_OPTION};

const cli_command plan_distribution = {
    .name = "--distribution", .options = options, .arguments_size = sizeof(arguments), .run = run};
