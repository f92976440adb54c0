// SPDX-License-Identifier: Apache-2.0
// shoal plan: which mechanism, with which parameters, and what it will see.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifndef __wasi__
#include <sys/random.h>
#endif

#include "agg_size.h"
#include "commands.h"
#include "dictionary.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "number_item.h"
#include "options.h"
#include "part_recipe.h"
#include "plan.h"
#include "plan_discover.h"
#include "plan_print.h"
#include "plan_track.h"
#include "probability.h"
#include "result_options.h"
#include "trade_off_print.h"

#define OPEN_ASKED 10000.0   // values asked about where nothing says how many
#define EXPIRES_DAYS 180     // of a recipe that is written
#define COHORT_DEFAULT 1000u // minimum cohort of such a recipe

static const char help_text[] =
    "Usage: shoal plan --devices N (--size D | --open | --counts FILE | --mean) --low --high\n"
    "                  (--epsilon E | --budget E --period DAYS) [OPTION]...\n"
    "       shoal plan --discover --devices N --epsilon E [OPTION]...\n"
    "       shoal plan --track --devices N --epochs T --samples L --epsilon E [OPTION]...\n"
    "       shoal plan --surface --devices N --epsilon E [--mechanism cms|hcms] [OPTION]...\n\n"
    "Names the mechanism that sees most, with its parameters, and prints what will be seen and "
    "what\n"
    "it costs. Says \"nothing\" when nothing can be told from zero, and what it would take.\n\n"
    "  --devices N         devices that send\n"
    "  --size D            values are one of a list of D (with --low and --high: buckets of a "
    "number)\n"
    "  --open              values are any string\n"
    "  --counts FILE       value<TAB>count lines: how often values occur; without --size or --open "
    "also\n"
    "                      the list\n"
    "  --zipf S            frequencies in proportion to rank^-S, where there are no counts; "
    "default 1.2\n"
    "  --mean              the mean of a number from --low to --high\n"
    "  --low X, --high X   the range of a number\n"
    "  --epsilon E         of one report\n"
    "  --budget E          epsilon of a device in a period, shared out over its reports\n"
    "  --period DAYS       for how long reports are gathered, default 1\n"
    "  --per-day R         reports a device sends a day, default 1\n"
    "  --report-bytes B    limit: a report as JSON\n"
    "  --memory BYTES      limit: the sketch of the aggregator\n"
    "  --detect SHARE      a share that must be told from zero, such as 0.001\n"
    "  --asked N           values asked about at once, default: the list, the counts file or "
    "10000\n"
    "  --confidence C      of detection and of intervals, default 0.95\n"
    "  --multiple RULE     behind detection: bonferroni (default), bh or none\n"
    "  --mechanism NAME    this mechanism only\n"
    "  --all               every mechanism's best, not the answer alone\n"
    "  --discover          strings that nobody listed: sfp and trie side by side. Then --epsilon "
    "is of a device,\n"
    "                      --method is sfp or trie (default: what finds rarer strings), --oracle "
    "sfp's (olh or cms),\n"
    "                      --length its bytes (10), --depth the characters of a trie's words "
    "(15),\n"
    "                      --characters those that it asks about (a to z), --contributions a "
    "device's (1), and\n"
    "                      --policy the policy that its queries are under\n"
    "  --track             a mean over epochs (thresh; --items: shares of strings, heavythresh): "
    "which changes\n"
    "                      are seen how late. Then --epsilon is of all T epochs, L the samples of "
    "a device in\n"
    "                      one, --groups change apart (1), --smallest-group has so many devices "
    "(N/groups),\n"
    "                      --delta 1e-6, --change X asks about one change, and of --items "
    "--projection (2048)\n"
    "                      and --epsilon-estimate (0.5)\n"
    "  --surface           standard deviation over rows and columns of cms (or hcms)\n"
    "  --format FORMAT     table (default) or json; with --surface also csv or svg\n"
    "  --recipe-out FILE   writes the answer's recipe, with a fresh random seed\n"
    "  --id ID             the recipe's, default planned\n"
    "  --expires DATE      the recipe's last day, YYYY-MM-DD; default in 180 days\n"
    "  -o, --output FILE   default: standard output\n";

