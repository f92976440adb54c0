// SPDX-License-Identifier: Apache-2.0
// Reads and writes the numbers of drafts; see draft_numbers.h.
#include "draft_numbers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"

#define DEVICES_DEFAULT 1000000u
#define DEVICES_MAX 4000000000u

agg_err draft_read_whole(uint64_t *number, agg_error *error, const char *name, const char *text,
                         uint64_t initial, uint64_t low, uint64_t high)
{
    *number = initial;
    return text == NULL ? SHOAL_OK : cli_read_whole(number, error, name, text, low, high);
}

// Finds a parameter and its option.
static const char *find(recipe_parameter *p, char option[RECIPE_OPTION_SIZE],
                        const recipe_options *options, const char *name)
{
    size_t i = recipe_parameter_find(p, name);
    assert(i < RECIPE_PARAMETERS_MAX);
    recipe_parameter_option(option, name);
    return options->parameters[i];
}

agg_err draft_read_parameter(uint64_t *number, agg_error *error, const recipe_options *options,
                             const char *name)
{
    char option[RECIPE_OPTION_SIZE];
    recipe_parameter p;
    const char *text = find(&p, option, options, name);
    uint64_t initial = p.usual != NULL ? strtoul(p.usual, NULL, 10) : p.initial;
    return draft_read_whole(number, error, option, text, initial, p.min, p.max);
}

agg_err draft_read_micro(double *number, agg_error *error, const recipe_options *options,
                         const char *name)
{
    char option[RECIPE_OPTION_SIZE];
    recipe_parameter p;
    const char *text = find(&p, option, options, name);
    *number = p.usual != NULL ? strtod(p.usual, NULL) : p.initial / 1e6;
    return text == NULL ? SHOAL_OK
                        : cli_read_decimal(number, error, option, text, p.min / 1e6, p.max / 1e6);
}

agg_err draft_read_devices(double *devices, agg_error *error, const char *text)
{
    uint64_t number = 0;
    agg_err err =
        draft_read_whole(&number, error, "devices", text, DEVICES_DEFAULT, 1, DEVICES_MAX);
    *devices = (double)number;
    return err;
}

void draft_put_micro(char out[24], uint32_t micro)
{
    int len = snprintf(out, 24, "%u.%06u", micro / 1000000, micro % 1000000);
    while (out[len - 1] == '0') len--;
    out[len - (out[len - 1] == '.')] = '\0';
}

void draft_put_whole(char out[16], uint32_t number)
{
    snprintf(out, 16, "%u", number);
}
