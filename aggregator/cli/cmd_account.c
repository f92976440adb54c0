// SPDX-License-Identifier: Apache-2.0
// shoal account: the central epsilon of local reports that are shuffled or summed, and its
// inverses.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "account_print.h"
#include "agg_file.h"
#include "central_figure.h"
#include "commands.h"
#include "crowd_account.h"
#include "guarantee.h"
#include "log.h"
#include "options.h"
#include "recipe.h"
#include "recipe_json.h"
#include "result_options.h"
#include "schedule.h"

#define SCHEDULE_BYTES_MAX 65536

static const char help_text[] =
    "Usage: shoal account --recipe R --reports N --delta D [OPTION]...\n"
    "       shoal account --local-epsilon E --reports N --delta D [OPTION]...\n"
    "       shoal account --local-epsilon E --delta D --central-epsilon C --find reports\n"
    "       shoal account --reports N --delta D --central-epsilon C --find local-epsilon\n"
    "       shoal account --schedule FILE --delta D [OPTION]...\n"
    "       shoal account --figure 1 [--delta D] [--format table|json|csv|svg|arrow]\n"
    "\n"
    "Prints the central epsilon of N reports that are shuffled or summed, by every bound that is\n"
    "better than the local epsilon. All figures are upper bounds in the replacement model.\n"
    "\n"
    "  --recipe FILE        the recipe (JSON): its epsilon, and the bounds of its mechanism\n"
    "  --local-epsilon E    epsilon of one report, 0.01 to 16\n"
    "  --reports N          2 to 1000000000000\n"
    "  --delta D            1e-15 to 1e-3; for all queries together\n"
    "  --model MODEL        the model of E: replacement (default) or deletion (counts twice)\n"
    "  --honest SHARE       share of the reports that are honest, 0.01 to 1; the others add\n"
    "                       nothing. Default 1\n"
    "  --mechanism NAME     onehot-symmetric: use the Renyi bound too\n"
    "  --contributions B    reports of one person among N (in each query), protected together;\n"
    "                       default 1\n"
    "  --per-day R          with --period DAYS: the same, as R reports a day\n"
    "  --period DAYS\n"
    "  --queries K          compose K such queries to the same people\n"
    "  --schedule FILE      compose queries of several kinds: lines of local epsilon, reports "
    "and,\n"
    "                       if not 1, how many\n"
    "  --central-epsilon C  the central epsilon that --find asks for\n"
    "  --find WHAT          reports: the fewest; local-epsilon: the largest\n"
    "  --figure 1           guarantee against cohort size for local epsilon 3 and 6 (delta 1e-6)\n"
    "  --format FORMAT      table (default) or json; for a figure also csv, svg or arrow\n"
    "  -o, --output FILE    default: standard output\n";

typedef struct arguments {
    const char *recipe, *local_epsilon, *reports, *delta, *model, *honest, *mechanism,
        *contributions, *per_day, *period, *queries, *schedule, *central_epsilon, *find, *figure,
        *format, *output;
    size_t format_number; // in the order of agg_figure_format
} arguments;

static agg_err usage(agg_error *error, const char *text)
{
    return command_refuse(error, text);
}

static agg_err check_arguments(agg_error *error, const arguments *a)
{
    bool is_inverse = a->find != NULL, many = a->queries != NULL || a->schedule != NULL;
    if ((a->find != NULL) != (a->central_epsilon != NULL))
        return usage(error, "--find and --central-epsilon go together");
    if (is_inverse && many) return usage(error, "--find is for one query");
    if (a->queries != NULL && a->schedule != NULL)
        return usage(error, "--queries or --schedule, not both");
    if (a->contributions != NULL && a->per_day != NULL)
        return usage(error, "--contributions or --per-day, not both");
    if ((a->per_day != NULL) != (a->period != NULL))
        return usage(error, "--per-day and --period go together");
    if (a->schedule != NULL && (a->local_epsilon != NULL || a->reports != NULL))
        return usage(error, "a schedule says its own local epsilon and reports");
    if (a->recipe != NULL && (a->local_epsilon != NULL || a->model != NULL ||
                              a->mechanism != NULL || a->schedule != NULL || a->figure != NULL))
        return usage(error, "a recipe says its own epsilon, model and mechanism");
    if (a->figure == NULL && a->format_number > AGG_FIGURE_JSON)
        return usage(error, "--format is table or json without --figure");
    return SHOAL_OK;
}

