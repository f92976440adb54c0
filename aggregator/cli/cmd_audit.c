// SPDX-License-Identifier: Apache-2.0
// shoal audit: is a recipe's epsilon what it claims to be?
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit.h"
#include "audit_events.h"
#include "commands.h"
#include "compound.h"
#include "evolving.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "print_text.h"

static const char help_text[] =
    "Usage: shoal audit --recipe R [OPTION]...\n\n"
    "Checks a recipe's claimed epsilon against its integer thresholds, against the whole output "
    "law\n"
    "where that is small enough, and against what draws of the randomizer prove. Exit 3 when the\n"
    "claim fails; standard error says which part. Recipes of several parts (sfp, rappor-ngram) are "
    "audited\n"
    "part by part, and their epsilons added up.\n\n"
    "  --recipe FILE       the recipe (JSON)\n"
    "  --trials N          draws of each item, default 1000000, fewer where records are long\n"
    "  --seed S            any text; of the draws, default 1\n"
    "  --items A,B         2 to 8 items to tell apart; an empty one is \"none\". Default: first, "
    "last\n"
    "                      and none of a list, the ends of a range, two strings\n"
    "  --draws FILE        lines of item<TAB>record that were drawn elsewhere; - is standard "
    "input\n"
    "  --confidence C      of the bound that draws prove, default 0.999\n"
    "  --format FORMAT     table (default) or json\n"
    "  --threads T         default: all cores\n";

#define TRIALS_DEFAULT 1000000u
#define TRIALS_MAX 1000000000u
#define TRIAL_CHARACTERS ((uint64_t)1 << 27) // of an item's draws, where nobody says how many

typedef struct arguments {
    const char *recipe, *trials, *seed, *items, *draws, *confidence, *format, *threads;
    uint64_t *stated;  // bytes of memory that were said
    uint64_t n_trials; // 0: default
    double level;
    unsigned n_threads;
    int is_json;
} arguments;

static agg_err read_numbers(arguments *a, agg_error *error)
{
    agg_err err = SHOAL_OK;
    a->level = 0.999;
    if (a->trials != NULL)
        err = cli_read_whole(&a->n_trials, error, "trials", a->trials, 2, TRIALS_MAX);
    if (err == SHOAL_OK && a->confidence != NULL)
        err = cli_read_decimal(&a->level, error, "confidence", a->confidence, 0.5, 0.999999999);
    return err == SHOAL_OK ? cli_read_threads(&a->n_threads, error, a->threads) : err;
}

static agg_err read_arguments(arguments *a, agg_error *error, int argc, char **argv, int *help)
{
    const cli_option options[] = {{"recipe", 0, &a->recipe, NULL},
                                  {"trials", 0, &a->trials, NULL},
                                  {"seed", 0, &a->seed, NULL},
                                  {"items", 0, &a->items, NULL},
                                  {"draws", 0, &a->draws, NULL},
                                  {"confidence", 0, &a->confidence, NULL},
                                  {"format", 0, &a->format, NULL},
                                  {"threads", 0, &a->threads, NULL},
                                  {NULL, 0, NULL, NULL}};
    agg_err err = cli_options_read_only(options, error, argc, argv, help);
    if (err != SHOAL_OK || *help) return err;
    err = cli_need(error, "recipe", a->recipe);
    if (err == SHOAL_OK && a->draws != NULL && (a->trials != NULL || a->seed != NULL))
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "--trials and --seed are of draws made here, not of --draws");
    a->is_json = a->format != NULL && strcmp(a->format, "json") == 0;
    if (err == SHOAL_OK && a->format != NULL && !a->is_json && strcmp(a->format, "table") != 0)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--format is table or json");
    return err == SHOAL_OK ? read_numbers(a, error) : err;
}

static agg_err name_items(agg_draws *draws, agg_error *error, const arguments *a,
                          const agg_recipe *recipe)
{
    agg_err err = SHOAL_OK;
    if (a->items == NULL)
        return a->draws == NULL ? agg_draws_add_usual(draws, error, recipe) : SHOAL_OK;
    for (const char *at = a->items; err == SHOAL_OK; at++) {
        size_t len = strcspn(at, ",");
        err = agg_draws_add_item(draws, error, recipe, (agg_text){at, len});
        at += len;
        if (*at == '\0') break;
    }
    if (err == SHOAL_OK && draws->n_items < 2)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "takes two items at least");
    if (err != SHOAL_OK) agg_error_prefix(error, "--items");
    return err;
}

