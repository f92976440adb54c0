// SPDX-License-Identifier: Apache-2.0
// shoal account: what the crowd adds. Central epsilon of local reports that are summed, and its
// inverses.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "central_figure.h"
#include "commands.h"
#include "composition.h"
#include "guarantee.h"
#include "log.h"
#include "options.h"
#include "result_options.h"
#include "round_text.h"
#include "schedule.h"

#define SCHEDULE_BYTES_MAX 65536

static const char help_text[] =
    "Usage: shoal account --local-epsilon E --reports N --delta D [OPTION]...\n"
    "       shoal account --local-epsilon E --delta D --central-epsilon C --find reports\n"
    "       shoal account --reports N --delta D --central-epsilon C --find local-epsilon\n"
    "       shoal account --schedule FILE --delta D [OPTION]...\n"
    "       shoal account --figure 1 [--delta D] [--format table|json|csv|svg]\n\n"
    "Prints the central epsilon of N reports that are shuffled or summed, by every bound that says "
    "anything.\n"
    "All figures are of the replacement model and are upper bounds.\n\n"
    "  --local-epsilon E    of one report, 0.01 to 16\n"
    "  --reports N          2 to 1000000000000\n"
    "  --delta D            1e-15 to 1e-3; for all queries together\n"
    "  --model MODEL        what E is stated in: replacement (default) or deletion (twice E in "
    "replacement)\n"
    "  --honest SHARE       of the reports, 0.01 to 1; the others add nothing. Default 1\n"
    "  --mechanism NAME     onehot-symmetric: the Renyi route too\n"
    "  --contributions B    reports of one person among N (of each query), protected together. "
    "Default 1\n"
    "  --per-day R          with --period DAYS: the same, R a day\n"
    "  --period DAYS\n"
    "  --queries K          K such queries to the same people: composition\n"
    "  --schedule FILE      queries of several kinds: lines of local epsilon, reports and, if not "
    "1, how many\n"
    "  --central-epsilon C  asked for, with --find\n"
    "  --find WHAT          reports: the fewest; local-epsilon: the largest\n"
    "  --figure 1           guarantee against cohort size for local epsilon 3 and 6 (delta 1e-6)\n"
    "  --format FORMAT      table (default) or json; of a figure also csv or svg\n"
    "  -o, --output FILE    default: standard output\n";

typedef struct arguments {
    const char *local_epsilon, *reports, *delta, *model, *honest, *mechanism, *contributions,
        *per_day, *period, *queries, *schedule, *central_epsilon, *find, *figure, *format, *output;
    size_t format_number; // in the order of agg_figure_format
} arguments;

// What is asked, read; then what is answered.
typedef struct account {
    arguments a;
    int is_deletion, is_one_hot;
    double local_epsilon, reports, honest, delta, contributions, central_epsilon;
    agg_crowd crowd; // replacement model, honest reports
    agg_query schedule[AGG_SCHEDULE_MAX];
    size_t n_schedule;
    agg_central item[AGG_BOUNDS], user[AGG_BOUNDS];
    double item_renyi, user_renyi, found[AGG_BOUNDS], found_renyi;
    agg_composition composition;
} account;

static agg_err usage(agg_error *error, const char *text)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", text);
}

static double replacement_of(const account *t, double epsilon)
{
    return t->is_deletion ? 2 * epsilon : epsilon;
}

// Two inputs differ in two bits: half the replacement epsilon each.
static double bit_epsilon_of(const account *t, double replacement)
{
    return t->is_one_hot ? replacement / 2 : 0;
}

static agg_err check_arguments(agg_error *error, const arguments *a)
{
    int is_inverse = a->find != NULL, many = a->queries != NULL || a->schedule != NULL;
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
    if (a->figure == NULL && a->format_number > AGG_FIGURE_JSON)
        return usage(error, "--format is table or json without --figure");
    return SHOAL_OK;
}