typedef struct arguments {
    const char *devices, *size, *counts, *zipf, *low, *high, *epsilon, *budget, *period, *per_day,
        *report_bytes, *memory, *detect, *asked, *confidence, *multiple, *mechanism, *format,
        *recipe_out, *id, *expires, *output;
    int is_open, is_mean, is_all, is_surface;
    int64_t low_micro, high_micro;
    size_t format_number; // position in `formats`
} arguments;

static const char *const formats[] = {"table", "csv", "json", "svg",
                                      NULL}; // in the order of agg_trade_off_format

// What a run needs beside the wish.
typedef struct planning {
    arguments a;
    agg_plan_wish wish;
    agg_recipe reader; // takes any string: counts files are read with it
    agg_dictionary counts;
    uint64_t *buckets; // counts by bucket of a number
    char law_name[64], low_text[32], high_text[32];
} planning;

static agg_err usage(agg_error *error, const char *text)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", text);
}

static agg_err check_domain(agg_error *error, const arguments *a)
{
    int is_list = a->size != NULL || (a->counts != NULL && !a->is_open);
    if (a->is_mean + a->is_open + is_list != 1 && !a->is_surface)
        return usage(error, "one of --size, --open, --counts and --mean says what values are");
    if ((a->low != NULL) != (a->high != NULL)) return usage(error, "--low and --high go together");
    if (a->is_mean && a->low == NULL) return usage(error, "--mean needs --low and --high");
    if (a->low != NULL && !a->is_mean && a->size == NULL)
        return usage(error, "--low and --high go with --mean, or with --size buckets");
    if (a->zipf != NULL && (a->counts != NULL || a->is_mean))
        return usage(error, "--zipf is for lists and strings without --counts");
    if (a->is_mean && (a->counts != NULL || a->detect != NULL || a->asked != NULL))
        return usage(error, "--counts, --detect and --asked do not go with --mean");
    return SHOAL_OK;
}

static agg_err check_arguments(agg_error *error, const arguments *a)
{
    agg_err err = cli_need(error, "devices", a->devices);
    if (err == SHOAL_OK) err = check_domain(error, a);
    if (err != SHOAL_OK) return err;
    if ((a->epsilon != NULL) == (a->budget != NULL))
        return usage(error, "--epsilon or --budget is needed, not both");
    if (a->budget != NULL && a->period == NULL)
        return usage(error, "--budget needs --period: the days it is for");
    if (a->is_surface && (a->recipe_out != NULL || a->is_all || a->is_mean))
        return usage(error, "--recipe-out, --all and --mean do not go with --surface");
    if (!a->is_surface && a->format_number % 2 == 1)
        return usage(error, "--format is table or json without --surface");
    return SHOAL_OK;
}

static agg_err read_micro(int64_t *micro, agg_error *error, const char *name, const char *text)
{
    if (agg_decimal_micro(micro, text, strlen(text))) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "--%s must be a number with at most 6 decimals", name);
}

static agg_err read_range(planning *p, agg_error *error)
{
    arguments *a = &p->a;
    if (a->low == NULL) return SHOAL_OK;
    agg_err err = read_micro(&a->low_micro, error, "low", a->low);
    if (err == SHOAL_OK) err = read_micro(&a->high_micro, error, "high", a->high);
    if (err != SHOAL_OK) return err;
    if (a->low_micro >= a->high_micro) return usage(error, "--low must be below --high");
    agg_plan_micro_text(p->low_text, a->low_micro);
    agg_plan_micro_text(p->high_text, a->high_micro);
    p->wish.low = p->low_text;
    p->wish.high = p->high_text;
    return SHOAL_OK;
}

