// SPDX-License-Identifier: Apache-2.0
// shoal plan --discover: which way to find strings that nobody listed, with which parameters, and
// what it will find.
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include "discovery_plan_print.h"
#include "discovery_recipe.h"
#include "encoding.h"
#include "options.h"
#include "plan_modes.h"
#include "probability.h"
#include "recipe_json.h"
#include "result_options.h"
#include "trie_layer.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyz"

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

static agg_err read_epsilon(agg_discovery_wish *wish, agg_error *error, const char *text)
{
    int64_t micro = 0;
    if (!agg_decimal_micro(&micro, text, strlen(text)) || micro < 100000 ||
        micro > SHOAL_EPS_MICRO_MAX)
        return command_refuse(error, "--epsilon must be from 0.1 to 16, with at most 6 decimals");
    wish->eps_micro = (uint32_t)micro;
    return SHOAL_OK;
}

static const char *characters_of(const arguments *a)
{
    return a->characters != NULL ? a->characters : LETTERS;
}

// Characters are code points, in any order; the recipe's reader refuses one that comes twice.
static agg_err count_characters(agg_discovery_wish *wish, agg_error *error, const char *text)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)text;
    size_t left = strlen(text);
    while (left > 0) {
        utf8proc_int32_t point = 0;
        utf8proc_ssize_t used = utf8proc_iterate(at, (utf8proc_ssize_t)left, &point);
        if (used <= 0 || point <= 0x20 || point == '"' || point == '\\' ||
            (point >= 0x7f && point < 0xa0))
            return command_refuse(
                error, "--characters takes UTF-8 text without blanks, quotes and backslashes");
        at += used;
        left -= (size_t)used;
        wish->characters++;
    }
    return wish->characters > 0 ? SHOAL_OK : command_refuse(error, "--characters holds none");
}

static agg_err read_numbers(agg_discovery_wish *wish, agg_error *error, const arguments *a)
{
    uint64_t devices = 0;
    size_t method = 0;
    agg_err err = cli_read_whole(&devices, error, "devices", a->devices, 1, 4000000000);
    if (err == SHOAL_OK) err = read_epsilon(wish, error, a->epsilon);
    if (err == SHOAL_OK)
        err = command_read_name(&method, error, agg_discovery_ways, a->method,
                                "--method is sfp or trie");
    if (err == SHOAL_OK)
        err = command_read_name(&wish->oracle, error, agg_discovery_oracles, a->oracle,
                                "--oracle is olh or cms");
    if (err == SHOAL_OK) err = read_whole(&wish->length, error, "length", a->length, 10, 1, 32);
    // Without a length that is wanted, words of any length count alike.
    const uint32_t depth = a->length != NULL ? wish->length + 1 : AGG_TRIE_DEPTH_OPEN;
    wish->length += wish->length % 2; // a fragment has two bytes
    if (err == SHOAL_OK)
        err = read_whole(&wish->depth, error, "depth", a->depth, depth, 1, SHOAL_DEPTH_MAX);
    if (err == SHOAL_OK)
        err = read_whole(&wish->contributions, error, "contributions", a->contributions, 1, 1, 64);
    if (err == SHOAL_OK && wish->eps_micro / wish->contributions < SHOAL_EPS_MICRO_MIN)
        err = command_refuse(
            error,
            "--epsilon is shared out over the contributions, and leaves less than 0.01 for each");
    wish->devices = (double)devices;
    wish->way = a->method != NULL ? (agg_discovery_way)method : AGG_DISCOVERY_ANY;
    return err == SHOAL_OK ? count_characters(wish, error, characters_of(a)) : err;
}

typedef struct printing {
    const agg_discovery_plan *plan;
    bool is_json;
} printing;

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const printing *p = result;
    (void)format;
    return agg_discovery_plan_print(stream, error, p->plan, p->is_json);
}

static agg_err write_recipe(const agg_discovery_plan *plan, agg_error *error, const arguments *a)
{
    const agg_discovery_frame frame = {.id = a->id != NULL ? a->id : "planned",
                                       .expires = a->expires,
                                       .characters = characters_of(a),
                                       .policy = a->policy};
    if (a->recipe_out == NULL) return SHOAL_OK;
    return agg_discovery_recipe_write(error, a->recipe_out, plan, &frame);
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    static const char *const formats[] = {"table", "json", NULL};
    const arguments *a = context;
    agg_discovery_wish wish = {.devices = 0};
    agg_discovery_plan plan;
    size_t format = 0;
    (void)words;
    agg_err err =
        command_read_name(&format, error, formats, a->format, "--format is table or json");
    if (err == SHOAL_OK) err = read_numbers(&wish, error, a);
    if (err == SHOAL_OK) err = agg_discovery_plan_run(&plan, error, &wish);
    if (err == SHOAL_OK) err = write_recipe(&plan, error, a);
    const printing printed = {&plan, format == 1};
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