static agg_err check_needed(agg_error *error, const arguments *a)
{
    bool finds_reports = a->find != NULL && strcmp(a->find, "reports") == 0,
         finds_epsilon = a->find != NULL && !finds_reports;
    agg_err err = cli_need(error, "delta", a->delta);
    if (err == SHOAL_OK && a->schedule == NULL && a->recipe == NULL && !finds_epsilon)
        err = cli_need(error, "local-epsilon", a->local_epsilon);
    if (err == SHOAL_OK && a->schedule == NULL && !finds_reports)
        err = cli_need(error, "reports", a->reports);
    if (err == SHOAL_OK && finds_reports && a->reports != NULL)
        err = usage(error, "--reports is what is to be found");
    if (err == SHOAL_OK && finds_epsilon && (a->local_epsilon != NULL || a->recipe != NULL))
        err = usage(error, "--local-epsilon is what is to be found");
    return err;
}

static agg_err read_whole(double *number, agg_error *error, const char *name, const char *text,
                          uint64_t low, uint64_t high)
{
    uint64_t whole = 0;
    agg_err err = text != NULL ? cli_read_whole(&whole, error, name, text, low, high) : SHOAL_OK;
    if (err == SHOAL_OK && text != NULL) *number = (double)whole;
    return err;
}

static agg_err read_decimal(double *number, agg_error *error, const char *name, const char *text,
                            double low, double high)
{
    return text != NULL ? cli_read_decimal(number, error, name, text, low, high) : SHOAL_OK;
}

// Has the mechanism a bound on central epsilon of its own?
static bool has_renyi_route(const char *name)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_name(name, strlen(name));
    return mechanism != NULL && agg_account_of(mechanism->id)->central != NULL;
}

static agg_err read_names(agg_crowd_account *t, agg_error *error, const arguments *a)
{
    static const char *const models[] = {"replacement", "deletion", NULL},
                             *const finds[] = {"reports", "local-epsilon", NULL},
                             *const figures[] = {"1", NULL};
    size_t model = 0, find = 0, other = 0;
    agg_err err =
        command_read_name(&model, error, models, a->model, "--model is replacement or deletion");
    if (err == SHOAL_OK && a->mechanism != NULL && !has_renyi_route(a->mechanism))
        err =
            usage(error, "--mechanism is onehot-symmetric: the Renyi route is known for that one");
    if (err == SHOAL_OK)
        err = command_read_name(&find, error, finds, a->find, "--find is reports or local-epsilon");
    if (err == SHOAL_OK)
        err = command_read_name(&other, error, figures, a->figure, "--figure is 1");
    t->is_deletion = model == 1;
    t->is_one_hot = a->mechanism != NULL;
    if (a->find != NULL) t->find = find == 0 ? AGG_FIND_REPORTS : AGG_FIND_LOCAL_EPSILON;
    return err;
}

// Takes epsilon and the law of the mechanism from the recipe, which may be NULL.
static agg_err read_recipe(agg_crowd_account *t, agg_pair_law *law, agg_error *error,
                           const char *path)
{
    agg_recipe recipe;
    if (path == NULL) return SHOAL_OK;
    agg_err err = agg_recipe_from_file(&recipe, error, path);
    if (err != SHOAL_OK) return err;
    if (shoal_recipe_is_permanent(recipe.recipe) || recipe.recipe->epochs > 0)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "%s: no crowd bounds this recipe, whose reports of a device belong together",
                       path);
    t->local_epsilon = recipe.recipe->cost_micro / 1e6;
    t->is_one_hot = recipe.recipe->n_parts == 1 &&
                    agg_account_of(recipe.recipe->parts[0].mechanism)->central != NULL;
    agg_pair_law_of(law, recipe.recipe);
    t->pair = law;
    agg_recipe_release(&recipe);
    return err;
}

static agg_err read_numbers(agg_crowd_account *t, agg_error *error, const arguments *a)
{
    double per_day = 1, period = 1;
    t->honest = t->contributions = 1;
    agg_err err = read_decimal(&t->local_epsilon, error, "local-epsilon", a->local_epsilon,
                               AGG_LOCAL_EPSILON_MIN, AGG_LOCAL_EPSILON_MAX);
    if (err == SHOAL_OK)
        err = read_whole(&t->reports, error, "reports", a->reports, 2,
                         (uint64_t)AGG_CROWD_REPORTS_MAX);
    if (err == SHOAL_OK)
        err = read_decimal(&t->delta, error, "delta", a->delta, AGG_CROWD_DELTA_MIN,
                           AGG_CROWD_DELTA_MAX);
    if (err == SHOAL_OK)
        err = read_decimal(&t->honest, error, "honest", a->honest, AGG_HONEST_MIN, 1);
    if (err == SHOAL_OK)
        err = read_whole(&t->contributions, error, "contributions", a->contributions, 1, 1000000);
    if (err == SHOAL_OK) err = read_whole(&per_day, error, "per-day", a->per_day, 1, 1000);
    if (err == SHOAL_OK) err = read_whole(&period, error, "period", a->period, 1, 1000);
    if (err == SHOAL_OK)
        err = read_decimal(&t->central_epsilon, error, "central-epsilon", a->central_epsilon, 1e-6,
                           16);
    t->contributions *= per_day * period;
    return err;
}