// Epsilon of one report: given, or the budget's part.
static agg_err read_epsilon(planning *p, agg_error *error)
{
    const arguments *a = &p->a;
    agg_plan_wish *w = &p->wish;
    int64_t micro = 0;
    if (a->budget == NULL) {
        agg_err err = read_micro(&micro, error, "epsilon", a->epsilon);
        if (err != SHOAL_OK) return err;
        if (micro < SHOAL_EPS_MICRO_MIN || micro > SHOAL_EPS_MICRO_MAX)
            return usage(error, "--epsilon must be from 0.01 to 16");
        w->eps_micro = (uint32_t)micro;
        return SHOAL_OK;
    }
    agg_err err = cli_read_decimal(&w->budget, error, "budget", a->budget, 0.01, 1e6);
    if (err != SHOAL_OK) return err;
    w->eps_micro = agg_plan_split_budget(w->budget, w->per_day * w->days);
    if (w->eps_micro > 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "a budget of %g over %g reports leaves less than 0.01 for each: send fewer",
                    w->budget, w->per_day * w->days);
}

static agg_err read_whole(double *out, agg_error *error, const char *name, const char *text,
                          uint64_t low, uint64_t high)
{
    uint64_t number = 0;
    if (text == NULL) return SHOAL_OK;
    agg_err err = cli_read_whole(&number, error, name, text, low, high);
    if (err == SHOAL_OK) *out = (double)number;
    return err;
}

static agg_err read_mechanism(agg_plan_wish *wish, agg_error *error, const char *name)
{
    if (name == NULL) return SHOAL_OK;
    const shoal_mechanism *mechanism = shoal_mechanism_by_name(name, strlen(name));
    if (mechanism == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "no mechanism is called %s", name);
    wish->mechanism = mechanism->id;
    return SHOAL_OK;
}

static agg_err read_numbers(planning *p, agg_error *error)
{
    static const char *const rules[] = {"bonferroni", "bh", "none", NULL};
    agg_plan_wish *w = &p->wish;
    const arguments *a = &p->a;
    double size = 0;
    size_t rule = 0;
    agg_err err = read_whole(&w->devices, error, "devices", a->devices, 1, 4000000000);
    if (err == SHOAL_OK) err = read_whole(&size, error, "size", a->size, 2, 1u << 24);
    if (err == SHOAL_OK) err = read_whole(&w->days, error, "period", a->period, 1, 36500);
    if (err == SHOAL_OK) err = read_whole(&w->per_day, error, "per-day", a->per_day, 1, 1000000);
    if (err == SHOAL_OK)
        err = read_whole(&w->report_bytes, error, "report-bytes", a->report_bytes, 1, 1000000000);
    if (err == SHOAL_OK) err = read_whole(&w->memory, error, "memory", a->memory, 1, 1ull << 40);
    if (err == SHOAL_OK) err = read_whole(&w->asked, error, "asked", a->asked, 1, 1000000000000);
    if (err == SHOAL_OK && a->detect != NULL)
        err = cli_read_decimal(&w->detect, error, "detect", a->detect, 1e-12, 1);
    if (err == SHOAL_OK && a->confidence != NULL)
        err = cli_read_decimal(&w->confidence, error, "confidence", a->confidence, 0.000001,
                               0.999999999999);
    if (err == SHOAL_OK)
        err =
            cli_read_name(&rule, error, rules, a->multiple, "--multiple is bonferroni, bh or none");
    if (err == SHOAL_OK) err = read_mechanism(w, error, a->mechanism);
    if (err == SHOAL_OK) err = read_epsilon(p, error);
    w->size = (uint32_t)size;
    w->multiple = (agg_multiple)rule;
    return err;
}

#define LAW_NUMBERS                                                                                \
    2u // of each value beside its count: its share, and that again while they are sorted