static agg_err make_draws(agg_draws *draws, agg_error *error, const arguments *a,
                          const agg_recipe *recipe)
{
    agg_err err = name_items(draws, error, a, recipe);
    if (err != SHOAL_OK) return err;
    if (a->draws != NULL) return agg_draws_load(draws, error, recipe, a->draws);
    uint64_t fit = TRIAL_CHARACTERS / recipe->recipe.text_size,
             n = fit < TRIALS_DEFAULT ? fit : TRIALS_DEFAULT;
    agg_draws_native(draws, a->seed != NULL ? a->seed : "1", a->n_trials > 0 ? a->n_trials : n);
    return SHOAL_OK;
}

// JSON knows no infinity.
static void print_field(const char *name, double x)
{
    printf(",\"%s\":", name);
    if (isfinite(x))
        agg_print_number(stdout, x);
    else
        fputs("\"infinite\"", stdout);
}

static void print_json_text(const char *name, agg_text text)
{
    printf("%s", name);
    agg_print_json_text(stdout, text.bytes, text.len);
}

static agg_text text_of(const char *text)
{
    return (agg_text){text, strlen(text)};
}

static void print_json_event(const agg_audit *audit, const agg_draws *draws)
{
    const agg_event *event = &audit->event;
    char what[200];
    agg_event_describe(what, sizeof what, event);
    print_json_text(",\"event\":{\"what\":", text_of(what));
    print_json_text(",\"items\":[", draws->names[event->a]);
    print_json_text(",", draws->names[event->b]);
    printf("],\"hits\":[%llu,%llu],\"of\":[%llu,%llu]}", (unsigned long long)event->hits[0],
           (unsigned long long)event->hits[1], (unsigned long long)event->n[0],
           (unsigned long long)event->n[1]);
}

// How many contributions a device makes, each a report that costs the claim; 1 but of a trie.
static uint32_t contributions_of(const shoal_recipe *recipe)
{
    return recipe->contributions > 0 ? recipe->contributions : 1;
}

static void print_json(const agg_audit *audit, const agg_draws *draws)
{
    const agg_law *law = &audit->law;
    print_json_text("{\"mechanism\":",
                    text_of(shoal_recipe_mechanism_name(&audit->recipe->recipe)));
    if (contributions_of(&audit->recipe->recipe) > 1)
        printf(",\"contributions\":%u", audit->recipe->recipe.contributions);
    print_field("claimed", audit->claimed);
    print_field("exact", audit->exact);
    print_field("empirical_low", audit->empirical_low);
    printf(",\"ok\":%s", audit->n_failures == 0 ? "true" : "false");
    if (law->is_enumerated) {
        print_field("enumerated", law->epsilon);
        printf(",\"enumerated_items\":%llu,\"enumerated_records\":%llu,\"enumerated_all_items\":%s",
               (unsigned long long)law->n_items, (unsigned long long)law->n_outputs,
               law->is_whole ? "true" : "false");
        if (agg_recipe_is_closed(audit->recipe)) print_field("deletion", law->deletion);
    } else {
        fputs(",\"enumerated\":null", stdout);
    }
    if (audit->is_permanent) print_field("unlimited", audit->unlimited);
    if (audit->answer.is_enumerated) print_field("unlimited_enumerated", audit->answer.epsilon);
    print_field("confidence", audit->confidence);
    printf(",\"draws\":%llu,\"refused\":%llu,\"events\":%u", (unsigned long long)audit->n_draws,
           (unsigned long long)audit->n_refused, audit->n_events);
    fputs(",\"items\":[", stdout);
    for (uint32_t i = 0; i < draws->n_items; i++)
        print_json_text(i > 0 ? "," : "", draws->names[i]);
    fputs("]", stdout);
    if (audit->n_events > 0) print_json_event(audit, draws);
    fputs(",\"failures\":[", stdout);
    for (uint32_t i = 0; i < audit->n_failures; i++)
        print_json_text(i > 0 ? "," : "", text_of(audit->failures[i]));
    fputs("]}", stdout);
}

static void print_name(agg_text name)
{
    if (name.len == 0)
        fputs("none", stdout);
    else
        agg_print_terminal_text(stdout, name.bytes, name.len);
}

static void print_table_law(const agg_audit *audit)
{
    const agg_law *law = &audit->law;
    if (!law->is_enumerated) {
        puts("enumerated     -           too large to enumerate: see exact and empirical");
        return;
    }
    printf("enumerated     %-10.6f  %llu records, %llu items%s\n", law->epsilon,
           (unsigned long long)law->n_outputs, (unsigned long long)law->n_items,
           law->is_whole ? ": all of them" : ", a sample of them");
    if (agg_recipe_is_closed(audit->recipe))
        printf("deletion       %-10.6f  of a value against none, in the enumeration\n",
               law->deletion);
}

static void print_table_answer(const agg_audit *audit)
{
    if (!audit->is_permanent) return;
    printf("unlimited      %-10.6f  any number of reports of one value", audit->unlimited);
    if (audit->answer.is_enumerated) printf("; enumerated %.6f", audit->answer.epsilon);
    putchar('\n');
}

