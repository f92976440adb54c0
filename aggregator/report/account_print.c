// SPDX-License-Identifier: Apache-2.0
// Prints accounts; see account_print.h.
#include "account_print.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "print_text.h"
#include "round_text.h"

#define UNSEEN                                                                                     \
    "The reports are in one block of which the sum alone is seen; whoever sees single reports or " \
    "batches has the local epsilon."

// Returns: how many of the bounds apply: that of the blanket needs a mechanism.
static int bounds_of(const agg_crowd_account *t)
{
    return t->pair != NULL ? AGG_BOUNDS : AGG_GENERAL_BOUNDS;
}

static void json_bounds(FILE *stream, const agg_central *bounds, int n_bounds, double renyi)
{
    char text[AGG_ROUND_TEXT_MAX];
    for (int b = 0; b < n_bounds; b++)
        fprintf(stream, "\"%s\": %s, ", agg_bound_names[b],
                agg_upper_text(text, bounds[b].upper, AGG_DIGITS_JSON, "null"));
    fprintf(stream, "\"renyi\": %s", agg_upper_text(text, renyi, AGG_DIGITS_JSON, "null"));
}

// Writes the least of the bounds.
// Returns: its index; AGG_BOUNDS for the Renyi bound, or -1 if no bound applies.
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

static void json_asked(FILE *stream, const agg_crowd_account *t)
{
    fprintf(stream, "{\n  \"model\": \"%s\",\n", t->is_deletion ? "deletion" : "replacement");
    if (t->local_epsilon > 0)
        fprintf(stream, "  \"local_epsilon\": %.12g,\n  \"local_epsilon_replacement\": %.12g,\n",
                t->local_epsilon, t->crowd.local_epsilon);
    if (t->reports > 0)
        fprintf(stream, "  \"reports\": %.0f,\n  \"honest_reports\": %.0f,\n", t->reports,
                t->crowd.n);
    fprintf(stream, "  \"honest\": %.12g,\n  \"delta\": %g,\n  \"assumes\": \"" UNSEEN "\",\n",
            t->honest, t->delta);
}

static void json_one(FILE *stream, const agg_crowd_account *t)
{
    char low[AGG_ROUND_TEXT_MAX], high[AGG_ROUND_TEXT_MAX];
    double epsilon = 0;
    int best = best_of(&epsilon, t->item, t->item_renyi);
    fputs("  ", stream);
    json_bounds(stream, t->item, bounds_of(t), t->item_renyi);
    fputs(",\n  \"brackets\": {", stream);
    for (int b = AGG_BOUND_CLONES; b < bounds_of(t); b++)
        fprintf(stream, "%s\"%s\": [%s, %s]", b > AGG_BOUND_CLONES ? ", " : "", agg_bound_names[b],
                agg_lower_text(low, t->item[b].lower, AGG_DIGITS_JSON, "null"),
                agg_upper_text(high, t->item[b].upper, AGG_DIGITS_JSON, "null"));
    fprintf(stream, "},\n");
    if (t->pair != NULL)
        fprintf(stream, "  \"variation_ratio\": %s,\n  \"lower\": %s,\n",
                agg_upper_text(high, t->variation_ratio, AGG_DIGITS_JSON, "null"),
                agg_lower_text(low, t->item[AGG_BOUND_BLANKET].lower, AGG_DIGITS_JSON, "null"));
    fprintf(stream, "  \"best\": ");
    if (best >= 0)
        fprintf(stream, "{\"bound\": \"%s\", \"epsilon\": %s}", bound_name(best),
                agg_upper_text(high, epsilon, AGG_DIGITS_JSON, "null"));
    else
        fputs("null", stream);
    fprintf(stream,
            ",\n  \"user\": {\"contributions\": %.0f, \"local_epsilon_replacement\": %.12g, ",
            t->contributions, t->contributions * t->crowd.local_epsilon);
    json_bounds(stream, t->user, bounds_of(t), t->user_renyi);
    fputs("},\n", stream);
}

static void json_totals(FILE *stream, const agg_totals *c)
{
    char basic[AGG_ROUND_TEXT_MAX], advanced[AGG_ROUND_TEXT_MAX], renyi[AGG_ROUND_TEXT_MAX],
        numeric[AGG_ROUND_TEXT_MAX];
    fprintf(stream,
            "\"local_epsilon_replacement\": %.12g, \"basic\": %s, \"advanced\": %s, \"renyi\": %s, "
            "\"numeric\": %s",
            c->local, agg_upper_text(basic, c->basic, AGG_DIGITS_JSON, "null"),
            agg_upper_text(advanced, c->advanced, AGG_DIGITS_JSON, "null"),
            agg_upper_text(renyi, c->renyi, AGG_DIGITS_JSON, "null"),
            agg_upper_text(numeric, c->numeric, AGG_DIGITS_JSON, "null"));
}

static void json_composition(FILE *stream, const agg_crowd_account *t)
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