static agg_err load_counts(planning *p, agg_error *error)
{
    char command[] = "plan";
    static const char text[] =
        "{\"recipe\":\"counts\",\"analysis\":\"counts\",\"stream\":\"counts\",\"value\":\"item\","
        "\"mechanism\":\"cms\","
        "\"text\":{\"form\":\"none\",\"case\":\"keep\",\"max\":64},\"parameters\":{\"epsilon\":1,"
        "\"k\":1,\"m\":2},"
        "\"hash\":\"poly1\","
        "\"seed\":\"73686f616c20706c616e2073686f616c20706c616e2073686f616c20706c616e\",\"limit\":{"
        "\"per_day\":1},"
        "\"expires\":\"2099-12-31\"}";
    agg_err err = agg_recipe_from_bytes(&p->reader, error, "counts", text, sizeof text - 1);
    if (err == SHOAL_OK)
        err = agg_counts_load(&p->counts, error, &p->reader, p->a.counts, NULL, NULL);
    if (err != SHOAL_OK) return err;
    const cli_counts_bytes bytes = cli_counts_memory(&p->counts, p->a.counts);
    uint64_t law = p->counts.n * sizeof(double) * LAW_NUMBERS;
    return cli_state_memory(error, command,
                            bytes.held + (bytes.reading > law ? bytes.reading : law), 0);
}

// Adds up the counts of numbers by bucket.
static agg_err fill_buckets(planning *p, agg_error *error)
{
    const arguments *a = &p->a;
    p->buckets = agg_alloc(error, p->wish.size, sizeof *p->buckets);
    if (p->buckets == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < p->counts.n; i++) {
        int64_t micro = 0;
        if (!agg_decimal_micro(&micro, p->counts.values[i].bytes, p->counts.values[i].len))
            return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "%s: value %zu is not a number",
                            a->counts, i + 1);
        uint64_t bucket = shoal_number_scale(micro, a->low_micro, a->high_micro, p->wish.size);
        p->buckets[bucket == p->wish.size ? bucket - 1 : bucket] += p->counts.counts[i];
    }
    return SHOAL_OK;
}

static agg_err take_counts(planning *p, agg_error *error)
{
    agg_plan_wish *w = &p->wish;
    agg_err err = load_counts(p, error);
    if (err != SHOAL_OK) return err;
    snprintf(p->law_name, sizeof p->law_name, "counts file");
    if (p->a.low != NULL) {
        err = fill_buckets(p, error);
        return err == SHOAL_OK ? agg_value_law_counts(&w->law, error, p->buckets, w->size) : err;
    }
    if (w->size == 0 && !p->a.is_open) w->size = (uint32_t)p->counts.n;
    if (w->size > 0 && (w->size < 2 || w->size < p->counts.n))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s holds %zu values: a list takes 2 and at most --size", p->a.counts,
                        p->counts.n);
    return agg_value_law_counts(&w->law, error, p->counts.counts, p->counts.n);
}

static agg_err make_law(planning *p, agg_error *error)
{
    agg_plan_wish *w = &p->wish;
    double exponent = 1.2, listed = p->a.is_surface ? 100000 : OPEN_ASKED;
    w->law_name = p->law_name;
    if (w->is_mean) return SHOAL_OK;
    if (p->a.counts != NULL) {
        agg_err err = take_counts(p, error);
        if (err != SHOAL_OK) return err;
        listed = w->law.n_values;
    }
    if (w->size > 0) listed = w->size;
    if (w->asked <= 0) w->asked = listed;
    if (p->a.counts != NULL) return SHOAL_OK;
    agg_err err =
        p->a.zipf != NULL ? cli_read_decimal(&exponent, error, "zipf", p->a.zipf, 0, 10) : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    w->law = agg_value_law_zipf(exponent, w->size > 0 ? w->size : w->asked);
    snprintf(p->law_name, sizeof p->law_name, "Zipf %g", exponent);
    return SHOAL_OK;
}