static void print_table(const agg_audit *audit, const agg_draws *draws)
{
    const agg_event *event = &audit->event;
    char what[200];
    uint32_t contributions = contributions_of(&audit->recipe->recipe);
    printf("mechanism      %s\n", shoal_recipe_mechanism_name(&audit->recipe->recipe));
    printf("claimed        %-10.6f  the recipe's epsilon of one report\n", audit->claimed);
    if (contributions > 1)
        printf("a person       %-10.6f  of all %u contributions, which are reports of their own\n",
               contributions * audit->claimed, contributions);
    printf("exact          %-10.6f  from the integer thresholds, rounded up\n", audit->exact);
    print_table_law(audit);
    print_table_answer(audit);
    printf("empirical      %-10.6f  at least, with confidence %.10g: %llu draws, %u events\n",
           audit->empirical_low, audit->confidence, (unsigned long long)audit->n_draws,
           audit->n_events);
    if (audit->empirical_low > 0) {
        agg_event_describe(what, sizeof what, event);
        printf("  by           %s\n  of           ", what);
        print_name(draws->names[event->a]);
        printf(" (%llu of %llu) against ", (unsigned long long)event->hits[0],
               (unsigned long long)event->n[0]);
        print_name(draws->names[event->b]);
        printf(" (%llu of %llu)\n", (unsigned long long)event->hits[1],
               (unsigned long long)event->n[1]);
    }
    printf("ok             %s\n", audit->n_failures == 0 ? "yes" : "no");
}

// Says what a part takes, where no part before it took as much.
static agg_err state_memory(agg_error *error, const arguments *a, const agg_draws *draws)
{
    char command[] = "audit";
    uint64_t file = a->draws != NULL ? cli_file_bytes(a->draws) : 0,
             bytes = agg_events_memory(draws, a->n_threads);
    for (uint32_t i = 0; i < draws->n_items; i++)
        if (draws->lines[i] != NULL) bytes += draws->count[i] * sizeof(agg_text);
    if (bytes + file <= *a->stated) return SHOAL_OK;
    *a->stated = bytes + file;
    return cli_state_memory(error, command, bytes + file, 0);
}

//   low: what draws prove, added to
static agg_err audit_one(agg_error *error, const arguments *a, const agg_recipe *recipe,
                         double *low, int *is_ok)
{
    char command[] = "audit";
    agg_draws draws = {0};
    agg_audit audit;
    agg_err err = make_draws(&draws, error, a, recipe);
    if (err == SHOAL_OK) err = state_memory(error, a, &draws);
    if (err == SHOAL_OK) err = agg_audit_run(&audit, error, recipe, &draws, a->level, a->n_threads);
    if (err == SHOAL_OK) {
        (a->is_json ? print_json : print_table)(&audit, &draws);
        for (uint32_t i = 0; i < audit.n_failures; i++) agg_log_line(command, audit.failures[i]);
        *is_ok &= audit.n_failures == 0;
        *low = audit.empirical_low;
    }
    agg_draws_release(&draws);
    return err;
}

// How many parts from `first` on are alike but for where in a record they stand: n-grams.
static uint32_t count_alike(const shoal_recipe *recipe, uint32_t first)
{
    const shoal_part *one = &recipe->parts[first];
    uint32_t i = first + 1;
    while (i < recipe->n_parts && recipe->parts[i].mechanism == one->mechanism &&
           recipe->parts[i].k == one->k && recipe->parts[i].m == one->m &&
           recipe->parts[i].eps_micro == one->eps_micro &&
           memcmp(recipe->parts[i].seed, one->seed, sizeof one->seed) == 0)
        i++;
    return i - first;
}

static void print_before_part(const arguments *a, uint32_t first, uint32_t n)
{
    if (a->is_json)
        printf("%s{\"first\":%u,\"alike\":%u,\"audit\":", first > 0 ? "," : "", first + 1, n);
    else if (n == 1)
        printf("\npart %u\n", first + 1);
    else
        printf("\nparts %u to %u, alike\n", first + 1, first + n);
}

static int is_run(const shoal_recipe *recipe)
{
    return recipe->mechanism == shoal_thresh_id || recipe->mechanism == shoal_heavythresh_id;
}

// How often a part counts in the recipe's epsilon: in a run over epochs, whose epsilon is that of
// all its reports, as core/compound/evolving.h says.
static uint32_t times_of(const shoal_recipe *recipe, uint32_t part)
{
    if (!is_run(recipe)) return 1;
    shoal_evolving run = shoal_evolving_of(recipe);
    return part == SHOAL_EVOLVING_VOTE ? 2 * run.n_votes : run.n_estimates;
}