static void json_inverse(FILE *stream, const agg_crowd_account *t)
{
    char text[AGG_ROUND_TEXT_MAX];
    bool is_reports = t->find == AGG_FIND_REPORTS;
    fprintf(stream, "  \"contributions\": %.0f,\n  \"central_epsilon\": %.12g,\n  \"find\": \"%s\"",
            t->contributions, t->central_epsilon, is_reports ? "reports" : "local-epsilon");
    for (int b = 0; b < bounds_of(t); b++)
        fprintf(stream, ",\n  \"%s\": %s", agg_bound_names[b],
                agg_lower_text(text, t->found[b], is_reports ? 17 : AGG_DIGITS_JSON, "null"));
    fprintf(stream, ",\n  \"renyi\": %s\n}\n",
            agg_lower_text(text, t->found_renyi, is_reports ? 17 : AGG_DIGITS_JSON, "null"));
}

static void table_asked(FILE *stream, const agg_crowd_account *t)
{
    if (t->local_epsilon > 0) {
        fprintf(stream, "local epsilon   %g of one report, %s model", t->local_epsilon,
                t->is_deletion ? "deletion" : "replacement");
        if (t->is_deletion)
            fprintf(stream, ": %g in the replacement model", t->crowd.local_epsilon);
        fputc('\n', stream);
    }
    if (t->reports > 0)
        fprintf(stream, "reports         %s, %s of them honest\n", agg_grouped(t->reports, 0).text,
                agg_grouped(t->crowd.n, 0).text);
    fprintf(stream, "delta           %g\n", t->delta);
}

static void table_bound(FILE *stream, const char *name, double item, double user)
{
    char one[AGG_ROUND_TEXT_MAX], all[AGG_ROUND_TEXT_MAX];
    fprintf(stream, "%-15s %-12s %s\n", name, agg_upper_text(one, item, AGG_DIGITS_TABLE, "-"),
            agg_upper_text(all, user, AGG_DIGITS_TABLE, "-"));
}

static void table_one(FILE *stream, const agg_crowd_account *t)
{
    char text[AGG_ROUND_TEXT_MAX];
    fprintf(stream, "\ncentral epsilon per report   per person (%s)\n",
            agg_grouped(t->contributions, 0).text);
    for (int b = 0; b < bounds_of(t); b++)
        table_bound(stream, b == AGG_BOUND_CLOSED_FORM ? "closed form" : agg_bound_names[b],
                    t->item[b].upper, t->user[b].upper);
    if (t->is_one_hot) table_bound(stream, "renyi", t->item_renyi, t->user_renyi);
    table_bound(stream, "no crowd", t->crowd.local_epsilon,
                t->crowd.local_epsilon * t->contributions);
    if (t->pair != NULL && !isnan(t->item[AGG_BOUND_BLANKET].lower))
        fprintf(stream, "%-15s %s  no bound can be below it\n", "a test",
                agg_lower_text(text, t->item[AGG_BOUND_BLANKET].lower, AGG_DIGITS_TABLE, "-"));
}

static void table_composition(FILE *stream, const agg_crowd_account *t)
{
    const agg_composition *c = &t->composition;
    fprintf(stream, "\n%s queries\ncomposition     per report   per person (%s in each)\n",
            agg_grouped(c->queries, 0).text, agg_grouped(c->contributions, 0).text);
    table_bound(stream, "basic", c->item.basic, c->user.basic);
    table_bound(stream, "advanced", c->item.advanced, c->user.advanced);
    if (t->is_one_hot) table_bound(stream, "renyi", c->item.renyi, c->user.renyi);
    table_bound(stream, "numeric", c->item.numeric, c->user.numeric);
    table_bound(stream, "no crowd", c->item.local, c->user.local);
}

static void table_inverse(FILE *stream, const agg_crowd_account *t)
{
    char text[AGG_ROUND_TEXT_MAX];
    bool is_reports = t->find == AGG_FIND_REPORTS;
    fprintf(stream, "asked           central epsilon %g for %s contribution%s of a person\n\n%s\n",
            t->central_epsilon, agg_grouped(t->contributions, 0).text,
            t->contributions > 1 ? "s" : "",
            is_reports ? "fewest reports" : "largest local epsilon, in the model above");
    for (int b = 0; b < bounds_of(t); b++)
        fprintf(stream, "%-15s %s\n",
                b == AGG_BOUND_CLOSED_FORM ? "closed form" : agg_bound_names[b],
                agg_lower_text(text, t->found[b], is_reports ? 17 : AGG_DIGITS_TABLE, "-"));
    if (t->is_one_hot)
        fprintf(stream, "%-15s %s\n", "renyi",
                agg_lower_text(text, t->found_renyi, is_reports ? 17 : AGG_DIGITS_TABLE, "-"));
}

agg_err agg_account_print(FILE *stream, agg_error *error, const agg_crowd_account *account,
                          bool is_json)
{
    (is_json ? json_asked : table_asked)(stream, account);
    if (account->find != AGG_FIND_CENTRAL_EPSILON)
        (is_json ? json_inverse : table_inverse)(stream, account);
    else {
        if (!account->has_schedule_only) (is_json ? json_one : table_one)(stream, account);
        if (is_json)
            json_composition(stream, account);
        else if (account->n_schedule > 0)
            table_composition(stream, account);
    }
    if (!is_json)
        fputs("\nUpper bounds, replacement model, if that many reports are honest. " UNSEEN "\n"
              "-: the bound says nothing better than no crowd.\n",
              stream);
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result: %s", strerror(errno));
}