static agg_err make_wish(planning *p, agg_error *error)
{
    agg_plan_wish *w = &p->wish;
    const arguments *a = &p->a;
    *w = (agg_plan_wish){.per_day = 1,
                         .days = 1,
                         .is_mean = a->is_mean,
                         .confidence = 0.95,
                         .id = a->id != NULL ? a->id : "planned"};
    agg_err err = read_range(p, error);
    if (err == SHOAL_OK) err = read_numbers(p, error);
    if (err == SHOAL_OK) err = make_law(p, error);
    if (err == SHOAL_OK && w->devices * w->per_day * w->days > AGG_PLAN_REPORTS_MAX)
        return usage(error, "more than 4,000,000,000 reports do not fit one accumulator");
    return err;
}

typedef struct recipe_wanted {
    const planning *p;
    const shoal_part *part;
} recipe_wanted;

static agg_err print_recipe(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const recipe_wanted *r = result;
    const agg_plan_wish *w = &r->p->wish;
    const arguments *a = &r->p->a;
    uint8_t seed[32];
    char seed_hex[65], date[16], *text = NULL;
    size_t len = 0;
    agg_recipe recipe;
    time_t last = time(NULL) + (time_t)86400 * EXPIRES_DAYS;
    struct tm day;
    (void)format;
    if (getentropy(seed, sizeof seed) != 0)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "the system gives no random bytes");
    agg_hex(seed_hex, seed, sizeof seed);
    if (gmtime_r(&last, &day) == NULL || strftime(date, sizeof date, "%Y-%m-%d", &day) == 0)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "the system gives no date");
    const agg_recipe_frame frame = {.id = w->id,
                                    .analysis = w->id,
                                    .stream = "events",
                                    .value = w->low != NULL ? "number"
                                             : w->size > 0  ? "item"
                                                            : "word",
                                    .seed_hex = seed_hex,
                                    .low = w->low,
                                    .high = w->high,
                                    .expires = a->expires != NULL ? a->expires : date,
                                    .per_day = (uint32_t)w->per_day,
                                    .values = a->size == NULL && w->size > 0 ? r->p->counts.values
                                                                             : NULL};
    FILE *memory = open_memstream(&text, &len);
    if (memory == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    agg_part_recipe_print(memory, r->part, &frame);
    agg_err err = SHOAL_OK;
    if (fclose(memory) != 0) err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    // Options stand in the text as they were given: it is read back, and refused there, before
    // anyone sees it.
    if (err == SHOAL_OK)
        err = agg_recipe_from_bytes(&recipe, error, "the planned recipe", text, len);
    if (err == SHOAL_OK) {
        agg_recipe_release(&recipe);
        if (fwrite(text, 1, len, stream) != len || fflush(stream) != 0)
            err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the recipe");
    }
    free(text);
    return err;
}

static agg_err write_recipe(const planning *p, agg_error *error, const agg_plan *plan)
{
    char command[] = "plan", none[] = "nothing can be seen: no recipe was written",
         few[] = "fewer reports than the recipe's minimum cohort of 1000: nothing will be shown";
    if (p->a.recipe_out == NULL) return SHOAL_OK;
    if (plan->is_nothing) {
        agg_log_line(command, none);
        return SHOAL_OK;
    }
    if (plan->n < COHORT_DEFAULT) agg_log_line(command, few);
    const recipe_wanted wanted = {p, &plan->candidates[0].part};
    return cli_result_write(error, p->a.recipe_out, print_recipe, &wanted, AGG_TABLE);
}

typedef struct printing {
    const planning *p;
    const agg_plan *plan;
    const agg_trade_off *surface;
} printing;

static agg_err print_plan(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const printing *r = result;
    const arguments *a = &r->p->a;
    double width = a->is_mean ? (double)(a->high_micro - a->low_micro) / 1e6 : 1;
    (void)format;
    if (r->surface != NULL)
        return agg_trade_off_print(stream, error, r->surface,
                                   (agg_trade_off_format)a->format_number);
    return agg_plan_print(stream, error, r->plan, &r->p->wish,
                          a->format_number == AGG_TRADE_OFF_JSON, a->is_all, width);
}