static agg_err read_schedule(agg_crowd_account *t, agg_error *error, const arguments *a)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, a->schedule, SCHEDULE_BYTES_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_schedule_parse(t->schedule, &t->n_schedule, error, a->schedule, (char *)bytes.data,
                             bytes.len);
    free(bytes.data);
    return err;
}

static agg_err read_queries(agg_crowd_account *t, agg_error *error, const arguments *a)
{
    double count = 1;
    t->has_schedule_only = a->schedule != NULL;
    if (a->schedule != NULL) return read_schedule(t, error, a);
    if (a->queries == NULL) return SHOAL_OK;
    agg_err err = read_whole(&count, error, "queries", a->queries, 1, 1000000);
    t->schedule[t->n_schedule++] = (agg_query){t->local_epsilon, t->reports, count, 0, NULL};
    return err;
}

typedef struct figure_printing {
    const agg_central_figure *figure;
    agg_figure_format format;
} figure_printing;

static agg_err print_figure(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const figure_printing *p = result;
    (void)format;
    return agg_central_figure_print(stream, error, p->figure, p->format);
}

static agg_err show_figure(const arguments *a, agg_error *error)
{
    agg_central_figure figure;
    const figure_printing printed = {&figure, (agg_figure_format)a->format_number};
    double delta = 1e-6;
    if (a->local_epsilon != NULL || a->reports != NULL || a->find != NULL || a->queries != NULL ||
        a->schedule != NULL || a->model != NULL || a->honest != NULL || a->mechanism != NULL)
        return usage(error, "--figure takes --delta, --format and --output only");
    agg_err err =
        read_decimal(&delta, error, "delta", a->delta, AGG_CROWD_DELTA_MIN, AGG_CROWD_DELTA_MAX);
    if (err == SHOAL_OK) err = agg_central_figure_run(&figure, error, delta);
    return err == SHOAL_OK ? cli_result_write(error, a->output, print_figure, &printed, AGG_TABLE)
                           : err;
}

typedef struct account_printing {
    const agg_crowd_account *account;
    bool is_json;
} account_printing;

static agg_err print_account(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const account_printing *p = result;
    (void)format;
    return agg_account_print(stream, error, p->account, p->is_json);
}

static agg_err show_account(agg_crowd_account *t, agg_error *error, const arguments *a)
{
    const account_printing printed = {t, a->format_number == AGG_FIGURE_JSON};
    char command[] = "account";
    agg_err err = agg_account_run(t, error);
    if (err == SHOAL_OK)
        err = cli_result_write(error, a->output, print_account, &printed, AGG_TABLE);
    if (err == SHOAL_OK && t->reports > 0 && t->delta * t->reports > 1)
        agg_log_line(
            command,
            "delta is above 1 / reports: so large a delta lets one report out in the clear");
    return err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    static const char *const formats[] = {"table", "json", "csv", "svg", "arrow", NULL};
    arguments *a = context;
    agg_crowd_account t = {.find = AGG_FIND_CENTRAL_EPSILON};
    agg_pair_law law;
    (void)words;
    agg_err err = command_read_name(&a->format_number, error, formats, a->format,
                                    "--format is table, json, csv, svg or arrow");
    if (err == SHOAL_OK) err = check_arguments(error, a);
    if (err == SHOAL_OK) err = read_names(&t, error, a);
    if (err == SHOAL_OK && a->figure != NULL) return show_figure(a, error);
    if (err == SHOAL_OK) err = check_needed(error, a);
    if (err == SHOAL_OK) err = read_numbers(&t, error, a);
    if (err == SHOAL_OK) err = read_recipe(&t, &law, error, a->recipe);
    if (err == SHOAL_OK) err = read_queries(&t, error, a);
    return err == SHOAL_OK ? show_account(&t, error, a) : err;
}

static const command_option options[] = {OPTION("recipe", recipe),
                                         OPTION("local-epsilon", local_epsilon),
                                         OPTION("reports", reports),
                                         OPTION("delta", delta),
                                         OPTION("model", model),
                                         OPTION("honest", honest),
                                         OPTION("mechanism", mechanism),
                                         OPTION("contributions", contributions),
                                         OPTION("per-day", per_day),
                                         OPTION("period", period),
                                         OPTION("queries", queries),
                                         OPTION("schedule", schedule),
                                         OPTION("central-epsilon", central_epsilon),
                                         OPTION("find", find),
                                         OPTION("figure", figure),
                                         OPTION("format", format),
                                         OUTPUT_OPTION(output),
                                         LAST_OPTION};

const cli_command cmd_account = {
    .name = "account",
    .summary = "the central epsilon that a crowd adds",
    .help = help_text,
    .example = "  shoal account --local-epsilon 4 --reports 100000 --delta 1e-8\n",
    .options = options,
    .arguments_size = sizeof(arguments),
    .run = run};
