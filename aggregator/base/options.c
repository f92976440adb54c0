// SPDX-License-Identifier: Apache-2.0
// Reads command lines; see options.h.
#include "options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"

static agg_err usage(agg_error *error, const char *what, const char *name)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s %s", what, name);
}

static const cli_option *find_long(const cli_option *options, const char *text, size_t len)
{
    for (const cli_option *o = options; o->name != NULL; o++)
        if (strlen(o->name) == len && memcmp(o->name, text, len) == 0) return o;
    return NULL;
}

static const cli_option *find_letter(const cli_option *options, char letter)
{
    for (const cli_option *o = options; o->name != NULL; o++)
        if (o->letter != 0 && o->letter == letter) return o;
    return NULL;
}

// Returns: the number of leading characters that two names share. The hint for an unknown option is
// the option that shares most.
static size_t shared(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] != '\0' && a[n] == b[n]) n++;
    return n;
}

static agg_err unknown(const cli_option *options, agg_error *error, const char *text)
{
    const char *name = text + (text[0] == '-' && text[1] == '-' ? 2 : 1);
    const cli_option *best = NULL;
    for (const cli_option *o = options; o->name != NULL; o++)
        if (shared(o->name, name) > (best != NULL ? shared(best->name, name) : 1)) best = o;
    if (best == NULL) return usage(error, "unknown option", text);
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "unknown option %s; did you mean --%s?",
                    text, best->name);
}

// Takes the option at argv[*i], and its value from the same word or the next one.
static agg_err take(const cli_option *options, agg_error *error, int argc, char **argv, int *i)
{
    const char *text = argv[*i], *value = NULL;
    const cli_option *o = NULL;
    if (text[1] == '-') {
        size_t len = strcspn(text + 2, "=");
        o = find_long(options, text + 2, len);
        if (text[2 + len] == '=') value = text + 3 + len;
    } else {
        o = find_letter(options, text[1]);
        if (o != NULL && text[2] != '\0') value = text + 2;
    }
    if (o == NULL) return unknown(options, error, text);
    if (o->flag != NULL) {
        if (value != NULL) return usage(error, "no value goes with", text);
        *o->flag = true;
        return SHOAL_OK;
    }
    if (value == NULL && *i + 1 < argc) value = argv[++*i];
    if (value == NULL) return usage(error, "a value is missing after", text);
    if (*o->value != NULL) return usage(error, "given twice:", text);
    *o->value = value;
    return SHOAL_OK;
}

agg_err cli_take_repeated(const char **values, size_t *n_values, char **rest, int *n_rest,
                          agg_error *error, const char *name, int argc, char **argv)
{
    size_t len = strlen(name);
    bool is_over = false;
    *n_values = 0;
    *n_rest = 0;
    for (int i = 0; i < argc; i++) {
        const char *text = argv[i];
        is_over |= strcmp(text, "--") == 0;
        bool is_own = !is_over && strncmp(text, "--", 2) == 0 && strncmp(text + 2, name, len) == 0;
        if (is_own && text[2 + len] == '=') {
            values[(*n_values)++] = text + 3 + len;
        } else if (is_own && text[2 + len] == '\0') {
            if (i + 1 == argc) return usage(error, "a value is missing after", text);
            values[(*n_values)++] = argv[++i];
        } else {
            rest[(*n_rest)++] = argv[i];
        }
    }
    return SHOAL_OK;
}

agg_err cli_options_read(const cli_option *options, agg_error *error, int argc, char **argv,
                         const char **arguments, int *n_arguments, bool *help)
{
    bool is_over = false;
    *n_arguments = 0;
    *help = false;
    for (int i = 1; i < argc; i++) {
        if (is_over || argv[i][0] != '-' || argv[i][1] == '\0') {
            arguments[(*n_arguments)++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            is_over = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            *help = true;
        } else {
            agg_err err = take(options, error, argc, argv, &i);
            if (err != SHOAL_OK) return err;
        }
    }
    return SHOAL_OK;
}

agg_err cli_options_read_only(const cli_option *options, agg_error *error, int argc, char **argv,
                              bool *help)
{
    int n_arguments = 0;
    const char **arguments = agg_alloc(error, (size_t)argc, sizeof *arguments);
    if (arguments == NULL) return AGG_ERR_MEMORY;
    agg_err err = cli_options_read(options, error, argc, argv, arguments, &n_arguments, help);
    free(arguments);
    if (err != SHOAL_OK || *help || n_arguments == 0) return err;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "takes options only");
}

// Reads digits, with a fraction, an exponent and one of k, M and G where there are any, as a whole
// number. Returns false unless the text is one, below 10^18.
static bool read_whole(uint64_t *number, const char *text)
{
    const uint64_t limit = 1000000000000000000u;
    uint64_t sum = 0;
    unsigned long exponent = 0;
    const char *at = text, *point = NULL;
    char *end;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && point == NULL && at > text); at++) {
        if (*at == '.')
            point = at;
        else if (sum >= limit / 10)
            return false;
        else
            sum = sum * 10 + (uint64_t)(*at - '0');
    }
    if (at == text || at - 1 == point) return false;
    const size_t n_decimals = point != NULL ? (size_t)(at - point - 1) : 0;
    if ((*at == 'e' || *at == 'E') && at[1] >= '0' && at[1] <= '9') {
        exponent = strtoul(at + 1, &end, 10);
        at = end;
    } else if (*at != '\0') {
        exponent = *at == 'k' || *at == 'K' ? 3 : *at == 'M' ? 6 : *at == 'G' ? 9 : 0;
        if (exponent > 0) at++;
    }
    if (*at != '\0' || exponent > 18) return false;
    for (size_t i = exponent; i < n_decimals; i++, sum /= 10)
        if (sum % 10 != 0) return false;
    for (size_t i = n_decimals; i < exponent; i++, sum *= 10)
        if (sum >= limit / 10) return false;
    *number = sum;
    return true;
}

agg_err cli_read_whole(uint64_t *number, agg_error *error, const char *name, const char *text,
                       uint64_t low, uint64_t high)
{
    uint64_t read = 0;
    if (!read_whole(&read, text) || read < low || read > high)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--%s must be a whole number from %llu to %llu%s", name,
                        (unsigned long long)low, (unsigned long long)high,
                        high >= 1000000 ? ", such as 200000, 2e5 or 1M" : "");
    *number = read;
    return SHOAL_OK;
}

agg_err cli_read_decimal(double *number, agg_error *error, const char *name, const char *text,
                         double low, double high)
{
    char *end = NULL;
    double x = strtod(text, &end);
    if (end == text || *end != '\0' || !(x >= low && x <= high))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--%s must be a number from %g to %g",
                        name, low, high);
    *number = x;
    return SHOAL_OK;
}

agg_err cli_read_threads(unsigned *threads, agg_error *error, const char *text)
{
    uint64_t number = agg_parallel_cores();
    agg_err err = text != NULL ? cli_read_whole(&number, error, "threads", text, 1, AGG_THREADS_MAX)
                               : SHOAL_OK;
    if (err == SHOAL_OK) *threads = (unsigned)number;
    return err;
}

agg_err cli_need(agg_error *error, const char *name, const char *value)
{
    if (value != NULL) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--%s is needed", name);
}
