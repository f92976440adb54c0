// SPDX-License-Identifier: Apache-2.0
// shoal plan --discover: which way to find strings that nobody listed, with which parameters, and
// what it will find.
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "plan_modes.h"
#include "plan_words.h"
#include "plan_words_print.h"
#include "probability.h"
#include "recipe_json.h"
#include "result_options.h"

typedef struct arguments {
    const char *devices, *epsilon, *method, *oracle, *length, *depth, *characters, *contributions,
        *policy, *format, *recipe_out, *id, *expires, *output;
    bool is_discover;
} arguments;

static agg_err read_whole(uint32_t *out, agg_error *error, const char *name, const char *text,
                          uint32_t otherwise, uint32_t low, uint32_t high)
{
    uint64_t number = otherwise;
    agg_err err = text != NULL ? cli_read_whole(&number, error, name, text, low, high) : SHOAL_OK;
    if (err == SHOAL_OK) *out = (uint32_t)number;
    return err;
}

static agg_err read_epsilon(agg_words_plan *p, agg_error *error, const char *text)
{
    int64_t micro = 0;
    if (!agg_decimal_micro(&micro, text, strlen(text)) || micro < 100000 ||
        micro > SHOAL_EPS_MICRO_MAX)
        return command_refuse(error, "--epsilon must be from 0.1 to 16, with at most 6 decimals");
    p->eps_micro = (uint32_t)micro;
    return SHOAL_OK;
}

static agg_err read_numbers(agg_words_plan *p, agg_error *error, const arguments *a)
{
    uint64_t devices = 0;
    size_t method = 0;
    agg_err err = cli_read_whole(&devices, error, "devices", a->devices, 1, 4000000000);
    if (err == SHOAL_OK) err = read_epsilon(p, error, a->epsilon);
    if (err == SHOAL_OK)
        err = command_read_name(&method, error, agg_words_methods, a->method,
                                "--method is sfp or trie");
    if (err == SHOAL_OK)
        err = command_read_name(&p->oracle, error, agg_words_oracles, a->oracle,
                                "--oracle is olh or cms");
    if (err == SHOAL_OK) err = read_whole(&p->length, error, "length", a->length, 10, 2, 32);
    if (err == SHOAL_OK && p->length % 2 == 1)
        err = command_refuse(error, "--length is even: a fragment has two bytes");
    if (err == SHOAL_OK)
        err = read_whole(&p->depth, error, "depth", a->depth, 15, 1, SHOAL_DEPTH_MAX);
    if (err == SHOAL_OK)
        err = read_whole(&p->contributions, error, "contributions", a->contributions, 1, 1, 64);
    if (err == SHOAL_OK && p->eps_micro / p->contributions < SHOAL_EPS_MICRO_MIN)
        err = command_refuse(
            error,
            "--epsilon is shared out over the contributions, and leaves less than 0.01 for each");
    p->devices = (double)devices;
    p->method = (agg_words_method)method;
    p->is_chosen = a->method != NULL;
    p->characters = a->characters != NULL ? a->characters : AGG_WORDS_CHARACTERS;
    return err == SHOAL_OK ? agg_words_plan_count_characters(p, error) : err;
}

typedef struct printing {
    const agg_words_plan *plan;
    bool is_json;
} printing;

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const printing *p = result;
    (void)format;
    return agg_words_plan_print(stream, error, p->plan, p->is_json);
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    static const char *const formats[] = {"table", "json", NULL};
    const arguments *a = context;
    agg_words_plan p = {.devices = 0};
    size_t format = 0;
    (void)words;
    agg_err err =
        command_read_name(&format, error, formats, a->format, "--format is table or json");
    if (err == SHOAL_OK) err = read_numbers(&p, error, a);
    if (err == SHOAL_OK) err = agg_words_plan_run(&p, error);
    if (err == SHOAL_OK && a->recipe_out != NULL)
        err = agg_words_plan_write(&p, error, a->recipe_out, a->id != NULL ? a->id : "planned",
                                   a->policy, a->expires);
    const printing printed = {&p, format == 1};
    return err == SHOAL_OK ? cli_result_write(error, a->output, print, &printed, AGG_TABLE) : err;
}

static const command_option options[] = {OPTION("discover", is_discover),
                                         REQUIRED_OPTION("devices", devices),
                                         REQUIRED_OPTION("epsilon", epsilon),
                                         OPTION("method", method),
                                         OPTION("oracle", oracle),
                                         OPTION("length", length),
                                         OPTION("depth", depth),
                                         OPTION("characters", characters),
                                         OPTION("contributions", contributions),
                                         OPTION("policy", policy),
                                         OPTION("format", format),
                                         OPTION("recipe-out", recipe_out),
                                         OPTION("id", id),
                                         OPTION("expires", expires),
                                         OUTPUT_OPTION(output),
                                         LAST_OPTION};

const cli_command plan_discover = {
    .name = "--discover", .options = options, .arguments_size = sizeof(arguments), .run = run};
