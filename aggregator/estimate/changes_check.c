// SPDX-License-Identifier: Apache-2.0
// Checks of periods; see changes_check.h.
#include "changes_check.h"

#include <string.h>

#include "apart.h"
#include "estimator.h"
#include "period.h"
#include "print_text.h"
#include "recipe.h"

#define LABEL_SHOWN 64u // bytes of a label in an error, with a NUL

typedef enum label_kind { NO_DATE = 0, DAY, WEEK, MONTH } label_kind;

typedef struct dated {
    label_kind kind;
    int32_t number; // rises by 1 from a day, a week or a month to the next
} dated;

static dated read_label(agg_text label)
{
    char text[12] = "";
    int32_t day = 0;
    agg_span span;
    if (label.len == 0 || label.len > 10) return (dated){NO_DATE, 0};
    memcpy(text, label.bytes, label.len);
    text[label.len] = '\0';
    if (agg_day_parse(&day, text)) return (dated){DAY, day};
    if (strcmp(text, "all") != 0 && agg_span_parse(&span, text))
        return (dated){WEEK, (span.first + 3) / 7}; // 1970-01-01 was a Thursday
    if (label.len != 7) return (dated){NO_DATE, 0};
    memcpy(text + 7, "-01", 4);
    if (!agg_day_parse(&day, text)) return (dated){NO_DATE, 0};
    return (dated){MONTH, (int32_t)((text[0] - '0') * 1000 + (text[1] - '0') * 100 +
                                    (text[2] - '0') * 10 + (text[3] - '0')) *
                                  12 +
                              (text[5] - '0') * 10 + (text[6] - '0')};
}

// Returns: the step from a period to the next; 0 if the two labels are no dates of one kind.
static int32_t step_after(const agg_changes_period *periods, size_t t)
{
    dated a = read_label(periods[t].label), b = read_label(periods[t + 1].label);
    return a.kind != NO_DATE && a.kind == b.kind ? b.number - a.number : 0;
}

bool agg_changes_gap(size_t *before, const agg_changes_period *periods, size_t n_periods,
                     size_t index)
{
    int32_t least = INT32_MAX;
    for (size_t t = 0; t + 1 < n_periods; t++) {
        int32_t step = step_after(periods, t);
        if (step <= 0) return false;
        if (step < least) least = step;
    }
    for (size_t t = 0; t + 1 < n_periods; t++)
        if (step_after(periods, t) / 2 >= least && index-- == 0) {
            *before = t;
            return true;
        }
    return false;
}

// Writes a label without what could move a cursor.
static const char *shown(char out[LABEL_SHOWN], agg_text label)
{
    size_t n = 0;
    for (size_t i = 0; i < label.len && n + 1 < LABEL_SHOWN; i++) {
        unsigned char c = (unsigned char)label.bytes[i];
        out[n++] = c >= 0x20 && c < 0x7f ? (char)c : '?';
    }
    out[n] = '\0';
    return out;
}

// ---- one period ----

static agg_err check_recipe(agg_error *error, const agg_recipe *recipe)
{
    const shoal_part *part = shoal_recipe_value_part(recipe->recipe);
    if (recipe->recipe->epochs > 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s is one epoch of a run, and its reports are read together with "
                        "those of the epochs before it: use shoal track",
                        recipe->id);
    if (recipe->recipe->parts[0].domain == SHOAL_DOMAIN_NUMBER)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s collects numbers, and changes are looked for in counts of "
                        "values: use shoal compare",
                        recipe->id);
    if (!shoal_mechanism_by_id(part->mechanism)->is_permanent) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "the devices of recipe %s repeat the noise of a permanent answer in every "
                    "period, so that errors of periods go together in ways that nobody can see: "
                    "compare two periods by shoal compare",
                    recipe->id);
}

static agg_err check_period(agg_error *error, const agg_changes_period *p)
{
    char label[LABEL_SHOWN];
    shown(label, p->label);
    agg_err err = check_recipe(error, p->recipe);
    if (err == SHOAL_OK) err = agg_accumulator_check_recipe(p->acc, error, p->recipe->recipe);
    if (err != SHOAL_OK) return err;
    if (p->acc->n < p->recipe->recipe->cohort_minimum)
        return agg_fail(error, AGG_ERR_COHORT, AGG_EXIT_PRIVACY,
                        "period %s: %llu reports are fewer than the minimum cohort of %u of recipe "
                        "%s; nothing is shown. Leave the period out, or merge it with a neighbour",
                        label, (unsigned long long)p->acc->n, p->recipe->recipe->cohort_minimum,
                        p->recipe->id);
    if (p->acc->n > 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "period %s has no reports; leave it out",
                    label);
}

// ---- two periods ----

// Returns: the name of what differs between two recipes, or NULL.
static const char *differs(const shoal_recipe *x, const shoal_recipe *y)
{
    const shoal_part *a = shoal_recipe_value_part(x), *b = shoal_recipe_value_part(y);
    if (a->mechanism != b->mechanism) return "mechanism";
    if (a->threshold != b->threshold || x->cost_micro != y->cost_micro) return "epsilon";
    if (a->k != b->k || a->m != b->m) return "parameters (k, m or g)";
    if (a->domain != b->domain || a->hash != b->hash || a->size != b->size) return "list of values";
    if (x->pick != y->pick || x->window != y->window) return "way to pick events (send.pick)";
    return NULL;
}

static agg_err check_pair(agg_error *error, const agg_changes_period *p,
                          const agg_changes_period *q)
{
    char of_p[LABEL_SHOWN], of_q[LABEL_SHOWN];
    const char *what = differs(p->recipe->recipe, q->recipe->recipe);
    shown(of_p, p->label);
    shown(of_q, q->label);
    if (what != NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "the recipes of periods %s and %s differ in the %s: a series needs one "
                        "question and one mechanism. Two such periods are for shoal compare",
                        of_p, of_q, what);
    if (p->label.len == q->label.len && memcmp(p->label.bytes, q->label.bytes, p->label.len) == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "two periods are named %s", of_p);
    return agg_check_apart(error, p->recipe, p->acc, q->acc);
}

agg_err agg_changes_check(agg_error *error, const agg_changes_period *periods, size_t n_periods)
{
    char of_p[LABEL_SHOWN], of_q[LABEL_SHOWN];
    if (n_periods < 2 || n_periods > AGG_CHANGES_PERIODS_MAX)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "a series has 2 to %u periods, and this one has %zu",
                        AGG_CHANGES_PERIODS_MAX, n_periods);
    for (size_t t = 0; t < n_periods; t++) {
        agg_err err = check_period(error, &periods[t]);
        if (err != SHOAL_OK) return err;
        if (periods[t].dictionary->n != periods[0].dictionary->n)
            return agg_fail_core(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_RUNTIME);
    }
    for (size_t t = 0; t < n_periods; t++)
        for (size_t u = 0; u < t; u++) {
            agg_err err = check_pair(error, &periods[u], &periods[t]);
            if (err != SHOAL_OK) return err;
        }
    for (size_t t = 0; t + 1 < n_periods; t++)
        if (step_after(periods, t) < 0)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                            "period %s comes after %s: give the periods in the order of time",
                            shown(of_p, periods[t + 1].label), shown(of_q, periods[t].label));
    return SHOAL_OK;
}
