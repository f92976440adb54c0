// SPDX-License-Identifier: Apache-2.0
// Options of shoal plan --track; see plan_track.h.
#include "plan_track.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "print_text.h"
#include "recipe_json.h"
#include "result_options.h"
#include "track_plan_print.h"

#define PROJECTION_DEFAULT 2048u
#define ESTIMATE_MICRO_DEFAULT 500000u
#define DELTA_DEFAULT 6u

typedef struct arguments {
    const char *devices, *epochs, *samples, *smallest_group, *groups, *delta, *epsilon, *projection,
        *epsilon_estimate, *change, *format, *output;
    int is_track, is_items;
    double change_;
    size_t format_number; // 0 table, 1 json
} arguments;

typedef struct track_plan {
    arguments a;
    shoal_evolving_plan plan;
    agg_track_law law;
} track_plan;

int plan_is_track(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--track") == 0) return 1;
    return 0;
}

static agg_err usage(agg_error *error, const char *text)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", text);
}

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
        return usage(error, "--delta must be 1e-3 to 1e-15");
    if (text != NULL) err = cli_read_whole(&digits, error, "delta 1e-", text + 3, 3, 15);
    if (err == SHOAL_OK) *out = (uint32_t)digits;
    return err;
}

static agg_err read_plan(track_plan *p, agg_error *error)
{
    const arguments *a = &p->a;
    shoal_evolving_plan *plan = &p->plan;
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

static agg_err read_arguments(track_plan *p, agg_error *error, int argc, char **argv, int *help)
{
    static const char *const formats[] = {"table", "json", NULL};
    arguments *a = &p->a;
    const cli_option options[] = {{"track", 0, NULL, &a->is_track},
                                  {"items", 0, NULL, &a->is_items},
                                  {"devices", 0, &a->devices, NULL},
                                  {"epochs", 0, &a->epochs, NULL},
                                  {"samples", 0, &a->samples, NULL},
                                  {"groups", 0, &a->groups, NULL},
                                  {"smallest-group", 0, &a->smallest_group, NULL},
                                  {"epsilon", 0, &a->epsilon, NULL},
                                  {"delta", 0, &a->delta, NULL},
                                  {"projection", 0, &a->projection, NULL},
                                  {"epsilon-estimate", 0, &a->epsilon_estimate, NULL},
                                  {"change", 0, &a->change, NULL},
                                  {"format", 0, &a->format, NULL},
                                  {"output", 'o', &a->output, NULL},
                                  {NULL, 0, NULL, NULL}};
    agg_err err = cli_options_read_only(options, error, argc, argv, help);
    if (err != SHOAL_OK || *help) return err;
    const char *const needed[] = {"devices", "epochs", "samples", "epsilon"};
    const char *const given[] = {a->devices, a->epochs, a->samples, a->epsilon};
    for (int i = 0; i < 4 && err == SHOAL_OK; i++) err = cli_need(error, needed[i], given[i]);
    if (err == SHOAL_OK && !a->is_items && (a->projection != NULL || a->epsilon_estimate != NULL))
        err = usage(error, "--projection and --epsilon-estimate go with --items");
    if (err == SHOAL_OK && a->change != NULL)
        err = cli_read_decimal(&a->change_, error, "change", a->change, 1e-9, 1);
    if (err == SHOAL_OK)
        err = cli_read_name(&a->format_number, error, formats, a->format,
                            "--format is table or json");
    return err == SHOAL_OK ? read_plan(p, error) : err;
}

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const track_plan *p = result;
    const agg_track_plan printed = {&p->law, p->a.change != NULL ? p->a.change_ : NAN};
    (void)format;
    return agg_track_plan_print(stream, error, &printed, p->a.format_number == 1);
}

agg_err plan_track(agg_error *error, int argc, char **argv, int *help)
{
    track_plan p = {.a = {0}};
    char why[AGG_TRACK_WHY_MAX];
    agg_err err = read_arguments(&p, error, argc, argv, help);
    if (err != SHOAL_OK || *help) return err;
    agg_track_law_of(&p.law, &p.plan);
    if (agg_track_why_not(why, &p.law)) return usage(error, why);
    return cli_result_write(error, p.a.output, print, &p, AGG_TABLE);
}
