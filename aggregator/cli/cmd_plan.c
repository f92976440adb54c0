// SPDX-License-Identifier: Apache-2.0
// shoal plan: which mechanism, with which parameters, and what it will see.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "amplification.h"
#include "central_plan.h"
#include "commands.h"
#include "log.h"
#include "options.h"
#include "plan.h"
#include "plan_counts.h"
#include "plan_modes.h"
#include "plan_modes_help.h"
#include "plan_print.h"
#include "plan_recipe.h"
#include "probability.h"
#include "result_options.h"
#include "trade_off.h"
#include "trade_off_print.h"

#define OPEN_ASKED 10000.0 // values asked about by default

static const char help_text[] =
    "Usage: shoal plan --devices N (--size D | --open | --counts FILE | --mean) --low --high\n"
    "                  (--epsilon E | --budget E --period DAYS) [OPTION]...\n"
    "       shoal plan --distribution --devices N --low X --high X --epsilon E [OPTION]...\n"
    "       shoal plan --discover --devices N --epsilon E [OPTION]...\n"
    "       shoal plan --track --devices N --epochs T --samples L --epsilon E [OPTION]...\n"
    "       shoal plan --surface --devices N --epsilon E [--mechanism cms|hcms] [OPTION]...\n"
    "\n"
    "Names the mechanism with the smallest error and its parameters, and prints what will be seen\n"
    "and what it costs. Answers \"nothing\" if no count can be told from zero, with what it would\n"
    "take.\n"
    "\n"
    "  --devices N         devices that send\n"
    "  --size D            values are one of a list of D (with --low and --high: D buckets)\n"
    "  --open              values are any string\n"
    "  --counts FILE       value<TAB>count lines, how often values occur; also the list, unless\n"
    "                      --size or --open is given\n"
    "  --zipf S            without counts: frequencies in proportion to rank^-S; default 1.2\n"
    "  --mean              the mean of a number from --low to --high\n"
    "  --low X, --high X   the range of a number\n"
    "  --epsilon E         of one report\n"
    "  --budget E          epsilon of a device in a period, divided among its reports\n"
    "  --period DAYS       for how long reports are gathered, default 1\n"
    "  --per-day R         reports of a device in a day, default 1\n"
    "  --active SHARE      share of windows (visits, or days of a person) in which something "
    "happens;\n"
    "                      --devices are then those that open a window each day. Chooses between\n"
    "                      send.pick first and uniform, and says why; shares are of active "
    "windows\n"
    "  --pages KIND        with --active: one (a single-page app, windows are visits) or many\n"
    "                      (default, windows are days)\n"
    "  --report-bytes B    limit: bytes of a report as JSON\n"
    "  --memory BYTES      limit: the sketch of the aggregator\n"
    "  --detect SHARE      a share that must be told from zero, such as 0.001\n"
    "  --asked N           values asked about at once; default: the list, the counts file or "
    "10000\n"
    "  --confidence C      of detection and of intervals, default 0.95\n"
    "  --multiple RULE     correction behind detection: bonferroni (default), bh or none\n"
    "  --mechanism NAME    this mechanism only\n"
    "  --all               print every mechanism's best, not the answer alone\n"
    "  --surface           print the standard deviation over rows and columns of cms (or hcms)\n"
    "  --format FORMAT     table (default) or json; with --surface also csv, svg or arrow\n"
    "  --honest SHARE      share of honest reports, 0.01 to 1: print the central epsilon of the\n"
    "                      smallest block that results are released in\n"
    "  --block N           with --honest: reports of that block; default: half of a day's\n"
    "  --central E         with --honest: the smallest block that gives this central epsilon\n"
    "  --central-epsilon C  the mechanism and the epsilon of a report with the least error that\n"
    "                      keep this central promise; needs the next two. --epsilon is then the\n"
    "                      most that a report may cost, and may be left out\n"
    "  --delta D           of the promise, 1e-15 to 1e-3\n"
    "  --reports N         honest reports of the smallest block\n"
    "  --recipe-out FILE   write the answer's recipe, with a fresh random seed\n"
    "  --id ID             id of that recipe, default planned\n"
    "  --expires DATE      its last day, YYYY-MM-DD; default: in 180 days\n"
    "  -o, --output FILE   default: standard output\n"
    "\n";

typedef struct arguments {
    const char *devices, *size, *counts, *zipf, *low, *high, *epsilon, *budget, *period, *per_day,
        *report_bytes, *memory, *detect, *asked, *confidence, *multiple, *mechanism, *format,
        *honest, *block, *central, *central_epsilon, *delta, *reports, *active, *pages, *recipe_out,
        *id, *expires, *output;
    bool is_open, is_mean, is_all, is_surface;
    int64_t low_micro, high_micro;
    agg_plan_crowd crowd; // zeros without --honest
    size_t format_number; // position in `formats`
} arguments;