static agg_err check_needed(agg_error *error, const account *t)
{
    const arguments *a = &t->a;
    int finds_reports = a->find != NULL && strcmp(a->find, "reports") == 0,
        finds_epsilon = a->find != NULL && !finds_reports;
    agg_err err = cli_need(error, "delta", a->delta);
    if (err == SHOAL_OK && a->schedule == NULL && !finds_epsilon)
        err = cli_need(error, "local-epsilon", a->local_epsilon);
    if (err == SHOAL_OK && a->schedule == NULL && !finds_reports)
        err = cli_need(error, "reports", a->reports);
    if (err == SHOAL_OK && finds_reports && a->reports != NULL)
        err = usage(error, "--reports is what is to be found");
    if (err == SHOAL_OK && finds_epsilon && a->local_epsilon != NULL)
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

static agg_err read_names(account *t, agg_error *error)
{
    static const char *const models[] = {"replacement", "deletion", NULL},
                             *const mechanisms[] = {"onehot-symmetric", NULL},
                             *const finds[] = {"reports", "local-epsilon", NULL},
                             *const figures[] = {"1", NULL};
    size_t model = 0, other = 0;
    agg_err err =
        cli_read_name(&model, error, models, t->a.model, "--model is replacement or deletion");
    if (err == SHOAL_OK)
        err =
            cli_read_name(&other, error, mechanisms, t->a.mechanism,
                          "--mechanism is onehot-symmetric: the Renyi route is known for that one");
    if (err == SHOAL_OK)
        err = cli_read_name(&other, error, finds, t->a.find, "--find is reports or local-epsilon");
    if (err == SHOAL_OK) err = cli_read_name(&other, error, figures, t->a.figure, "--figure is 1");
    t->is_deletion = model == 1;
    t->is_one_hot = t->a.mechanism != NULL;
    return err;
}

static agg_err check_contributions(const account *t, agg_error *error, double n)
{
    if (t->contributions <= n) return SHOAL_OK;
    return usage(error, "one person's contributions are more than all honest reports");
}

static agg_err read_numbers(account *t, agg_error *error)
{
    const arguments *a = &t->a;
    double per_day = 1, period = 1;
    t->honest = t->contributions = 1;
    agg_err err = read_decimal(&t->local_epsilon, error, "local-epsilon", a->local_epsilon,
                               CLI_LOCAL_EPSILON_MIN, CLI_LOCAL_EPSILON_MAX);
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
    if (err != SHOAL_OK) return err;
    t->contributions *= per_day * period;
    t->crowd = (agg_crowd){replacement_of(t, t->local_epsilon),
                           agg_honest_reports(t->reports, t->honest), t->delta, t->contributions};
    return t->reports > 0 ? check_contributions(t, error, t->crowd.n) : SHOAL_OK;
}

static agg_err read_schedule(account *t, agg_error *error)
{
    agg_bytes bytes;
    double fewest = INFINITY;
    agg_err err = agg_file_read(&bytes, error, t->a.schedule, SCHEDULE_BYTES_MAX);
    if (err != SHOAL_OK) return err;
    err = cli_schedule_parse(t->schedule, &t->n_schedule, error, t->a.schedule, (char *)bytes.data,
                             bytes.len);
    free(bytes.data);
    for (agg_query *q = t->schedule; q < t->schedule + t->n_schedule; q++) {
        q->local_epsilon = replacement_of(t, q->local_epsilon);
        q->n = agg_honest_reports(q->n, t->honest);
        q->bit_epsilon = bit_epsilon_of(t, q->local_epsilon);
        fewest = fmin(fewest, q->n);
    }
    return err == SHOAL_OK ? check_contributions(t, error, fewest) : err;
}

static agg_err read_queries(account *t, agg_error *error)
{
    double count = 1;
    if (t->a.schedule != NULL) return read_schedule(t, error);
    if (t->a.queries == NULL) return SHOAL_OK;
    agg_err err = read_whole(&count, error, "queries", t->a.queries, 1, 1000000);
    double epsilon = t->crowd.local_epsilon;
    t->schedule[t->n_schedule++] =
        (agg_query){epsilon, t->crowd.n, count, bit_epsilon_of(t, epsilon)};
    return err;
}

static double better(double epsilon, double local)
{
    return epsilon < local ? epsilon : NAN;
}

static agg_err answer_one(account *t, agg_error *error)
{
    agg_crowd item = t->crowd;
    agg_err err = SHOAL_OK;
    item.contributions = 1;
    for (int b = 0; b < AGG_BOUNDS && err == SHOAL_OK; b++) {
        err = agg_crowd_epsilon(&t->item[b], error, &item, (agg_bound)b, 1);
        t->user[b] = t->item[b];
        if (err == SHOAL_OK && t->contributions > 1)
            err = agg_crowd_epsilon(&t->user[b], error, &t->crowd, (agg_bound)b, 0);
    }
    t->item_renyi = t->user_renyi = NAN;
    if (t->is_one_hot) {
        agg_renyi_curve curve;
        double bit = bit_epsilon_of(t, item.local_epsilon), local = item.local_epsilon;
        agg_renyi_orders(&curve, bit, item.n);
        agg_renyi_one_hot(&curve, bit, item.n);
        t->item_renyi = better(agg_renyi_epsilon(&curve, t->delta), local);
        t->user_renyi = better(agg_renyi_group_epsilon(&curve, t->delta, t->contributions),
                               local * t->contributions);
    }
    return err;
}

// As they are asked for: reports with those that are not honest among them, epsilon in the model of
// --model.
static double reports_asked(const account *t, double honest)
{
    return ceil(honest / t->honest * (1 - 1e-15));
}

static double epsilon_asked(const account *t, double replacement)
{
    return fmin(t->is_deletion ? replacement / 2 : replacement, CLI_LOCAL_EPSILON_MAX);
}

static void find_by_renyi(account *t, int is_reports)
{
    const agg_renyi_question question = {t->central_epsilon, t->delta, t->contributions};
    double most = replacement_of(t, CLI_LOCAL_EPSILON_MAX);
    if (!t->is_one_hot)
        t->found_renyi = NAN;
    else if (is_reports)
        t->found_renyi = reports_asked(
            t, agg_renyi_find_reports(&question, bit_epsilon_of(t, t->crowd.local_epsilon)));
    else
        t->found_renyi =
            epsilon_asked(t, 2 * agg_renyi_find_bit_epsilon(&question, t->crowd.n, most / 2));
}

static agg_err answer_inverse(account *t, agg_error *error)
{
    int is_reports = strcmp(t->a.find, "reports") == 0;
    agg_err err = SHOAL_OK;
    for (int b = 0; b < AGG_BOUNDS && err == SHOAL_OK; b++) {
        if (is_reports) {
            err = agg_crowd_find_reports(&t->found[b], error, &t->crowd, (agg_bound)b,
                                         t->central_epsilon);
            t->found[b] = reports_asked(t, t->found[b]);
        } else {
            err = agg_crowd_find_local_epsilon(&t->found[b], error, &t->crowd, (agg_bound)b,
                                               t->central_epsilon);
            t->found[b] = epsilon_asked(t, t->found[b]);
        }
    }
    find_by_renyi(t, is_reports);
    return err;
}

static void json_bounds(FILE *stream, const agg_central *bounds, double renyi)
{
    char text[AGG_ROUND_TEXT_MAX];
    for (int b = 0; b < AGG_BOUNDS; b++)
        fprintf(stream, "\"%s\": %s, ", agg_bound_names[b],
                agg_upper_text(text, bounds[b].upper, AGG_DIGITS_JSON, "null"));
    fprintf(stream, "\"renyi\": %s", agg_upper_text(text, renyi, AGG_DIGITS_JSON, "null"));
}

// The least of the bounds, or -1: AGG_BOUNDS stands for Renyi.
static int best_of(double *epsilon, const agg_central *bounds, double renyi)
{
    int best = -1;
    *epsilon = INFINITY;
    for (int b = 0; b <= AGG_BOUNDS; b++) {
        double x = b < AGG_BOUNDS ? bounds[b].upper : renyi;
        if (x < *epsilon) {
            *epsilon = x;
            best = b;
        }
    }
    return best;
}

static const char *bound_name(int bound)
{
    return bound < AGG_BOUNDS ? agg_bound_names[bound] : "renyi";
}

static void json_asked(FILE *stream, const account *t)
{
    fprintf(stream, "{\n  \"model\": \"%s\",\n", t->is_deletion ? "deletion" : "replacement");
    if (t->local_epsilon > 0)
        fprintf(stream, "  \"local_epsilon\": %.12g,\n  \"local_epsilon_replacement\": %.12g,\n",
                t->local_epsilon, t->crowd.local_epsilon);
    if (t->reports > 0)
        fprintf(stream, "  \"reports\": %.0f,\n  \"honest_reports\": %.0f,\n", t->reports,
                t->crowd.n);
    fprintf(stream, "  \"honest\": %.12g,\n  \"delta\": %g,\n", t->honest, t->delta);
}

static void json_one(FILE *stream, const account *t)
{
    char low[AGG_ROUND_TEXT_MAX], high[AGG_ROUND_TEXT_MAX];
    double epsilon = 0;
    int best = best_of(&epsilon, t->item, t->item_renyi);
    fputs("  ", stream);
    json_bounds(stream, t->item, t->item_renyi);
    fputs(",\n  \"brackets\": {", stream);
    for (int b = AGG_BOUND_CLONES; b < AGG_BOUNDS; b++)
        fprintf(stream, "%s\"%s\": [%s, %s]", b > AGG_BOUND_CLONES ? ", " : "", agg_bound_names[b],
                agg_lower_text(low, t->item[b].lower, AGG_DIGITS_JSON, "null"),
                agg_upper_text(high, t->item[b].upper, AGG_DIGITS_JSON, "null"));
    fprintf(stream, "},\n  \"best\": ");
    if (best >= 0)
        fprintf(stream, "{\"bound\": \"%s\", \"epsilon\": %s}", bound_name(best),
                agg_upper_text(high, epsilon, AGG_DIGITS_JSON, "null"));
    else
        fputs("null", stream);
    fprintf(stream,
            ",\n  \"user\": {\"contributions\": %.0f, \"local_epsilon_replacement\": %.12g, ",
            t->contributions, t->contributions * t->crowd.local_epsilon);
    json_bounds(stream, t->user, t->user_renyi);
    fputs("},\n", stream);
}

static void json_totals(FILE *stream, const agg_totals *c)
{
    char basic[AGG_ROUND_TEXT_MAX], advanced[AGG_ROUND_TEXT_MAX], renyi[AGG_ROUND_TEXT_MAX];
    fprintf(stream,
            "\"local_epsilon_replacement\": %.12g, \"basic\": %s, \"advanced\": %s, \"renyi\": %s",
            c->local, agg_upper_text(basic, c->basic, AGG_DIGITS_JSON, "null"),
            agg_upper_text(advanced, c->advanced, AGG_DIGITS_JSON, "null"),
            agg_upper_text(renyi, c->renyi, AGG_DIGITS_JSON, "null"));
}

static void json_composition(FILE *stream, const account *t)
{
    const agg_composition *c = &t->composition;
    if (t->n_schedule == 0) {
        fputs("  \"composition\": null\n}\n", stream);
        return;
    }
    fprintf(stream, "  \"composition\": {\"queries\": %.0f, ", c->queries);
    json_totals(stream, &c->item);
    fprintf(stream, ", \"user\": {\"contributions\": %.0f, ", c->contributions);
    json_totals(stream, &c->user);
    fputs("}}\n}\n", stream);
}

static void json_inverse(FILE *stream, const account *t)
{
    char text[AGG_ROUND_TEXT_MAX];
    int is_reports = strcmp(t->a.find, "reports") == 0;
    fprintf(stream, "  \"contributions\": %.0f,\n  \"central_epsilon\": %.12g,\n  \"find\": \"%s\"",
            t->contributions, t->central_epsilon, t->a.find);
    for (int b = 0; b < AGG_BOUNDS; b++)
        fprintf(stream, ",\n  \"%s\": %s", agg_bound_names[b],
                agg_lower_text(text, t->found[b], is_reports ? 17 : AGG_DIGITS_JSON, "null"));
    fprintf(stream, ",\n  \"renyi\": %s\n}\n",
            agg_lower_text(text, t->found_renyi, is_reports ? 17 : AGG_DIGITS_JSON, "null"));
}

static void table_asked(FILE *stream, const account *t)
{
    if (t->local_epsilon > 0) {
        fprintf(stream, "local epsilon   %g of one report, %s model", t->local_epsilon,
                t->is_deletion ? "deletion" : "replacement");
        if (t->is_deletion)
            fprintf(stream, ": %g in the replacement model", t->crowd.local_epsilon);
        fputc('\n', stream);
    }
    if (t->reports > 0)
        fprintf(stream, "reports         %.0f, %.0f of them honest\n", t->reports, t->crowd.n);
    fprintf(stream, "delta           %g\n", t->delta);
}

static void table_bound(FILE *stream, const char *name, double item, double user)
{
    char one[AGG_ROUND_TEXT_MAX], all[AGG_ROUND_TEXT_MAX];
    fprintf(stream, "%-15s %-12s %s\n", name, agg_upper_text(one, item, AGG_DIGITS_TABLE, "-"),
            agg_upper_text(all, user, AGG_DIGITS_TABLE, "-"));
}

static void table_one(FILE *stream, const account *t)
{
    fprintf(stream, "\ncentral epsilon per report   per person (%.0f)\n", t->contributions);
    for (int b = 0; b < AGG_BOUNDS; b++)
        table_bound(stream, b == AGG_BOUND_CLOSED_FORM ? "closed form" : agg_bound_names[b],
                    t->item[b].upper, t->user[b].upper);
    if (t->is_one_hot) table_bound(stream, "renyi", t->item_renyi, t->user_renyi);
    table_bound(stream, "no crowd", t->crowd.local_epsilon,
                t->crowd.local_epsilon * t->contributions);
}

static void table_composition(FILE *stream, const account *t)
{
    const agg_composition *c = &t->composition;
    fprintf(stream, "\n%.0f queries\ncomposition     per report   per person (%.0f in each)\n",
            c->queries, c->contributions);
    table_bound(stream, "basic", c->item.basic, c->user.basic);
    table_bound(stream, "advanced", c->item.advanced, c->user.advanced);
    if (t->is_one_hot) table_bound(stream, "renyi", c->item.renyi, c->user.renyi);
    table_bound(stream, "no crowd", c->item.local, c->user.local);
}

static void table_inverse(FILE *stream, const account *t)
{
    char text[AGG_ROUND_TEXT_MAX];
    int is_reports = strcmp(t->a.find, "reports") == 0;
    fprintf(stream,
            "asked           central epsilon %g for %.0f contribution%s of a person\n\n%s\n",
            t->central_epsilon, t->contributions, t->contributions > 1 ? "s" : "",
            is_reports ? "fewest reports" : "largest local epsilon, in the model above");
    for (int b = 0; b < AGG_BOUNDS; b++)
        fprintf(stream, "%-15s %s\n",
                b == AGG_BOUND_CLOSED_FORM ? "closed form" : agg_bound_names[b],
                agg_lower_text(text, t->found[b], is_reports ? 17 : AGG_DIGITS_TABLE, "-"));
    if (t->is_one_hot)
        fprintf(stream, "%-15s %s\n", "renyi",
                agg_lower_text(text, t->found_renyi, is_reports ? 17 : AGG_DIGITS_TABLE, "-"));
}

static agg_err print_account(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const account *t = result;
    int is_json = t->a.format_number == AGG_FIGURE_JSON;
    (void)format;
    (is_json ? json_asked : table_asked)(stream, t);
    if (t->a.find != NULL)
        (is_json ? json_inverse : table_inverse)(stream, t);
    else {
        if (t->a.schedule == NULL) (is_json ? json_one : table_one)(stream, t);
        if (is_json)
            json_composition(stream, t);
        else if (t->n_schedule > 0)
            table_composition(stream, t);
    }
    if (!is_json)
        fputs("\nUpper bounds, replacement model, if the sum alone is seen and the honest reports "
              "are as many.\n"
              "-: the bound says nothing better than no crowd.\n",
              stream);
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result: %s", strerror(errno));
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

static agg_err show_figure(account *t, agg_error *error)
{
    agg_central_figure figure;
    const figure_printing printed = {&figure, (agg_figure_format)t->a.format_number};
    double delta = 1e-6;
    if (t->a.local_epsilon != NULL || t->a.reports != NULL || t->a.find != NULL ||
        t->a.queries != NULL || t->a.schedule != NULL || t->a.model != NULL ||
        t->a.honest != NULL || t->a.mechanism != NULL)
        return usage(error, "--figure takes --delta, --format and --output only");
    agg_err err =
        read_decimal(&delta, error, "delta", t->a.delta, AGG_CROWD_DELTA_MIN, AGG_CROWD_DELTA_MAX);
    if (err == SHOAL_OK) err = agg_central_figure_run(&figure, error, delta);
    return err == SHOAL_OK ? cli_result_write(error, t->a.output, print_figure, &printed, AGG_TABLE)
                           : err;
}

static agg_err show_account(account *t, agg_error *error)
{
    char command[] = "account",
         loose[] = "delta is above 1 / reports: so large a delta lets one report out in the clear";
    agg_err err = SHOAL_OK;
    if (t->a.find != NULL)
        err = answer_inverse(t, error);
    else if (t->a.schedule == NULL)
        err = answer_one(t, error);
    if (err == SHOAL_OK && t->n_schedule > 0)
        err = agg_compose(&t->composition, error, t->schedule, t->n_schedule, t->delta,
                          t->contributions);
    if (err == SHOAL_OK) err = cli_result_write(error, t->a.output, print_account, t, AGG_TABLE);
    if (err == SHOAL_OK && t->reports > 0 && t->delta * t->reports > 1)
        agg_log_line(command, loose);
    return err;
}

static agg_err read_arguments(arguments *a, agg_error *error, int argc, char **argv, int *help)
{
    static const char *const formats[] = {"table", "json", "csv", "svg", NULL};
    const cli_option options[] = {{"local-epsilon", 0, &a->local_epsilon, NULL},
                                  {"reports", 0, &a->reports, NULL},
                                  {"delta", 0, &a->delta, NULL},
                                  {"model", 0, &a->model, NULL},
                                  {"honest", 0, &a->honest, NULL},
                                  {"mechanism", 0, &a->mechanism, NULL},
                                  {"contributions", 0, &a->contributions, NULL},
                                  {"per-day", 0, &a->per_day, NULL},
                                  {"period", 0, &a->period, NULL},
                                  {"queries", 0, &a->queries, NULL},
                                  {"schedule", 0, &a->schedule, NULL},
                                  {"central-epsilon", 0, &a->central_epsilon, NULL},
                                  {"find", 0, &a->find, NULL},
                                  {"figure", 0, &a->figure, NULL},
                                  {"format", 0, &a->format, NULL},
                                  {"output", 'o', &a->output, NULL},
                                  {NULL, 0, NULL, NULL}};
    agg_err err = cli_options_read_only(options, error, argc, argv, help);
    if (err != SHOAL_OK || *help) return err;
    err = cli_read_name(&a->format_number, error, formats, a->format,
                        "--format is table, json, csv or svg");
    return err == SHOAL_OK ? check_arguments(error, a) : err;
}

static agg_err run(account *t, agg_error *error)
{
    agg_err err = read_names(t, error);
    if (err == SHOAL_OK && t->a.figure != NULL) return show_figure(t, error);
    if (err == SHOAL_OK) err = check_needed(error, t);
    if (err == SHOAL_OK) err = read_numbers(t, error);
    if (err == SHOAL_OK) err = read_queries(t, error);
    return err == SHOAL_OK ? show_account(t, error) : err;
}

int cmd_account(int argc, char **argv)
{
    account t = {0};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    int help = 0;
    agg_err err = read_arguments(&t.a, &error, argc, argv, &help);
    if (err == SHOAL_OK && help)
        fputs(help_text, stdout);
    else if (err == SHOAL_OK)
        err = run(&t, &error);
    return err == SHOAL_OK ? AGG_EXIT_OK : agg_log_error("account", &error);
}
