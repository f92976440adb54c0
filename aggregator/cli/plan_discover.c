// SPDX-License-Identifier: Apache-2.0
// Options of shoal plan --discover; see plan_discover.h.
#include "plan_discover.h"

#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include "discovery_plan_print.h"
#include "discovery_recipe.h"
#include "encoding.h"
#include "options.h"
#include "probability.h"
#include "recipe_json.h"
#include "result_options.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyz"

typedef struct arguments {
    const char *devices, *epsilon, *method, *oracle, *length, *depth, *characters, *contributions,
        *policy, *format, *recipe_out, *id, *expires, *output;
    int is_discover;
} arguments;

typedef struct discovery_plan {
    arguments a;
    agg_discovery_wish wish;
    agg_discovery_plan plan;
    int is_json;
} discovery_plan;

int plan_is_discover(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--discover") == 0) return 1;
    return 0;
}

static agg_err usage(agg_error *error, const char *text)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", text);
}

// ---- the command line ----

static agg_err read_whole(uint32_t *out, agg_error *error, const char *name, const char *text,
                          uint32_t otherwise, uint32_t low, uint32_t high)
{
    uint64_t number = otherwise;
    agg_err err = text != NULL ? cli_read_whole(&number, error, name, text, low, high) : SHOAL_OK;
    if (err == SHOAL_OK) *out = (uint32_t)number;
    return err;
}

static agg_err read_epsilon(discovery_plan *p, agg_error *error)
{
    int64_t micro = 0;
    if (!agg_decimal_micro(&micro, p->a.epsilon, strlen(p->a.epsilon)) || micro < 100000 ||
        micro > SHOAL_EPS_MICRO_MAX)
        return usage(error, "--epsilon must be from 0.1 to 16, with at most 6 decimals");
    p->wish.eps_micro = (uint32_t)micro;
    return SHOAL_OK;
}

// Characters are code points, in any order; the recipe's reader refuses one that comes twice.
static agg_err count_characters(discovery_plan *p, agg_error *error)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)p->a.characters;
    size_t left = strlen(p->a.characters);
    while (left > 0) {
        utf8proc_int32_t point = 0;
        utf8proc_ssize_t used = utf8proc_iterate(at, (utf8proc_ssize_t)left, &point);
        if (used <= 0 || point <= 0x20 || point == '"' || point == '\\' ||
            (point >= 0x7f && point < 0xa0))
            return usage(error,
                         "--characters takes UTF-8 text without blanks, quotes and backslashes");
        at += used;
        left -= (size_t)used;
        p->wish.characters++;
    }
    return p->wish.characters > 0 ? SHOAL_OK : usage(error, "--characters holds none");
}

static agg_err read_numbers(discovery_plan *p, agg_error *error)
{
    static const char *const formats[] = {"table", "json", NULL};
    const arguments *a = &p->a;
    uint64_t devices = 0;
    size_t way = 0, oracle = 0, format = 0;
    agg_err err = cli_need(error, "devices", a->devices);
    if (err == SHOAL_OK) err = cli_need(error, "epsilon", a->epsilon);
    if (err == SHOAL_OK)
        err = cli_read_whole(&devices, error, "devices", a->devices, 1, 4000000000);
    if (err == SHOAL_OK) err = read_epsilon(p, error);
    if (err == SHOAL_OK)
        err = cli_read_name(&way, error, agg_discovery_ways, a->method, "--method is sfp or trie");
    if (err == SHOAL_OK)
        err = cli_read_name(&oracle, error, agg_discovery_oracles, a->oracle,
                            "--oracle is olh or cms");
    if (err == SHOAL_OK)
        err = cli_read_name(&format, error, formats, a->format, "--format is table or json");
    if (err == SHOAL_OK) err = read_whole(&p->wish.length, error, "length", a->length, 10, 2, 32);
    if (err == SHOAL_OK && p->wish.length % 2 == 1)
        err = usage(error, "--length is even: a fragment has two bytes");
    if (err == SHOAL_OK)
        err = read_whole(&p->wish.depth, error, "depth", a->depth, 15, 1, SHOAL_DEPTH_MAX);
    if (err == SHOAL_OK)
        err =
            read_whole(&p->wish.contributions, error, "contributions", a->contributions, 1, 1, 64);
    if (err == SHOAL_OK && p->wish.eps_micro / p->wish.contributions < SHOAL_EPS_MICRO_MIN)
        err = usage(
            error,
            "--epsilon is shared out over the contributions, and leaves less than 0.01 for each");
    p->wish.devices = (double)devices;
    p->wish.oracle = oracle;
    p->wish.way = a->method != NULL ? (agg_discovery_way)way : AGG_DISCOVERY_ANY;
    p->is_json = format == 1;
    return err == SHOAL_OK ? count_characters(p, error) : err;
}

static agg_err read_arguments(discovery_plan *p, agg_error *error, int argc, char **argv, int *help)
{
    arguments *a = &p->a;
    const cli_option options[] = {{"discover", 0, NULL, &a->is_discover},
                                  {"devices", 0, &a->devices, NULL},
                                  {"epsilon", 0, &a->epsilon, NULL},
                                  {"method", 0, &a->method, NULL},
                                  {"oracle", 0, &a->oracle, NULL},
                                  {"length", 0, &a->length, NULL},
                                  {"depth", 0, &a->depth, NULL},
                                  {"characters", 0, &a->characters, NULL},
                                  {"contributions", 0, &a->contributions, NULL},
                                  {"policy", 0, &a->policy, NULL},
                                  {"format", 0, &a->format, NULL},
                                  {"recipe-out", 0, &a->recipe_out, NULL},
                                  {"id", 0, &a->id, NULL},
                                  {"expires", 0, &a->expires, NULL},
                                  {"output", 'o', &a->output, NULL},
                                  {NULL, 0, NULL, NULL}};
    agg_err err = cli_options_read_only(options, error, argc, argv, help);
    if (err != SHOAL_OK || *help) return err;
    if (a->characters == NULL) a->characters = LETTERS;
    if (a->id == NULL) a->id = "planned";
    return read_numbers(p, error);
}

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const discovery_plan *p = result;
    (void)format;
    return agg_discovery_plan_print(stream, error, &p->plan, p->is_json);
}

static agg_err write_recipe(const discovery_plan *p, agg_error *error)
{
    const agg_discovery_frame frame = {.id = p->a.id,
                                       .expires = p->a.expires,
                                       .characters = p->a.characters,
                                       .policy = p->a.policy};
    if (p->a.recipe_out == NULL) return SHOAL_OK;
    return agg_discovery_recipe_write(error, p->a.recipe_out, &p->plan, &frame);
}

agg_err plan_discover(agg_error *error, int argc, char **argv, int *help)
{
    discovery_plan p = {.is_json = 0};
    agg_err err = read_arguments(&p, error, argc, argv, help);
    if (err != SHOAL_OK || *help) return err;
    err = agg_discovery_plan_run(&p.plan, error, &p.wish);
    if (err == SHOAL_OK) err = write_recipe(&p, error);
    if (err == SHOAL_OK) err = cli_result_write(error, p.a.output, print, &p, AGG_TABLE);
    return err;
}
