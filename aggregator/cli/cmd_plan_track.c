// SPDX-License-Identifier: Apache-2.0
// shoal plan --track: what a run over epochs (thresh, heavythresh) costs, and which changes it will
// see how late.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"
#include "plan_modes.h"
#include "recipe_json.h"
#include "result_options.h"
#include "track_plan_print.h"

#define PROJECTION_DEFAULT 2048u
#define ESTIMATE_MICRO_DEFAULT 500000u
#define DELTA_DEFAULT 6u

typedef struct arguments {
    const char *devices, *epochs, *samples, *smallest_group, *groups, *delta, *epsilon, *projection,
        *epsilon_estimate, *change, *format, *output;
    bool is_track, is_items;
} arguments;

static agg_err read_whole(uint32_t *out, agg_error *error, const char *name, const char *text,
                          uint32_t initial, uint32_t low, uint32_t high)
{
    uint64_t number = initial;
    agg_err err = text != NULL ? cli_read_whole(&number, error, name, text, low, high) : SHOAL_OK;
    if (err == SHOAL_OK) *out = (uint32_t)number;
    return err;
}

static agg_err read_micro(uint32_t *out, agg_error *error, const char *name, const char *text,
                          uint32_t initial)
{
    int64_t micro = initial;
    if (text != NULL &&
        (!agg_decimal_micro(&micro, text, strlen(text)) || micro < 10000 || micro > 16000000))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--%s must be from 0.01 to 16", name);
    *out = (uint32_t)micro;
    return SHOAL_OK;
}

static agg_err read_delta(uint32_t *out, agg_error *error, const char *text)
{
    uint64_t digits = DELTA_DEFAULT;
    agg_err err = SHOAL_OK;
    if (text != NULL && strncmp(text, "1e-", 3) != 0)
        return command_refuse(error, "--delta must be 1e-3 to 1e-15");
    if (text != NULL) err = cli_read_whole(&digits, error, "delta 1e-", text + 3, 3, 15);
    if (err == SHOAL_OK) *out = (uint32_t)digits;
    return err;
}

static agg_err read_plan(shoal_evolving_plan *plan, agg_error *error, const arguments *a)
{
    agg_err err = read_whole(&plan->users, error, "devices", a->devices, 0, 1, 1000000000);
    if (err == SHOAL_OK)
        err = read_whole(&plan->epochs, error, "epochs", a->epochs, 0, 2, SHOAL_EPOCHS_MAX);
    if (err == SHOAL_OK)
        err = read_whole(&plan->samples, error, "samples", a->samples, 0, 1, 1000000000);
    if (err == SHOAL_OK)
        err = read_whole(&plan->groups, error, "groups", a->groups, 1, 1, plan->users);
    if (err == SHOAL_OK)
        err = read_whole(&plan->smallest_group, error, "smallest-group", a->smallest_group,
                         plan->users / plan->groups, 1, plan->users);
    if (err == SHOAL_OK) err = read_micro(&plan->eps_micro, error, "epsilon", a->epsilon, 0);
    if (err == SHOAL_OK) err = read_delta(&plan->delta_exp, error, a->delta);
    if (err != SHOAL_OK || !a->is_items) return err;
    err = read_whole(&plan->projection, error, "projection", a->projection, PROJECTION_DEFAULT, 64,
                     65536);
    if (err == SHOAL_OK)
        err = read_micro(&plan->eps_estimate_micro, error, "epsilon-estimate", a->epsilon_estimate,
                         ESTIMATE_MICRO_DEFAULT);
    return err;
}

static agg_err read_arguments(shoal_evolving_plan *plan, double *change, agg_error *error,
                              const arguments *a)
{
    agg_err err = SHOAL_OK;
    if (!a->is_items && (a->projection != NULL || a->epsilon_estimate != NULL))
        return command_refuse(error, "--projection and --epsilon-estimate go with --items");
    if (a->change != NULL) err = cli_read_decimal(change, error, "change", a->change, 1e-9, 1);
    return err == SHOAL_OK ? read_plan(plan, error, a) : err;
}

typedef struct printing {
    const agg_track_plan *plan;
    bool is_json;
} printing;

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const printing *p = result;
    (void)format;
    return agg_track_plan_print(stream, error, p->plan, p->is_json);
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    static const char *const formats[] = {"table", "json", NULL};
    const arguments *a = context;
    shoal_evolving_plan plan = {0};
    agg_track_law law;
    agg_track_plan p = {.law = &law, .change = NAN};
    char why[AGG_TRACK_WHY_MAX];
    size_t format = 0;
    (void)words;
    agg_err err =
        command_read_name(&format, error, formats, a->format, "--format is table or json");
    if (err == SHOAL_OK) err = read_arguments(&plan, &p.change, error, a);
    if (err != SHOAL_OK) return err;
    agg_track_law_of(&law, &plan);
    if (agg_track_why_not(why, &law)) return command_refuse(error, why);
    const printing printed = {&p, format == 1};
    return cli_result_write(error, a->output, print, &printed, AGG_TABLE);
}

static const command_option options[] = {OPTION("track", is_track),
                                         OPTION("items", is_items),
                                         REQUIRED_OPTION("devices", devices),
                                         REQUIRED_OPTION("epochs", epochs),
                                         REQUIRED_OPTION("samples", samples),
                                         OPTION("groups", groups),
                                         OPTION("smallest-group", smallest_group),
                                         REQUIRED_OPTION("epsilon", epsilon),
                                         OPTION("delta", delta),
                                         OPTION("projection", projection),
                                         OPTION("epsilon-estimate", epsilon_estimate),
                                         OPTION("change", change),
                                         OPTION("format", format),
                                         OUTPUT_OPTION(output),
                                         LAST_OPTION};

const cli_command plan_track = {
    .name = "--track", .options = options, .arguments_size = sizeof(arguments), .run = run};