static agg_err show_surface(const planning *p, agg_error *error)
{
    agg_trade_off *surface = agg_alloc(error, 1, sizeof *surface);
    const printing printed = {p, NULL, surface};
    if (surface == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_trade_off_run(
        surface, error, &p->wish,
        p->wish.mechanism != 0 ? p->wish.mechanism : agg_account_usual(AGG_USUAL_STRINGS)->id);
    if (err == SHOAL_OK)
        err = cli_result_write(error, p->a.output, print_plan, &printed, AGG_TABLE);
    free(surface);
    return err;
}

static agg_err show_plan(const planning *p, agg_error *error)
{
    agg_plan *plan = agg_alloc(error, 1, sizeof *plan);
    const printing printed = {p, plan, NULL};
    if (plan == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_plan_run(plan, error, &p->wish);
    if (err == SHOAL_OK) err = write_recipe(p, error, plan);
    if (err == SHOAL_OK)
        err = cli_result_write(error, p->a.output, print_plan, &printed, AGG_TABLE);
    free(plan);
    return err;
}

static agg_err read_arguments(arguments *a, agg_error *error, int argc, char **argv, int *help)
{
    const cli_option options[] = {{"devices", 0, &a->devices, NULL},
                                  {"size", 0, &a->size, NULL},
                                  {"open", 0, NULL, &a->is_open},
                                  {"counts", 0, &a->counts, NULL},
                                  {"zipf", 0, &a->zipf, NULL},
                                  {"mean", 0, NULL, &a->is_mean},
                                  {"low", 0, &a->low, NULL},
                                  {"high", 0, &a->high, NULL},
                                  {"epsilon", 0, &a->epsilon, NULL},
                                  {"budget", 0, &a->budget, NULL},
                                  {"period", 0, &a->period, NULL},
                                  {"per-day", 0, &a->per_day, NULL},
                                  {"report-bytes", 0, &a->report_bytes, NULL},
                                  {"memory", 0, &a->memory, NULL},
                                  {"detect", 0, &a->detect, NULL},
                                  {"asked", 0, &a->asked, NULL},
                                  {"confidence", 0, &a->confidence, NULL},
                                  {"multiple", 0, &a->multiple, NULL},
                                  {"mechanism", 0, &a->mechanism, NULL},
                                  {"all", 0, NULL, &a->is_all},
                                  {"surface", 0, NULL, &a->is_surface},
                                  {"format", 0, &a->format, NULL},
                                  {"recipe-out", 0, &a->recipe_out, NULL},
                                  {"id", 0, &a->id, NULL},
                                  {"expires", 0, &a->expires, NULL},
                                  {"output", 'o', &a->output, NULL},
                                  {NULL, 0, NULL, NULL}};
    agg_err err = cli_options_read_only(options, error, argc, argv, help);
    if (err != SHOAL_OK || *help) return err;
    err = cli_read_name(&a->format_number, error, formats, a->format,
                        "--format is table, json, csv or svg");
    return err == SHOAL_OK ? check_arguments(error, a) : err;
}

static agg_err run(planning *p, agg_error *error)
{
    agg_err err = make_wish(p, error);
    if (err == SHOAL_OK) err = p->a.is_surface ? show_surface(p, error) : show_plan(p, error);
    agg_value_law_release(&p->wish.law);
    agg_dictionary_release(&p->counts);
    agg_recipe_release(&p->reader);
    free(p->buckets);
    return err;
}

int cmd_plan(int argc, char **argv)
{
    planning p = {0};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    int help = 0;
    int is_discover = plan_is_discover(argc, argv), is_track = plan_is_track(argc, argv);
    agg_err err = is_track      ? plan_track(&error, argc, argv, &help)
                  : is_discover ? plan_discover(&error, argc, argv, &help)
                                : read_arguments(&p.a, &error, argc, argv, &help);
    if (err == SHOAL_OK && help)
        fputs(help_text, stdout);
    else if (err == SHOAL_OK && !is_discover && !is_track)
        err = run(&p, &error);
    return err == SHOAL_OK ? AGG_EXIT_OK : agg_log_error("plan", &error);
}