static const char *const formats[] = {"table", "csv", "json", "svg",
                                      "arrow", NULL}; // in the order of agg_trade_off_format

// The wish and what it points to.
typedef struct planning {
    const arguments *a;
    agg_plan_wish wish;
    agg_plan_counts counts;
    agg_central_promise promise; // zeros without --central-epsilon
    char law_name[64], low_text[32], high_text[32];
} planning;

static agg_err check_domain(agg_error *error, const arguments *a)
{
    bool is_list = a->size != NULL || (a->counts != NULL && !a->is_open);
    if (a->is_mean + a->is_open + is_list != 1 && !a->is_surface)
        return command_refuse(error,
                              "one of --size, --open, --counts and --mean says what values are");
    if ((a->low != NULL) != (a->high != NULL))
        return command_refuse(error, "--low and --high go together");
    if (a->is_mean && a->low == NULL) return command_refuse(error, "--mean needs --low and --high");
    if (a->low != NULL && !a->is_mean && a->size == NULL)
        return command_refuse(error, "--low and --high go with --mean, or with --size buckets");
    if (a->zipf != NULL && (a->counts != NULL || a->is_mean))
        return command_refuse(error, "--zipf is for lists and strings without --counts");
    if (a->is_mean && (a->counts != NULL || a->detect != NULL || a->asked != NULL))
        return command_refuse(error, "--counts, --detect and --asked do not go with --mean");
    return SHOAL_OK;
}

static agg_err check_arguments(agg_error *error, const arguments *a)
{
    agg_err err = check_domain(error, a);
    if (err != SHOAL_OK) return err;
    bool is_central = a->central_epsilon != NULL;
    if ((a->delta != NULL) != is_central || (a->reports != NULL) != is_central)
        return command_refuse(error, "--central-epsilon, --delta and --reports go together");
    if (is_central && (a->budget != NULL || a->is_surface))
        return command_refuse(error, "--budget and --surface do not go with --central-epsilon");
    if (!is_central && (a->epsilon != NULL) == (a->budget != NULL))
        return command_refuse(error, "--epsilon or --budget is needed, not both");
    if (a->budget != NULL && a->period == NULL)
        return command_refuse(error, "--budget needs --period: the days it is for");
    if (a->is_surface && (a->recipe_out != NULL || a->is_all || a->is_mean))
        return command_refuse(error, "--recipe-out, --all and --mean do not go with --surface");
    if (a->honest == NULL && (a->block != NULL || a->central != NULL))
        return command_refuse(error, "--block and --central need --honest");
    if (a->block != NULL && a->central != NULL)
        return command_refuse(error, "--block or --central, not both");
    if (a->pages != NULL && a->active == NULL)
        return command_refuse(error, "--pages needs --active");
    if (a->is_surface && a->active != NULL)
        return command_refuse(error, "--active does not go with --surface");
    if (a->is_surface && a->honest != NULL)
        return command_refuse(error, "--honest does not go with --surface");
    if (!a->is_surface && a->format_number != AGG_TRADE_OFF_TABLE &&
        a->format_number != AGG_TRADE_OFF_JSON)
        return command_refuse(error, "--format is table or json without --surface");
    return SHOAL_OK;
}

static agg_err read_micro(int64_t *micro, agg_error *error, const char *name, const char *text)
{
    if (agg_decimal_micro(micro, text, strlen(text))) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "--%s must be a number with at most 6 decimals", name);
}

static agg_err read_range(planning *p, agg_error *error, arguments *a)
{
    if (a->low == NULL) return SHOAL_OK;
    agg_err err = read_micro(&a->low_micro, error, "low", a->low);
    if (err == SHOAL_OK) err = read_micro(&a->high_micro, error, "high", a->high);
    if (err != SHOAL_OK) return err;
    if (a->low_micro >= a->high_micro) return command_refuse(error, "--low must be below --high");
    agg_plan_micro_text(p->low_text, a->low_micro);
    agg_plan_micro_text(p->high_text, a->high_micro);
    p->wish.low = p->low_text;
    p->wish.high = p->high_text;
    return SHOAL_OK;
}

// Reads the central promise, by which the epsilon of one report is chosen once all else is known.
static agg_err read_promise(planning *p, agg_error *error)
{
    agg_central_promise *promise = &p->promise;
    uint64_t reports = 0;
    agg_err err = cli_read_decimal(&promise->epsilon, error, "central-epsilon",
                                   p->a->central_epsilon, 0.001, 16);
    if (err == SHOAL_OK)
        err = cli_read_decimal(&promise->delta, error, "delta", p->a->delta, AGG_CROWD_DELTA_MIN,
                               AGG_CROWD_DELTA_MAX);
    if (err == SHOAL_OK)
        err = cli_read_whole(&reports, error, "reports", p->a->reports, 1,
                             (uint64_t)AGG_PLAN_REPORTS_MAX);
    promise->reports = (double)reports;
    return err;
}