// Adds up what parts cost as drawn.
static double exact_of(const shoal_recipe *recipe)
{
    uint64_t sum = 0; // in micro-units
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        uint32_t micro = 0;
        if (shoal_mechanism_by_id(part->mechanism)->epsilon(&micro, part) != SHOAL_OK)
            return INFINITY;
        sum += (uint64_t)times_of(recipe, i) * micro;
    }
    return (double)sum / 1e6;
}

static const char *why_together(const shoal_recipe *recipe)
{
    if (is_run(recipe))
        return "all reports of a run together: so many votes, each counted twice, and so many "
               "estimates";
    return recipe->n_variables > 0 ? "all variables together: independent given their values"
                                   : "all parts together: independent given their positions, which "
                                     "say nothing of the string";
}

typedef struct together {
    double claimed, exact, low;
    int is_ok;
} together;

static void print_together(const arguments *a, const shoal_recipe *r, const together *t)
{
    if (a->is_json) {
        fputs("]", stdout);
        print_field("claimed", t->claimed);
        print_field("exact", t->exact);
        print_field("empirical_low", t->low);
        printf(",\"ok\":%s}", t->is_ok ? "true" : "false");
        return;
    }
    printf("\n%s\n", why_together(r));
    printf("claimed        %-10.6f  the recipe's epsilon of %s\n", t->claimed,
           is_run(r) ? "the run" : "one report");
    printf("exact          %-10.6f  the sum of the parts', from the integer thresholds\n",
           t->exact);
    printf("empirical      %-10.6f  the sum of what draws of each prove; the confidence is that of "
           "all\n",
           t->low);
    printf("ok             %s\n", t->is_ok ? "yes" : "no");
}

static agg_err audit_parts(agg_error *error, const arguments *a, const agg_recipe *recipe,
                           int *is_ok)
{
    const shoal_recipe *r = &recipe->recipe;
    uint32_t n_kinds = 0;
    together t = {r->cost_micro / 1e6, exact_of(r), 0, 1};
    arguments each = *a;
    agg_err err = SHOAL_OK;
    if (a->items != NULL || a->draws != NULL)
        return agg_fail(
            error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
            "the parts of %s are audited one by one: it takes neither --items nor --draws",
            shoal_recipe_mechanism_name(r));
    for (uint32_t i = 0; i < r->n_parts; i += count_alike(r, i)) n_kinds++;
    each.level = 1 - (1 - a->level) / n_kinds; // so that all bounds hold at once
    t.is_ok = t.exact <= t.claimed;
    if (a->is_json) {
        print_json_text("{\"mechanism\":", text_of(shoal_recipe_mechanism_name(r)));
        fputs(",\"parts\":[", stdout);
    } else {
        printf("mechanism      %s\n", shoal_recipe_mechanism_name(r));
    }
    for (uint32_t i = 0, n = 0; i < r->n_parts && err == SHOAL_OK; i += n) {
        agg_recipe one;
        double low = 0;
        n = count_alike(r, i);
        agg_audit_part(&one, recipe, i);
        print_before_part(a, i, n);
        err = audit_one(error, &each, &one, &low, &t.is_ok);
        if (a->is_json) fputs("}", stdout);
        t.low += n * times_of(r, i) * low;
    }
    if (err == SHOAL_OK) print_together(a, r, &t);
    *is_ok = t.is_ok;
    return err;
}

static agg_err audit_recipe(agg_error *error, const arguments *a, const agg_recipe *recipe,
                            int *is_ok)
{
    double low = 0;
    agg_err err = recipe->recipe.n_parts > 1 ? audit_parts(error, a, recipe, is_ok)
                                             : audit_one(error, a, recipe, &low, is_ok);
    if (err == SHOAL_OK && a->is_json) fputs("\n", stdout);
    if (err == SHOAL_OK && fflush(stdout) != 0)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result");
    return err;
}

int cmd_audit(int argc, char **argv)
{
    uint64_t stated = 0;
    arguments a = {.stated = &stated};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    agg_recipe recipe;
    int help = 0, is_ok = 1;
    agg_err err = read_arguments(&a, &error, argc, argv, &help);
    if (err == SHOAL_OK && help) {
        fputs(help_text, stdout);
        return AGG_EXIT_OK;
    }
    if (err == SHOAL_OK) err = agg_recipe_from_file(&recipe, &error, a.recipe);
    if (err == SHOAL_OK) {
        err = audit_recipe(&error, &a, &recipe, &is_ok);
        agg_recipe_release(&recipe);
    }
    if (err != SHOAL_OK) return agg_log_error("audit", &error);
    return is_ok ? AGG_EXIT_OK : AGG_EXIT_PRIVACY;
}