// Reads the epsilon of one report, or a report's part of the budget.
static agg_err read_epsilon(planning *p, agg_error *error)
{
    const arguments *a = p->a;
    agg_plan_wish *w = &p->wish;
    int64_t micro = 0;
    if (a->central_epsilon != NULL) {
        agg_err err = read_promise(p, error);
        if (err != SHOAL_OK || a->epsilon == NULL) return err;
    }
    if (a->budget == NULL) {
        agg_err err = read_micro(&micro, error, "epsilon", a->epsilon);
        if (err != SHOAL_OK) return err;
        if (micro < SHOAL_EPS_MICRO_MIN || micro > SHOAL_EPS_MICRO_MAX)
            return command_refuse(error, "--epsilon must be from 0.01 to 16");
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
    const arguments *a = p->a;
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
        err = command_read_name(&rule, error, rules, a->multiple,
                                "--multiple is bonferroni, bh or none");
    if (err == SHOAL_OK) err = read_mechanism(w, error, a->mechanism);
    if (err == SHOAL_OK) err = read_epsilon(p, error);
    w->size = (uint32_t)size;
    w->multiple = (agg_multiple)rule;
    return err;
}

static agg_err take_counts(planning *p, agg_error *error)
{
    const arguments *a = p->a;
    const agg_plan_source source = {a->counts, a->is_open, a->low != NULL, a->low_micro,
                                    a->high_micro};
    snprintf(p->law_name, sizeof p->law_name, "counts file");
    return agg_plan_counts_take(&p->counts, &p->wish, error, &source);
}

static agg_err make_law(planning *p, agg_error *error)
{
    agg_plan_wish *w = &p->wish;
    double exponent = 1.2, listed = p->a->is_surface ? 100000 : OPEN_ASKED;
    w->law_name = p->law_name;
    if (w->is_mean) return SHOAL_OK;
    if (p->a->counts != NULL) {
        agg_err err = take_counts(p, error);
        if (err != SHOAL_OK) return err;
        listed = w->law.n_values;
    }
    if (w->size > 0) listed = w->size;
    if (w->asked <= 0) w->asked = listed;
    if (p->a->counts != NULL) return SHOAL_OK;
    agg_err err = p->a->zipf != NULL ? cli_read_decimal(&exponent, error, "zipf", p->a->zipf, 0, 10)
                                     : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    w->law = agg_value_law_zipf(exponent, w->size > 0 ? w->size : w->asked);
    snprintf(p->law_name, sizeof p->law_name, "Zipf %g", exponent);
    return SHOAL_OK;
}

static agg_err read_crowd(agg_plan_crowd *crowd, agg_error *error, const arguments *a)
{
    uint64_t block = 0;
    agg_err err = SHOAL_OK;
    if (a->honest != NULL)
        err = cli_read_decimal(&crowd->honest, error, "honest", a->honest, AGG_HONEST_MIN, 1);
    if (err == SHOAL_OK && a->central != NULL)
        err = cli_read_decimal(&crowd->central, error, "central", a->central, 0.001, 16);
    if (err == SHOAL_OK && a->block != NULL)
        err = cli_read_whole(&block, error, "block", a->block, AGG_PLAN_COHORT, AGG_PLAN_BLOCK_MAX);
    crowd->block = (uint32_t)block;
    return err;
}

// Reads the share of active windows, and chooses the pick by it.
static agg_err read_windows(agg_plan_wish *w, agg_error *error, const arguments *a)
{
    static const char *const kinds[] = {"many", "one", NULL};
    size_t kind = 0;
    if (a->active == NULL) return SHOAL_OK;
    agg_err err = cli_read_decimal(&w->active, error, "active", a->active, 0.000001, 1);
    if (err == SHOAL_OK)
        err = command_read_name(&kind, error, kinds, a->pages, "--pages is one or many");
    if (err != SHOAL_OK) return err;
    const agg_pick_wish pick = agg_plan_pick_wish(w);
    w->is_uniform = agg_pick_is_uniform(agg_pick_advise(&pick));
    w->is_visit = kind == 1;
    return SHOAL_OK;
}

static agg_err make_wish(planning *p, agg_error *error, arguments *a)
{
    agg_plan_wish *w = &p->wish;
    *w = (agg_plan_wish){.per_day = 1,
                         .days = 1,
                         .is_mean = a->is_mean,
                         .confidence = 0.95,
                         .id = a->id != NULL ? a->id : "planned"};
    agg_err err = read_range(p, error, a);
    if (err == SHOAL_OK) err = read_numbers(p, error);
    if (err == SHOAL_OK) err = make_law(p, error);
    if (err == SHOAL_OK) err = read_windows(w, error, a);
    if (err == SHOAL_OK) err = read_crowd(&a->crowd, error, a);
    if (err == SHOAL_OK && p->promise.epsilon > 0)
        err = agg_central_plan_choose(w, &p->promise, error);
    if (err == SHOAL_OK && w->devices * w->per_day * w->days > AGG_PLAN_REPORTS_MAX)
        return command_refuse(error, "more than 4,000,000,000 reports do not fit one accumulator");
    return err;
}

static agg_err write_recipe(const planning *p, agg_error *error, const agg_plan *plan)
{
    const arguments *a = p->a;
    char command[] = "plan";
    if (a->recipe_out == NULL) return SHOAL_OK;
    const char *doubt = agg_plan_recipe_doubt(plan, &p->wish);
    if (doubt != NULL) agg_log_line(command, doubt);
    if (plan->is_nothing) return SHOAL_OK;
    const agg_text *values = a->size == NULL && p->wish.size > 0 ? p->counts.counts.values : NULL;
    return agg_plan_recipe_write(error, a->recipe_out, plan, &p->wish, values, a->expires);
}

typedef struct printing {
    const planning *p;
    const agg_plan *plan;
    const agg_trade_off *surface;
} printing;

static agg_err print_plan(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const printing *r = result;
    const arguments *a = r->p->a;
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
        err = cli_result_write(error, p->a->output, print_plan, &printed, AGG_TABLE);
    free(surface);
    return err;
}

static agg_err show_plan(planning *p, agg_error *error)
{
    agg_plan *plan = agg_alloc(error, 1, sizeof *plan);
    agg_guarantee guarantee;
    const printing printed = {p, plan, NULL};
    if (plan == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_plan_run(plan, error, &p->wish);
    if (p->promise.epsilon > 0) plan->promise = &p->promise;
    if (err == SHOAL_OK && p->a->crowd.honest > 0 && !plan->is_nothing) {
        err = agg_plan_crowd_run(&guarantee, &p->wish, error, plan, &p->a->crowd);
        plan->guarantee = &guarantee;
    }
    if (err == SHOAL_OK) err = write_recipe(p, error, plan);
    if (err == SHOAL_OK)
        err = cli_result_write(error, p->a->output, print_plan, &printed, AGG_TABLE);
    free(plan);
    return err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    planning p = {.a = a};
    (void)words;
    agg_err err = command_read_name(&a->format_number, error, formats, a->format,
                                    "--format is table, json, csv, svg or arrow");
    if (err == SHOAL_OK) err = check_arguments(error, a);
    if (err == SHOAL_OK) err = make_wish(&p, error, a);
    if (err == SHOAL_OK) err = a->is_surface ? show_surface(&p, error) : show_plan(&p, error);
    agg_value_law_release(&p.wish.law);
    agg_plan_counts_release(&p.counts);
    return err;
}

static const command_option options[] = {REQUIRED_OPTION("devices", devices),
                                         OPTION("size", size),
                                         OPTION("open", is_open),
                                         OPTION("counts", counts),
                                         OPTION("zipf", zipf),
                                         OPTION("mean", is_mean),
                                         OPTION("low", low),
                                         OPTION("high", high),
                                         OPTION("epsilon", epsilon),
                                         OPTION("budget", budget),
                                         OPTION("period", period),
                                         OPTION("per-day", per_day),
                                         OPTION("report-bytes", report_bytes),
                                         OPTION("memory", memory),
                                         OPTION("detect", detect),
                                         OPTION("asked", asked),
                                         OPTION("confidence", confidence),
                                         OPTION("multiple", multiple),
                                         OPTION("mechanism", mechanism),
                                         OPTION("all", is_all),
                                         OPTION("surface", is_surface),
                                         OPTION("format", format),
                                         OPTION("honest", honest),
                                         OPTION("block", block),
                                         OPTION("central", central),
                                         OPTION("central-epsilon", central_epsilon),
                                         OPTION("delta", delta),
                                         OPTION("reports", reports),
                                         OPTION("active", active),
                                         OPTION("pages", pages),
                                         OPTION("recipe-out", recipe_out),
                                         OPTION("id", id),
                                         OPTION("expires", expires),
                                         OUTPUT_OPTION(output),
                                         LAST_OPTION};

static const cli_command *const modes[] = {&plan_track, &plan_discover, &plan_distribution, NULL};

const cli_command cmd_plan = {
    .name = "plan",
    .summary = "which mechanism, and what it will see",
    .help = help_text,
    .more_help = agg_plan_modes_help,
    .example = "  shoal plan --devices 1000000 --open --epsilon 4 --recipe-out planned.json\n",
    .options = options,
    .arguments_size = sizeof(arguments),
    .run = run,
    .actions = modes};
